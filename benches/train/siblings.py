#!/usr/bin/env python3
"""The positions after every move of balanced positions, scored by another engine, for `engram tune siblings`. Needs the
Python package `chess`.

    benches/train/siblings.py POSITIONS --engine stockfish [--depth 8] [--families 1000] > siblings.txt

POSITIONS has lines `FEN | centipawns` (for White); positions of games that no training has seen are taken from it by
chance, where neither side is ahead by much.
"""

import argparse
import random

import chess
import chess.engine

BALANCED = 120


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("positions")
    parser.add_argument("--engine", required=True)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--families", type=int, default=1000)
    args = parser.parse_args()
    with open(args.positions, encoding="utf-8") as file:
        lines = [line.split("|") for line in file]
    # A line that is not finished, where `generate` was interrupted, has no score.
    lines = [line for line in lines if len(line) > 1 and line[1].strip()]
    random.seed(1)
    random.shuffle(lines)
    engine = chess.engine.SimpleEngine.popen_uci(args.engine)
    left = args.families
    for fen, score, *_ in lines:
        board = chess.Board(fen.strip())
        if not left:
            break
        if abs(float(score)) > BALANCED or board.is_check():
            continue
        left -= 1
        for move in list(board.legal_moves):
            board.push(move)
            if not board.is_game_over():
                found = engine.analyse(board, chess.engine.Limit(depth=args.depth), game=object())
                print(f"{board.fen()} | {found['score'].white().score(mate_score=3000)}")
            board.pop()
        print(flush=True)
    engine.quit()


if __name__ == "__main__":
    main()
