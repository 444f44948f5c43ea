"""The command `bedside`: where it is, and one run of it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ._errors import BedsideError, ServerUnavailable

NODE_HELP = (
    "Install Node 20.19 or newer (https://nodejs.org), or give the address of a server that runs: "
    "bedside.make('consultation', url='http://HOST:PORT', token='…') or $BEDSIDE_URL and $BEDSIDE_TOKEN."
)


def _source() -> Path | None:
    """The folder that pip installed this package from (PEP 610); None for one of an index."""
    try:
        told = metadata.distribution("bedside-gym").read_text("direct_url.json")
        parts = urlsplit(str(json.loads(told or "{}").get("url", "")))
    except (metadata.PackageNotFoundError, ValueError):
        return None
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def _homes() -> Iterator[Path]:
    """Where the npm package may be: around this file, upwards from here as Node looks, and where pip found this package."""
    yield from Path(__file__).resolve().parents[4:5]
    here = Path.cwd()
    for folder in (here, *here.parents):
        yield folder / "node_modules" / "bedside"
        yield folder
    source = _source()
    if source is not None:
        # From src/server/python.
        yield from source.parents[2:3]


def _is_package(home: Path) -> bool:
    try:
        named = json.loads((home / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(named, dict) and named.get("name") == "bedside"


def find_command(command: str | Sequence[str] | None = None) -> list[str]:
    """The command line that starts `bedside`.

    The argument; $BEDSIDE_COMMAND; the npm package or checkout around this file, around the working folder, or that pip
    installed this package from; PATH. Raises ServerUnavailable that says what to install.
    """
    if command is None:
        command = os.environ.get("BEDSIDE_COMMAND")
    if command is not None:
        return shlex.split(command) if isinstance(command, str) else list(command)
    node = shutil.which("node")
    unbuilt = None
    for home in _homes():
        if not _is_package(home):
            continue
        built = home / "dist" / "cli" / "main.js"
        if built.is_file() and node:
            return [node, str(built)]
        unbuilt = unbuilt or home
    found = shutil.which("bedside")
    if found:
        return [found]
    if not node:
        raise ServerUnavailable(f"Expected Node on PATH, found none. {NODE_HELP}")
    if unbuilt:
        raise ServerUnavailable(f"Expected {unbuilt} to be built: run `npm ci && npm run build` there.")
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
