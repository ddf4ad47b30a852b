"use strict";
// A minimal position: plays moves that are known to be legal, and writes FENs.
// Squares count from a1 (0) to h8 (63); pieces are "wK" to "bP".

const FILES = "abcdefgh";
const squareOf = (name) => FILES.indexOf(name[0]) + 8 * (name.charCodeAt(1) - 49);
const nameOf = (square) => FILES[square % 8] + (1 + (square >> 3));

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
  const castling = rooks.map((rook) => {
    const side = rook < 8 ? "w" : "b";
    const kingside = position.pieces.indexOf(side + "K") < rook;
    const outer = outerRook(position.pieces, side, kingside) === rook;
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
  if (!castles(position, from, to)) return [from, to];
  return [from, (from & 56) + (to > from ? 6 : 2)];
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
        const squares = [...position.pieces.keys()].filter((square) => position.pieces[square] === color + role);
        if (squares.length === 0) return "";
        return names[role] + (squares.length > 1 ? "s " : " ") + squares.map(nameOf).join(" ");
      })
      .filter((text) => text !== "")
      .join(", ");
  return `White: ${side("w")}. Black: ${side("b")}. ${position.turn === "w" ? "White" : "Black"} to move.`;
}
