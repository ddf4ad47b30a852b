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
    at = to;
    const isHome = at === home;
    board.replaceChildren(...(isHome ? lesson : pieces(boards[at], flipped)));
    said.textContent = isHome ? "the lesson" : at > 0 ? `after ${moves[at - 1]}` : "the start";
    board.setAttribute("aria-label", isHome ? label : said.textContent);
    back.disabled = at === 0;
    on.disabled = at === boards.length - 1;
  };
  const button = (text, name, to) => {
    const made = document.createElement("button");
    made.append(text);
    made.setAttribute("aria-label", name);
    made.addEventListener("click", () => show(to()));
    return made;
  };
  const back = button("◀", "one move back", () => at - 1);
  const on = button("▶", "one move on", () => at + 1);
  const row = document.createElement("div");
  row.className = "walk";
  row.append(
    back,
    on,
    button("↺", "back to the lesson", () => home),
    said,
  );
  board.after(row);
  show(home);
}
// An empty board and the pieces on it, from the first field of a FEN.
function pieces(board, flipped) {
  const drawn = [symbol({ href: "#field" })];
  board.split("/").forEach((rank, y) => {
    let x = 0;
    for (const sign of rank) {
      if (sign >= "1" && sign <= "8") {
        x += Number(sign);
        continue;
      }
      const piece = sign.toUpperCase();
      const [left, top] = flipped ? [7 - x, 7 - y] : [x, y];
      const href = `#${sign === piece ? "w" : "b"}${piece}`;
      drawn.push(symbol({ href, x: 45 * left, y: 45 * top, width: 45, height: 45 }));
      x += 1;
    }
  });
  return drawn;
}
function symbol(attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "use");
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  return made;
}
