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
from .wire.refusal import Refused, quote

KINDS = ("weights", "sampler_weights", "exports")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_MODEL = r"[A-Za-z0-9-]{1,64}:train:[0-9]{1,10}"
_PATH = re.compile(rf"tinker://({_MODEL})/({'|'.join(KINDS)})/({_NAME.pattern})")
# Prefixes of temporary folders; no checkpoint name can begin so. Leftovers younger than an hour may belong to another
# running server.
_OLD, _NEW, _GONE = ".old.", ".new.", ".gone."
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


class Checkpoints:
    """Checkpoint folders in a state directory."""

    def __init__(self, state: Path) -> None:
        self.state = state.resolve()
        self.state.mkdir(parents=True, exist_ok=True)
        for left in self.state.glob("*/*/.*"):
            if left.name.startswith(_OLD):
                self._recover(left)
            elif time.time() - left.stat().st_mtime > _LEFTOVER_SECONDS:
                shutil.rmtree(left, ignore_errors=True)

    def folder(self, place: Place) -> Path:
        return self.state / place.model_id.replace(":", "_") / place.kind / place.name

    def existing(self, path: str) -> Path:
        """Folder of an existing checkpoint. @raises Refused if there is none"""
        folder = self.folder(read_place(path))
        if not folder.is_dir():
            raise Refused(404, f"path: no checkpoint at {quote(path)}")
        return folder

    def identity(self, path: str) -> str:
        """Identifier that changes when a checkpoint is replaced. @raises Refused if there is none"""
        status = self.existing(path).stat()
        return f"{path}#{status.st_ino}.{status.st_mtime_ns}"

    def write(self, place: Place, save: Callable[[Path], None], *, overwrite: bool = False) -> str:
        """Writes a checkpoint folder atomically with `save`. @raises EngineError if it exists, unless `overwrite`"""
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
        shutil.rmtree(doomed)

    def _recover(self, old: Path) -> None:
        # Repairs a crash between the two renames of an overwriting save.
        folder = old.with_name(old.name.removeprefix(_OLD))
        if folder.exists():
            shutil.rmtree(old)
        else:
            old.rename(folder)
