// A game or a position: board, engine's lines, moves, graph, players, moments.

// The judgements: first the bad ones, which are counted.
const GLYPHS = { inaccuracy: "?!", mistake: "?", blunder: "??" };
const ALL_GLYPHS = { ...GLYPHS, good: "!", brilliant: "!!" };
const isBad = (kind) => kind in GLYPHS;
const SIDES = { w: "White", b: "Black" };

class Viewer extends Stage {
  // `game` is a block of the page, `link` makes the address of a ply, `moved` is called with each ply shown.
  constructor(game, link, moved) {
    super();
    Object.assign(this, { game, link, moved, ply: 0, tour: null, own: [], drill: null, flipped: false });
    this.moves = wordsOf(game.moves);
    this.san = wordsOf(game.san);
    this.positions = walk(readFen(game.fen), this.moves);
    this.names = [
      "Start",
      ...this.san.map((san, index) => `${moveNumber(this.positions[index], true)} ${san}`),
    ];
    this.verdicts = new Map((game.verdicts || []).map(([ply, kind, text]) => [ply, { kind, text }]));
    this.comments = new Map(game.comments || []);
    this.glyphs = new Map(game.glyphs || []);
    this.asides = [];
    this.known = new KnownLines(this);
    this.flipped = this.moves.length === 0 && this.positions[0].turn === "b";
    this.element = this.build();
    this.show(0);
  }

  build() {
    this.begin();
    this.verdict = make("div", { class: "verdict" });
    this.path = make("div", { class: "path" });
    this.lines = make("div", { class: "lines" });
    this.input = this.hand.input;
    const stage = this.stage(
      "Forward",
      "Last position",
      this.hand.typed,
      learnButtons(this),
      this.tools(this.game.pgn ? tool("Copy PGN", () => copy(this.game.pgn, "PGN")) : null, [
        tool("Save SVG", () => saveSvg(this.board, this.fileName())),
        tool("Save PNG", () => savePng(this.board, this.fileName())),
        tool("Copy embed code", () => copy(embedCode(this.link(this.ply), document.title), "Embed code")),
      ]),
    );
    const side = make("div", { class: "side" }, this.verdict, this.path, this.lines);
    const parts = [stage, side];
    if (this.moves.length > 0) {
      side.append(this.moveList());
      this.graph = newGraph(this.game, this.names, (ply) => this.show(ply));
      parts.push(this.graph.element);
    }
    return make("div", { class: "viewer" }, parts);
  }

  moveList() {
    const { game } = this;
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
      const time = [
        game.clocks.length > 0 && clockText(game.clocks[index]),
        game.times.length > 0 && usedText(game.times[index]),
      ].filter(Boolean);
      const ends = index + 1 === this.san.length && (this.game.lines[index + 1] || []).length === 0;
      const link = this.plyLink(
        index + 1,
        { class: kind || "", title: kind || null },
        san + this.signs(index + 1, kind),
        kind ? make("span", { class: "unseen" }, ` (${kind})`) : null,
        time.length > 0 ? make("small", { class: "time" }, time.join(" · ")) : null,
        ends ? null : make("small", {}, scoreText(game.scores[index + 1])),
      );
      row.append(link);
      const asides = game.variations.filter(([ply]) => ply === index + 1);
      const comment = this.comments.get(index + 1);
      if (asides.length > 0 || comment) {
        const start = { moves: [], san: [] };
        this.list.append(
          make(
            "li",
            { class: "aside" },
            comment ? make("p", {}, make("q", {}, comment)) : null,
            asides.map(([, tree]) => make("p", {}, variationText(this, index, start, tree))),
          ),
        );
        row = null;
      }
      return link;
    });
    this.list.append(make("li", { class: "result" }, this.game.result));
    return this.list;
  }

  // The author's glyphs of a move, and behind them that of its judgement if they do not begin with the same.
  signs(ply, kind) {
    const [author, own] = [this.glyphs.get(ply) || "", ALL_GLYPHS[kind] || ""];
    if (author === "" || author.split("\u00a0")[0] === own) return author || own;
    return own ? `${author} ${own}` : author;
  }

  // A link to a ply; it works as one, but a plain click only steps there, and leaves no trace in the history.
  plyLink(ply, attributes, ...children) {
    const click = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.show(ply);
      this.goTo();
    };
    return make("a", { href: this.link(ply), onclick: click, ...attributes }, ...children);
  }

  // Scrolls to the board if it is above.
  goTo() {
    if (this.element.getBoundingClientRect().top < -100) this.element.scrollIntoView();
  }

  // The position on the board: one of the game, or of a line.
  view() {
    const { tour, flipped } = this;
    const marks = { flipped, ...this.hand.marks() };
    if (tour === null) {
      const [position, last] = [this.positions[this.ply], this.moveBefore(this.ply)];
      return { position, last, arrows: this.arrows(), name: this.names[this.ply], ...marks };
    }
    const { line, step } = tour;
    const [before, position] = this.positionsOf(line).slice(step - 1, step + 1);
    const last = travel(before, line.moves[step - 1]);
    const name = `${line.kind}: ${moveNumber(before, true)} ${line.san[step - 1]}`;
    return { position, last, arrows: [], name, ...marks };
  }

  // The position shown, without what is drawn on it.
  position() {
    const { tour } = this;
    return tour === null ? this.positions[this.ply] : this.positionsOf(tour.line)[tour.step];
  }

  positionsOf(line) {
    line.positions = line.positions || walk(this.positions[line.ply], line.moves);
    return line.positions;
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

  // The played move and the better one, where a better one was missed; else what the engine would play now. While a
  // better one is to be found, only the played one.
  arrows() {
    const { drill, ply } = this;
    if (drill && drill.asks) return ply === drill.ply - 1 ? this.missed(ply + 1).slice(0, 1) : [];
    if (isBad((this.verdicts.get(ply) || {}).kind) && this.game.lines[ply - 1][0]) return this.missed(ply);
    if (this.moves.length > 0) return [];
    return (this.game.lines[0] || [])
      .slice(0, 1)
      .map((line) => [...travel(this.positions[0], line[1]), "better"]);
  }

  show(ply) {
    this.ply = Math.max(0, Math.min(this.moves.length, ply));
    this.tour = null;
    this.hand.clear();
    this.render();
    this.moved(this.ply);
  }

  step(by) {
    if (this.tour === null) {
      // A position has no moves of its own: forward is along the best line.
      const best = this.moves.length === 0 && by > 0 ? this.engineLines()[0] : null;
      if (best) this.enter(best, Math.min(by, best.moves.length));
      else this.show(this.ply + by);
      return;
    }
    const { line, step } = this.tour;
    if (step + by < 1) this.show(this.ply);
    else this.enter(line, Math.min(step + by, line.moves.length));
  }

  // Goes to the first position, or to the last one, of the game or line.
  first() {
    this.show(this.tour === null ? 0 : this.ply);
  }

  last() {
    if (this.tour === null && this.moves.length > 0) this.show(this.moves.length);
    else this.step(1e9);
  }

  // Shows the position after `step` moves of a line.
  enter(line, step) {
    if (line.kind === "Variation" && line.ply !== this.ply) this.show(line.ply);
    this.tour = { line, step };
    this.hand.clear();
    this.render();
  }

  // Is this what is shown, `step` moves along a line or along another one that begins with the same?
  isAt(line, step) {
    const { tour } = this;
    if (tour === null || tour.step !== step || tour.line.ply !== line.ply) return false;
    return line.moves.slice(0, step).every((move, index) => move === tour.line.moves[index]);
  }

  // Plays a legal move: an answer, or along the game or line, or away from it.
  play(move) {
    const { tour, ply, drill } = this;
    if (drill && drill.asks && tour === null && ply === drill.ply - 1) return drill.answer(move);
    const step = tour === null ? 0 : tour.step;
    const line = tour === null ? { ply, moves: [], san: [] } : tour.line;
    if (tour === null && this.moves[ply] === move) return this.show(ply + 1);
    if (line.moves[step] === move) return this.enter(line, step + 1);
    const moves = [...line.moves.slice(0, step), move];
    const begins = (other) => other.ply === line.ply && moves.every((known, at) => known === other.moves[at]);
    const known = this.own.find(begins);
    if (known) return this.enter(known, step + 1);
    const next = {
      kind: "Your line",
      ply: line.ply,
      moves,
      san: [...line.san.slice(0, step), sanOf(this.position(), move)],
    };
    // A line that only grew is the same line.
    if (this.own.includes(line) && step === line.moves.length) this.own[this.own.indexOf(line)] = next;
    else this.own.push(next);
    this.enter(next, step + 1);
  }

  // The line with this number among those found after `ply` plies.
  engineLine(ply, number) {
    return newLine(this.game.lines[ply][number], ply, this.game.depths[ply]);
  }

  // The engine's lines that go on from what is shown; while one of them is walked, those among which it was.
  engineLines() {
    const { tour } = this;
    const step = tour === null ? 0 : tour.line.kind === "Line" ? tour.line.root : tour.step;
    if (step === 0)
      return (this.game.lines[this.ply] || []).map((_, number) => this.engineLine(this.ply, number));
    const { line } = tour;
    return this.known.of(this.positionsOf(line)[step]).map(({ moves, san, score, depth }) => ({
      kind: "Line",
      ply: line.ply,
      moves: [...line.moves.slice(0, step), ...moves],
      san: [...line.san.slice(0, step), ...san],
      root: step,
      score,
      depth,
    }));
  }

  // Leaves the line; false if there is none.
  leave() {
    if (this.tour === null) return false;
    this.show(this.ply);
    return true;
  }

  render() {
    const view = this.view();
    this.paint(view, this.score(), this.game.chess960);
    this.renderLegend(view);
    this.renew([this.verdict, this.path, this.lines], () => {
      this.renderVerdict();
      this.renderPath();
      this.renderLines();
    });
    if (this.links) this.renderMoves();
    if (this.graph) this.graph.mark(this.ply);
  }

  // The score of what is shown, if the engine has seen it.
  score() {
    const { tour } = this;
    if (tour === null) return this.game.scores[this.ply];
    if (tour.line.kind === "Line") return tour.line.score;
    return this.known.of(this.position()).map((line) => line.score)[0];
  }

  // The caption of the board, with the meaning of its arrows.
  renderLegend(view) {
    const words = { played: "played", better: view.arrows.length > 1 ? "better" : "best move" };
    const keys = view.arrows.map(([, , kind]) => make("span", { class: kind }, words[kind]));
    const back = this.moves.length > 0 ? "Back to the game" : "Back";
    if (this.tour !== null) keys.push(tool(back, () => this.leave()));
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
    const { game, ply, drill } = this;
    if (drill) return drill.render(this.verdict);
    const verdict = this.verdicts.get(ply);
    const parts = [];
    if (verdict) {
      parts.push(verdictText(verdict));
      if (isBad(verdict.kind) && game.lines[ply - 1][0]) parts.push(this.line(this.engineLine(ply - 1, 0)));
    } else {
      parts.push(make("p", {}, this.quietWords()));
    }
    if (this.comments.has(ply)) parts.push(make("blockquote", {}, this.comments.get(ply)));
    if (ply > 0) {
      const [used, left] = [usedText(game.times[ply - 1]), clockText(game.clocks[ply - 1])];
      const time = [used && used + " used", left && left + " left"].filter(Boolean);
      if (time.length > 0) parts.push(make("p", { class: "note" }, time.join(", ")));
    }
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

  // The lines that the visitor made from here, and the variation that is shown.
  renderPath() {
    const { tour } = this;
    const ply = tour === null ? this.ply : tour.line.ply;
    const shown = this.own.filter((line) => line.ply === ply);
    if (tour !== null && tour.line.kind === "Variation") shown.push(tour.line);
    this.path.replaceChildren(
      ...shown.map((line) =>
        make("p", { class: "line" }, make("b", {}, line.kind), " ", this.words(line, 0)),
      ),
    );
  }

  renderLines() {
    // They would tell what is to be found.
    if (this.drill && this.drill.asks) return this.lines.replaceChildren();
    const found = this.engineLines();
    if (found.length === 0) return this.lines.replaceChildren(...this.unknownWords());
    const title = make(
      "h2",
      {},
      found.length > 1 ? "Engine's lines" : "Engine's line",
      make("small", {}, ` depth ${found[0].depth}`),
    );
    this.lines.replaceChildren(title, ...found.map((line) => this.line(line)));
  }

  // What is said instead of the engine's lines beside the game.
  unknownWords() {
    if (this.tour === null) return [];
    const words = endWords(this.position()) || "The engine's lines do not reach this position.";
    return [make("p", { class: "note" }, words)];
  }

  // A line of the engine, with its score.
  line(line) {
    return make("p", { class: "line" }, scoreMark(line.score), " ", this.words(line, line.root));
  }

  // The moves of a line from a number on, to be clicked. Where `interrupted` says so of a move, the number is written again.
  words(line, from, interrupted = () => false) {
    const positions = this.positionsOf(line);
    return line.san.slice(from).map((word, index) => {
      const at = from + index;
      const number = moveNumber(positions[at], index === 0 || interrupted(index));
      return moveButton(number, word, this.isAt(line, at + 1), () => this.enter(line, at + 1));
    });
  }

  renderMoves() {
    const focused = this.links.includes(document.activeElement);
    this.links.forEach((link, index) => {
      const now = index + 1 === this.ply;
      link.classList.toggle("now", now);
      if (now) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    for (const [step, line, at] of this.asides) {
      const now = this.isAt(line, at);
      step.classList.toggle("now", now);
      if (now) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    }
    const link = this.links[this.ply - 1];
    const aside = this.asides.map(([step]) => step).find((step) => step.classList.contains("now"));
    if (focused && link) link.focus({ preventScroll: true });
    const here = aside || link;
    this.list.scrollTop = (here ? here.offsetTop : 0) - this.list.clientHeight / 2;
  }

  // Begins to ask for better moves than a side's mistakes; ends it.
  learn(side) {
    this.drill = new Drill(this, side);
  }

  // False if nothing was asked.
  endDrill() {
    if (this.drill === null) return false;
    this.drill = null;
    this.render();
    return true;
  }

  escape() {
    return this.hand.cancel() || this.leave() || this.endDrill();
  }

  // What is said to those who cannot see the board.
  spoken() {
    if (this.tour !== null) return this.view().name;
    // It would tell what is to be found.
    const { text } = (!this.drill?.asks && this.verdicts.get(this.ply)) || { text: "" };
    return `${this.names[this.ply]}, ${scoreText(this.game.scores[this.ply])}. ${text}`;
  }
}

// A judgement in words.
const verdictText = (verdict) =>
  make("p", {}, make("b", { class: "glyph " + verdict.kind }, ALL_GLYPHS[verdict.kind]), " " + verdict.text);
