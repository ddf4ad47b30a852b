// The graph of a game: White's chances by ply, the time of each move, the critical moments.

const GRAPH = { left: 34, right: 10, top: 16, height: 150, time: 40, bottom: 20 };

// `game` is what is shown, `names` the moves as "13. Na4"; `go` is called with a ply. Returns the element, and a
// function that marks a ply.
function newGraph(game, names, go) {
  const last = names.length - 1;
  const timed = game.times && game.times.length > 0;
  const height = GRAPH.top + GRAPH.height + (timed ? GRAPH.time : 0) + GRAPH.bottom;
  const svg = draw("svg", {
    height,
    tabindex: 0,
    role: "slider",
    "aria-label": "Evaluation over the game",
    "aria-valuemin": 0,
    "aria-valuemax": last,
  });
  const tip = make("div", { class: "tip", hidden: true });
  const element = make("div", { class: "graph" }, svg, tip);
  const cursor = draw("line", { class: "cursor" });
  const hover = draw("line", { class: "hover", visibility: "hidden" });
  let [width, marked] = [0, 0];

  const x = (ply) => GRAPH.left + ((width - GRAPH.left - GRAPH.right) * ply) / Math.max(1, last);
  const y = (score) => GRAPH.top + GRAPH.height * (1 - chances(score) / 100);
  const upright = (line, ply) => {
    for (const [name, value] of [
      ["x1", x(ply)],
      ["x2", x(ply)],
      ["y1", GRAPH.top],
      ["y2", height - GRAPH.bottom],
    ])
      line.setAttribute(name, value);
  };

  const paint = () => {
    const floor = GRAPH.top + GRAPH.height;
    const points = game.scores.map((score, ply) => `${x(ply).toFixed(1)} ${y(score).toFixed(1)}`);
    const parts = [
      draw("rect", {
        class: "black",
        x: GRAPH.left,
        y: GRAPH.top,
        width: Math.max(0, width - GRAPH.left - GRAPH.right),
        height: GRAPH.height,
      }),
      draw("path", { class: "white", d: `M${x(0)} ${floor}L${points.join("L")}L${x(last)} ${floor}z` }),
    ];
    for (const pawns of [3, 1, 0, -1, -3]) {
      const level = y(100 * pawns);
      parts.push(
        draw("line", {
          class: pawns === 0 ? "even" : "level",
          x1: GRAPH.left,
          x2: width - GRAPH.right,
          y1: level,
          y2: level,
        }),
      );
      parts.push(
        draw(
          "text",
          { x: GRAPH.left - 6, y: level + 4, "text-anchor": "end" },
          pawns > 0 ? "+" + pawns : String(pawns).replace("-", "−"),
        ),
      );
    }
    parts.push(...phaseMarks(), ...moveMarks(), ...(timed ? timeBars(floor) : []), cursor, hover);
    for (const [ply, kind] of game.verdicts)
      parts.push(draw("circle", { class: kind, cx: x(ply), cy: y(game.scores[ply]), r: 4.5 }));
    svg.setAttribute("width", width);
    svg.replaceChildren(...parts);
    upright(cursor, marked);
  };

  const phaseMarks = () =>
    game.phases.flatMap((ply, index) => {
      if (ply <= 0 || ply > last || (index === 0 && ply === game.phases[1])) return [];
      const line = draw("line", { class: "phase" });
      upright(line, ply);
      const late = x(ply) > width - 80;
      return [
        line,
        draw(
          "text",
          { x: x(ply) + (late ? -3 : 3), y: GRAPH.top - 5, "text-anchor": late ? "end" : "start" },
          PHASES[index + 1],
        ),
      ];
    });

  const moveMarks = () => {
    const first = readFen(game.fen);
    const offset = first.turn === "b" ? 1 : 0;
    const step = [5, 10, 20, 50].find((moves) => x(2 * moves) - x(0) >= 34) || 100;
    const marks = [];
    for (
      let number = step * Math.ceil((first.full + 1) / step);
      2 * (number - first.full) - offset + 1 <= last;
      number += step
    ) {
      marks.push(
        draw(
          "text",
          { x: x(2 * (number - first.full) - offset + 1), y: height - 5, "text-anchor": "middle" },
          String(number),
        ),
      );
    }
    return marks;
  };

  // White's times upwards, Black's downwards, by their square roots, so that a long one leaves room to the others.
  const timeBars = (floor) => {
    const middle = floor + GRAPH.time / 2 + 2;
    const most = Math.sqrt(Math.max(1, ...game.times));
    const wide = Math.max(1, Math.min(8, (x(1) - x(0)) * 0.8));
    const bars = game.times.map((seconds, index) => {
      const long = seconds === null ? 0 : (Math.sqrt(seconds) / most) * (GRAPH.time / 2 - 3);
      const white = mover(game, index) === "w";
      return draw("rect", {
        class: white ? "time-white" : "time-black",
        x: x(index + 1) - wide / 2,
        y: white ? middle - long : middle,
        width: wide,
        height: long,
      });
    });
    return [draw("text", { x: GRAPH.left - 6, y: middle + 4, "text-anchor": "end" }, "time"), ...bars];
  };

  const plyAt = (event) => {
    const box = svg.getBoundingClientRect();
    const share = (event.clientX - box.left - GRAPH.left) / (box.width - GRAPH.left - GRAPH.right);
    return Math.max(0, Math.min(last, Math.round(share * last)));
  };
  const point = (event) => {
    const ply = plyAt(event);
    upright(hover, ply);
    hover.setAttribute("visibility", "visible");
    const verdict = game.verdicts.find(([at]) => at === ply);
    const time = ply > 0 && timed ? game.times[ply - 1] : null;
    tip.replaceChildren(
      make("b", {}, names[ply]),
      " " + scoreText(game.scores[ply]),
      verdict ? make("span", { class: verdict[1] }, " " + verdict[1]) : "",
      time === null ? "" : ", " + timeText(time),
    );
    tip.hidden = false;
    const half = tip.offsetWidth / 2;
    tip.style.left = Math.max(half, Math.min(width - half, x(ply))) + "px";
  };
  const leave = () => {
    tip.hidden = true;
    hover.setAttribute("visibility", "hidden");
  };
  svg.addEventListener("pointermove", (event) => {
    point(event);
    if (event.buttons) go(plyAt(event));
  });
  svg.addEventListener("pointerdown", (event) => go(plyAt(event)));
  svg.addEventListener("pointerleave", leave);
  new ResizeObserver(() => {
    if (element.clientWidth === 0 || element.clientWidth === width) return;
    width = element.clientWidth;
    paint();
  }).observe(element);

  const mark = (ply) => {
    marked = ply;
    upright(cursor, ply);
    svg.setAttribute("aria-valuenow", ply);
    svg.setAttribute("aria-valuetext", `${names[ply]}, ${scoreText(game.scores[ply])}`);
  };
  return { element, mark };
}

// The side that makes the move with this number, counted from 0.
const mover = (game, index) => ((index % 2 === 0) === (game.fen.split(" ")[1] === "w") ? "w" : "b");
