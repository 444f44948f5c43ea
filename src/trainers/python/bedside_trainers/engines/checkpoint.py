"""Checkpoint folders: written atomically, verified by hash when read."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from .engine import EngineError, ModelSpec, StorageError
from .training.adamw import Moments

FORMAT = 1
MANIFEST = "checkpoint.json"
OPTIMIZER = "optimizer.safetensors"


def weights_file(spec: ModelSpec) -> str:
    return "adapter_model.safetensors" if spec.mode == "lora" else "model.safetensors"


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Temporary folder that is renamed to `folder` once all of it is on disk. @raises EngineError for a folder that is
    there, StorageError for a disk that fails, keeping nothing"""
    if folder.exists():
        raise EngineError(f"Expected a new folder, got {folder}, which is there already")
    partial = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        partial.mkdir(parents=True)
        yield partial
        for path in partial.rglob("*"):
            _sync(path)
        _sync(partial)
        partial.rename(folder)
        _sync(folder.parent)
    except (OSError, SafetensorError) as error:
        raise StorageError(f"Could not write {folder}: {error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def tensors_to_file(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Writes named tensors as safetensors, from any device and layout."""
    plain = {name: one.detach().cpu().contiguous() for name, one in tensors.items()}
    save_file(plain, path, metadata={"format": "pt"})


def _optimizer_tensors(moments: Moments, generator: Tensor) -> dict[str, Tensor]:
    first = {f"first.{name}": one for name, one in moments.first.items()}
    second = {f"second.{name}": one for name, one in moments.second.items()}
    return {"generator": generator, **first, **second}


def save(
    folder: Path,
    spec: ModelSpec,
    base: Mapping[str, Any],
    weights: Mapping[str, Tensor],
    state: tuple[Moments, Tensor] | None,
    also: Callable[[Path], None],
) -> None:
    """Writes a checkpoint atomically; `also` adds further files to it. `state` is the optimiser's and the generator's;
    a checkpoint to sample from has none. @raises EngineError, StorageError"""
    with atomic_folder(folder) as partial:
        tensors_to_file(weights, partial / weights_file(spec))
        if state is not None:
            tensors_to_file(_optimizer_tensors(*state), partial / OPTIMIZER)
        also(partial)
        manifest = {
            "format": FORMAT,
            "base": dict(base),
            "spec": asdict(spec),
            "steps": 0 if state is None else state[0].steps,
            "files": {path.name: _hash(path) for path in sorted(partial.iterdir())},
        }
        (partial / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", "utf8")


def read_manifest(folder: Path, base: Mapping[str, Any]) -> Mapping[str, Any]:
    """Reads checkpoint.json. @raises EngineError if there is no checkpoint, or one of another base model"""
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf8"))
    except (OSError, ValueError) as error:
        raise EngineError(f"Expected a checkpoint in {folder}: {error}") from error
    if manifest.get("format") != FORMAT:
        raise EngineError(
            f"Expected a checkpoint of format {FORMAT}, got {manifest.get('format')!r}"
        )
    if manifest["base"] != dict(base):
        theirs, ours = manifest["base"].get("architecture"), base["architecture"]
        differing = [key for key in base if manifest["base"].get(key) != base[key]]
        raise EngineError(
            f"Expected a checkpoint of this base model ({ours}), got one of another ({theirs}): "
            f"{', '.join(differing)} differ"
        )
    return manifest


def spec_of(manifest: Mapping[str, Any]) -> ModelSpec:
    return ModelSpec(**manifest["spec"])


def read_tensors(folder: Path, manifest: Mapping[str, Any], name: str) -> dict[str, Tensor]:
    """Reads a file of tensors. @raises EngineError if its hash is not the manifest's"""
    path = folder / name
    try:
        if _hash(path) != manifest["files"].get(name):
            raise EngineError(f"Expected {path} as it was written, got another content")
        return load_file(path)
    except (FileNotFoundError, SafetensorError) as error:
        raise EngineError(f"Could not read {path}: {error}") from error
    except OSError as error:
        raise StorageError(f"Could not read {path}: {error}") from error


def read_moments(folder: Path, manifest: Mapping[str, Any]) -> tuple[Moments, Tensor]:
    """Reads the optimiser's and the generator's state. @raises EngineError for a checkpoint that has none"""
    if OPTIMIZER not in manifest["files"]:
        raise EngineError(
            f"Expected a checkpoint with the optimiser's state, got {folder}, which was saved to sample from"
        )
    tensors = read_tensors(folder, manifest, OPTIMIZER)
    generator = tensors.pop("generator")
    moments = Moments(steps=manifest["steps"])
    for name, tensor in tensors.items():
        which, _, weight = name.partition(".")
        getattr(moments, which)[weight] = tensor
    return moments, generator
