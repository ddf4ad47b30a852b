#!/usr/bin/env python3
"""Nodes to fixed depths in the modes of PathHash: the table in benches/notes/path_hash.md.

    benches/path_hash.py ENGINE bench 11 12 13 14 15
    benches/path_hash.py ENGINE FILE.epd 13 --count 100 --modes off draws

Every position is searched as if from a new game, one thread, 16 MiB. A mode is compared with the first one: nodes in
all, at each depth, and the geometric mean over positions with the 95 % error of it. A tree that differs anywhere
differs by some percent, so only sums over many trees say anything.
"""

import argparse
import math
import re
import tempfile
from pathlib import Path

from uci import Engine, bench_positions

MODES = ["off", "fifty80", "fifty80each", "fifty", "draws", "last4", "full"]


def positions(source, count):
    """The bench set, or `count` positions spread over an EPD file."""
    if source == "bench":
        return bench_positions()
    lines = [line.split(";")[0].split() for line in Path(source).read_text().splitlines() if line.strip()]
    chosen = lines[:: max(1, len(lines) // count)][:count]
    return [" ".join(fields[:6] if fields[4:6] and fields[4].isdigit() else fields[:4] + ["0", "1"]) for fields in chosen]


def nodes(engine, mode, fens, depths):
    """Nodes of each position, depth by depth."""
    with tempfile.TemporaryDirectory() as home:
        player = Engine(engine, home, Learning="off", Hash=16, PathHash=mode)

        def search(fen, depth):
            player.send("ucinewgame")
            said = re.findall(r" nodes (\d+)", "\n".join(player.search(f"fen {fen}", f"depth {depth}")))
            return int(said[-1]) if said else 0

        counts = [[search(fen, depth) for fen in fens] for depth in depths]
        player.quit()
        return counts


def percent(ratio):
    return f"{100 * ratio - 100:+.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("source", help="bench, or an EPD file")
    parser.add_argument("depths", nargs="+", type=int)
    parser.add_argument("--count", type=int, default=100, help="positions of an EPD file (default 100)")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    options = parser.parse_args()
    fens = positions(options.source, options.count)
    print(f"{len(fens)} positions, depths {options.depths}")
    base = None
    for mode in options.modes:
        counts = nodes(options.engine, mode, fens, options.depths)
        base = base or counts
        pairs = list(zip(counts, base))
        each = " ".join(percent(sum(ours) / sum(theirs)) for ours, theirs in pairs)
        total = sum(map(sum, counts)) / sum(map(sum, base))
        logs = [math.log((a + 1) / (b + 1)) for ours, theirs in pairs for a, b in zip(ours, theirs)]
        mean = sum(logs) / len(logs)
        error = 1.96 * math.sqrt(sum((log - mean) ** 2 for log in logs)) / len(logs)
        print(
            f"{mode:12}{sum(map(sum, counts)):>11} {percent(total)} % ({each}), "
            f"geometric {percent(math.exp(mean))} % +- {100 * error:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
