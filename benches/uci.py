"""An engine that talks UCI, for the scripts beside this file. Needs only Python 3."""

import os
import re
import subprocess
import sys
from pathlib import Path


class Engine:
    """An engine in a home of its own, so that nothing of the user's is read or written."""

    def __init__(self, path, home, **options):
        """Starts the program at `path` with its data in the folder `home`; `Hash=16` sets an option."""
        self.path = path
        self.process = subprocess.Popen(
            [str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(home)
        )
        for name, value in options.items():
            self.set(name, value)

    def send(self, line):
        """Says a line."""
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            sys.exit(f"{self.path} ended before `{line}`; run it by hand to see why")

    def set(self, name, value):
        """Sets an option."""
        self.send(f"setoption name {name} value {value}")

    def until(self, start):
        """All lines up to the one that starts so."""
        for line in self.process.stdout:
            yield line.strip()
            if line.startswith(start):
                return
        sys.exit(f"{self.path} ended before it said `{start}`; run it by hand to see why")

    def wait_for(self, start):
        """Passes over all lines up to the one that starts so."""
        for _ in self.until(start):
            pass

    def search(self, position, limits):
        """Starts a search; gives back its lines, the answer last."""
        self.send(f"position {position}")
        self.send(f"go {limits}")
        return self.until("bestmove")

    def quit(self):
        """Ends it as a user does."""
        self.send("quit")
        self.process.stdin.close()
        self.process.wait()


def environment(home):
    """The variables under which an engine keeps its data in the folder `home`."""
    return {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home)}


def bench_positions():
    """The FENs of `engram bench`."""
    source = Path(__file__).resolve().parent.parent / "src/cli/bench.rs"
    return re.findall(r'^    "(\S+ [wb] \S+ \S+ \d+ \d+)",$', source.read_text(), re.MULTILINE)
