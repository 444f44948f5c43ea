"""Micro-batches of training data: checked, trimmed, sorted by length, padded on the right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..decoder import ROWS
from ..engine import Datum, EngineError


@dataclass(frozen=True)
class Prepared:
    """A checked datum, with the positions whose log-prob or value the loss needs."""

    place: int
    tokens: np.ndarray
    inputs: Mapping[str, np.ndarray]
    temperature: float
    positions: np.ndarray

    @property
    def reads(self) -> int:
        """Number of tokens to read: up to the last needed position."""
        return int(self.positions[-1]) + 1 if len(self.positions) else 0


@dataclass(frozen=True)
class MicroBatch:
    """Data as tensors. All tensors but `tokens` are flat over the needed positions, in order."""

    data: Sequence[Prepared]
    tokens: Tensor
    rows: Tensor
    datum: Tensor
    targets: Tensor | None
    temperature: Tensor | None
    inputs: Mapping[str, Tensor]


def _problem(datum: Datum, names: Sequence[str], vocabulary: int, context: int) -> str | None:
    length = len(datum.tokens)
    if not 1 <= length <= context:
        return f"expected 1 to {context} tokens, got {length}"
    for name in names:
        if name not in datum.inputs:
            return f"expected `{name}`, got {sorted(datum.inputs)}"
    for name, values in datum.inputs.items():
        if name != "temperature" and np.shape(values) != (length,):
            return f"expected `{name}` of length {length}, got shape {np.shape(values)}"
    for name, ids in (
        ("tokens", datum.tokens),
        ("target_tokens", datum.inputs.get("target_tokens")),
    ):
        if ids is not None and (np.min(ids) < 0 or np.max(ids) >= vocabulary):
            return (
                f"expected `{name}` from 0 to {vocabulary - 1}, got {np.min(ids)} to {np.max(ids)}"
            )
    temperature = datum.inputs.get("temperature")
    if temperature is not None and not (np.size(temperature) == 1 and np.min(temperature) > 0):
        return f"expected one positive `temperature`, got {temperature}"
    return None


def prepare(
    data: Sequence[Datum],
    needed: Callable[[Mapping[str, np.ndarray]], np.ndarray],
    names: Sequence[str],
    optional: Sequence[str],
    vocabulary: int,
    context: int,
) -> list[Prepared]:
    """Checks data before any pass: `names` are required, each of `optional` is on all data or on none.
    `needed` returns the mask of positions that the loss needs.
    @raises EngineError naming the datum and the input"""
    prepared = []
    given = [set(datum.inputs) & set(optional) for datum in data]
    for place, datum in enumerate(data):
        if given[place] != given[0]:
            raise EngineError(
                f"data[{place}]: expected {sorted(given[0])} as data[0], got {sorted(given[place])}"
            )
        problem = _problem(datum, names, vocabulary, context)
        if problem is not None:
            raise EngineError(f"data[{place}]: {problem}")
        temp = datum.inputs.get("temperature")
        prepared.append(
            Prepared(
                place=place,
                tokens=np.asarray(datum.tokens, dtype=np.int64),
                inputs={
                    name: np.asarray(v) for name, v in datum.inputs.items() if name != "temperature"
                },
                temperature=1.0 if temp is None else float(np.asarray(temp).reshape(-1)[0]),
                positions=np.flatnonzero(needed(datum.inputs)),
            )
        )
    return prepared


def micro_batches(data: Sequence[Prepared], budget: int) -> Iterator[list[Prepared]]:
    """Groups data of similar length into micro-batches of at most `budget` padded tokens, but at least one datum."""
    batch: list[Prepared] = []
    longest_first = sorted((one for one in data if one.reads > 0), key=lambda one: -one.reads)
    for one in longest_first:
        if batch and batch[0].reads * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


def collate(
    batch: Sequence[Prepared], names: Sequence[str], context: int, device: torch.device
) -> MicroBatch:
    """Builds the tensors of a micro-batch, padded on the right; `names` are the inputs of the loss, if present."""
    width = max(one.reads for one in batch)
    # Whole blocks of rows, as in the sampler, so that both get the same bits.
    step = ROWS // math.gcd(ROWS, len(batch))
    width = min(-(-width // step) * step, context)
    tokens = np.zeros((len(batch), width), dtype=np.int64)
    for row, one in enumerate(batch):
        tokens[row, : one.reads] = one.tokens[: one.reads]

    def flat(name: str, dtype: type) -> Tensor:
        parts = [one.inputs[name][one.positions].astype(dtype) for one in batch]
        return torch.from_numpy(np.concatenate(parts)).to(device)

    counts = [len(one.positions) for one in batch]
    rows = np.concatenate([one.positions + row * width for row, one in enumerate(batch)])
    everywhere = [name for name in names if all(name in one.inputs for one in batch)]
    temps = np.asarray([one.temperature for one in batch])
    scaled = np.any(temps != 1)
    temperature = torch.from_numpy(np.repeat(temps, counts)).to(device) if scaled else None
    return MicroBatch(
        data=batch,
        tokens=torch.from_numpy(tokens).to(device),
        rows=torch.from_numpy(rows).to(device),
        datum=torch.from_numpy(np.repeat(np.arange(len(batch)), counts)).to(device),
        targets=flat("target_tokens", np.int64) if "target_tokens" in everywhere else None,
        temperature=temperature,
        inputs={name: flat(name, np.float64) for name in everywhere if name != "target_tokens"},
    )
