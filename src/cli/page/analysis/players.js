// The players of a game, and its critical moments.

const PHASES = ["opening", "middlegame", "endgame"];
const percent = (number) => (number === null || number === undefined ? "–" : number.toFixed(1) + " %");
const pawnsLost = (number) => (number === null || number === undefined ? "–" : Math.round(number));

function playerName(player) {
  return [
    player.title ? make("abbr", { class: "title" }, player.title + " ") : null,
    player.name,
    player.elo ? make("small", {}, ` ${player.elo}`) : null,
  ];
}

function playerCards(game) {
  return make(
    "div",
    { class: "players" },
    game.players.map((player, index) => {
      const side = index === 0 ? "white" : "black";
      const times = (game.times || []).filter(
        (seconds, ply) => seconds !== null && mover(game, ply) === side[0],
      );
      const sum = times.reduce((total, seconds) => total + seconds, 0);
      const counts = Object.keys(GLYPHS).map((kind, at) =>
        make(
          "span",
          { class: kind, title: plural(kind) },
          make("b", {}, player.counts[at]),
          ` ${player.counts[at] === 1 ? kind : plural(kind)}`,
        ),
      );
      const phases = player.phases.flatMap(([moves, accuracy, loss], at) =>
        moves === 0
          ? []
          : [
              make(
                "tr",
                {},
                make("th", { scope: "row" }, PHASES[at]),
                make("td", {}, moves),
                make("td", {}, percent(accuracy)),
                make("td", {}, pawnsLost(loss)),
              ),
            ],
      );
      return make(
        "section",
        { class: "card" },
        make(
          "h2",
          {},
          make("i", {
            class: "disc " + side,
            role: "img",
            "aria-label": side === "white" ? "White" : "Black",
          }),
          playerName(player),
        ),
        make(
          "p",
          { class: "big" },
          make("b", {}, percent(player.accuracy)),
          " accuracy",
          make("span", {}, make("b", {}, pawnsLost(player.loss)), " average centipawn loss"),
        ),
        make("p", { class: "counts" }, counts),
        make(
          "table",
          {},
          make(
            "thead",
            {},
            make(
              "tr",
              {},
              ["phase", "moves", "accuracy", "loss"].map((text) => make("th", { scope: "col" }, text)),
            ),
          ),
          make("tbody", {}, phases),
        ),
        times.length === 0
          ? null
          : make(
              "p",
              { class: "note" },
              `Time used: ${timeText(sum)}, ${timeText(sum / times.length)} a move, at most ${timeText(Math.max(...times))}.`,
            ),
      );
    }),
  );
}

const resultText = (result) => result.replace("1/2-1/2", "½–½").replace("-", "–");
const plural = (kind) => (kind === "inaccuracy" ? "inaccuracies" : kind + "s");

// The critical moments, as boards that link to them.
function momentCards(viewer) {
  const { game } = viewer;
  if (!game.critical || game.critical.length === 0) return null;
  const cards = game.critical.map((ply) => {
    const verdict = viewer.verdicts.get(ply);
    const board = newBoard();
    const before = viewer.positions[ply - 1];
    paintBoard(board, {
      position: before,
      last: viewer.moveBefore(ply - 1),
      arrows: viewer.missed(ply),
      flipped: before.turn === "b",
      plain: true,
      name: "Before " + viewer.names[ply],
    });
    return viewer.plyLink(
      ply,
      { class: "card moment" },
      board,
      verdictText(verdict),
      make("p", { class: "note" }, `${scoreText(game.scores[ply - 1])} → ${scoreText(game.scores[ply])}`),
    );
  });
  return [make("h2", {}, "Critical moments"), make("div", { class: "moments" }, cards)];
}
