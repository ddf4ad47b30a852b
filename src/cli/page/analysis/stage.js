// The board with what belongs to it, on the page of games as on that of a tree. Who extends it has `position`, `view`,
// `play`, `step`, `first`, `last`, `escape` and `spoken`.

class Stage {
  begin() {
    this.board = newBoard();
    this.bar = newBar();
    this.legend = make("p", { class: "legend" });
    this.hand = new Hand(this);
  }

  // The left half of the page. `forward` and `end` say what two of the buttons do.
  stage(forward, end, ...below) {
    const field = make("div", { class: "field" }, this.bar, this.board, this.hand.promotion);
    onWheel(field, (by) => this.step(by));
    const step = (text, label, click) => button(text, label, () => this.say(click), { class: "step" });
    const steps = make(
      "div",
      { class: "steps" },
      step("«", "First position (Home)", () => this.first()),
      step("‹", "Back (left arrow)", () => this.step(-1)),
      step("›", `${forward} (right arrow)`, () => this.step(1)),
      step("»", `${end} (End)`, () => this.last()),
      step("⇅", "Flip the board (f)", () => this.flip()),
    );
    return make("div", { class: "stage" }, field, this.legend, steps, below);
  }

  // Buttons to copy and to save, with the link to Lichess between them.
  tools(copies, saves) {
    this.lichess = make(
      "a",
      { class: "tool", target: "_blank", rel: "noopener noreferrer" },
      "Open in Lichess",
    );
    const fen = tool("Copy FEN", () => copy(writeFen(this.position()), "FEN"));
    return make("div", { class: "tools" }, fen, copies, this.lichess, saves);
  }

  // The name of a picture of what is shown.
  fileName() {
    return this.view().name.replace(/\W+/g, "-").replace(/^-|-$/g, "");
  }

  flip() {
    this.flipped = !this.flipped;
    this.render();
  }

  // Draws the board and the evaluation bar, which is hidden without a score.
  paint(view, score, chess960) {
    paintBoard(this.board, view);
    const kind = chess960 ? "chess960" : "standard";
    this.lichess.href = `https://lichess.org/analysis/${kind}/${writeFen(view.position).replaceAll(" ", "_")}`;
    this.bar.style.visibility = score === undefined ? "hidden" : "";
    if (score === undefined) return;
    const share = chances(score);
    this.bar.firstChild.style.height = share + "%";
    this.bar.classList.toggle("flipped", this.flipped);
    this.bar.classList.toggle("behind", share < 50);
    this.bar.lastChild.textContent = shortScore(score).replace(/^\+/, "");
    this.bar.setAttribute("aria-label", `Evaluation ${scoreText(score)}`);
  }

  // Makes the content of boxes anew; the focus stays where it was.
  renew(boxes, render) {
    const held = boxes.find((box) => box.contains(document.activeElement));
    render();
    const focus = held && (held.querySelector(".now") || held.querySelector("button"));
    if (focus) focus.focus({ preventScroll: true });
  }

  // Keys that work wherever the focus is; false for all others.
  key(event) {
    const keys = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => this.first(),
      End: () => this.last(),
      f: () => this.flip(),
      m: () => this.input.focus(),
    };
    if (event.key === "Escape") return this.escape();
    if (!(event.key in keys)) return false;
    this.say(keys[event.key]);
    return true;
  }

  // Does something and says what is shown then.
  say(change) {
    change();
    announce(this.spoken(), false);
  }
}

// Gives keys to the stage that is there, unless something is typed.
function listenToKeys(stage) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea"))
      return;
    if (stage()?.key(event)) event.preventDefault();
  });
}

// Changes the address without a trace in the history.
function setAddress(address) {
  try {
    history.replaceState(null, "", address);
  } catch {
    // Some browsers allow few changes a second; the address is a convenience.
  }
}

// A move to be clicked in a line, with the number before it; `now`: it led to what is shown.
function moveButton(number, word, now, click) {
  const attributes = { class: now ? "now" : null, "aria-current": now ? "step" : null };
  const before = number ? make("span", { class: "number" }, number + " ") : null;
  return [make("span", { class: "whole" }, before, button(word, word, click, attributes)), " "];
}

// A score in the colour of the side that is ahead.
const scoreMark = (score) =>
  make("b", { class: "score " + (chances(score) >= 50 ? "white" : "black") }, scoreText(score));

// How a game ends that has come to a position; null if it goes on.
function endWords(position) {
  if (legalMoves(position).length > 0) return null;
  return inCheck(position) ? "Checkmate." : "Stalemate: a draw.";
}
