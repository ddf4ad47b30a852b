"use strict";
// A position: FENs, legal moves and their names.
// Squares count from a1 (0) to h8 (63); pieces are "wK" to "bP".

const FILES = "abcdefgh";
const squareOf = (name) => FILES.indexOf(name[0]) + 8 * (name.charCodeAt(1) - 49);
const nameOf = (square) => FILES[square % 8] + (1 + (square >> 3));
// The words of a line of moves, none of an empty one.
const wordsOf = (line) => line.split(" ").filter(Boolean);

function readFen(fen) {
  const [board, turn, castling, passant, half, full] = fen.split(" ");
  const pieces = new Array(64).fill("");
  board.split("/").forEach((row, index) => {
    let square = 8 * (7 - index);
    for (const c of row) {
      if (c >= "1" && c <= "8") square += Number(c);
      else pieces[square++] = (c < "a" ? "w" : "b") + c.toUpperCase();
    }
  });
  const position = {
    pieces,
    turn,
    rooks: [],
    half: Number(half),
    full: Number(full),
    passant: passant === "-" ? -1 : squareOf(passant),
  };
  for (const c of castling.replace("-", "")) {
    const side = c < "a" ? "w" : "b";
    const wing = c.toUpperCase();
    const base = side === "w" ? 0 : 56;
    if (wing === "K" || wing === "Q") position.rooks.push(outerRook(pieces, side, wing === "K"));
    else position.rooks.push(base + FILES.indexOf(wing.toLowerCase()));
  }
  return position;
}

// The rook of a side that is farthest from its king on one wing: the one that K and Q of a FEN mean.
function outerRook(pieces, side, kingside) {
  const base = side === "w" ? 0 : 56;
  const row = pieces.slice(base, base + 8);
  return base + (kingside ? row.lastIndexOf(side + "R") : row.indexOf(side + "R"));
}

// Are the rights written with the files of the rooks? With all rooks in the corners and one king alone on the e-file, KQkq
// gives the other side none.
function areNamedByFile({ pieces, rooks }) {
  const files = ["w", "b"]
    .filter((side) => rooks.some((rook) => rook < 8 === (side === "w")))
    .map((side) => pieces.indexOf(side + "K") % 8);
  const inCorners = rooks.every((rook) => [0, 7, 56, 63].includes(rook));
  return inCorners && files.length === 2 && files.filter((file) => file === 4).length === 1;
}

function writeFen(position) {
  const rows = [];
  for (let rank = 7; rank >= 0; rank--) {
    let row = "";
    for (const piece of position.pieces.slice(8 * rank, 8 * rank + 8)) {
      row += piece === "" ? "1" : piece[0] === "w" ? piece[1] : piece[1].toLowerCase();
    }
    rows.push(row.replace(/1+/g, (gap) => gap.length));
  }
  // White's rights first, the kingside before the queenside.
  const rooks = [...position.rooks].sort((one, other) => (one < 8 === other < 8 ? other - one : one - other));
  const byFile = areNamedByFile(position);
  const castling = rooks.map((rook) => {
    const side = rook < 8 ? "w" : "b";
    const kingside = position.pieces.indexOf(side + "K") < rook;
    const outer = !byFile && outerRook(position.pieces, side, kingside) === rook;
    const letter = outer ? (kingside ? "k" : "q") : FILES[rook % 8];
    return side === "w" ? letter.toUpperCase() : letter;
  });
  const passant = position.passant < 0 ? "-" : nameOf(position.passant);
  return [
    rows.join("/"),
    position.turn,
    castling.join("") || "-",
    passant,
    position.half,
    position.full,
  ].join(" ");
}

// Where a piece goes from and to. Castling is written king takes rook, and the king goes to the g or c file.
function travel(position, move) {
  const from = squareOf(move);
  const to = squareOf(move.slice(2));
  const goal = castles(position, from, to) ? (from & 56) + (to > from ? 6 : 2) : to;
  // In Chess960 the king may stand there already.
  return [from, goal === from ? to : goal];
}

function castles(position, from, to) {
  const piece = position.pieces[from];
  return piece !== "" && piece[1] === "K" && position.pieces[to] === piece[0] + "R";
}

function play(position, move) {
  const from = squareOf(move);
  const to = squareOf(move.slice(2));
  const pieces = position.pieces.slice();
  const piece = pieces[from];
  const side = piece[0];
  const pawn = piece[1] === "P";
  let capture = pieces[to] !== "";
  pieces[from] = "";
  if (castles(position, from, to)) {
    capture = false;
    pieces[to] = "";
    const base = from & 56;
    pieces[base + (to > from ? 6 : 2)] = piece;
    pieces[base + (to > from ? 5 : 3)] = side + "R";
  } else {
    if (pawn && !capture && from % 8 !== to % 8) pieces[to ^ 8] = "";
    pieces[to] = move.length > 4 ? side + move[4].toUpperCase() : piece;
  }
  const home = (square) => square < 8 === (side === "w");
  const enemy = (side === "w" ? "b" : "w") + "P";
  const beside = (square) => square >> 3 === to >> 3 && pieces[square] === enemy;
  const double = pawn && Math.abs(from - to) === 16 && (beside(to - 1) || beside(to + 1));
  return {
    pieces,
    turn: side === "w" ? "b" : "w",
    rooks: position.rooks.filter((rook) => rook !== from && rook !== to && !(piece[1] === "K" && home(rook))),
    passant: double ? (from + to) / 2 : -1,
    half: pawn || capture ? 0 : position.half + 1,
    full: position.full + (side === "b" ? 1 : 0),
  };
}

// All positions of a sequence of moves, the first included.
function walk(position, moves) {
  const positions = [position];
  for (const move of moves) positions.push(play(positions[positions.length - 1], move));
  return positions;
}

// The steps of pieces in files and ranks; only knights and kings make no more than one.
const STEPS = {
  N: [-2, -1, 1, 2].flatMap((files) =>
    [3 - Math.abs(files), Math.abs(files) - 3].map((ranks) => [files, ranks]),
  ),
  B: [-1, 1].flatMap((files) => [-1, 1].map((ranks) => [files, ranks])),
  R: [
    [-1, 0],
    [1, 0],
    [0, -1],
    [0, 1],
  ],
};
STEPS.Q = STEPS.K = [...STEPS.B, ...STEPS.R];

// The square some files and ranks away; -1 beyond the edge.
function away(square, files, ranks) {
  const [file, rank] = [(square % 8) + files, (square >> 3) + ranks];
  return file >= 0 && file < 8 && rank >= 0 && rank < 8 ? file + 8 * rank : -1;
}

// The squares to which a piece, no pawn, could go from a square if those that are taken were all the enemy's.
function reach(pieces, square, role) {
  const found = [];
  for (const [files, ranks] of STEPS[role]) {
    let to = away(square, files, ranks);
    while (to >= 0) {
      found.push(to);
      if (pieces[to] !== "" || role === "N" || role === "K") break;
      to = away(to, files, ranks);
    }
  }
  return found;
}

function isAttacked(pieces, square, by) {
  const has = (role) => (from) => pieces[from] === by + role;
  const pawns = [-1, 1].map((files) => away(square, files, by === "w" ? -1 : 1));
  return pawns.some(has("P")) || [..."NBRQK"].some((role) => reach(pieces, square, role).some(has(role)));
}

const enemyOf = (side) => (side === "w" ? "b" : "w");

function inCheck({ pieces, turn }) {
  return isAttacked(pieces, pieces.indexOf(turn + "K"), enemyOf(turn));
}

// The moves that leave no king in check.
function legalMoves(position) {
  const { pieces, turn } = position;
  const moves = [];
  pieces.forEach((piece, from) => {
    if (piece[0] !== turn) return;
    const targets = piece[1] === "P" ? pawnTargets(position, from) : reach(pieces, from, piece[1]);
    for (const to of targets) {
      if (pieces[to][0] === turn) continue;
      const move = nameOf(from) + nameOf(to);
      if (piece[1] === "P" && (to < 8 || to > 55)) moves.push(...[..."qrbn"].map((role) => move + role));
      else moves.push(move);
    }
  });
  const leavesCheck = (move) => {
    const next = play(position, move);
    return isAttacked(next.pieces, next.pieces.indexOf(turn + "K"), next.turn);
  };
  return [...moves, ...castlingMoves(position)].filter((move) => !leavesCheck(move));
}

function pawnTargets({ pieces, turn, passant }, from) {
  const [ahead, home] = turn === "w" ? [1, 1] : [-1, 6];
  const one = away(from, 0, ahead);
  const two = from >> 3 === home ? away(from, 0, 2 * ahead) : -1;
  const takes = [-1, 1]
    .map((files) => away(from, files, ahead))
    .filter((to) => to >= 0 && (pieces[to] !== "" || to === passant));
  if (pieces[one] === "") takes.push(one);
  if (two >= 0 && pieces[one] === "" && pieces[two] === "") takes.push(two);
  return takes;
}

// Castling of any kind: nothing stands between, and the king crosses no attacked square.
function castlingMoves({ pieces, turn, rooks }) {
  const king = pieces.indexOf(turn + "K");
  const between = (one, other) => {
    const first = Math.min(one, other);
    return Array.from({ length: Math.abs(one - other) + 1 }, (_, index) => first + index);
  };
  const allowed = rooks.filter((rook) => {
    if (rook < 8 !== (turn === "w")) return false;
    const [kingTo, rookTo] = rook > king ? [6, 5] : [2, 3];
    const base = king & 56;
    const way = between(king, base + kingTo);
    const isFree = [...way, ...between(rook, base + rookTo)].every(
      (square) => square === king || square === rook || pieces[square] === "",
    );
    return isFree && !way.some((square) => isAttacked(pieces, square, enemyOf(turn)));
  });
  return allowed.map((rook) => nameOf(king) + nameOf(rook));
}

// A legal move in standard notation.
function sanOf(position, move) {
  const { pieces } = position;
  const [from, to] = [squareOf(move), squareOf(move.slice(2))];
  const [side, role] = pieces[from];
  const takes = pieces[to] !== "" || (role === "P" && from % 8 !== to % 8) ? "x" : "";
  let text;
  if (castles(position, from, to)) text = to > from ? "O-O" : "O-O-O";
  else if (role === "P") {
    text = (takes ? FILES[from % 8] + "x" : "") + nameOf(to) + (move[4] ? "=" + move[4].toUpperCase() : "");
  } else {
    const rivals = legalMoves(position)
      .filter((other) => other !== move && other.slice(2) === move.slice(2))
      .map(squareOf)
      .filter((square) => pieces[square] === side + role);
    const sameFile = rivals.some((square) => square % 8 === from % 8);
    const sameRank = rivals.some((square) => square >> 3 === from >> 3);
    const name = nameOf(from);
    const which = rivals.length === 0 ? "" : !sameFile ? name[0] : !sameRank ? name[1] : name;
    text = role + which + takes + nameOf(to);
  }
  const next = play(position, move);
  if (!inCheck(next)) return text;
  return text + (legalMoves(next).length > 0 ? "+" : "#");
}

// The legal moves that a typed word may mean: standard notation, with a move number, without its signs, in small letters or
// with a needless file or rank too, or both squares.
function movesMeant(position, word) {
  const plain = (text) => text.replace(/[-+#x=:!?.\s]/g, "").replaceAll("0", "O");
  const wanted = plain(word.replace(/^\s*\d+\.+/, ""));
  const names = legalMoves(position).map((move) => {
    const squares = travel(position, move).map(nameOf).join("") + move.slice(4);
    const role = position.pieces[squareOf(move)][1];
    const [file, rank, goal] = [squares[0], squares[1], squares.slice(2)];
    const full = role === "P" ? [] : [role + file + goal, role + rank + goal];
    return [move, [plain(sanOf(position, move)), move, squares, role + squares, ...full]];
  });
  const having = (matches) => names.filter(([, texts]) => texts.some(matches)).map(([move]) => move);
  const exact = having((text) => text === wanted);
  return exact.length > 0 ? exact : having((text) => text.toLowerCase() === wanted.toLowerCase());
}

// What makes two positions the same for the rules of repetition.
const keyOf = (position) => writeFen(position).split(" ").slice(0, 4).join(" ");

// "13." before White's moves; "13..." before Black's where `always`.
function moveNumber(position, always) {
  if (position.turn === "w") return position.full + ".";
  return always ? position.full + "..." : "";
}

// The pieces of a position in words.
function describe(position) {
  const names = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight", P: "pawn" };
  const side = (color) =>
    Object.keys(names)
      .map((role) => {
        const squares = [...position.pieces.keys()].filter(
          (square) => position.pieces[square] === color + role,
        );
        if (squares.length === 0) return "";
        return names[role] + (squares.length > 1 ? "s " : " ") + squares.map(nameOf).join(" ");
      })
      .filter((text) => text !== "")
      .join(", ");
  return `White: ${side("w")}. Black: ${side("b")}. ${position.turn === "w" ? "White" : "Black"} to move.`;
}
