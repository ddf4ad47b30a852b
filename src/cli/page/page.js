"use strict";
document.addEventListener("DOMContentLoaded", () => {
  for (const game of document.querySelectorAll("section.game")) {
    const source = game.querySelector("script.data");
    if (!source) continue;
    const data = JSON.parse(source.textContent);
    const board = game.querySelector(".stage .board");
    const graph = game.querySelector(".graph");
    const links = game.querySelectorAll(".moves a");
    const label = game.querySelector("output");
    const last = data.boards.length - 1;
    let now = 0;
    const show = (ply) => {
      now = Math.max(0, Math.min(last, ply));
      const marked = now > 0 ? data.squares[now - 1] : [];
      board.querySelectorAll("use").forEach((man) => man.remove());
      board.querySelectorAll("rect").forEach((field, square) => {
        field.classList.toggle("m", marked.includes(square));
      });
      data.boards[now].split("/").forEach((row, y) => {
        let x = 0;
        for (const c of row) {
          if (c >= "1" && c <= "8") { x += Number(c); continue; }
          const man = document.createElementNS("http://www.w3.org/2000/svg", "use");
          man.setAttribute("href", "#" + c.toLowerCase());
          man.setAttribute("class", c === c.toLowerCase() ? "b" : "w");
          for (const [name, value] of [["x", 45 * x], ["y", 45 * y], ["width", 45], ["height", 45]]) {
            man.setAttribute(name, value);
          }
          board.append(man);
          x += 1;
        }
      });
      links.forEach((link, index) => link.classList.toggle("now", index === now - 1));
      if (now > 0) {
        const list = links[now - 1].parentElement;
        list.scrollTop = links[now - 1].offsetTop - list.offsetTop - list.clientHeight / 2;
      }
      label.textContent = now > 0 ? data.labels[now - 1] : "start";
      const line = graph.querySelector(".now");
      line.setAttribute("x1", (1000 * now) / last);
      line.setAttribute("x2", (1000 * now) / last);
    };
    links.forEach((link) => link.addEventListener("click", () => show(Number(link.dataset.ply))));
    const pick = (event) => {
      const box = graph.getBoundingClientRect();
      show(Math.round(((event.clientX - box.left) / box.width) * last));
    };
    graph.addEventListener("pointerdown", pick);
    graph.addEventListener("pointermove", (event) => { if (event.buttons) pick(event); });
    const steps = { first: () => 0, back: () => now - 1, next: () => now + 1, last: () => last };
    game.querySelectorAll("button").forEach((button) => {
      button.addEventListener("click", () => show(steps[button.dataset.step]()));
    });
    show(0);
  }
  for (const sieve of document.querySelectorAll(".sieve")) {
    const buttons = sieve.querySelectorAll("button");
    buttons.forEach((button) => button.addEventListener("click", () => {
      buttons.forEach((other) => other.classList.toggle("now", other === button));
      const origin = button.dataset.origin;
      for (const card of document.querySelectorAll(".records article")) {
        card.hidden = origin !== "" && card.dataset.origin !== origin;
      }
    }));
  }
});
