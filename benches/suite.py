#!/usr/bin/env python3
"""Engines side by side on test positions: `bm`, `am`, or the distance of a mate (`bm #5`). Needs the Python package `chess`.

    cargo build --release
    python3 benches/suite.py arasan2023.epd --time 5 --threads 2 --engine ours=target/release/engram,Learning=off \\
        --engine theirs=ethereal --log arasan.log

The engines search a position one after the other, each with an empty table, so that a busy machine hits them alike. What is
in the log is not searched again: a run that was stopped goes on, and pieces add up.
"""

import argparse
import re
import tempfile
from pathlib import Path

import chess

from uci import Engine


class Task:
    """A position, and what is asked for."""

    def __init__(self, line, number):
        fields = line.strip().rstrip(";").split(" bm #")
        self.mate = int(fields[1]) if len(fields) == 2 else None
        board = chess.Board()
        operations = {} if self.mate else board.set_epd(line)
        self.fen = f"{' '.join(fields[0].split()[:4])} 0 1" if self.mate else board.fen()
        self.best = {move.uci() for move in operations.get("bm", [])}
        self.avoid = {move.uci() for move in operations.get("am", [])}
        self.name = str(operations.get("id", number)).replace(" ", "_")

    def judge(self, lines):
        """`solved` or `failed` (a mate: of any length); `false` for a mate that is not there."""
        answer = lines[-1].split()[1]
        if self.mate is None:
            return "solved" if answer in self.best or self.avoid and answer not in self.avoid else "failed"
        last = [line for line in lines if " pv " in line and "bound" not in line][-1:]
        claim = re.search(r" score mate (-?\d+)", last[0]) if last else None
        if not claim:
            return "failed"
        moves = int(claim[1])
        return "solved" if moves * self.mate > 0 and abs(moves) >= abs(self.mate) else "false"


def start(words, args, home):
    """An engine out of `NAME=COMMAND,OPTION=VALUE,...`."""
    name, command, *options = words.replace("=", ",", 1).split(",")
    engine = Engine(command, home)
    engine.send("uci")
    engine.wait_for("uciok")
    for option, value in [("Hash", args.hash), ("Threads", args.threads), *(option.split("=") for option in options)]:
        engine.set(option, value)
    return name, engine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("positions", type=Path, help="EPD")
    parser.add_argument("--engine", action="append", required=True, help="NAME=COMMAND,OPTION=VALUE,...")
    parser.add_argument("--time", type=float, default=5, help="seconds for each position")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--hash", type=int, default=64, help="MiB")
    parser.add_argument("--every", type=int, default=1, help="every so many positions")
    parser.add_argument("--log", type=Path, required=True)
    args = parser.parse_args()
    lines = [line for line in args.positions.read_text().splitlines() if line.strip() and line[0] != "#"]
    tasks = [Task(line, number) for number, line in enumerate(lines, 1)][:: args.every]
    done = {}
    if args.log.exists():
        done = {(name, task): verdict for name, task, verdict in map(str.split, args.log.read_text().splitlines())}
    with tempfile.TemporaryDirectory() as home, args.log.open("a") as log:
        engines = [start(words, args, home) for words in args.engine]
        for task in tasks:
            for name, engine in engines:
                if (name, task.name) in done:
                    continue
                engine.send("ucinewgame")
                engine.send("isready")
                engine.wait_for("readyok")
                verdict = task.judge(list(engine.search(f"fen {task.fen}", f"movetime {int(1000 * args.time)}")))
                done[name, task.name] = verdict
                print(name, task.name, verdict, file=log, flush=True)
        for name, engine in engines:
            engine.quit()
            verdicts = [done[name, task.name] for task in tasks]
            print(f"{name}: {verdicts.count('solved')} of {len(tasks)} solved, {verdicts.count('false')} false mates")


if __name__ == "__main__":
    main()
