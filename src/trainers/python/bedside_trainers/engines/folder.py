"""Model folders: checks that a folder is complete, and identifies its base model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .engine import EngineError

# Config keys that differ between library versions and precisions of the same model.
_INCIDENTAL = {"transformers_version", "dtype", "torch_dtype", "_name_or_path", "use_cache"}
_PIECES = 64
_PIECE_BYTES = 4096


def read_config(folder: Path) -> dict[str, Any]:
    """Reads config.json of a complete model folder. @raises EngineError naming what is missing, and its remedy"""
    if not folder.is_dir():
        raise EngineError(f"Expected a model folder, got {str(folder)!r}: there is no such folder")
    config = folder / "config.json"
    if not config.is_file():
        raise EngineError(
            f"Expected config.json in {folder}: is it the folder of a Hugging Face model?"
        )
    if not weight_files(folder):
        raise EngineError(
            f"Expected weights (*.safetensors or pytorch_model*.bin) in {folder}, found none"
        )
    if not any(
        (folder / name).is_file() for name in ("tokenizer.json", "tokenizer.model", "vocab.json")
    ):
        raise EngineError(
            f"Expected a tokenizer (tokenizer.json) in {folder}: save it beside the weights"
        )
    return json.loads(config.read_text("utf8"))


def weight_files(folder: Path) -> list[Path]:
    """The weight files, sorted by name."""
    return sorted((*folder.glob("*.safetensors"), *folder.glob("pytorch_model*.bin")))


def identity(folder: Path) -> Mapping[str, Any]:
    """Fingerprint of a base model, from its config and samples of its weight files."""
    config = json.loads((folder / "config.json").read_text("utf8"))
    kept = {key: value for key, value in config.items() if key not in _INCIDENTAL}
    digest = hashlib.sha256()
    size = 0
    for path in weight_files(folder):
        length = path.stat().st_size
        size += length
        with path.open("rb") as file:
            for piece in range(_PIECES):
                file.seek(length * piece // _PIECES)
                digest.update(file.read(_PIECE_BYTES))
    return {
        "architecture": (config.get("architectures") or [config.get("model_type")])[0],
        "config": hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest(),
        "bytes": size,
        "weights": digest.hexdigest(),
    }
