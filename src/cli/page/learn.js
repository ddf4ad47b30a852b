"use strict";
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

// A game can be walked from each of its boards.
document.addEventListener("DOMContentLoaded", () => {
  for (const game of document.querySelectorAll("section.game")) {
    const boards = game.dataset.boards.split(" ");
    const moves = game.dataset.moves.split("|");
    const flipped = "black" in game.dataset;
    game.querySelectorAll("article").forEach((article) => walk(article, boards, moves, flipped));
  }
});
function walk(article, boards, moves, flipped) {
  const board = article.querySelector("svg");
  const lesson = [...board.childNodes];
  const label = board.getAttribute("aria-label");
  const home = Number(article.dataset.at);
  let at = home;
  const said = document.createElement("output");
  const show = (to) => {
    at = Math.max(0, Math.min(to, boards.length - 1));
    const isHome = at === home;
    board.replaceChildren(...(isHome ? lesson : pieces(boards[at], flipped)));
    said.textContent = isHome ? "the lesson" : at > 0 ? `after ${moves[at - 1]}` : "the start";
    board.setAttribute("aria-label", isHome ? label : `${said.textContent}. ${inWords(boards[at])}`);
  };
  const button = (text, name, to) => {
    const made = document.createElement("button");
    made.append(text);
    made.setAttribute("aria-label", name);
    made.addEventListener("click", () => show(to()));
    return made;
  };
  const row = document.createElement("div");
  row.className = "walk";
  row.append(
    button("◀", "one move back", () => at - 1),
    button("▶", "one move on", () => at + 1),
    button("↺", "back to the lesson", () => home),
    said,
  );
  board.after(row);
  show(home);
}
// The pieces of a board, the first field of a FEN, from a1 on.
function piecesOf(board) {
  const signs = board.replace(/\d/g, (count) => " ".repeat(Number(count)));
  const ranks = signs.split("/").reverse();
  const all = ranks.flatMap((row, rank) => [...row].map((sign, file) => ({ sign, file, rank })));
  return all.filter(({ sign }) => sign !== " ");
}
// An empty board and the pieces on it.
function pieces(board, flipped) {
  const drawn = piecesOf(board).map(({ sign, file, rank }) => {
    const piece = sign.toUpperCase();
    const [left, top] = flipped ? [7 - file, rank] : [file, 7 - rank];
    const href = `#${sign === piece ? "w" : "b"}${piece}`;
    return symbol({ href, x: 45 * left, y: 45 * top, width: 45, height: 45 });
  });
  return [symbol({ href: "#field" }), ...drawn];
}
// The pieces for those who cannot see them, in the form of the lesson's own board.
function inWords(board) {
  const side = (isOne) =>
    piecesOf(board)
      .filter(({ sign }) => isOne(sign))
      .map(({ sign, file, rank }) => `${sign.toUpperCase()}${"abcdefgh"[file]}${rank + 1}`)
      .join(" ");
  return `white: ${side((sign) => sign < "a")}; black: ${side((sign) => sign > "a")}`;
}
function symbol(attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "use");
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  return made;
}
