"""Checkpoints on disk: `tinker://MODEL/KIND/NAME` is stored in `STATE/MODEL/KIND/NAME`, with `_` for every `:`."""

from __future__ import annotations

import re
import shutil
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..engines.engine import EngineError
from .lock import hold
from .wire.refusal import Refused, quote

KINDS = ("weights", "sampler_weights", "exports")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_MODEL = r"[A-Za-z0-9-]{1,64}:train:[0-9]{1,10}"
_PATH = re.compile(rf"tinker://({_MODEL})/({'|'.join(KINDS)})/({_NAME.pattern})")
# Prefixes of temporary folders, and of files with the time at which a checkpoint ends; no checkpoint name begins so.
_OLD, _NEW, _GONE, _ENDS = ".old.", ".new.", ".gone.", ".ends."
# Leftovers younger than this may belong to another server on the same directory, if there is one.
_LEFTOVER_SECONDS = 3600


@dataclass(frozen=True)
class Place:
    """Address of a checkpoint; its parts are validated and safe in a path."""

    model_id: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"tinker://{self.model_id}/{self.kind}/{self.name}"


def check_name(name: str, path: str = "path") -> str:
    """Checks a checkpoint name and returns it. @raises Refused unless it is a plain file name"""
    if not _NAME.fullmatch(name):
        expected = "a name of letters, digits, '.', '_' and '-' that begins with a letter or digit"
        raise Refused(422, f"{path}: expected {expected}, received {quote(name)}")
    return name


def read_place(path: str) -> Place:
    """Parses a `tinker://` path. @raises Refused for any other path"""
    match = _PATH.fullmatch(path)
    if match is None:
        expected = "tinker://<model id>/<weights, sampler_weights or exports>/<name>"
        raise Refused(422, f"path: expected {expected}, received {quote(path)}")
    return Place(*match.groups())


def _ends(folder: Path) -> Path:
    return folder.with_name(f"{_ENDS}{folder.name}")


def _has_ended(ends: Path) -> bool:
    try:
        return float(ends.read_text()) <= time.time()
    except (OSError, ValueError):
        # No such file, or one that was cut off in the writing.
        return False


class Checkpoints:
    """Checkpoint folders in a state directory."""

    def __init__(self, state: Path) -> None:
        self.state = state.resolve()
        self.state.mkdir(parents=True, exist_ok=True)
        self._lock, alone = hold(self.state)
        for left in self.state.glob("*/*/.*"):
            if left.name.startswith(_OLD):
                self._recover(left)
            elif left.is_dir() and (alone or time.time() - left.stat().st_mtime > _LEFTOVER_SECONDS):
                shutil.rmtree(left, ignore_errors=True)
        self.sweep()

    def release(self) -> None:
        """Lets the state directory go, as the end of the process does."""
        if self._lock is not None:
            self._lock.close()

    def folder(self, place: Place) -> Path:
        return self.state / place.model_id.replace(":", "_") / place.kind / place.name

    def existing(self, path: str) -> Path:
        """Folder of an existing checkpoint. @raises Refused if there is none"""
        folder = self.folder(read_place(path))
        if _has_ended(_ends(folder)):
            self.sweep()
        if not folder.is_dir():
            raise Refused(404, f"path: no checkpoint at {quote(path)}")
        return folder

    def sweep(self) -> None:
        """Deletes the checkpoints whose time to live is over."""
        for ends in self.state.glob(f"*/*/{_ENDS}*"):
            if _has_ended(ends):
                shutil.rmtree(ends.with_name(ends.name.removeprefix(_ENDS)), ignore_errors=True)
                ends.unlink(missing_ok=True)

    def identity(self, path: str) -> str:
        """Identifier that changes when a checkpoint is replaced. @raises Refused if there is none"""
        status = self.existing(path).stat()
        return f"{path}#{status.st_ino}.{status.st_mtime_ns}"

    def write(
        self,
        place: Place,
        save: Callable[[Path], None],
        *,
        overwrite: bool = False,
        ttl_seconds: int | None = None,
    ) -> str:
        """Writes a checkpoint folder atomically with `save`, kept for `ttl_seconds` if they are given.
        @raises EngineError if it exists, unless `overwrite`"""
        self.sweep()
        path = self._write(place, save, overwrite=overwrite)
        ends = _ends(self.folder(place))
        # Without this file the checkpoint is kept: a crash before it is written loses nothing.
        ends.unlink(missing_ok=True)
        if ttl_seconds is not None:
            ends.write_text(f"{time.time() + ttl_seconds}\n")
        return path

    def _write(self, place: Place, save: Callable[[Path], None], *, overwrite: bool) -> str:
        folder = self.folder(place)
        there = folder.exists()
        if there and not overwrite:
            raise EngineError(f"path: {place} is there already; expected a new name or overwrite")
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not there:
            save(folder)
            return str(place)
        fresh = folder.with_name(f"{_NEW}{uuid.uuid4().hex}")
        save(fresh)
        old = folder.with_name(f"{_OLD}{place.name}")
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
        fresh.rename(folder)
        shutil.rmtree(old)
        return str(place)

    def delete(self, place: Place) -> None:
        """Deletes a checkpoint. @raises Refused if there is none"""
        folder = self.existing(str(place))
        doomed = folder.with_name(f"{_GONE}{uuid.uuid4().hex}")
        folder.rename(doomed)
        _ends(folder).unlink(missing_ok=True)
        shutil.rmtree(doomed)

    def _recover(self, old: Path) -> None:
        # Repairs a crash between the two renames of an overwriting save.
        folder = old.with_name(old.name.removeprefix(_OLD))
        if folder.exists():
            shutil.rmtree(old)
        else:
            old.rename(folder)
