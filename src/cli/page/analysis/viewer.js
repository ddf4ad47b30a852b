// A game or a position: board, engine's lines, moves, graph, players, moments.

const GLYPHS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

class Viewer {
  // `game` is a block of the page, `link` makes the address of a ply, `moved` is called with each ply shown.
  constructor(game, link, moved) {
    Object.assign(this, { game, link, moved, ply: 0, tour: null, flipped: false });
    this.moves = game.moves === "" ? [] : game.moves.split(" ");
    this.san = game.san === "" ? [] : game.san.split(" ");
    this.positions = walk(readFen(game.fen), this.moves);
    this.names = [
      "Start",
      ...this.san.map((san, index) => `${moveNumber(this.positions[index], true)} ${san}`),
    ];
    this.verdicts = new Map((game.verdicts || []).map(([ply, kind, text]) => [ply, { kind, text }]));
    this.comments = new Map(game.comments || []);
    this.flipped = this.moves.length === 0 && this.positions[0].turn === "b";
    this.element = this.build();
    this.show(0);
  }

  build() {
    this.board = newBoard();
    this.bar = make(
      "div",
      { class: "bar", role: "img", "aria-label": "Evaluation" },
      make("i", {}),
      make("b", {}),
    );
    this.legend = make("p", { class: "legend" });
    this.verdict = make("div", { class: "verdict" });
    this.lines = make("div", { class: "lines" });
    const stage = make(
      "div",
      { class: "stage" },
      make("div", { class: "field" }, this.bar, this.board),
      this.legend,
      this.steps(),
      this.tools(),
    );
    let wheeled = 0;
    stage.firstChild.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        wheeled += event.deltaY;
        if (Math.abs(wheeled) < 40) return;
        this.step(Math.sign(wheeled));
        wheeled = 0;
      },
      { passive: false },
    );
    const side = make("div", { class: "side" }, this.verdict, this.lines);
    const parts = [stage, side];
    if (this.moves.length > 0) {
      side.append(this.moveList());
      this.graph = newGraph(this.game, this.names, (ply) => this.show(ply));
      parts.push(this.graph.element);
    }
    return make("div", { class: "viewer" }, parts);
  }

  steps() {
    const step = (text, label, click) => button(text, label, click, { class: "step" });
    return make(
      "div",
      { class: "steps" },
      step("«", "First position (Home)", () => this.first()),
      step("‹", "Back (left arrow)", () => this.step(-1)),
      step("›", "Forward (right arrow)", () => this.step(1)),
      step("»", "Last position (End)", () => this.last()),
      step("⇅", "Flip the board (f)", () => this.flip()),
    );
  }

  tools() {
    this.lichess = make(
      "a",
      { class: "tool", target: "_blank", rel: "noopener noreferrer" },
      "Open in Lichess",
    );
    return make(
      "div",
      { class: "tools" },
      button("Copy FEN", "Copy FEN", () => copy(writeFen(this.view().position), "FEN"), { class: "tool" }),
      this.game.pgn
        ? button("Copy PGN", "Copy PGN", () => copy(this.game.pgn, "PGN"), { class: "tool" })
        : null,
      this.lichess,
    );
  }

  moveList() {
    this.list = make("ol", { class: "moves", "aria-label": "Moves" });
    let row = null;
    this.links = this.san.map((san, index) => {
      const position = this.positions[index];
      if (row === null || position.turn === "w") {
        row = make("li", {}, make("span", { class: "number" }, position.full + "."));
        if (position.turn === "b") row.append(make("span", { class: "gap" }, "…"));
        this.list.append(row);
      }
      const kind = (this.verdicts.get(index + 1) || {}).kind;
      const ends = index + 1 === this.san.length && (this.game.lines[index + 1] || []).length === 0;
      const link = this.plyLink(
        index + 1,
        { class: kind || "", title: kind || null },
        san + (GLYPHS[kind] || ""),
        kind ? make("span", { class: "unseen" }, ` (${kind})`) : null,
        ends ? null : make("small", {}, scoreText(this.game.scores[index + 1])),
      );
      row.append(link);
      return link;
    });
    this.list.append(make("li", { class: "result" }, this.game.result));
    return this.list;
  }

  // A link to a ply; it works as one, but a plain click only steps there, and leaves no trace in the history.
  plyLink(ply, attributes, ...children) {
    const click = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.show(ply);
      const top = this.element.getBoundingClientRect().top;
      if (top < -100) this.element.scrollIntoView();
    };
    return make("a", { href: this.link(ply), onclick: click, ...attributes }, ...children);
  }

  // The position on the board: one of the game, or of an engine line.
  view() {
    if (this.tour === null) {
      return {
        position: this.positions[this.ply],
        last: this.moveBefore(this.ply),
        arrows: this.arrows(),
        flipped: this.flipped,
        name: this.names[this.ply],
      };
    }
    const { positions, moves, step, san } = this.tour;
    const last = travel(positions[step - 1], moves[step - 1]);
    const name = `Line: ${moveNumber(positions[step - 1], true)} ${san[step - 1]}`;
    return { position: positions[step], last, arrows: [], flipped: this.flipped, name };
  }

  // The squares of the move that led to a ply; nothing at the start.
  moveBefore(ply) {
    return ply > 0 ? travel(this.positions[ply - 1], this.moves[ply - 1]) : null;
  }

  // The arrows of the move that led to a ply and of the better one.
  missed(ply) {
    const better = travel(this.positions[ply - 1], this.game.lines[ply - 1][0][1]);
    return [
      [...this.moveBefore(ply), "played"],
      [...better, "better"],
    ];
  }

  // The played move and the better one, where a better one was missed; else what the engine would play now.
  arrows() {
    if (this.verdicts.has(this.ply) && this.game.lines[this.ply - 1][0]) return this.missed(this.ply);
    if (this.moves.length > 0) return [];
    return (this.game.lines[0] || [])
      .slice(0, 1)
      .map((line) => [...travel(this.positions[0], line[1]), "better"]);
  }

  show(ply) {
    this.ply = Math.max(0, Math.min(this.moves.length, ply));
    this.tour = null;
    this.render();
    this.moved(this.ply);
  }

  step(by) {
    if (this.tour === null) {
      // A position has no moves of its own: forward is along the best line.
      if (this.moves.length === 0 && by > 0 && (this.game.lines[0] || []).length > 0) this.enter(0, 0, 1);
      else this.show(this.ply + by);
      return;
    }
    const step = this.tour.step + by;
    if (step < 1) this.show(this.ply);
    else this.enter(this.tour.ply, this.tour.index, Math.min(step, this.tour.moves.length));
  }

  // Goes to the first position, or to the last one, of the game or line.
  first() {
    this.show(this.tour === null ? 0 : this.ply);
  }

  last() {
    if (this.tour === null && this.moves.length > 0) this.show(this.moves.length);
    else this.step(1e9);
  }

  flip() {
    this.flipped = !this.flipped;
    this.render();
  }

  // Shows the position after `step` moves of the line `index` that was found after `ply` plies.
  enter(ply, index, step) {
    const [, moves, san] = this.game.lines[ply][index];
    const list = moves.split(" ");
    this.tour = {
      ply,
      index,
      step,
      moves: list,
      san: san.split(" "),
      positions: walk(this.positions[ply], list),
    };
    this.render();
  }

  // Leaves the line; false if there is none.
  leave() {
    if (this.tour === null) return false;
    this.show(this.ply);
    return true;
  }

  render() {
    const view = this.view();
    paintBoard(this.board, view);
    const score =
      this.tour === null ? this.game.scores[this.ply] : this.game.lines[this.tour.ply][this.tour.index][0];
    this.renderBar(score);
    this.renderLegend(view);
    this.lichess.href = `https://lichess.org/analysis/${this.game.chess960 ? "chess960" : "standard"}/${writeFen(view.position).replaceAll(" ", "_")}`;
    this.renderVerdict();
    this.renderLines();
    if (this.links) this.renderMoves();
    if (this.graph) this.graph.mark(this.ply);
  }

  // The evaluation bar; a game without moves was not searched.
  renderBar(score) {
    this.bar.style.visibility = score === undefined ? "hidden" : "";
    if (score === undefined) return;
    const share = chances(score);
    this.bar.firstChild.style.height = share + "%";
    this.bar.classList.toggle("flipped", this.flipped);
    this.bar.classList.toggle("behind", share < 50);
    this.bar.lastChild.textContent = scoreText(score)
      .replace(/(\.\d)\d$/, "$1")
      .replace(/^\+/, "");
    this.bar.setAttribute("aria-label", `Evaluation ${scoreText(score)}`);
  }

  // The caption of the board, with the meaning of its arrows.
  renderLegend(view) {
    const words = { played: "played", better: view.arrows.length > 1 ? "better" : "best move" };
    const keys = view.arrows.map(([, , kind]) => make("span", { class: kind }, words[kind]));
    const back = this.moves.length > 0 ? "Back to the game" : "Back";
    if (this.tour !== null) keys.push(button(back, back, () => this.leave(), { class: "tool" }));
    this.legend.replaceChildren(
      make(
        "b",
        {},
        this.moves.length > 0 || this.tour !== null
          ? view.name
          : `${view.position.turn === "w" ? "White" : "Black"} to move`,
      ),
      ...keys,
    );
  }

  renderVerdict() {
    const { game, ply } = this;
    const verdict = this.verdicts.get(ply);
    const parts = [];
    if (verdict) {
      parts.push(
        make(
          "p",
          {},
          make("b", { class: "glyph " + verdict.kind }, GLYPHS[verdict.kind]),
          " " + verdict.text,
        ),
        this.line(ply - 1, 0),
      );
    } else {
      parts.push(make("p", {}, this.quietWords()));
    }
    if (this.comments.has(ply)) parts.push(make("blockquote", {}, this.comments.get(ply)));
    const time = ply > 0 && game.times ? game.times[ply - 1] : null;
    if (time !== null && time !== undefined)
      parts.push(make("p", { class: "note" }, `${timeText(time)} used`));
    this.verdict.className = "verdict " + (verdict ? verdict.kind : "");
    this.verdict.replaceChildren(...parts);
  }

  // A sentence about a move that was not bad.
  quietWords() {
    const { game, ply } = this;
    if (this.moves.length === 0) return this.positionWords();
    if (ply === 0) return game.opening ? `The opening is ${game.opening}.` : "The game begins.";
    if (ply === this.moves.length && (game.lines[ply] || []).length === 0) {
      return `${this.names[ply]} ends the game${this.san[ply - 1].endsWith("#") ? " by mate" : ""}.`;
    }
    if (ply <= game.book)
      return `${this.names[ply]} is in the book${ply === game.book ? `, which ends here: ${game.opening}` : ""}.`;
    const best = (game.lines[ply - 1] || [])[0];
    if (!best) return this.names[ply];
    if (best[1].split(" ")[0] === this.moves[ply - 1]) return `${this.names[ply]} is the engine's choice.`;
    return `${this.names[ply]} is fine; the engine's choice was ${moveNumber(this.positions[ply - 1], true)} ${best[2].split(" ")[0]} (${scoreText(best[0])}).`;
  }

  // A sentence about a position that is no game.
  positionWords() {
    const { game } = this;
    if (game.players) return "The game has no moves.";
    const best = game.lines[0][0];
    if (!best) return Array.isArray(game.scores[0]) ? "Checkmate." : "No move is possible: a draw.";
    const solved = game.solved === null ? "" : game.solved ? "Solved: " : "Not solved: ";
    const first = `${moveNumber(this.positions[0], true)} ${best[2].split(" ")[0]}`;
    return `${solved}${first} is the engine's choice (${scoreText(best[0])}).`;
  }

  renderLines() {
    const found = this.game.lines[this.ply] || [];
    if (found.length === 0) return this.lines.replaceChildren();
    const title = make(
      "h3",
      {},
      found.length > 1 ? "Engine's lines" : "Engine's line",
      make("small", {}, ` depth ${this.game.depths[this.ply]}`),
    );
    this.lines.replaceChildren(title, ...found.map((_, index) => this.line(this.ply, index)));
  }

  // A line whose moves can be clicked.
  line(ply, index) {
    const [score, moves, san] = this.game.lines[ply][index];
    const { tour } = this;
    const here = tour !== null && tour.ply === ply && tour.index === index ? tour.step : 0;
    const positions = walk(this.positions[ply], moves.split(" "));
    const words = san.split(" ").map((word, at) => {
      const number = moveNumber(positions[at], at === 0);
      const now = at + 1 === here;
      const step = make(
        "button",
        {
          type: "button",
          class: now ? "now" : "",
          "aria-current": now ? "step" : null,
          onclick: () => this.enter(ply, index, at + 1),
        },
        word,
      );
      return [
        make(
          "span",
          { class: "whole" },
          number ? make("span", { class: "number" }, number + " ") : null,
          step,
        ),
        " ",
      ];
    });
    const ahead = chances(score) >= 50 ? "white" : "black";
    return make("p", { class: "line" }, make("b", { class: "score " + ahead }, scoreText(score)), " ", words);
  }

  renderMoves() {
    const focused = this.links.includes(document.activeElement);
    this.links.forEach((link, index) => {
      const now = index + 1 === this.ply;
      link.classList.toggle("now", now);
      if (now) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    const link = this.links[this.ply - 1];
    if (focused && link) link.focus({ preventScroll: true });
    this.list.scrollTop = (link ? link.offsetTop : 0) - this.list.clientHeight / 2;
  }

  // Keys that work wherever the focus is; false for all others.
  key(event) {
    const keys = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      Home: () => this.first(),
      End: () => this.last(),
      f: () => this.flip(),
    };
    if (event.key === "Escape") return this.leave();
    if (!(event.key in keys)) return false;
    keys[event.key]();
    if (this.tour !== null) announce(this.view().name, false);
    else
      announce(
        `${this.names[this.ply]}, ${scoreText(this.game.scores[this.ply])}. ${(this.verdicts.get(this.ply) || { text: "" }).text}`,
        false,
      );
    return true;
  }
}
