"""Named snapshots of weights, for sampling."""

from __future__ import annotations

from dataclasses import dataclass

from .decoder import Decoder
from .engine import EngineError, ModelSpec
from .foundation import Foundation
from .weights import Weights


@dataclass(frozen=True)
class Snapshot:
    """Weights of a model at one moment; of the base model if `spec` is None."""

    spec: ModelSpec | None
    weights: Weights


class Snapshots:
    """Snapshots by name, with a decoder for each."""

    def __init__(self, foundation: Foundation) -> None:
        self._foundation = foundation
        self._kept: dict[str, Snapshot] = {}

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """Bytes of the snapshots' own weights, and of those merged from them."""
        kept = list(self._kept.values())
        own = sum(tensor.nbytes for one in kept for tensor in one.weights.values())
        return own + self._foundation.merged_bytes()

    def keep(self, name: str, snapshot: Snapshot) -> None:
        self.drop(name)
        self._kept[name] = snapshot

    def drop(self, name: str) -> None:
        if self._kept.pop(name, None) is not None:
            self._foundation.forget(name)

    def get(self, name: str) -> Snapshot:
        """@raises EngineError for an unknown name"""
        if name not in self._kept:
            raise EngineError(f"Expected a snapshot, got {name!r}: there is none of this name")
        return self._kept[name]

    def decoder(self, name: str) -> Decoder:
        """Decoder of a snapshot. @raises EngineError for an unknown name"""
        kept = self.get(name)
        return self._foundation.decoder(name, kept.spec, kept.weights)
