"""Data of passes: parses JSON data, and checks data of either dialect against loss and model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...engines.engine import Datum
from .columns import densify, shape_values
from .fields import Fields
from .losses import LossShape
from .refusal import invalid

_TOKENS = "target_tokens"


@dataclass(frozen=True)
class Bounds:
    """Bounds on data: vocabulary, context length, number of datums, and the engine's float type."""

    vocab_size: int
    context_length: int
    datums: int
    number_type: type[np.floating]


def integers(values: object, path: str) -> np.ndarray:
    """Parses a JSON list of integers as int64. @raises Refused"""
    if not isinstance(values, list) or not set(map(type, values)) <= {int}:
        raise invalid(path, values, "a list of integers")
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        raise invalid(path, values, "integers of 64 bits") from None


def numbers(values: object, path: str) -> np.ndarray:
    """Parses a JSON list of numbers as float64. @raises Refused"""
    if not isinstance(values, list) or not set(map(type, values)) <= {int, float}:
        raise invalid(path, values, "a list of numbers")
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        raise invalid(path, values, "numbers that a float64 holds") from None


def prompt_tokens(model_input: Fields) -> np.ndarray:
    """Parses the token ids of a model input made of text chunks."""
    parts = []
    for chunk in model_input.each("chunks"):
        chunk.text("type", "encoded_text", among=("encoded_text",))
        parts.append(integers(chunk.items("tokens"), chunk.at("tokens")))
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _tensor(fields: Fields) -> np.ndarray:
    dtype = fields.text("dtype", among=("int64", "float32"))
    read = integers if dtype == "int64" else numbers
    data = read(fields.items("data"), fields.at("data"))
    if not fields.has("sparse_crow_indices") and not fields.has("sparse_col_indices"):
        shape = fields.items("shape") if fields.has("shape") else None
        return shape_values(data, shape, fields.path)
    keys = ("shape", "sparse_crow_indices", "sparse_col_indices")
    shape, rows, columns = (integers(fields.items(key), fields.at(key)) for key in keys)
    return densify(data, rows, columns, shape.tolist(), fields.path)


def read_data(parent: Fields) -> list[Datum]:
    """Parses the `data` of a JSON request, without checks against loss and model."""
    data = []
    for fields in parent.each("data"):
        inputs = fields.fields("loss_fn_inputs")
        tensors = {name: _tensor(inputs.fields(name)) for name in inputs.values}
        data.append(Datum(prompt_tokens(fields.fields("model_input")), tensors))
    return data


def check_tokens(tokens: np.ndarray, bounds: Bounds, path: str) -> None:
    """Checks the number and range of token ids. @raises Refused"""
    if not 1 <= len(tokens) <= bounds.context_length:
        expected = f"1 to {bounds.context_length} tokens (the context length)"
        raise invalid(path, f"{len(tokens)} tokens", expected)
    _check_ids(tokens, bounds, path)


def _check_ids(tokens: np.ndarray, bounds: Bounds, path: str) -> None:
    outside = (tokens < 0) | (tokens >= bounds.vocab_size)
    if outside.any():
        at = int(outside.argmax())
        expected = f"a token id from 0 to {bounds.vocab_size - 1}"
        raise invalid(f"{path}[{at}]", int(tokens[at]), expected)


def _checked_input(
    name: str, values: np.ndarray, shape: tuple[int, ...], bounds: Bounds, path: str
) -> np.ndarray:
    if values.shape != shape:
        expected = f"the shape {list(shape)}, of the input tokens and their targets"
        raise invalid(path, list(values.shape), expected)
    if name == _TOKENS:
        if values.dtype.kind != "i":
            raise invalid(path, values.dtype.name, "int64")
        _check_ids(values.reshape(-1), bounds, path)
        return values
    if values.dtype.kind != "f":
        raise invalid(path, values.dtype.name, "float32")
    with np.errstate(over="ignore"):
        held = values.astype(bounds.number_type)
    if not np.isfinite(held).all():
        at = int((~np.isfinite(held)).argmax())
        raise invalid(f"{path}[{at}]", float(values.flat[at]), "a finite number")
    return held


def _checked(
    datum: Datum, shape: LossShape, required: Sequence[str], bounds: Bounds, path: str
) -> Datum:
    check_tokens(datum.tokens, bounds, f"{path}.model_input")
    names = (*shape.required, *shape.optional)
    held: dict[str, np.ndarray] = {}
    targets = datum.inputs.get(_TOKENS)
    several = shape.several and targets is not None and targets.ndim > 1 and targets.shape[1] > 0
    columns = targets.shape[1:] if several else ()
    for name, values in datum.inputs.items():
        at = f"{path}.loss_fn_inputs.{name}"
        if name not in names:
            raise invalid(at, "an input", f"only the inputs {', '.join(names)}")
        size = (1,) if name in shape.scalars else (len(datum.tokens), *columns)
        held[name] = _checked_input(name, values, size, bounds, at)
    for name in required:
        if name not in held:
            raise invalid(f"{path}.loss_fn_inputs.{name}", None, "an input of this loss")
    return Datum(datum.tokens, held)


def check_data(
    data: Sequence[Datum], shape: LossShape, bounds: Bounds, *, backward: bool, path: str
) -> list[Datum]:
    """Checks data against the loss and the model. @raises Refused with the path of what does not fit"""
    if not 1 <= len(data) <= bounds.datums:
        raise invalid(path, f"{len(data)} datums", f"1 to {bounds.datums} datums")
    required = shape.required if backward or shape.forward is None else shape.forward
    return [
        _checked(datum, shape, required, bounds, f"{path}[{index}]")
        for index, datum in enumerate(data)
    ]


def fill_weights(data: Sequence[Datum], shape: LossShape) -> list[Datum]:
    """Fills in missing weights with 1, for losses with optional weights."""
    if "weights" not in shape.optional:
        return list(data)
    return [_weighted(datum) for datum in data]


def _weighted(datum: Datum) -> Datum:
    if "weights" in datum.inputs:
        return datum
    inputs: Mapping[str, np.ndarray] = datum.inputs
    return Datum(datum.tokens, {**inputs, "weights": np.ones(inputs[_TOKENS].shape, np.float32)})
