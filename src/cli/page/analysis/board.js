// Boards, drawn when they are looked at.

const SIDE = 45;

// The corner of a square on a board of 360 by 360.
function corner(square, flipped) {
  const [file, rank] = [square % 8, square >> 3];
  return flipped ? [SIDE * (7 - file), SIDE * rank] : [SIDE * file, SIDE * (7 - rank)];
}

// The square under a pointer; -1 beside the board.
function squareAt(svg, point, flipped) {
  const box = svg.getBoundingClientRect();
  const x = Math.floor((8 * (point.clientX - box.left)) / box.width);
  const y = Math.floor((8 * (point.clientY - box.top)) / box.height);
  if (x < 0 || x > 7 || y < 0 || y > 7) return -1;
  return flipped ? 7 - x + 8 * y : x + 8 * (7 - y);
}

// Draws a board: `view` has the position, and may have `last` (two squares), `arrows` (from, to and class of each),
// `chosen` (a square) and `targets` (squares to which its piece may go), `flipped`, and `plain` for a board without
// coordinates.
function paintBoard(svg, view) {
  const { position, flipped } = view;
  const parts = [draw("rect", { class: "light", width: 360, height: 360 })];
  let dark = "";
  for (let square = 0; square < 64; square++) {
    const [x, y] = corner(square, flipped);
    if ((square + (square >> 3)) % 2 === 0) dark += `M${x} ${y}h45v45h-45z`;
  }
  parts.push(draw("path", { class: "dark", d: dark }));
  const marked = [...(view.last || []).map((square) => [square, "last"])];
  if (view.chosen >= 0) marked.push([view.chosen, "chosen"]);
  for (const [square, kind] of marked) {
    const [x, y] = corner(square, flipped);
    parts.push(draw("rect", { class: kind, x, y, width: SIDE, height: SIDE }));
  }
  if (!view.plain) parts.push(...coordinates(flipped));
  position.pieces.forEach((piece, square) => {
    if (piece === "") return;
    const [x, y] = corner(square, flipped);
    parts.push(draw("use", { href: "#" + piece, x, y, width: SIDE, height: SIDE, "data-square": square }));
  });
  for (const square of view.targets || []) {
    const [x, y] = corner(square, flipped);
    const taken = position.pieces[square] !== "";
    const kind = taken ? "target taken" : "target";
    parts.push(draw("circle", { class: kind, cx: x + SIDE / 2, cy: y + SIDE / 2, r: taken ? 20 : 6.5 }));
  }
  for (const [from, to, kind] of view.arrows || []) parts.push(arrow(from, to, kind, flipped));
  svg.replaceChildren(...parts);
  svg.setAttribute("aria-label", (view.name ? view.name + ". " : "") + describe(position));
}

// Calls `step` with 1 or -1 for each notch of the wheel over an element.
function onWheel(element, step) {
  let wheeled = 0;
  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      wheeled += event.deltaY;
      if (Math.abs(wheeled) < 40) return;
      step(Math.sign(wheeled));
      wheeled = 0;
    },
    { passive: false },
  );
}

const newBoard = () => draw("svg", { class: "board", viewBox: "0 0 360 360", role: "img" });
const newBar = () =>
  make("div", { class: "bar", role: "img", "aria-label": "Evaluation" }, make("i", {}), make("b", {}));

function coordinates(flipped) {
  const texts = [];
  for (let index = 0; index < 8; index++) {
    const rank = flipped ? index + 1 : 8 - index;
    const file = FILES[flipped ? 7 - index : index];
    const shade = (odd) => ((index + odd) % 2 === 0 ? "on-light" : "on-dark");
    texts.push(draw("text", { class: shade(0), x: 2, y: SIDE * index + 10 }, String(rank)));
    texts.push(draw("text", { class: shade(1), x: SIDE * index + 43, y: 357, "text-anchor": "end" }, file));
  }
  return texts;
}

function arrow(from, to, kind, flipped) {
  const middle = (square) => corner(square, flipped).map((number) => number + SIDE / 2);
  const [[x1, y1], [x2, y2]] = [middle(from), middle(to)];
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const at = (along, aside) =>
    `${(x1 + along * ux - aside * uy).toFixed(1)} ${(y1 + along * uy + aside * ux).toFixed(1)}`;
  const [tip, neck] = [length - 2, length - 19];
  const outline = [
    at(9, 3.4),
    at(neck, 3.4),
    at(neck, 10),
    at(tip, 0),
    at(neck, -10),
    at(neck, -3.4),
    at(9, -3.4),
  ];
  return draw("path", { class: "arrow " + kind, d: "M" + outline.join("L") + "z" });
}
