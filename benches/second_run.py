#!/usr/bin/env python3
"""Does an analysis go faster the second time? Positions with known best moves are analysed with `Learning` = `all`, then
again by a new process on the same learning file: at the position, and beginning two plies before it. Needs the Python
package `chess`.

    cargo build --release
    python3 benches/second_run.py ecm98.epd --count 100 --nodes 20000

Time is counted in nodes, so it does not depend on how busy the machine is. A position is solved at the nodes from which on
the best move stays; one that is not solved counts all nodes.
"""

import argparse
import random
import shutil
import statistics
import tempfile
from pathlib import Path

import chess

from uci import Engine

ROOT = Path(__file__).resolve().parent.parent


class Analyst(Engine):
    """An engine that analyses, with its table emptied between positions."""

    def __init__(self, args, learning):
        file = args.folder / "learn.bin"
        super().__init__(args.engine, args.folder, LearnFile=file, Learning=learning, UCI_AnalyseMode="true", Hash=16)
        self.nodes = args.nodes
        # The first search may begin before the file is read.
        list(self.search("startpos", "nodes 1"))

    def solve(self, position, best):
        """Nodes to the solution (none if it is not found) and the last depth."""
        self.send("ucinewgame")
        since, depth = None, 0
        for line in self.search(position, f"nodes {self.nodes}"):
            words = line.split()
            if words[:2] == ["info", "depth"] and "pv" in words:
                depth = int(words[2])
                nodes = int(words[words.index("nodes") + 1])
                right = words[words.index("pv") + 1] in best
                since = (nodes if since is None else since) if right else None
        if words[1] not in best:
            since = None
        elif since is None:
            since = self.nodes
        return since, depth


def retractions(board, lot):
    """Positions, in random order, from which a quiet move leads to this one, with that move."""
    mover = not board.turn
    found = []
    for to in chess.SquareSet(board.occupied_co[mover]):
        piece = board.piece_at(to)
        if piece.piece_type == chess.PAWN:
            origins = [to - 8 if mover else to + 8]
        else:
            origins = list(board.attacks(to))
        for origin in origins:
            if board.piece_at(origin) or (piece.piece_type == chess.PAWN and not 8 <= origin < 56):
                continue
            before = board.copy(stack=False)
            before.remove_piece_at(to)
            before.set_piece_at(origin, piece)
            before.turn, before.ep_square = mover, None
            move = chess.Move(origin, to)
            if before.is_valid() and not before.is_check() and move in before.legal_moves:
                after = before.copy(stack=False)
                after.push(move)
                if after.epd() == board.epd():
                    found.append((before, move))
    lot.shuffle(found)
    return found


def two_plies_before(fen, lot):
    """A position and two moves that lead to this one, drawn by lot; none if there is none."""
    for between, last in retractions(chess.Board(fen), lot):
        for before, first in retractions(between, lot):
            return f"fen {before.fen()}", f"fen {before.fen()} moves {first.uci()} {last.uci()}"
    return None


def run(args, positions, learning, before=None):
    """A new process analyses all positions, each after the one that lies before it if that is asked for."""
    engine = Analyst(args, learning)
    found = []
    for index, (fen, best, _) in enumerate(positions):
        position = f"fen {fen}"
        if before and before[index]:
            earlier, position = before[index]
            engine.solve(earlier, set())
        found.append(engine.solve(position, best))
    engine.quit()
    return found


def show(args, positions, first, name, now):
    solved = [since is not None for since, _ in now]
    cost = statistics.mean(args.nodes if since is None else since for since, _ in now)
    names = [name for *_, name in positions]
    earlier = [since is not None for since, _ in first]
    new = [n for n, a, b in zip(names, earlier, solved) if b and not a]
    lost = [n for n, a, b in zip(names, earlier, solved) if a and not b]
    print(f"{name}: solved {sum(solved)}, nodes to solution {cost:.0f}, last depth"
          f" {statistics.mean(depth for _, depth in now):.2f}; new {new}, lost {lost}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("positions", type=Path, help="EPD with bm")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--engine", type=Path, default=ROOT / "target/release/engram")
    args = parser.parse_args()
    positions = []
    for line in args.positions.read_text().splitlines():
        if line.startswith("#"):
            continue
        board = chess.Board()
        operations = board.set_epd(line)
        if "bm" in operations:
            best = {move.uci() for move in operations["bm"]}
            positions.append((board.fen(), best, operations.get("id", str(len(positions) + 1))))
    positions = positions[:args.count]
    lot = random.Random(1)
    before = [two_plies_before(fen, lot) for fen, *_ in positions]
    with tempfile.TemporaryDirectory() as folder:
        args.folder = Path(folder)
        file, kept = args.folder / "learn.bin", args.folder / "kept.bin"
        off = run(args, positions, "off")
        show(args, positions, off, "off", off)
        first = run(args, positions, "all")
        shutil.copyfile(file, kept)
        show(args, positions, off, "first run", first)
        for name in "second run", "third run":
            show(args, positions, first, name, run(args, positions, "all"))
        shutil.copyfile(kept, file)
        show(args, positions, first, "second run from two plies before", run(args, positions, "all", before))
        file.unlink()
        show(args, positions, first, "first run from two plies before", run(args, positions, "all", before))


if __name__ == "__main__":
    main()
