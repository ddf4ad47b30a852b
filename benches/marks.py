#!/usr/bin/env python3
"""Would a strong player sign the marks of `engram analyse`? They are compared with those that another engine gives by the
same rules. Needs the Python package `chess`.

    benches/marks.py reference GAMES.pgn REFERENCE.jsonl --engine stockfish --also RUN.jsonl
    engram analyse GAMES.pgn --nodes 20000 --threads 1 --json RUN.jsonl
    benches/marks.py compare REFERENCE.jsonl RUN.jsonl

The reference has every position of the games with few nodes, and with many those before and after a move whose loss is
near to a threshold, or that a run named by `--also` marks. It may be interrupted and goes on. Only games that it has
wholly are compared; a run may be one that has not ended.
"""

import argparse
import collections
import json
import math
from pathlib import Path

import chess.engine
import chess.pgn

# Losses, in percent of the winning chances, in which the many nodes decide.
NEAR = (4, 20)
MARKS = ["", "?!", "?", "??"]
WORDS = {"inaccuracy": 1, "mistake": 2, "blunder": 3}


def chances(found):
    """The winning chances of the side to move, in percent."""
    if "mate" in found:
        return 100.0 if found["mate"] > 0 else 0.0
    return 100 / (1 + math.exp(-0.00368208 * max(-1000, min(1000, found["cp"]))))


def loss(before, after):
    return chances(before) - 100 + chances(after)


def mark(before, after):
    """The mark of the move between two positions, each seen by its side to move (`judge.rs`)."""
    # Is it mate by force, and for the side that moved?
    first = before["mate"] > 0 if "mate" in before else None
    then = after["mate"] <= 0 if "mate" in after else None
    by_clarity = lambda cp: 3 if cp <= 700 else 2 if cp <= 999 else 1
    if first is None and then is None:
        decided = chances(before) < 25 or 100 - chances(after) > 75
        return min(sum(loss(before, after) >= bound for bound in (5, 10, 15)), 1 if decided else 3)
    if first is None and not then:
        return by_clarity(-before["cp"])
    if first and then is None:
        return by_clarity(-after["cp"])
    return 3 if first and not then else 0


def read(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()] if Path(path).exists() else []


class Reference:
    """What the other engine found, by game, ply and nodes."""

    def __init__(self, path):
        self.found = {(one["game"], one["ply"], one["nodes"]): one for one in read(path)}
        self.best = {}
        for key in sorted(self.found):
            # The one with most nodes comes last.
            self.best[key[:2]] = self.found[key]

    def has(self, game, plies):
        return all((game, ply) in self.best for ply in range(plies + 1))


def make(args):
    with open(args.games, encoding="utf-8", errors="replace") as file:
        games = list(iter(lambda: chess.pgn.read_game(file), None))
    runs = [read(path) for path in args.also]
    engine = chess.engine.SimpleEngine.popen_uci(args.engine)
    engine.configure({"Hash": 256})
    reference = Reference(args.reference)
    with open(args.reference, "a", encoding="utf-8") as out:

        def ask(number, ply, board, nodes):
            if (number, ply, nodes) in reference.found:
                return
            one = {"game": number, "ply": ply, "nodes": nodes}
            if board.is_checkmate():
                one["mate"] = 0
            elif board.is_game_over():
                one["cp"] = 0
            else:
                # The table is kept in a game, whose end is searched first.
                info = engine.analyse(board, chess.engine.Limit(nodes=nodes), game=(number, nodes))
                score = info["score"].relative
                one |= {"mate": score.mate()} if score.is_mate() else {"cp": score.score()}
                one["best"] = info["pv"][0].uci() if info.get("pv") else None
            out.write(json.dumps(one) + "\n")
            out.flush()
            reference.found[number, ply, nodes] = one

        for number, game in enumerate(games):
            boards = [node.board() for node in [game, *game.mainline()]]
            for ply, board in reversed(list(enumerate(boards))):
                ask(number, ply, board, args.few)
            wanted = set()
            for ply in range(len(boards) - 1):
                lost = loss(*(reference.found[number, at, args.few] for at in (ply, ply + 1)))
                is_marked = any(len(run) > number and run[number]["moves"][ply]["judgement"] for run in runs)
                if NEAR[0] <= lost <= NEAR[1] or is_marked and lost < NEAR[1]:
                    wanted |= {ply, ply + 1}
            for ply in sorted(wanted, reverse=True):
                ask(number, ply, boards[ply], args.many)
            print(f"game {number + 1} of {len(games)}: {len(wanted)} of {len(boards)} positions", flush=True)
    engine.quit()


def compare(args):
    reference = Reference(args.reference)
    for path in args.runs:
        run = read(path)
        whole = [number for number, game in enumerate(run) if reference.has(number, len(game["moves"]))]
        pairs, praised = collections.Counter(), collections.Counter()
        for number in whole:
            for ply, m in enumerate(run[number]["moves"]):
                before, after = reference.best[number, ply], reference.best[number, ply + 1]
                is_best = before.get("best") == m["uci"] and loss(before, after) < 5
                own = WORDS.get(m["judgement"], 0)
                pairs[own, 0 if is_best else mark(before, after)] += 1
                if own >= 2 and loss(before, after) < 5:
                    print(f"  game {number + 1}, ply {ply}: {m['san']}{MARKS[own]}, {loss(before, after):.1f} %")
                if m["judgement"] in ("good", "brilliant"):
                    praised[m["judgement"], loss(before, after) < 5] += 1
        print(f"{path}: {len(whole)} games")
        for level in (3, 2, 1):
            own, same = (sum(pairs[key] for key in pairs if key[side] == level) for side in (0, 1))
            false = pairs[level, 0]
            found = sum(pairs[key] for key in pairs if key[1] == level and key[0] > 0)
            print(f"  {MARKS[level]}: {own}, false {false} ({100 * false / max(own, 1):.1f} %); of {same} by the reference {found} are marked")
        print("  praised, right or wrong:", dict(praised))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("reference")
    one.add_argument("games")
    one.add_argument("reference")
    one.add_argument("--engine", default="stockfish")
    one.add_argument("--few", type=int, default=150_000, help="nodes of each position")
    one.add_argument("--many", type=int, default=2_000_000, help="nodes where they matter")
    one.add_argument("--also", nargs="*", default=[], metavar="RUN")
    one.set_defaults(run=make)
    two = commands.add_parser("compare")
    two.add_argument("reference")
    two.add_argument("runs", nargs="+")
    two.set_defaults(run=compare)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
