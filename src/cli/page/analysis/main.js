// The address of the view: empty for the tables, `#3` for the game with this number or the third position, `#3/25` for its
// ply 25.

document.addEventListener("DOMContentLoaded", () => {
  const page = document.getElementById("page");
  const { title } = page.dataset;
  const all = readRows();
  const [games, positions] = [all.filter((row) => row.players), all.filter((row) => !row.players)];
  if (!document.querySelector("footer")) page.before(unfinishedNote(all.length));
  // A game is addressed by its number in its file, as everywhere, unless there are several files, or positions.
  const numbers = new Set(games.map((game) => game.number));
  const isOneFile = positions.length === 0 && numbers.size === games.length;
  for (const row of all) row.address = (isOneFile && row.number) || row.block;
  // The block that is shown, 0 for the tables; null before anything is shown.
  let [viewer, block, tables, scrolled] = [null, null, null, 0];
  const open = (row) => {
    location.hash = `#${row.address}`;
  };

  const showTables = () => {
    [viewer, block] = [null, 0];
    tables = tables || allTables(title, games, positions, open);
    page.replaceChildren(tables);
    document.title = title;
  };

  const showBlock = (row) => {
    const game = { ...row, ...JSON.parse(row.data.textContent) };
    block = row.block;
    const address = (ply) => `#${row.address}/${ply}`;
    viewer = new Viewer(game, address, (ply) => setAddress(address(ply)));
    const index = all.indexOf(row);
    const beside = (by, text) =>
      all[index + by] ? make("a", { href: `#${all[index + by].address}` }, text) : null;
    const above =
      all.length > 1
        ? make(
            "nav",
            {},
            make(
              "a",
              { href: "#" },
              "All " + (positions.length === 0 ? "games" : games.length === 0 ? "positions" : "entries"),
            ),
            make("span", {}, `${index + 1} of ${all.length}`),
            beside(-1, "‹ Previous"),
            beside(1, "Next ›"),
          )
        : null;
    page.replaceChildren(
      ...[above, ...(game.players ? gameHead(game) : positionHead(game)), viewer.element].filter(Boolean),
    );
    if (game.players && viewer.moves.length > 0)
      page.append(playerCards(game), ...(momentCards(viewer) || []));
    document.title =
      (game.players ? game.players.map((player) => player.name).join(" – ") : game.id) + " · " + title;
  };

  const follow = (event) => {
    const [number, ply] = location.hash.slice(1).split("/").map(Number);
    const row = all.length === 1 ? all[0] : all.find((entry) => entry.address === number);
    if (block !== (row ? row.block : 0)) {
      if (viewer === null) scrolled = scrollY;
      if (row) showBlock(row);
      else showTables();
      scrollTo(0, row ? 0 : scrolled);
      // Whoever follows a link by keyboard or screen reader goes on from the heading.
      const heading = page.querySelector("h1");
      if (event && heading) {
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      }
    }
    viewer?.show(Math.trunc(ply) || 0);
  };

  addEventListener("hashchange", follow);
  listenToKeys(() => viewer);
  follow();
});

// The rows of the tables: one follows the block of each game or position. The last one may be written only in part.
function readRows() {
  return [...document.querySelectorAll("script.row")].flatMap((element, index) => {
    try {
      return { ...JSON.parse(element.textContent), block: index + 1, data: element.previousElementSibling };
    } catch {
      return [];
    }
  });
}

// The note on a page that was opened before its end was there.
const unfinishedNote = (count) =>
  make(
    "p",
    { class: "card note", role: "status" },
    `The analysis had not ended when this page was opened: ${count} of its games or positions ${count === 1 ? "is" : "are"} here. ` +
      "Reload the page to see more. If the analysis was interrupted, give the same command again to resume it.",
  );

function gameHead(game) {
  const [white, black] = game.players;
  const disc = (side) => make("i", { class: "disc " + side });
  const book = game.opening && game.book > 0 ? bookEnd(game) : null;
  return [
    make(
      "h1",
      {},
      make("span", {}, disc("white"), playerName(white)),
      make("b", { class: "result" }, resultText(game.result)),
      make("span", {}, disc("black"), playerName(black)),
    ),
    make("p", { class: "facts" }, [...game.facts, game.opening].filter(Boolean).join(" · "), book),
  ];
}

// Where the game leaves the table of openings.
function bookEnd(game) {
  const moves = game.san.split(" ");
  if (game.book >= moves.length) return null;
  const positions = walk(readFen(game.fen), game.moves.split(" ").slice(0, game.book));
  return ` (out of the book with ${moveNumber(positions[game.book], true)} ${moves[game.book]})`;
}

const positionHead = (game) => [make("h1", {}, game.id), make("p", { class: "facts fen" }, game.fen)];

// The words of a text in small letters, each after a space: what `includes` finds in it with its space begins a word.
const spaced = (text) => text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+|^/gu, " ").trimEnd();

function allTables(title, games, positions, open) {
  const element = make("div", {}, make("h1", {}, title));
  const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
  if (games.length > 0) {
    const table = gameTable(games, open);
    const count = make("span", { role: "status" }, counted(games.length, "game"));
    const texts = new Map(
      games.map((game) => [
        game,
        spaced([...game.players.map((player) => player.name), game.opening, game.event, game.date].join(" ")),
      ]),
    );
    const sift = (admits) => {
      count.textContent = counted(table.sift(admits), "game");
    };
    const search = make("input", {
      type: "search",
      placeholder: "Player, opening, event …",
      "aria-label": "Show only games with these words",
      oninput: () => {
        const words = spaced(search.value).split(/(?= )/);
        sift((game) => words.every((word) => texts.get(game).includes(word)));
      },
    });
    const choose = (name) => {
      search.value = name;
      sift((game) => game.players.some((player) => player.name === name));
      table.element.scrollIntoView({ block: "start" });
      search.focus({ preventScroll: true });
    };
    const players = playersOf(games);
    element.append(make("div", { class: "sift" }, search, count), table.element);
    if (players.length > 1) element.append(make("h2", {}, "Players"), playerTable(players, choose).element);
  }
  if (positions.length > 0) {
    const judged = positions.filter((position) => position.solved !== null);
    const solved = judged.filter((position) => position.solved).length;
    element.append(
      make(
        "h2",
        {},
        counted(positions.length, "position") +
          (judged.length > 0 ? `, ${solved} of ${judged.length} solved` : ""),
      ),
      positionTable(positions, open).element,
    );
  }
  return element;
}
