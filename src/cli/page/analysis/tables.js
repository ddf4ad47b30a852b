// Tables of games, players and positions that can be sorted and filtered, of which only the visible part is drawn, and all
// of it for the printer.

const CHUNK = 100;

// A column: its name, the value it sorts by, and, if that is not what is shown, a cell. Numbers sort downwards first.
function newTable(label, columns, rows, open) {
  const body = make("tbody", {});
  const more = make("p", { class: "more" });
  let [sorted, shown, descending, wanted] = [null, 0, false, rows];
  const seen = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting)) fill(CHUNK);
    },
    { rootMargin: "600px" },
  );
  const fill = (count) => {
    const next = wanted.slice(shown, shown + count).map((row) => {
      const cells = columns.map((column) =>
        make("td", { class: column.kind }, (column.cell || column.value)(row) ?? ""),
      );
      return make(
        "tr",
        {
          onclick: (event) => {
            if (open && !event.target.closest("a, button")) open(row);
          },
        },
        cells,
      );
    });
    body.append(...next);
    shown += next.length;
    // Checked again: the end may still be visible.
    seen.unobserve(more);
    if (shown < wanted.length) seen.observe(more);
  };
  const refill = () => {
    body.replaceChildren();
    shown = 0;
    fill(CHUNK);
  };
  const heads = columns.map((column) => {
    const head = make(
      "th",
      { scope: "col", class: column.kind },
      button(column.name, column.title ? `${column.name}: ${column.title}` : column.name, () => {
        descending =
          sorted === column ? !descending : Boolean(column.kind?.includes("number")) && !column.rising;
        sorted = column;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        wanted = [...wanted].sort(order(column, descending));
        refill();
      }),
    );
    return head;
  });
  const sift = (admits) => {
    wanted = rows.filter(admits);
    if (sorted) wanted.sort(order(sorted, descending));
    refill();
    return wanted.length;
  };
  refill();
  addEventListener("beforeprint", () => body.isConnected && fill(Infinity));
  const table = make(
    "table",
    { class: "list", "aria-label": label },
    make("thead", {}, make("tr", {}, heads)),
    body,
  );
  return { element: make("div", { class: "scroll" }, table, more), sift };
}

// Unknown values come last in both directions.
function order(column, descending) {
  const text = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  return (one, other) => {
    const [a, b] = [column.value(one), column.value(other)];
    if (a === b) return 0;
    if (a === null || a === "") return 1;
    if (b === null || b === "") return -1;
    const first = typeof a === "number" ? a - b : text.compare(a, b);
    return descending ? -first : first;
  };
}

// The column of links to the blocks of the page; `what` they are. A game has its number in its file.
const numberColumn = (what) => ({
  name: "#",
  kind: "number",
  rising: true,
  value: (row) => row.block,
  cell: (row) => {
    const number = row.number ?? row.block;
    return make(
      "a",
      { href: `#${row.address}`, title: row.file ?? "", "aria-label": `${what} ${number}` },
      number,
    );
  },
});

function gameTable(games, open) {
  const bare = (player) => percent(player.accuracy).replace(" %", "");
  const [white, black] = [(game) => game.players[0], (game) => game.players[1]];
  const bad = (player) => player.counts[2];
  return newTable(
    "Games",
    [
      numberColumn("Game"),
      { name: "White", kind: "wide", value: (game) => white(game).name },
      { name: "Black", kind: "wide", value: (game) => black(game).name },
      {
        name: "Players",
        kind: "narrow",
        value: (game) => white(game).name,
        cell: (game) =>
          game.players.map((player, side) =>
            make("div", {}, make("i", { class: "disc " + (side === 0 ? "white" : "black") }), player.name),
          ),
      },
      {
        name: "Result",
        kind: "whole",
        value: (game) => resultText(game.result),
      },
      { name: "Date", kind: "wide whole", value: (game) => game.date },
      { name: "Opening", kind: "wide", value: (game) => game.opening || "" },
      { name: "Moves", kind: "number wide", value: (game) => game.moves },
      {
        name: "Acc. W",
        title: "Accuracy of White",
        kind: "number wide",
        value: (game) => white(game).accuracy,
        cell: (game) => bare(white(game)),
      },
      {
        name: "Acc. B",
        title: "Accuracy of Black",
        kind: "number wide",
        value: (game) => black(game).accuracy,
        cell: (game) => bare(black(game)),
      },
      {
        name: "Acc.",
        title: "Accuracy of White and Black; sorted by the lower one",
        kind: "number narrow",
        value: (game) =>
          white(game).accuracy === null || black(game).accuracy === null
            ? null
            : Math.min(white(game).accuracy, black(game).accuracy),
        cell: (game) => game.players.map((player) => make("div", {}, bare(player))),
      },
      {
        name: "??",
        title: "Blunders of White and Black",
        kind: "number wide",
        value: (game) => bad(white(game)) + bad(black(game)),
        cell: (game) => `${bad(white(game))}–${bad(black(game))}`,
      },
    ],
    games,
    open,
  );
}

// The players of all games, with their results and means.
function playersOf(games) {
  const players = new Map();
  const points = { "1-0": [1, 0], "0-1": [0, 1], "1/2-1/2": [0.5, 0.5] };
  for (const game of games) {
    const [white, black] = game.players;
    const againstItself = white.name === black.name;
    game.players.forEach((player, side) => {
      if (player.name === "?") return;
      const sum = players.get(player.name) || {
        name: player.name,
        games: 0,
        sides: 0,
        decided: 0,
        points: 0,
        moves: 0,
        rated: 0,
        accuracies: 0,
        lost: 0,
        counts: [0, 0, 0],
      };
      players.set(player.name, sum);
      // A game of a player against itself is one, without a score.
      sum.games += againstItself && side === 1 ? 0 : 1;
      sum.sides += 1;
      if (!againstItself && game.result in points) {
        sum.decided += 1;
        sum.points += points[game.result][side];
      }
      player.counts.forEach((count, kind) => {
        sum.counts[kind] += count;
      });
      if (player.accuracy === null) return;
      sum.rated += 1;
      sum.accuracies += player.accuracy;
      sum.moves += player.moves;
      sum.lost += player.loss * player.moves;
    });
  }
  return [...players.values()].sort((one, other) => other.games - one.games);
}

function playerTable(players, choose) {
  const half = (number) =>
    (Math.floor(number) || number === 0 ? Math.floor(number) : "") + (number % 1 ? "½" : "");
  const accuracy = (player) => (player.rated > 0 ? player.accuracies / player.rated : null);
  const loss = (player) => (player.moves > 0 ? player.lost / player.moves : null);
  const per = (player, kind) => player.counts[kind] / player.sides;
  return newTable(
    "Players",
    [
      {
        name: "Player",
        value: (player) => player.name,
        cell: (player) =>
          button(player.name, `Games of ${player.name}`, () => choose(player.name), { class: "plain" }),
      },
      { name: "Games", kind: "number", value: (player) => player.games },
      {
        name: "Score",
        kind: "number",
        value: (player) => (player.decided > 0 ? player.points / player.decided : null),
        cell: (player) => `${half(player.points)}/${player.decided}`,
      },
      {
        name: "Accuracy",
        title: "Mean accuracy",
        kind: "number",
        value: accuracy,
        cell: (player) => percent(accuracy(player)),
      },
      {
        name: "Loss",
        title: "Average centipawn loss",
        kind: "number wide",
        value: loss,
        cell: (player) => pawnsLost(loss(player)),
      },
      ...Object.keys(GLYPHS).map((kind, at) => ({
        name: GLYPHS[kind],
        title: `${plural(kind)} a game`,
        kind: "number wide",
        value: (player) => per(player, at),
        cell: (player) => per(player, at).toFixed(1),
      })),
    ],
    players,
    (player) => choose(player.name),
  );
}

function positionTable(positions, open) {
  const judged = positions.some((position) => position.solved !== null);
  const solved = (position) => (position.solved === null ? "" : position.solved ? "yes" : "no");
  return newTable(
    "Positions",
    [
      numberColumn("Position"),
      { name: "Position", value: (position) => position.id },
      { name: "Best move", value: (position) => position.best },
      {
        name: "Score",
        title: "Score for White",
        kind: "number",
        value: (position) => chances(position.score),
        cell: (position) => scoreText(position.score),
      },
      { name: "Depth", kind: "number wide", value: (position) => position.depth },
      ...(judged
        ? [
            {
              name: "Solved",
              value: solved,
              cell: (position) =>
                make("span", { class: position.solved ? "good" : "blunder" }, solved(position)),
            },
          ]
        : []),
    ],
    positions,
    open,
  );
}
