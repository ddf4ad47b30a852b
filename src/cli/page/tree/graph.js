// The positions of the tree, one on each line of the page's block `positions`, read when they are looked at.

const SQUARES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const NOTES = { p: "preferred", x: "excluded", c: "leads back" };

// Moves of two characters, one for each square, and a promotion: "Mc" is e2e4, "0B=q" is a7b8q.
function readMoves(text) {
  const square = (sign) => nameOf(SQUARES.indexOf(sign));
  return (text.match(/..(=.)?/g) || []).map((move) => square(move[0]) + square(move[1]) + move.slice(3));
}

// A number to the base 36; -1 for none.
const readNumber = (text) => (text ? parseInt(text, 36) : -1);

// White's score: centipawns, or the winner and words ("w#5", "bTB loss").
function readScore(text) {
  if (!text) return undefined;
  if (text[0] === "w") return [1, text.slice(1)];
  if (text[0] === "b") return [-1, text.slice(1)];
  return Number(text);
}

// The 32-bit FNV-1a hash of an ASCII text (Fowler, Noll and Vo).
function fnv(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

// The best move of a position: those that count come first, of these those with a score.
function bestMove({ moves: [first] }) {
  return first && first.score !== undefined && first.note !== "excluded" ? first : null;
}

class Graph {
  constructor(info, text) {
    Object.assign(this, { info, lines: text.trim().split("\n"), nodes: new Map(), byKey: null });
  }

  get size() {
    return this.lines.length;
  }

  // A position: where it was found first, when it changed, its score, and its moves, best first.
  node(index) {
    let node = this.nodes.get(index);
    if (node) return node;
    const [head, ...moves] = this.lines[index].split(";");
    const [parent, changed, , score, depth, opening] = head.split(",");
    node = {
      parent: readNumber(parent),
      changed: readNumber(changed),
      score: readScore(score),
      depth: Number(depth || 0),
      opening: opening ? this.info.openings[readNumber(opening)] : null,
      moves: moves.map((text) => this.move(text)),
    };
    this.nodes.set(index, node);
    return node;
  }

  move(text) {
    const [move, score, depth, after, searches, games, white, black, note] = text.split(",");
    const isLine = Boolean(after) && after[0] === ">";
    return {
      move: readMoves(move)[0],
      score: readScore(score),
      depth: Number(depth || 0),
      child: isLine ? -1 : readNumber(after),
      line: isLine ? readMoves(after.slice(1)) : [],
      searches: Number(searches || 0),
      games: [games, white, black].map((count) => Number(count || 0)),
      note: NOTES[note] || null,
    };
  }

  // The first fields of all lines: where each position was found first, and when it changed.
  heads(use) {
    this.lines.forEach((line, index) => {
      const first = line.indexOf(",");
      const second = line.indexOf(",", first + 1);
      use(index, readNumber(line.slice(0, first)), readNumber(line.slice(first + 1, second)));
    });
  }

  // The position after a move: by the move, or, where the tree does not have it, by what stands on the board.
  after(index, move, position) {
    const known = index < 0 ? null : this.node(index).moves.find((other) => other.move === move);
    return known && known.child >= 0 ? known.child : this.find(position);
  }

  // The number of a position; -1 if it is not in the tree.
  find(position) {
    if (this.byKey === null) {
      this.byKey = new Map();
      this.lines.forEach((line, index) => {
        const hash = line.split(/[,;]/, 3)[2];
        // A few of many positions share a hash.
        const others = this.byKey.get(hash);
        this.byKey.set(hash, others === undefined ? index : [others, index].flat());
      });
    }
    const wanted = keyOf(position);
    const found = [this.byKey.get(fnv(wanted).toString(36)) ?? []].flat();
    return found.find((index) => keyOf(this.position(index)) === wanted) ?? -1;
  }

  position(index) {
    const { root, moves } = this.wayTo(index);
    return walk(readFen(this.info.roots[root].fen), moves).at(-1);
  }

  // The root and the moves that lead to a position.
  wayTo(index) {
    const moves = [];
    let at = index;
    for (let { parent } = this.node(at); parent >= 0; { parent } = this.node(at)) {
      moves.unshift(this.node(parent).moves.find((move) => move.child === at).move);
      at = parent;
    }
    return { root: at, moves };
  }

  // The line that is expected after a move of a position: best moves, then the line of the last search; it ends before a
  // position comes again.
  expected(index, { child, line, move }) {
    const moves = [move];
    const seen = new Set([index]);
    let [at, rest] = [child, line];
    while (at >= 0 && !seen.has(at)) {
      seen.add(at);
      const best = bestMove(this.node(at));
      if (!best) return moves;
      moves.push(best.move);
      [at, rest] = [best.child, best.line];
    }
    return at >= 0 ? moves : [...moves, ...rest];
  }
}
