// The explorer: board, path, what is known of the position, and its moves.

const SHOWN_NEWS = 12;
// Plies shown of an expected line.
const EXPECTED = 8;
const counted = (count, what) =>
  `${count.toLocaleString("en")} ${what}${count === 1 ? "" : what.endsWith("h") ? "es" : "s"}`;

class Explorer extends Stage {
  // `moved` is called whenever another position is shown.
  constructor(graph, news, moved) {
    super();
    Object.assign(this, { graph, news, moved, flipped: false, shownNews: SHOWN_NEWS });
    this.element = this.build();
    this.go(0, []);
    this.flipped = this.root.sides === "b" || (this.root.sides === "wb" && this.positions[0].turn === "b");
    this.render();
  }

  get root() {
    return this.graph.info.roots[this.number];
  }

  build() {
    this.begin();
    this.facts = make("div", { class: "verdict" });
    this.path = make("div", { class: "path", role: "navigation", "aria-label": "Moves played" });
    this.table = make("div", {
      class: "scroll replies",
      tabindex: "0",
      role: "region",
      "aria-label": "Moves of this position",
    });
    this.since = make("input", {
      type: "date",
      "aria-label": "Show what changed since",
      onchange: () => {
        this.news.since = this.since.value === "" ? null : Date.parse(this.since.value) / 1000;
        this.shownNews = SHOWN_NEWS;
        this.render();
      },
    });
    this.newsNote = make("p", { class: "note" });
    this.newsList = make("ol", {});
    this.moreNews = tool("Show more", () => {
      this.shownNews *= 4;
      this.renderNews();
    });
    const heading = make("h2", {}, "What is new since ", this.since);
    this.changes = make(
      "section",
      { class: "changes" },
      heading,
      this.newsNote,
      this.newsList,
      this.moreNews,
    );
    const stage = this.stage(
      "Best move, or the one taken back",
      "To the end of the expected line",
      this.searchForm(),
      this.tools(
        tool("Copy moves", () => copy(this.san.join(" "), "Moves")),
        tool("Save picture", () => savePng(this.board, this.fileName())),
      ),
    );
    const side = make("div", { class: "side" }, this.path, this.facts, this.table);
    return make("div", {}, this.chooser(), make("div", { class: "viewer" }, stage, side), this.changes);
  }

  // Where the tree begins, if it does at several positions.
  chooser() {
    const { roots } = this.graph.info;
    if (roots.length < 2) return null;
    this.choice = make(
      "select",
      { "aria-label": "Where the tree begins", onchange: () => this.go(Number(this.choice.value), []) },
      roots.map((root, number) => make("option", { value: String(number) }, root.name)),
    );
    return make("p", { class: "sift" }, this.choice);
  }

  searchForm() {
    const attributes = {
      type: "search",
      placeholder: "Moves, such as e4 c5 Nf3",
      "aria-label": "Go to the position after these moves, such as e4 c5 Nf3 (m)",
      title: "Moves from the beginning, or from here (m)",
    };
    const [form, input] = typedForm(attributes, "Go", () => this.search(input.value));
    this.input = input;
    return form;
  }

  // Shows the position after these legal moves from a root; `ahead` are moves that the right arrow then follows.
  go(number, moves, ahead = []) {
    this.number = number;
    this.moves = moves;
    this.ahead = ahead;
    this.positions = walk(readFen(this.root.fen), moves);
    this.san = moves.map((move, ply) => sanOf(this.positions[ply], move));
    this.indices = [number];
    moves.forEach((move, ply) => {
      this.indices.push(this.graph.after(this.indices[ply], move, this.positions[ply + 1]));
    });
    if (this.choice) this.choice.value = String(number);
    this.hand.clear();
    this.render();
    this.moved();
  }

  position() {
    return this.positions.at(-1);
  }

  // The number of the position shown; -1 if it is not in the tree.
  index() {
    return this.indices.at(-1);
  }

  node() {
    return this.index() < 0 ? null : this.graph.node(this.index());
  }

  // Plays a legal move.
  play(move) {
    const ahead = this.ahead[0] === move ? this.ahead.slice(1) : [];
    this.go(this.number, [...this.moves, move], ahead);
  }

  // Takes moves back until so many are left.
  take(left) {
    if (left < 0 || left >= this.moves.length) return;
    this.go(this.number, this.moves.slice(0, left), [...this.moves.slice(left), ...this.ahead]);
  }

  first() {
    this.take(0);
  }

  // Back a move, or on along the moves taken back or the best one.
  step(by) {
    if (by < 0) return this.take(this.moves.length - 1);
    const best = this.best();
    const move = this.ahead[0] || (best && best.move);
    if (move) this.play(move);
  }

  last() {
    const best = this.best();
    const rest = this.ahead.length > 0 ? this.ahead : best ? this.graph.expected(this.index(), best) : [];
    if (rest.length > 0) this.go(this.number, [...this.moves, ...rest]);
  }

  // Goes along the moves of a text, from the beginning or, if that is not possible, from here, as far as they are legal.
  search(text) {
    const words = text
      .replace(/\d+\.+/g, " ")
      .split(/\s+/)
      .filter(Boolean);
    if (words.length === 0) return;
    const follow = (before) => {
      let position = walk(this.positions[0], before).at(-1);
      const moves = [...before];
      for (const word of words) {
        const meant = movesMeant(position, word);
        if (meant.length !== 1) return { moves, unknown: word, position };
        moves.push(meant[0]);
        position = play(position, meant[0]);
      }
      return { moves };
    };
    let found = follow([]);
    if (found.moves.length === 0) found = follow(this.moves);
    if (found.unknown)
      announce(
        `${found.unknown} is not a legal move ${found.moves.length === 0 ? "in the first position" : "after these moves"}`,
        true,
      );
    else this.input.value = "";
    this.go(this.number, found.moves);
    if (!found.unknown && this.index() < 0) announce("This position is not in the tree", true);
  }

  view() {
    const last = this.moves.length === 0 ? null : travel(this.positions.at(-2), this.moves.at(-1));
    const before = this.positions.at(-2);
    const name = before ? `${moveNumber(before, true)} ${this.san.at(-1)}` : "Start";
    const best = this.best();
    const arrows = best ? [[...travel(this.position(), best.move), "better"]] : [];
    return { position: this.position(), last, arrows, name, flipped: this.flipped, ...this.hand.marks() };
  }

  // The best move, unless it repeats a position.
  best() {
    const node = this.node();
    const best = node && bestMove(node);
    return best && !this.repeats(best.move) ? best : null;
  }

  // Would a move lead back to a position of the path?
  repeats(move) {
    const key = keyOf(play(this.position(), move));
    return this.positions.some((position) => keyOf(position) === key);
  }

  render() {
    const [view, node] = [this.view(), this.node()];
    this.paint(view, node ? node.score : undefined, this.root.chess960);
    const opening = this.indices
      .map((index) => index >= 0 && this.graph.node(index).opening)
      .findLast(Boolean);
    this.legend.replaceChildren(
      make("b", {}, view.name),
      opening ? make("span", { class: "note" }, opening) : "",
    );
    this.renew([this.path, this.table], () => {
      this.renderPath();
      this.renderFacts();
      this.renderTable();
      this.renderNews();
    });
  }

  // The moves that led here, and behind them those that were taken back.
  renderPath() {
    const all = [...this.moves, ...this.ahead];
    const positions = walk(this.positions[0], all);
    const step = (number, word, ply) =>
      moveButton(number, word, ply === this.moves.length, () =>
        this.go(this.number, all.slice(0, ply), all.slice(ply)),
      );
    const words = all.map((move, ply) => {
      const san = ply < this.san.length ? this.san[ply] : sanOf(positions[ply], move);
      return step(moveNumber(positions[ply], ply === 0), san, ply + 1);
    });
    this.path.replaceChildren(make("p", { class: "line" }, step("", "Start", 0), words));
  }

  renderFacts() {
    const node = this.node();
    const words =
      endWords(this.position()) || (node ? this.nodeWords(node) : "This position is not in the tree.");
    this.facts.replaceChildren(make("p", {}, words));
  }

  nodeWords(node) {
    if (node.score === undefined) return "Not searched yet.";
    const searches = node.moves.reduce((sum, move) => sum + move.searches, 0);
    const changed = [" Best move or score changed ", dayOf(node.changed), "."];
    return [
      scoreMark(node.score),
      ` at depth ${node.depth}, ${counted(searches, "search")} below.`,
      changed,
      this.news.isNew(this.index()) ? [" ", make("b", { class: "new" }, "new")] : null,
    ];
  }

  renderTable() {
    const node = this.node();
    this.table.hidden = !node || node.moves.length === 0;
    if (this.table.hidden) return this.table.replaceChildren();
    const head = (text, name) => make("th", { scope: "col", class: name || null }, make("span", {}, text));
    const body = make(
      "tbody",
      {},
      node.moves.map((move) => this.row(move)),
    );
    const played = node.moves.some((move) => move.games[0] > 0);
    this.table.replaceChildren(
      make(
        "table",
        { class: "list" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            head("Move"),
            head("Score", "number"),
            head("Depth", "number wide"),
            head("Searches", "number"),
            played ? head("Games + −", "number") : null,
            head("Expected"),
          ),
        ),
        body,
      ),
    );
    if (!played) return;
    [...body.rows].forEach((row, at) => {
      row.cells[3].after(
        make("td", { class: "number" }, gamesText(node.moves[at].games, this.position().turn)),
      );
    });
  }

  row(move) {
    const san = sanOf(this.position(), move.move);
    const word = button(san, san, () => this.play(move.move), { class: "plain" });
    const repeats = this.repeats(move.move);
    const score = repeats ? "repeats" : scoreText(move.score);
    const below = move.child < 0 ? 0 : this.news.below(move.child);
    const notes = [move.note && make("span", { class: "note" }, " " + move.note)];
    if (below > 0) notes.push(" ", make("b", { class: "new" }, `${below.toLocaleString("en")} new`));
    const line =
      move.score === undefined ? [] : this.graph.expected(this.index(), move).slice(1, 1 + EXPECTED);
    return make(
      "tr",
      {
        class: move.note === "excluded" ? "left-out" : null,
        onclick: (event) => event.target.closest("button") || this.play(move.move),
      },
      make("td", {}, word, notes),
      make("td", { class: "number" }, score),
      make("td", { class: "number wide" }, move.score === undefined ? "" : String(move.depth)),
      make("td", { class: "number" }, move.searches > 0 ? move.searches.toLocaleString("en") : ""),
      make("td", { class: "expected" }, unbroken(lineText(play(this.position(), move.move), line))),
    );
  }

  // The positions that changed, the nearest to the beginning first.
  renderNews() {
    const { news } = this;
    // Not while it is being typed.
    if (document.activeElement !== this.since)
      this.since.value = news.since === null ? "" : dayOf(news.since);
    const all = news.all();
    const items = all.slice(0, this.shownNews).map((index) => {
      const { root, moves } = this.graph.wayTo(index);
      const { score, changed } = this.graph.node(index);
      const start = readFen(this.graph.info.roots[root].fen);
      const text = moves.length === 0 ? this.graph.info.roots[root].name : lineText(start, moves);
      const click = () => {
        this.go(root, moves);
        this.element.scrollIntoView();
      };
      return make(
        "li",
        {},
        button(text, text, click, { class: "plain" }),
        " ",
        make("small", {}, `${scoreText(score)} · ${dayOf(changed)}`),
      );
    });
    this.newsNote.textContent =
      news.since === null
        ? "Choose a date."
        : `Best move or score of ${counted(all.length, "position")} changed since then; the nearest to the beginning come first.`;
    this.newsList.replaceChildren(...items);
    this.moreNews.hidden = all.length === items.length;
  }

  escape() {
    return this.hand.cancel();
  }

  // What is said to those who cannot see the board.
  spoken() {
    const node = this.node();
    return `${this.view().name}, ${node ? scoreText(node.score) : "not in the tree"}`;
  }
}

// Moves as people read them.
function lineText(position, moves) {
  const positions = walk(position, moves);
  return moves
    .map((move, ply) => `${moveNumber(positions[ply], ply === 0)} ${sanOf(positions[ply], move)}`.trim())
    .join(" ");
}

// A text that is broken only at its spaces, not in O-O.
const unbroken = (text) =>
  text.split(" ").map((word, index) => [index > 0 ? " " : "", make("span", { class: "whole" }, word)]);

// Games, and how many of them the side to move won, drew and lost.
function gamesText([games, white, black], turn) {
  if (games === 0) return "";
  const [won, lost] = turn === "w" ? [white, black] : [black, white];
  return `${games} +${won} −${lost}`;
}

// The address of the view: `#0/e2e4/c7c5` is the position after these moves from the first root.
document.addEventListener("DOMContentLoaded", () => {
  const text = (id) => document.getElementById(id).textContent;
  const info = JSON.parse(text("info"));
  const page = document.getElementById("page");
  const graph = new Graph(info, text("positions"));
  let explorer = null;
  const moved = () => {
    if (explorer === null) return;
    setAddress("#" + [explorer.number, ...explorer.moves].join("/"));
    document.title = `${explorer.view().name} · ${info.title}`;
  };
  const follow = () => {
    const [number, ...moves] = location.hash.slice(1).split("/");
    const root = Number(number) || 0;
    if (!info.roots[root]) return;
    let position = readFen(info.roots[root].fen);
    const legal = [];
    for (const move of moves) {
      if (!legalMoves(position).includes(move)) break;
      legal.push(move);
      position = play(position, move);
    }
    explorer.go(root, legal);
  };
  const news = new News(graph);
  const wanted = location.hash;
  explorer = new Explorer(graph, news, moved);
  page.replaceChildren(explorer.element);
  if (wanted !== "") follow();
  // The board is there before all positions are looked at.
  setTimeout(() => {
    news.begin();
    explorer.render();
  });
  addEventListener("hashchange", follow);
  listenToKeys(() => explorer);
});
