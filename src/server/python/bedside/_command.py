"""The command `bedside`: where it is, and one run of it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ._errors import BedsideError, ServerUnavailable

NODE_HELP = (
    "Install Node 20.19 or newer (https://nodejs.org), or give the address of a server that runs: "
    "bedside.make('consultation', url='http://HOST:PORT', token='…') or $BEDSIDE_URL and $BEDSIDE_TOKEN."
)


def find_command(command: str | Sequence[str] | None = None) -> list[str]:
    """The command line that starts `bedside`: the argument, $BEDSIDE_COMMAND, this checkout or package, or PATH."""
    if command is None:
        command = os.environ.get("BEDSIDE_COMMAND")
    if command is not None:
        return shlex.split(command) if isinstance(command, str) else list(command)
    node = shutil.which("node")
    here = [parent for parent in Path(__file__).resolve().parents[4:5]]
    for home in [*here, Path.cwd() / "node_modules" / "bedside"]:
        built = home / "dist" / "cli" / "main.js"
        if built.is_file() and node:
            return [node, str(built)]
    found = shutil.which("bedside")
    if found:
        return [found]
    if not node:
        raise ServerUnavailable(f"Expected Node on PATH, found none. {NODE_HELP}")
    raise ServerUnavailable(
        "Expected the npm package bedside, found none: run `npm install bedside` in this folder or "
        "`npm install --global bedside`, or set $BEDSIDE_COMMAND to its command."
    )


def run(*arguments: str) -> str:
    """Runs a command of `bedside` to its end and gives what it printed. Raises BedsideError with what it complained of."""
    line = [*find_command(), *arguments]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        said = done.stderr.strip() or done.stdout.strip()
        raise BedsideError(f"bedside {' '.join(arguments[:2])} ended with {done.returncode}: {said[-2000:]}")
    return done.stdout
