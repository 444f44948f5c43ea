"""Inputs of several targets per position, of shape [tokens, K]: read as K data of one target each, and joined again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...engines.engine import Datum, ForwardResult
from .refusal import invalid

# No tensor of the wire has more dimensions.
_DIMENSIONS = 2
# Most columns of a sparse tensor: a body of a few bytes may declare any number, and all of them would take memory.
_SPARSE_COLUMNS = 256


def shape_values(values: np.ndarray, shape: Sequence[Any] | None, path: str) -> np.ndarray:
    """Gives flat values the shape that a request declares. @raises Refused"""
    if shape is None:
        return values
    whole = all(type(size) is int and size >= 0 for size in shape)
    if not whole or len(shape) > _DIMENSIONS or int(np.prod(shape)) != len(values):
        expected = f"[{len(values)}], or [N, K] of as many values"
        raise invalid(f"{path}.shape", list(shape), expected)
    return values.reshape(tuple(shape))


def densify(
    values: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: Sequence[int], path: str
) -> np.ndarray:
    """Builds a dense matrix from compressed sparse rows; what is not listed is 0. @raises Refused"""
    if len(shape) != _DIMENSIONS or shape[0] < 0 or not 0 <= shape[1] <= _SPARSE_COLUMNS:
        expected = f"[N, K] of a sparse tensor, K at most {_SPARSE_COLUMNS}"
        raise invalid(f"{path}.shape", list(shape), expected)
    height, width = shape
    counts = np.diff(rows)
    fits = len(rows) == height + 1 and rows[0] == 0 and rows[-1] == len(values) == len(columns)
    if not fits or (counts < 0).any() or (counts > width).any():
        raise invalid(path, f"{len(values)} values", f"compressed rows of the shape {list(shape)}")
    if ((columns < 0) | (columns >= width)).any():
        raise invalid(path, columns.tolist(), f"column indices from 0 to {width - 1}")
    dense = np.zeros((height, width), values.dtype)
    dense[np.repeat(np.arange(height), counts), columns] = values
    return dense


def split_columns(data: Sequence[Datum]) -> tuple[list[Datum], tuple[int, ...]]:
    """Splits checked data of several targets into data of one; also the number of columns of each datum, 0 for vectors.
    The loss and its gradient are sums over targets, so they are the same."""
    parts, widths = [], []
    for datum in data:
        targets = datum.inputs.get("target_tokens")
        width = targets.shape[1] if targets is not None and targets.ndim > 1 else 0
        widths.append(width)
        if width == 0:
            parts.append(datum)
            continue
        parts += [
            Datum(datum.tokens, {name: values[:, at] for name, values in datum.inputs.items()})
            for at in range(width)
        ]
    return parts, tuple(widths)


def join_columns(result: ForwardResult, widths: Sequence[int]) -> ForwardResult:
    """Joins the outputs of split data, in the order of the columns."""
    if not any(widths):
        return result
    outputs, at = [], 0
    for width in widths:
        parts = result.outputs[at : at + max(width, 1)]
        at += len(parts)
        stacked = {name: np.stack([part[name] for part in parts], 1) for name in parts[0]}
        outputs.append(stacked if width else parts[0])
    return replace(result, outputs=outputs)
