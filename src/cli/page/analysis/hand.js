// Moves by hand: a piece is dragged, or tapped and then its goal, or the move is typed.

const PROMOTIONS = { q: "Queen", r: "Rook", b: "Bishop", n: "Knight" };

class Hand {
  // Its moves go to the `play` of the viewer.
  constructor(viewer) {
    Object.assign(this, { viewer, chosen: -1, drops: new Map(), dragged: null });
    this.promotion = make("div", {
      class: "promotion",
      role: "group",
      "aria-label": "Promote to",
      hidden: true,
    });
    const label = "Your move, such as Nf3 or g1f3 (m)";
    const attributes = { type: "text", placeholder: "Your move, such as Nf3", "aria-label": label };
    [this.typed, this.input] = typedForm({ ...attributes, title: "Your move (m)" }, "Play", () =>
      this.read(),
    );
    const { board } = viewer;
    board.addEventListener("pointerdown", (event) => this.take(event));
    board.addEventListener("pointermove", (event) => this.drag(event));
    board.addEventListener("pointerup", (event) => this.drop(event));
    board.addEventListener("pointercancel", () => this.cancel());
    // A finger on a piece moves it, and elsewhere the page.
    const onPiece = (event) => {
      const square = squareAt(board, event.touches[0], viewer.flipped);
      if (square >= 0 && (this.isOwn(square) || this.drops.has(square))) event.preventDefault();
    };
    board.addEventListener("touchstart", onPiece, { passive: false });
  }

  isOwn(square) {
    const { pieces, turn } = this.viewer.position();
    return pieces[square][0] === turn;
  }

  // What the board shows of it.
  marks() {
    return { chosen: this.chosen, targets: [...this.drops.keys()] };
  }

  // Lets go of everything.
  clear() {
    Object.assign(this, { chosen: -1, drops: new Map(), dragged: null });
    this.promotion.hidden = true;
  }

  // The same, and shows it; false if nothing was held.
  cancel() {
    if (this.chosen < 0 && this.promotion.hidden) return false;
    this.clear();
    this.viewer.render();
    return true;
  }

  take(event) {
    if (event.button !== 0 || !this.promotion.hidden) return;
    const { viewer } = this;
    const square = squareAt(viewer.board, event, viewer.flipped);
    if (this.drops.has(square)) return this.play(square);
    const again = square === this.chosen;
    this.clear();
    if (square >= 0 && this.isOwn(square)) {
      this.chosen = square;
      this.drops = dropsOf(viewer.position(), square);
      this.dragged = { again };
      viewer.board.setPointerCapture(event.pointerId);
    }
    viewer.render();
  }

  drag(event) {
    if (!this.dragged) return;
    const { board } = this.viewer;
    const piece = board.querySelector(`[data-square="${this.chosen}"]`);
    const box = board.getBoundingClientRect();
    const at = (distance) => ((distance * 360) / box.width - SIDE / 2).toFixed(1);
    piece.setAttribute("x", at(event.clientX - box.left));
    piece.setAttribute("y", at(event.clientY - box.top));
    if (piece !== board.lastChild) board.append(piece);
  }

  drop(event) {
    if (!this.dragged) return;
    const { viewer, chosen } = this;
    const { again } = this.dragged;
    const square = squareAt(viewer.board, event, viewer.flipped);
    this.dragged = null;
    if (this.drops.has(square)) return this.play(square);
    // A second tap on the piece, or a move that is not possible, puts it back.
    if (square !== chosen || again) this.clear();
    viewer.render();
  }

  // Moves the chosen piece to a square.
  play(square) {
    const moves = this.drops.get(square);
    this.clear();
    if (moves.length === 1) return this.viewer.play(moves[0]);
    this.viewer.render();
    this.ask(moves);
  }

  // Asks for the piece to which a pawn promotes.
  ask(moves) {
    const { turn } = this.viewer.position();
    const choices = moves.map((move) => {
      const piece = draw("use", { href: "#" + turn + move[4].toUpperCase(), width: SIDE, height: SIDE });
      const name = PROMOTIONS[move[4]];
      const click = () => {
        this.clear();
        this.viewer.play(move);
      };
      return button(draw("svg", { viewBox: "0 0 45 45", "aria-hidden": "true" }, piece), name, click);
    });
    this.promotion.replaceChildren(...choices);
    this.promotion.hidden = false;
    choices[0].focus();
  }

  // Plays the move that was typed.
  read() {
    const word = this.input.value.trim();
    if (word === "") return;
    const position = this.viewer.position();
    const moves = movesMeant(position, word);
    if (moves.length === 1) {
      this.input.value = "";
      this.viewer.play(moves[0]);
      if (!this.viewer.drill) announce(this.viewer.view().name, false);
    } else {
      const names = moves.map((move) => sanOf(position, move)).join(" or ");
      announce(moves.length > 1 ? `${word} may be ${names}` : `${word} is not a legal move here`, true);
    }
  }
}

// A field for moves with its button, and the field alone.
function typedForm(attributes, word, submit) {
  const input = make("input", {
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    onkeydown: (event) => {
      if (event.key === "Escape") input.blur();
    },
    ...attributes,
  });
  const submitted = (event) => {
    event.preventDefault();
    submit();
  };
  const go = make("button", { type: "submit", class: "tool" }, word);
  return [make("form", { class: "typed", onsubmit: submitted }, input, go), input];
}

// The legal moves of the piece on a square by the square where it is dropped. Castling is the king on his rook, or on
// the square where he goes unless that is a move of its own.
function dropsOf(position, from) {
  const drops = new Map();
  const moves = legalMoves(position).filter((move) => squareOf(move) === from);
  for (const move of moves) {
    const to = squareOf(move.slice(2));
    drops.set(to, [...(drops.get(to) || []), move]);
  }
  for (const move of moves) {
    const [, goal] = travel(position, move);
    if (!drops.has(goal)) drops.set(goal, [move]);
  }
  return drops;
}
