"""Whether a state directory is in use by another server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO

NAME = ".lock"


def hold(state: Path) -> tuple[IO[bytes] | None, bool]:
    """Marks a state directory as in use while the returned file is open, however this process ends; also returns whether
    no other server uses it. On Windows nothing is marked, and other servers cannot be ruled out."""
    if sys.platform == "win32":
        return None, False
    import fcntl

    file = open(state / NAME, "wb")  # held open for as long as the server runs
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        alone = True
    except OSError:
        alone = False
    fcntl.flock(file, fcntl.LOCK_SH)
    return file, alone
