// Buttons that filter records by origin.
document.addEventListener("DOMContentLoaded", () => {
  for (const chooser of document.querySelectorAll(".chooser")) {
    const buttons = chooser.querySelectorAll("button");
    buttons.forEach((button) =>
      button.addEventListener("click", () => {
        buttons.forEach((other) => {
          other.classList.toggle("now", other === button);
          other.setAttribute("aria-pressed", String(other === button));
        });
        const origin = button.dataset.origin;
        for (const card of document.querySelectorAll(".records article")) {
          card.hidden = origin !== "" && card.dataset.origin !== origin;
        }
      }),
    );
  }
});

// The board of a record or of a lesson, with its arrows.
function paintOwn(board) {
  const position = readFen(board.dataset.fen);
  const arrowsOf = (kind) => wordsOf(board.dataset[kind]).map((move) => [...travel(position, move), kind]);
  const arrows = [...arrowsOf("played"), ...arrowsOf("better")];
  paintBoard(board, { position, arrows, flipped: "black" in board.dataset, plain: true });
}

// Each board of a lesson steps through its game.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".small").forEach(paintOwn);
  for (const game of document.querySelectorAll("section.game")) {
    const fens = game.dataset.fens.split("|");
    const moves = game.dataset.moves.split("|");
    game.querySelectorAll("article").forEach((article) => addSteps(article, fens, moves));
  }
});

function addSteps(article, fens, moves) {
  const board = article.querySelector("svg");
  const home = Number(article.dataset.at);
  const said = make("output");
  let at = home;
  const show = (to) => {
    at = Math.max(0, Math.min(to, fens.length - 1));
    said.textContent = at === home ? "the lesson" : at > 0 ? `after ${moves[at - 1]}` : "the start";
    if (at === home) return paintOwn(board);
    const flipped = "black" in board.dataset;
    paintBoard(board, { position: readFen(fens[at]), flipped, plain: true, name: said.textContent });
  };
  const steps = make(
    "div",
    { class: "walk" },
    button("◀", "one move back", () => show(at - 1)),
    button("▶", "one move on", () => show(at + 1)),
    button("↺", "back to the lesson", () => show(home)),
    said,
  );
  board.after(steps);
  show(home);
}
