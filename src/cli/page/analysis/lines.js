// Lines that leave the game. Such a line is an object:
//   kind       "Line" (the engine's), "Your line", "Variation"
//   ply        where it leaves the game
//   moves san  its moves, and as people read them
//   root       moves before the engine's own in a "Line"
//   score      of a "Line", and `depth`

// A line that the engine found after `ply` plies, as the block of the page has it.
function newLine([score, moves, san], ply, depth) {
  return { kind: "Line", ply, moves: moves.split(" "), san: san.split(" "), root: 0, score, depth };
}

// What the engine found in a position, whatever led there.
class KnownLines {
  constructor(viewer) {
    Object.assign(this, { viewer, index: null, added: [] });
  }

  // Adds a position that was searched beside the game, with its lines.
  add(position, lines) {
    this.added.push([position, lines]);
  }

  // The lines of a position if it was searched, else the rests of lines that come through, the deepest first.
  of(position) {
    this.index = this.index || this.build();
    return this.index.get(keyOf(position)) || [];
  }

  build() {
    const { viewer, added } = this;
    const all = viewer.game.lines.flatMap((lines, ply) =>
      lines.map((_, number) => viewer.engineLine(ply, number)),
    );
    const index = new Map();
    for (const line of all) {
      const key = keyOf(viewer.positions[line.ply]);
      index.set(key, [...(index.get(key) || []), line]);
    }
    for (const [position, lines] of added) {
      const key = keyOf(position);
      if (!index.has(key)) index.set(key, lines);
    }
    const searched = new Set(index.keys());
    const rests = all.flatMap((line) =>
      line.moves.map((_, step) => {
        const [moves, san] = [line.moves.slice(step), line.san.slice(step)];
        return { ...line, position: viewer.positionsOf(line)[step], moves, san, depth: line.depth - step };
      }),
    );
    for (const rest of rests.sort((one, other) => other.depth - one.depth)) {
      const key = keyOf(rest.position);
      const there = index.get(key) || [];
      if (searched.has(key) || there.some((other) => other.moves[0] === rest.moves[0])) continue;
      index.set(key, [...there, rest]);
    }
    return index;
  }
}
