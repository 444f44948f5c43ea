"""Answers of finished requests, and their JSON form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...engines.engine import ForwardResult, Sampled


@dataclass(frozen=True)
class Failure:
    """A failed request. Category `User` is the client's fault, `Server` the server's."""

    error: str
    category: Literal["User", "Server"]


@dataclass(frozen=True)
class JsonAnswer:
    """An answer that is a small JSON object in both dialects."""

    values: Mapping[str, Any]


@dataclass(frozen=True)
class PassAnswer:
    """Answer of a forward or backward pass."""

    result: ForwardResult


@dataclass(frozen=True)
class SampleAnswer:
    """Answer of a sampling request: sequences in the order of the samples."""

    sequences: Sequence[Sampled]
    prompt_logprobs: np.ndarray | None


Answer = Failure | JsonAnswer | PassAnswer | SampleAnswer


def estimate_size(answer: Answer) -> int:
    """Approximate size of an answer in bytes."""
    if isinstance(answer, PassAnswer):
        arrays = (array for output in answer.result.outputs for array in output.values())
        return 1024 + sum(array.nbytes + 128 for array in arrays)
    if isinstance(answer, SampleAnswer):
        scored = 0 if answer.prompt_logprobs is None else answer.prompt_logprobs.nbytes
        return 1024 + scored + sum(64 * len(sequence.tokens) for sequence in answer.sequences)
    return 1024


def _tensor(array: np.ndarray) -> dict[str, Any]:
    dtype = "int64" if array.dtype.kind == "i" else "float32"
    return {"data": array.ravel().tolist(), "dtype": dtype, "shape": list(array.shape)}


def _sequence(sampled: Sampled) -> dict[str, Any]:
    return {
        "tokens": np.asarray(sampled.tokens, np.int64).tolist(),
        "logprobs": np.asarray(sampled.logprobs, np.float64).tolist(),
        "stop_reason": sampled.stop_reason,
    }


def answer_values(answer: Answer) -> Mapping[str, Any]:
    """JSON values of an answer; a missing log-prob is null."""
    if isinstance(answer, Failure):
        return {"error": answer.error, "category": answer.category}
    if isinstance(answer, JsonAnswer):
        return answer.values
    if isinstance(answer, PassAnswer):
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


def encode_json(values: Mapping[str, Any]) -> bytes:
    """Encodes values as compact JSON. @raises ValueError for a number that is not finite"""
    return json.dumps(values, allow_nan=False, separators=(",", ":"), ensure_ascii=False).encode()
