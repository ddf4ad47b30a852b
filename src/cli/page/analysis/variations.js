// Variations of the PGN, between the moves of the game.

// A variation with its comments and the variations in it; the moves of `before` lead there from `ply`. The viewer learns
// the buttons of its moves, and what the engine found in it.
function variationText(viewer, ply, before, tree) {
  if (tree.text) return `(${tree.text})`;
  const from = before.moves.length;
  const line = {
    kind: "Variation",
    ply,
    moves: [...before.moves, ...wordsOf(tree.moves)],
    san: [...before.san, ...wordsOf(tree.san)],
  };
  if (tree.lines) {
    const positions = viewer.positionsOf(line).slice(from + 1);
    positions.forEach((position, index) => {
      const lines = tree.lines[index].map((found) => newLine(found, ply, tree.depths[index]));
      viewer.known.add(position, lines);
    });
  }
  const said = (step) => tree.comments.filter(([at]) => at === step);
  const inner = (step) => tree.variations.filter(([at]) => at === step);
  const interrupted = (index) => said(index).length + inner(index).length > 0;
  const comments = (step) => said(step).map(([, text]) => [make("q", {}, text), " "]);
  const words = viewer.words(line, from, interrupted).map((word, index) => {
    const step = index + 1;
    viewer.asides.push([word[0].querySelector("button"), line, from + step]);
    const score = tree.scores && make("small", {}, scoreText(tree.scores[index]) + " ");
    const start = { moves: line.moves.slice(0, from + index), san: line.san.slice(0, from + index) };
    const others = inner(step).map(([, other]) => [variationText(viewer, ply, start, other), " "]);
    return [word, score, comments(step), others];
  });
  const parts = ["(", comments(0), words].flat(Infinity).filter(Boolean);
  if (parts.at(-1) === " ") parts.pop();
  return make("span", { class: "line" }, parts, tree.result ? ` ${tree.result})` : ")");
}
