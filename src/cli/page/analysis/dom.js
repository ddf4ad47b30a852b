// Elements without markup: everything from a PGN becomes text.

const SVG = "http://www.w3.org/2000/svg";

function put(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

// An element: `make("p", { class: "note" }, "text", child, [more])`; attributes `onclick` and so on are listeners.
const make = (name, attributes, ...children) => put(document.createElement(name), attributes, children);
const draw = (name, attributes, ...children) =>
  put(document.createElementNS(SVG, name), attributes, children);

const button = (text, label, click, attributes) =>
  make(
    "button",
    {
      type: "button",
      "aria-label": label === text ? null : label,
      title: label === text ? null : label,
      onclick: click,
      ...attributes,
    },
    text,
  );

const tool = (text, click) => button(text, text, click, { class: "tool" });

// Announces a text to screen readers, and, if `visible`, shows it for a moment.
function announce(text, visible) {
  const said = document.getElementById("said");
  said.textContent = text;
  said.classList.toggle("unseen", !visible);
  clearTimeout(announce.timer);
  if (visible) announce.timer = setTimeout(() => said.classList.add("unseen"), 1800);
}

async function copy(text, what) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // For older browsers, and those that deny the clipboard to pages on disk.
    const area = make("textarea", { class: "unseen" });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  announce(what + (done ? " copied" : " could not be copied"), true);
}

// A score for White: centipawns as pawns with a sign; of a proven result the winner (1 or -1) and words.
// Empty without a score.
function scoreText(score) {
  if (score === undefined) return "";
  return Array.isArray(score) ? score[1] : (score < 0 ? "-" : "+") + (Math.abs(score) / 100).toFixed(2);
}

// The same with one decimal, as the sentences have it; small scores keep two, because they would all look alike.
function shortScore(score) {
  if (Array.isArray(score) || Math.abs(score) < 10) return scoreText(score);
  return (score < 0 ? "-" : "+") + (Math.round(Math.abs(score) / 10) / 10).toFixed(1);
}

// White's chances in percent, draws counting half; the curve is Lichess's.
function chances(score) {
  if (Array.isArray(score)) return score[0] > 0 ? 100 : 0;
  return 100 / (1 + Math.exp(-0.00368208 * Math.max(-1000, Math.min(1000, score))));
}

// Seconds as 1:02:03, 2:03 or 4.5 s.
function timeText(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return (seconds < 10 ? Math.round(10 * seconds) / 10 : whole) + " s";
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

// The same of a move; empty where it is not known.
const usedText = (seconds) => (seconds === null || seconds === undefined ? "" : timeText(seconds));

// A clock: 1:02:03 or 0:56; empty where it is not known.
function clockText(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const whole = Math.floor(seconds);
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return (hours > 0 ? `${hours}:${two(minutes)}` : minutes) + ":" + two(whole % 60);
}
