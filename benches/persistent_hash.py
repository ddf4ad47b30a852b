#!/usr/bin/env python3
"""What the persistent hash gives back and what it costs, measured with the real binary. Needs only Python 3.

    cargo build --release
    python3 benches/persistent_hash.py resume                           # killed, quit, two engines on one file
    python3 benches/persistent_hash.py back --nodes 300000 --count 5    # back through an analysed line
    python3 benches/persistent_hash.py mate                             # found in the child, announced in the parent
    python3 benches/persistent_hash.py cost --nodes 1500000 --count 4 --file-size 64
    python3 benches/persistent_hash.py open --file-size 4096            # needs 4 GiB of disk

Node counts do not depend on how busy the machine is; `cost` compares processor time in interleaved pairs.
"""

import argparse
import os
import re
import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from uci import Engine, bench_positions

ROOT = Path(__file__).resolve().parent.parent

# Openings, middlegames, attacks and endgames out of `engram bench`, those that are not over at once.
BENCH = bench_positions()
POSITIONS = [BENCH[number] for number in (0, 1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 18, 19, 23, 27, 30, 32)]

# Plies of a line that `back` analyses.
PLIES = 6

# A position and the move that leads to a child with a mate too far for a quick look at the parent.
MATES = [
    ("8/8/8/8/8/2k5/8/K6q w - - 0 1", "a1a2"),
    ("8/8/8/3k4/8/3K4/8/7R w - - 0 1", "h1h4"),
    ("8/8/4k3/8/8/8/3K4/3Q4 w - - 0 1", "d1d4"),
    ("8/8/8/8/3k4/8/1r6/5K2 b - - 0 1", "d4e3"),
    ("8/8/8/4k3/8/4K3/8/R6R w - - 0 1", "h1h4"),
]


class Analyst(Engine):
    """An engine that learns nothing, with a hash file or without one."""

    def __init__(self, args, file=None, analysis=False, hash_mib=None):
        home = args.folder / "home"
        home.mkdir(exist_ok=True)
        super().__init__(args.engine, home, Learning="off", Hash=hash_mib or args.hash)
        self.analyse(analysis)
        if file:
            self.set("HashFileSize", args.file_size)
            self.set("HashFile", file)
        self.send("isready")
        self.said = list(self.until("readyok"))

    def analyse(self, on):
        self.set("UCI_AnalyseMode", str(on).lower())

    def go(self, position, limits):
        """Starts a search; gives back its iterations as they are finished."""
        self.told = []
        for line in self.search(position, limits):
            if line.startswith("info string"):
                self.told.append(line)
            elif line.startswith("info depth") and " pv " in line and "bound" not in line:
                yield Iteration(line)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def finish(self):
        self.send("stop")
        self.wait_for("bestmove")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def processor_time(self):
        """Of all its threads, in seconds (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resumed_at(self):
        for line in self.told:
            if found := re.search(r"analysis resumed after iteration (\d+)", line):
                return int(found[1])
        return None


class Iteration:
    def __init__(self, line):
        word = lambda name: re.search(rf" {name} (\S+)", line)
        self.depth = int(word("depth")[1])
        self.nodes = int(word("nodes")[1])
        self.score = re.search(r" score (\w+ -?\d+)", line)[1]
        self.best = found[1] if (found := word("pv")) else None

    def answer(self):
        return self.depth, self.best, self.score


def reach(iterations, enough):
    """Waits for an iteration that is enough; the search goes on."""
    for iteration in iterations:
        if enough(iteration):
            return iteration
    sys.exit("a search ended early")


def nodes_to(engine, position, depth):
    """Searches to that depth: what it answered first, and its nodes."""
    iterations = list(engine.go(position, f"depth {depth}"))
    reached = [i for i in iterations if i.depth == depth]
    return iterations[0], reached[-1].nodes if reached else 0


def fresh(args, name):
    path = args.folder / name
    path.unlink(missing_ok=True)
    return path


def after_restart(args, file, position, before, whole):
    """Another engine on the file: its nodes to D + 1 by those of the uninterrupted one, and whether it went on at D
    with the same answer (or at a deeper iteration, where the other engine was faster than its end)."""
    engine = Analyst(args, file)
    first, nodes = nodes_to(engine, position, before.depth + 1)
    resumed = engine.resumed_at()
    engine.quit()
    good = resumed == first.depth and (first.answer() == before.answer() or first.depth > before.depth)
    return nodes / whole, good


def resume(args):
    """D to D + 1 after an interruption, divided by what the uninterrupted analysis needs."""
    print(f"{args.count} positions, {args.nodes} nodes or more, Hash {args.hash}, file {args.file_size} MiB")
    columns = ["killed"] + args.also
    heads = "".join(f" {name:>7}" for name in columns)
    print(f" no   D   nodes to D   D to D+1 |{heads}", flush=True)
    table, same = [], []
    for number, fen in enumerate(POSITIONS[:args.count], 1):
        position = f"fen {fen}"
        # The process is stopped at D for as long as its file is copied: the copy is what SIGKILL would have left
        # there. Then it goes on to D + 1, so that both numbers come from one tree.
        file, copy = fresh(args, "whole.hash"), fresh(args, "killed.hash")
        engine = Analyst(args, file)
        iterations = engine.go(position, "infinite")
        at = reach(iterations, lambda i: i.nodes >= args.nodes)
        engine.pause()
        shutil.copyfile(file, copy)
        engine.go_on()
        whole = reach(iterations, lambda i: i.depth == at.depth + 1).nodes - at.nodes
        engine.kill()
        ratio, good = after_restart(args, copy, position, at, whole)
        row, others = {"killed": ratio}, [] if good else ["killed"]

        for end in set(args.also) & {"quit", "two"}:
            file = fresh(args, "other.hash")
            engines = [Analyst(args, file) for _ in range(2 if end == "two" else 1)]
            for other in engines[1:]:
                other.send(f"position {position}")
                other.send("go infinite")
            before = reach(engines[0].go(position, "infinite"), lambda i: i.depth == at.depth)
            for engine in engines:
                if end == "quit":
                    engine.finish()
                    engine.quit()
                else:
                    engine.kill()
            row[end], good = after_restart(args, file, position, before, whole)
            others += [] if good else [end]

        if {"in RAM", "again"} & set(args.also):
            engine = Analyst(args, analysis=True)
            reach(engine.go(position, "infinite"), lambda i: i.depth == at.depth)
            engine.finish()
            row["in RAM"] = nodes_to(engine, position, at.depth + 1)[1] / whole
            if "again" in args.also:
                engine.analyse(False)
                row["again"] = nodes_to(engine, position, at.depth + 1)[1] / (at.nodes + whole)
            engine.quit()
        table.append(row)
        same.append(not others)
        print(f"{number:>3} {at.depth:>3} {at.nodes:>12} {whole:>10} |"
              + "".join(f" {row[name]:>7.2f}" for name in columns) + (f"  other answer: {', '.join(others)}" if others else ""), flush=True)
    print(f"resumed at the stored depth with the same answer: {sum(same)} of {len(same)}")
    mean = lambda shares: statistics.geometric_mean(max(share, 0.01) for share in shares)
    for what, choose in ("median", statistics.median), ("geometric mean", mean), ("worst", max):
        print(f"{what:>31} |" + "".join(f" {choose(row[name] for row in table):>7.2f}" for name in columns))


def back(args):
    """A line is analysed ply by ply to its end, and then walked back in the same session, and by an engine that was
    restarted. Nodes until the earlier depth of each position is there again, by those of a cold search; the same for
    a ply more."""
    print(f"{args.count} positions, {PLIES} plies, {args.nodes} nodes or more at each; nodes by those of a cold search")
    print(" no   D      cold |  session  deeper |  restart  deeper", flush=True)
    shares = {"session": [], "restart": []}
    for number, fen in enumerate(POSITIONS[:args.count], 1):
        file = fresh(args, "line.hash")
        engine = Analyst(args, file)
        steps, moves = [], []
        for _ in range(PLIES):
            position = f"fen {fen} moves " + " ".join(moves) if moves else f"fen {fen}"
            found = reach(engine.go(position, "infinite"), lambda i: i.nodes >= args.nodes)
            engine.finish()
            steps.append((position, found))
            moves.append(found.best)
        for name in shares:
            if name == "restart":
                engine.quit()
                engine = Analyst(args, file)
            for position, found in reversed(steps):
                iterations = list(engine.go(position, f"depth {found.depth + 1}"))
                nodes = [next(i.nodes for i in iterations if i.depth >= found.depth + more) for more in (0, 1)]
                shares[name].append((nodes, iterations[0].answer() == found.answer() or iterations[0].depth > found.depth))
        engine.quit()
        for index, (position, found) in enumerate(reversed(steps)):
            engine = Analyst(args, analysis=True)
            iterations = list(engine.go(position, f"depth {found.depth + 1}"))
            cold = [next(i.nodes for i in iterations if i.depth == found.depth + more) for more in (0, 1)]
            engine.kill()
            line = f"{number:>3} {found.depth:>3} {cold[0]:>9} |"
            for walk in shares.values():
                place = len(walk) - PLIES + index
                nodes, same = walk[place]
                walk[place] = [n / c for n, c in zip(nodes, cold)] + [same]
                line += f" {walk[place][0]:>8.3f} {walk[place][1]:>7.3f} |"
            print(line, flush=True)
    for name, walk in shares.items():
        depth, deeper, same = zip(*walk)
        print(f"{name}: earlier depth: worst {max(depth):.3f}, same answer {sum(same)} of {len(same)};"
              f" a ply more: median {statistics.median(deeper):.2f}, worst {max(deeper):.2f}")


def mate(args):
    """A mate is found in the child; the parent is asked afterwards. Nodes until it announces the mate, by those of an
    engine that has not seen the child."""
    print("depth of the mate in the child; parent's nodes until it is announced, cold and knowing the child", flush=True)
    shares = []
    for fen, m in MATES:
        announce = lambda i: i.score.startswith("mate")
        engine = Analyst(args, fresh(args, "mate.hash"))
        child = reach(engine.go(f"fen {fen} moves {m}", "infinite"), announce)
        engine.finish()
        parent = reach(engine.go(f"fen {fen}", "infinite"), announce)
        engine.kill()
        engine = Analyst(args, analysis=True)
        cold = reach(engine.go(f"fen {fen}", "infinite"), announce)
        engine.kill()
        shares.append(parent.nodes / cold.nodes)
        print(f"{fen} {m}: child {child.score} at depth {child.depth}; parent {parent.score} after {parent.nodes}"
              f" at depth {parent.depth}, cold {cold.score} after {cold.nodes} at depth {cold.depth}:"
              f" {shares[-1]:.3f}", flush=True)
    print(f"median {statistics.median(shares):.3f}, worst {max(shares):.3f}")


def cost(args):
    """Processor time of the same searches with a new file and in RAM alone, turn and turn about."""
    for mib in args.hashes:
        pairs = []
        for turn in range(args.turns):
            for fen in POSITIONS[6:6 + args.count]:
                times = []
                order = [None, fresh(args, "cost.hash")]
                for file in order if turn % 2 else reversed(order):
                    engine = Analyst(args, file, analysis=True, hash_mib=mib)
                    before = engine.processor_time()
                    for _ in engine.go(f"fen {fen}", f"nodes {args.nodes}"):
                        pass
                    times.append((engine.processor_time() - before) / args.nodes)
                    engine.kill()
                with_file, ram = times if turn % 2 == 0 else reversed(times)
                pairs.append(ram / with_file)
                print(f"  {1e9 * ram:.0f} and {1e9 * with_file:.0f} ns a node: {pairs[-1]:.3f}", flush=True)
        print(f"Hash {mib}, file {args.file_size} MiB: nodes a second of processor time with the file by those in RAM"
              f" alone: median {statistics.median(pairs):.3f} of {len(pairs)} pairs"
              f" ({min(pairs):.3f} to {max(pairs):.3f})", flush=True)


def opening(args):
    """From naming a file to `readyok`."""
    file = fresh(args, "large.hash")
    engine = Analyst(args, file)
    print(*(line for line in engine.said if "hash file" in line))
    engine.quit()
    for _ in range(args.turns):
        start = time.perf_counter()
        engine = Analyst(args)
        ready = time.perf_counter()
        engine.set("HashFile", file)
        engine.send("isready")
        said = [line for line in engine.until("readyok") if "hash file" in line]
        opened = time.perf_counter()
        first, _ = nodes_to(engine, f"fen {POSITIONS[0]}", 1)
        used = time.perf_counter()
        engine.quit()
        print(f"start {1e3 * (ready - start):.1f} ms, open {1e3 * (opened - ready):.1f} ms,"
              f" first search {1e3 * (used - opened):.1f} ms; {said[0]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = {"resume": resume, "back": back, "mate": mate, "cost": cost, "open": opening}
    parser.add_argument("what", choices=tasks)
    parser.add_argument("--engine", type=Path, default=ROOT / "target/release/engram")
    parser.add_argument("--nodes", type=int, default=10_000_000, help="of each analysis, at least")
    parser.add_argument("--count", type=int, default=len(POSITIONS), help="positions")
    parser.add_argument("--hash", type=int, default=512, help="MiB")
    parser.add_argument("--hashes", type=int, nargs="*", default=[64, 1024], help="MiB, for `cost`")
    parser.add_argument("--file-size", type=int, default=512, help="MiB")
    parser.add_argument("--turns", type=int, default=3, help="of `cost` and `open`")
    parser.add_argument("--also", nargs="*", default=["quit", "two", "in RAM", "again"], help="columns of `resume`")
    parser.add_argument("--folder", type=Path, help="for the files; a temporary one if not given")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        args.folder = Path(folder)
        tasks[args.what](args)


if __name__ == "__main__":
    main()
