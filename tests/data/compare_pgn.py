"""Are the games of the second file those of the first, but for what `engram analyse --pgn` adds, as python-chess reads both?

    python3 compare_pgn.py BEFORE AFTER

Names each game that differs on the standard error and prints three numbers: games compared; those of them, and of games
left out, that differ because python-chess itself finds errors in the first file; and those that differ for no such reason.
"""

import logging
import re
import sys

import chess.pgn

# What python-chess finds wrong is kept with the game.
logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)

OURS = {"WhiteAccuracy", "BlackAccuracy"}
# Set where the author said nothing.
SET_IF_EMPTY = {"ECO", "Opening", "Annotator"}
JUDGEMENTS = {1, 2, 3, 4, 6}
SCORE = r"Engram(agrees:)?([+-]\d+\.\d\d|#-?\d+|TB(win|loss)(in\d+)?)"


def words(text):
    """A comment without spaces and evaluations; a closing brace cannot stand in one that ended in a line."""
    return "".join(re.sub(r"\[%eval[^\]]*\]", " ", text).replace("}", ")").split())


def comments(node):
    return words(node.starting_comment), words(node.comment)


def line(node):
    """A variation with everything in it."""
    beside = [line(child) for child in node.variations[1:]]
    return [(node.move, node.nags, comments(node), beside)] + (line(node.variations[0]) if node.variations else [])


def plain(value):
    """A tag's value as it is meant: python-chess leaves backslashes in, control characters, which we read as spaces, and
    spaces at its ends."""
    return re.sub(r"[\x00-\x1f]", " ", re.sub(r'\\(["\\])', r"\1", value)).strip()


def result(game):
    """The result that is expected: a mate or stalemate on the board decides, whatever is written."""
    board = game.end().board()
    return board.result() if board.is_checkmate() or board.is_stalemate() else plain(game.headers.get("Result", ""))


def check(holds, *what):
    if not holds:
        raise ValueError(" ".join(map(str, what)))


def compare(old, new):
    check(not new.errors, new.errors)
    check(old.board().fen() == new.board().fen(), "another start")
    check(list(old.mainline_moves()) == list(new.mainline_moves()), "other moves")
    for name, value in old.headers.items():
        is_free = name in OURS or value in ("", "?") and name in SET_IF_EMPTY
        expected = result(old) if name == "Result" else plain(value)
        check(is_free or plain(new.headers.get(name, "")) == expected, name, value, new.headers.get(name))
    added = set(new.headers) - set(old.headers) - OURS - SET_IF_EMPTY
    check(not added, added)
    check(words(old.comment) == words(new.comment), old.comment, new.comment)
    for one, other in zip(old.mainline(), new.mainline()):
        check(one.nags <= other.nags and other.nags - one.nags <= JUDGEMENTS, one, one.nags, other.nags)
        check(comments(one) == comments(other), one, comments(one), comments(other))
        kept, lines = ([line(child) for child in node.parent.variations[1:]] for node in (one, other))
        check(lines[: len(kept)] == kept, one, kept, lines)
        check(len(lines) <= len(kept) + 1, one, "more than one line of ours")
        for ours in lines[len(kept) :]:
            check(re.fullmatch(SCORE, ours[-1][2][1]), one, ours[-1][2])


def name(game):
    return [plain(game.headers.get(tag, "")) for tag in ("Event", "Round", "White", "Black")]


def main(before, after):
    games = odd = faults = 0
    new = None
    while (old := chess.pgn.read_game(before)) is not None:
        new = new or chess.pgn.read_game(after)
        if new is not None and name(old) != name(new):
            # Of the first file python-chess passes over games whose tags stand in one line.
            place = after.tell()
            following = chess.pgn.read_game(after)
            if following is not None and name(old) == name(following):
                new, odd = following, odd + 1
            else:
                after.seek(place)
        try:
            check(new is not None, "it is missing")
            compare(old, new)
        except ValueError as error:
            is_odd = bool(old.errors) or new is None
            odd, faults = odd + is_odd, faults + (not is_odd)
            print("odd" if is_odd else "FAULT", games + 1, *name(old), str(error)[:600], file=sys.stderr)
            if new is None or name(old) != name(new):
                # Left out: the next of the first file is this one.
                continue
        games, new = games + 1, None
    check(new is None and chess.pgn.read_game(after) is None, "there are more games in the second file")
    print(games, odd, faults)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8-sig", errors="replace") as before, open(sys.argv[2], encoding="utf-8") as after:
        main(before, after)
