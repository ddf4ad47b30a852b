// Learn from your mistakes: the positions in which a side went wrong, one after another, to find a better move.

// Another line of the engine is a good answer too if it gives away less than this of the winning chances, in percent, and
// no forced mate: else it is an inaccuracy.
const GOOD_ENOUGH = 5;

// The plies of a side's bad moves to which the engine knew a better one.
function mistakesOf(viewer, side) {
  const { game, positions, verdicts } = viewer;
  const isOne = ([ply, { kind }]) =>
    isBad(kind) && positions[ply - 1].turn === side && game.lines[ply - 1].length > 0;
  return [...verdicts].filter(isOne).map(([ply]) => ply);
}

function learnButtons(viewer) {
  const buttons = Object.keys(SIDES).flatMap((side, index) => {
    const count = mistakesOf(viewer, side).length;
    if (count === 0) return [];
    const label = `Learn from ${SIDES[side]}'s mistakes (${count})`;
    const attributes = { class: "tool", title: viewer.game.players[index].name };
    return [button(label, label, () => viewer.learn(side), attributes)];
  });
  return buttons.length > 0 ? make("div", { class: "learn" }, buttons) : null;
}

class Drill {
  constructor(viewer, side) {
    Object.assign(this, {
      viewer,
      side,
      plies: mistakesOf(viewer, side),
      at: 0,
      asks: false,
      results: new Map(),
    });
    viewer.drill = this;
    viewer.flipped = side === "b";
    this.ask(0);
    viewer.goTo();
  }

  // The ply of the mistake; none behind the last.
  get ply() {
    return this.plies[this.at];
  }

  // Asks for a better move than the mistake with this number; behind the last one it counts.
  ask(number) {
    const { viewer } = this;
    Object.assign(this, { at: number, tries: 0, asks: number < this.plies.length, said: null });
    viewer.show(this.asks ? this.ply - 1 : viewer.ply);
    announce(viewer.verdict.querySelector("p").textContent, false);
    // On a touch screen a keyboard would cover the board.
    const types = this.asks && !matchMedia("(pointer: coarse)").matches;
    (types ? viewer.input : this.button()).focus({ preventScroll: true });
  }

  // The first button: behind an answer it goes on.
  button() {
    return this.viewer.verdict.querySelector("button");
  }

  // What a move is worth: is it good enough, in which words, and which of the engine's lines it begins.
  judge(move) {
    const { viewer, ply, side } = this;
    const position = viewer.positions[ply - 1];
    const lines = viewer.game.lines[ply - 1].map((_, number) => viewer.engineLine(ply - 1, number));
    const line = lines.find((other) => other.moves[0] === move);
    const named = (other) => `${moveNumber(position, true)} ${sanOf(position, other)}`;
    const name = named(move);
    const worth = ({ score }) => (side === "w" ? chances(score) : 100 - chances(score));
    const score = line ? ` (${scoreText(line.score)})` : "";
    if (line === lines[0]) return { good: true, line, words: `${name} is the engine's move${score}.` };
    if (name.endsWith("#")) return { good: true, line, words: `${name} is mate.` };
    const isMate = ({ score }) => Array.isArray(score) && score[1].includes("#");
    const isAlike = line && isMate(line) === isMate(lines[0]);
    if (isAlike && worth(lines[0]) - worth(line) < GOOD_ENOUGH) {
      const best = `${named(lines[0].moves[0])} (${scoreText(lines[0].score)})`;
      return { good: true, line, words: `${name} is good too${score}. The engine's move is ${best}.` };
    }
    if (move === viewer.moves[ply - 1]) return { words: `${name} is what was played. Find a better move.` };
    if (line) return { words: `${name} is not good enough${score}. Try another move.` };
    return { words: `${name} is not in the engine's lines. Try another move.` };
  }

  answer(move) {
    const { viewer, ply } = this;
    const { good, line, words } = this.judge(move);
    this.said = { good, words };
    announce(words, false);
    if (!good) {
      this.tries += 1;
      viewer.show(ply - 1);
      return;
    }
    this.results.set(ply, this.tries === 0 ? "first" : "found");
    this.asks = false;
    if (line) viewer.enter(line, 1);
    else viewer.play(move);
    this.button().focus({ preventScroll: true });
  }

  showAnswer() {
    const { viewer, ply } = this;
    const best = viewer.engineLine(ply - 1, 0);
    this.results.set(ply, "shown");
    this.asks = false;
    const number = moveNumber(viewer.positions[ply - 1], true);
    this.said = { words: `The engine's move is ${number} ${best.san[0]} (${scoreText(best.score)}).` };
    announce(this.said.words, false);
    viewer.enter(best, 1);
    this.button().focus({ preventScroll: true });
  }

  // "Found 2 (1 on the first try), 1 shown, 3 to come."
  count() {
    const having = (...kinds) => [...this.results.values()].filter((kind) => kinds.includes(kind)).length;
    const [first, found, shown] = [having("first"), having("first", "found"), having("shown")];
    const parts = [`Found ${found}${found > 0 ? ` (${first} on the first try)` : ""}`, `${shown} shown`];
    const skipped = this.plies.slice(0, this.at).filter((ply) => !this.results.has(ply)).length;
    const coming = this.plies.length - this.results.size - skipped;
    if (skipped > 0) parts.push(`${skipped} skipped`);
    if (coming > 0) parts.push(`${coming} to come`);
    return parts.join(", ") + ".";
  }

  // Its text and buttons, in the place of the sentence about the move.
  render(box) {
    const { viewer, plies, at, ply, asks, said } = this;
    const end = tool("End", () => viewer.endDrill());
    const isOver = at >= plies.length;
    const title = [
      `Learn from ${SIDES[this.side]}'s mistakes`,
      make("small", {}, ` ${at + 1} of ${plies.length}`),
    ];
    const parts = [make("h2", {}, isOver ? title[0] : title)];
    const choices = [];
    if (isOver) {
      parts.push(make("p", {}, this.count()));
      choices.push(tool("Once more", () => viewer.learn(this.side)));
    } else {
      const kind = viewer.verdicts.get(ply).kind;
      const played = `${viewer.names[ply]}${ALL_GLYPHS[kind]} was played.`;
      parts.push(make("p", {}, asks ? `${played} Find a better move for ${SIDES[this.side]}.` : played));
      if (said) parts.push(make("p", { class: said.good ? "good" : asks ? "mistake" : null }, said.words));
      const away = viewer.tour !== null || viewer.ply !== ply - 1;
      if (asks && away) choices.push(tool("Back to the position", () => viewer.show(ply - 1)));
      const next = at + 1 < plies.length ? "Next" : "Finish";
      if (asks) choices.push(tool("Show the answer", () => this.showAnswer()));
      choices.push(tool(asks ? "Skip" : next, () => this.ask(at + 1)));
      parts.push(make("p", { class: "note" }, this.count()));
    }
    box.className = "verdict drill";
    box.replaceChildren(...parts, make("div", { class: "choices" }, choices, end));
  }
}
