"""What a finished request has to say, and its JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..engines.engine import ForwardResult, Sampled


@dataclass(frozen=True)
class Failure:
    """A request that failed: `User` is for the client to mend, `Server` for whoever runs this."""

    error: str
    category: Literal["User", "Server"]


@dataclass(frozen=True)
class Plain:
    """An answer that is a small JSON object in every dialect."""

    values: Mapping[str, Any]


@dataclass(frozen=True)
class Passed:
    """Of forward and backward passes."""

    result: ForwardResult


@dataclass(frozen=True)
class Drawn:
    """Of sampling, in the order of the samples."""

    sequences: Sequence[Sampled]
    prompt_logprobs: np.ndarray | None


Answer = Failure | Plain | Passed | Drawn


def size_of(answer: Answer) -> int:
    """About how many bytes an answer holds."""
    if isinstance(answer, Passed):
        arrays = (array for output in answer.result.outputs for array in output.values())
        return 1024 + sum(array.nbytes + 128 for array in arrays)
    if isinstance(answer, Drawn):
        scored = 0 if answer.prompt_logprobs is None else answer.prompt_logprobs.nbytes
        return 1024 + scored + sum(64 * len(sequence.tokens) for sequence in answer.sequences)
    return 1024


def _tensor(array: np.ndarray) -> dict[str, Any]:
    dtype = "int64" if array.dtype.kind == "i" else "float32"
    return {"data": array.tolist(), "dtype": dtype, "shape": list(array.shape)}


def _sequence(sampled: Sampled) -> dict[str, Any]:
    return {
        "tokens": np.asarray(sampled.tokens, np.int64).tolist(),
        "logprobs": np.asarray(sampled.logprobs, np.float64).tolist(),
        "stop_reason": sampled.stop_reason,
    }


def values_of(answer: Answer) -> Mapping[str, Any]:
    """An answer as JSON has it; a number that is missing is null."""
    if isinstance(answer, Failure):
        return {"error": answer.error, "category": answer.category}
    if isinstance(answer, Plain):
        return answer.values
    if isinstance(answer, Passed):
        return {
            "type": "forward_backward",
            "loss_fn_output_type": "ArrayRecord",
            "loss_fn_outputs": [
                {name: _tensor(array) for name, array in output.items()}
                for output in answer.result.outputs
            ],
            "metrics": dict(answer.result.metrics),
        }
    values: dict[str, Any] = {"type": "sample", "sequences": list(map(_sequence, answer.sequences))}
    if answer.prompt_logprobs is not None:
        scores = answer.prompt_logprobs.tolist()
        values["prompt_logprobs"] = [None if math.isnan(score) else score for score in scores]
    return values


def json_of(values: Mapping[str, Any]) -> bytes:
    """@raises ValueError for a number that is not finite"""
    return json.dumps(values, allow_nan=False, separators=(",", ":"), ensure_ascii=False).encode()
