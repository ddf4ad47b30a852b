#!/usr/bin/env python3
"""Games by the thousand with mixed options: no crash, illegal move, stall or time loss. In pieces that add up.

    cargo build --release
    python3 benches/soak.py --runner FASTCHESS --book BOOK.epd --book960 FRC.epd \\
        --opponent stockfish=/usr/games/stockfish --opponent ethereal=/usr/games/ethereal-chess \\
        --folder SOAK --seconds 540
    python3 benches/soak.py … --tc 2+0.02 --margin 50 --busy 4 --label overloaded      # on a machine that is busy

Each call plays for about so many seconds, goes on in the rotation of options where the one before stopped, adds a line
a match to SOAK/log.jsonl, and prints the sums of all. Engram keeps its learning file and its books in SOAK from match to
match. Pondering is played by this script, the rest by fastchess. Needs python-chess. Exit status 1: Engram failed.
"""

import argparse
import itertools
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import chess
import chess.engine

from uci import environment

ROOT = Path(__file__).resolve().parent.parent

# What is played in turn: options of Engram, Chess960 or not, and who drives.
ROTATION = [
    ("usual", {}, False),
    ("two threads, learning all", {"Threads": 2, "Hash": 64, "Learning": "all", "LearnMinDepth": 2}, False),
    ("ponder", {"Ponder": "true", "Hash": 8}, "ponder"),
    ("Chess960, Hash 1", {"Hash": 1, "Learning": "all"}, True),
    ("book, book learning", {"OwnBook": "true", "Hash": 4}, False),
    ("hash file, Hash 256", {"Hash": 256, "HashFile": "soak.hash", "HashFileSize": 16}, False),
    ("Chess960, two threads", {"Hash": 32, "Threads": 2}, True),
    ("ponder, two threads", {"Ponder": "true", "Threads": 2, "Hash": 1}, "ponder"),
    ("limited strength, MultiPV", {"UCI_LimitStrength": "true", "UCI_Elo": 2000, "MultiPV": 3}, False),
    ("contempt, PathHash full", {"Contempt": 20, "PathHash": "full", "Hash": 128}, False),
]

# How fastchess ends a game that a failure ended.
FAILURES = ("time forfeit", "illegal", "disconnect", "abandoned", "stall", "unterminated", "crash")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True, help="fastchess")
    parser.add_argument("--engine", default=str(ROOT / "target/release/engram"))
    parser.add_argument("--opponent", action="append", required=True, metavar="NAME=PATH")
    parser.add_argument("--book", required=True, help="openings, EPD")
    parser.add_argument("--book960", required=True, help="Chess960 openings, EPD")
    parser.add_argument("--folder", required=True, help="where everything of the soak is kept")
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of two games in a match")
    parser.add_argument("--tc", default="0.5+0.005")
    parser.add_argument("--margin", type=int, default=20, help="ms that a flag may have fallen")
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--busy", type=int, default=0, help="processes that do nothing but turn meanwhile")
    parser.add_argument("--label", default="soak", help="sums are kept apart by it")
    return parser.parse_args()


def match(args, folder, number, options, chess960, opponent):
    """A match by fastchess: games, failures of Engram, failures of the other."""
    name, path = opponent.split("=", 1)
    pgn = folder / "match.pgn"
    pgn.unlink(missing_ok=True)
    command = [args.runner, "-engine", f"cmd={args.engine}", "name=engram", f"dir={folder}"]
    command += [f"option.{key}={value}" for key, value in options.items()]
    command += ["-engine", f"cmd={path}", f"name={name}", f"dir={folder}"]
    command += ["-each", "proto=uci", f"tc={args.tc}", f"timemargin={args.margin}"]
    command += ["-openings", f"file={args.book960 if chess960 else args.book}", "format=epd", "order=random"]
    command += ["-srand", str(number + 1), "-rounds", str(args.rounds), "-games", "2", "-repeat", "-recover"]
    command += ["-concurrency", str(args.concurrency), "-pgnout", f"file={pgn}", "-config", f"outname={folder}/config.json"]
    command += ["-variant", "fischerandom"] if chess960 else []
    ended = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True, errors="replace")
    games = pgn.read_text(errors="replace").split("[Event ")[1:] if pgn.exists() else []
    ours, theirs = Counter(), Counter()
    for game in games:
        tag = dict(re.findall(r'\[(\w+) "([^"]*)"\]', game))
        reason = next((f for f in FAILURES if f in tag.get("Termination", "").lower()), None)
        if reason:
            engram_is_white = tag["White"] == "engram"
            engram_lost = tag["Result"] == ("0-1" if engram_is_white else "1-0")
            (ours if engram_lost else theirs)[reason] += 1
    warnings = [line for line in (ended.stdout + ended.stderr).splitlines() if "Warning" in line and "engram" in line]
    if ended.returncode or len(games) != 2 * args.rounds:
        ours["runner"] += 1
        warnings.append(f"exit status {ended.returncode}, {len(games)} games: {ended.stdout[-500:]} {ended.stderr[-500:]}")
    return len(games), ours, theirs, warnings


def ponder_game(args, folder, options, opponent, opening, engram_is_white):
    """A game in which Engram ponders. What went wrong, as (of Engram, of the other)."""
    base, increment = (float(part) for part in args.tc.split("+"))
    paths = [args.engine, opponent.split("=", 1)[1]]
    if not engram_is_white:
        paths.reverse()
    engines = [chess.engine.SimpleEngine.popen_uci(path, timeout=60, cwd=folder, env=environment(folder)) for path in paths]
    mine = 0 if engram_is_white else 1
    ours, theirs, board = Counter(), Counter(), chess.Board(opening)
    clock = [base, base]
    try:
        # python-chess sets `Ponder` itself.
        engines[mine].configure({key: value for key, value in options.items() if key != "Ponder"})
        while not board.is_game_over(claim_draw=True) and board.ply() < 400:
            side = 0 if board.turn == chess.WHITE else 1
            limit = chess.engine.Limit(white_clock=max(clock[0], 0.001), black_clock=max(clock[1], 0.001),
                                       white_inc=increment, black_inc=increment)
            began = time.perf_counter()
            try:
                answer = engines[side].play(board, limit, game=opening, ponder=side == mine)
            except chess.engine.EngineError as error:
                (ours if side == mine else theirs)[f"illegal: {error}"[:100]] += 1
                break
            clock[side] -= time.perf_counter() - began
            if clock[side] < -args.margin / 1000:
                (ours if side == mine else theirs)["time forfeit"] += 1
                break
            clock[side] = max(clock[side], 0) + increment
            board.push(answer.move)
    finally:
        for side, engine in enumerate(engines):
            engine.quit()
            if engine.transport.get_returncode():
                (ours if side == mine else theirs)[f"exit status {engine.transport.get_returncode()}"] += 1
    return ours, theirs


def ponder_match(args, folder, number, options, opponent):
    openings = random.Random(number).sample(Path(args.book).read_text().splitlines(), args.rounds)
    ours, theirs, games = Counter(), Counter(), 0
    for line, engram_is_white in itertools.product(openings, (True, False)):
        fields = line.split()[:4]
        mine, others = ponder_game(args, folder, options, opponent, " ".join(fields) + " 0 1", engram_is_white)
        ours, theirs, games = ours + mine, theirs + others, games + 1
    return games, ours, theirs, []


def main():
    args = arguments()
    folder = Path(args.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log.jsonl"
    entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.busy)]
    deadline = time.monotonic() + args.seconds
    failed = False
    try:
        while time.monotonic() < deadline:
            number = len([entry for entry in entries if entry["label"] == args.label])
            what, options, how = ROTATION[number % len(ROTATION)]
            opponent = args.opponent[number // len(ROTATION) % len(args.opponent)]
            began = time.monotonic()
            if how == "ponder":
                games, ours, theirs, notes = ponder_match(args, folder, number, options, opponent)
            else:
                games, ours, theirs, notes = match(args, folder, number, options, how, opponent)
            entries.append({"label": args.label, "what": what, "opponent": opponent.split("=")[0], "tc": args.tc,
                            "margin": args.margin, "busy": args.busy, "games": games, "engram": ours, "other": theirs,
                            "seconds": round(time.monotonic() - began), "notes": notes})
            with log.open("a") as file:
                print(json.dumps(entries[-1]), file=file)
            print(f"{what}, {opponent.split('=')[0]}: {games} games, failures {dict(ours)}, of the other {dict(theirs)}",
                  flush=True)
            failed |= bool(ours)
    finally:
        for process in busy:
            process.kill()
    for label in sorted({entry["label"] for entry in entries}):
        mine = [entry for entry in entries if entry["label"] == label]
        sums = [sum((Counter(entry[side]) for entry in mine), Counter()) for side in ("engram", "other")]
        print(f"{label}: {sum(entry['games'] for entry in mine)} games in {sum(entry['seconds'] for entry in mine)} s, "
              f"failures of Engram {dict(sums[0])}, of the others {dict(sums[1])}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
