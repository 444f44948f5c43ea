"""Protobuf dialect of the wire: schema built without a compiler, parsing of requests, encoding of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

from ...engines.engine import Datum
from .answers import Answer, PassAnswer, SampleAnswer
from .columns import densify, shape_values
from .refusal import Refused, invalid
from .requests import Turn

MEDIA_TYPE = "application/x-protobuf"
_PACKAGE = "tinker_public"
_FLOAT32, _INT64, _INT32, _BFLOAT16 = 1, 2, 3, 4
# Little-endian, as on the wire.
_NUMPY = {_FLOAT32: "<f4", _INT64: "<i8", _INT32: "<i4", _BFLOAT16: "<u2"}

# Fields as `number type name`: `*` repeated, `?` optional, `|` member of the message's oneof, `{}` a map.
_SCHEMA: Mapping[str, str] = {
    "SampleResponse": "1*SampledSequence sequences, 2?bytes prompt_logprobs",
    "SampledSequence": "1 int32 stop_reason, 2 bytes tokens, 3?bytes logprobs",
    "SparseCsr": "1 bytes values, 2 bytes crow_indices, 3 bytes col_indices",
    "Tensor": "1|bytes dense, 2|SparseCsr sparse_csr, 3 int32 dtype, 4*int64 shape",
    "BatchedTensor": "1 bytes data, 2 bytes offsets, 3 int32 dtype, 4*int64 trailing_shape",
    "ArrayRecord": "1 string type_tag, 2*BatchedTensor fields{}, 3 int64 num_datums",
    "ForwardBackwardOutput": (
        "1 string loss_fn_output_type, 2*ArrayRecord loss_fn_outputs, 3*double metrics{}"
    ),
    "LossConfigValue": "1|double number, 2|string text",
    "ForwardBackwardRequest": (
        "1 string model_id, 2 int32 seq_id, 3*Datum data, 4 string loss_fn, "
        "5*double loss_fn_config{}, 6 bool forward_only, 7*LossConfigValue loss_fn_config_v2{}"
    ),
    "Datum": "1*Chunk model_input, 2*Tensor loss_fn_inputs{}",
    "Chunk": "1|EncodedTextChunk encoded_text, 2|bytes image, 3|bytes dmel",
    "EncodedTextChunk": "1 bytes tokens",
}


def _declare(field: Any, number: int, kind: str, name: str) -> None:
    field.number, field.name, field.label = number, name, field.LABEL_OPTIONAL
    if kind in _SCHEMA or "." in kind:
        field.type, field.type_name = field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
    else:
        field.type = getattr(field, f"TYPE_{kind.upper()}")


def _add_field(described: Any, text: str) -> None:
    number, mark, rest = int(text[0]), text[1], text[2:]
    kind, name = rest.split()
    field = described.field.add()
    if name.endswith("{}"):
        name = name.removesuffix("{}")
        entry = described.nested_type.add()
        entry.name = f"{name.title().replace('_', '')}Entry"
        entry.options.map_entry = True
        _declare(entry.field.add(), 1, "string", "key")
        _declare(entry.field.add(), 2, kind, "value")
        kind = f"{described.name}.{entry.name}"
    _declare(field, number, kind, name)
    if mark == "*":
        field.label = field.LABEL_REPEATED
    elif mark == "?":
        field.proto3_optional = True
        field.oneof_index = len(described.oneof_decl)
        described.oneof_decl.add().name = f"_{name}"
    elif mark == "|":
        if not described.oneof_decl:
            described.oneof_decl.add().name = "of"
        field.oneof_index = 0


@cache
def message_class(name: str) -> Any:
    """Class of a message of the schema."""
    return _classes()[name]


@cache
def _classes() -> Mapping[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name="tinker_public.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _SCHEMA.items():
        described = file.message_type.add()
        described.name = name
        for text in fields.split(", "):
            _add_field(described, text)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    find = pool.FindMessageTypeByName
    return {name: message_factory.GetMessageClass(find(f"{_PACKAGE}.{name}")) for name in _SCHEMA}


@dataclass(frozen=True)
class PassMessage:
    """A ForwardBackwardRequest, unchecked."""

    message: Any

    @property
    def loss_fn(self) -> str:
        return self.message.loss_fn

    @property
    def forward_only(self) -> bool:
        return self.message.forward_only

    @property
    def config(self) -> Mapping[str, float | str]:
        """The loss's config, where the second field for it wins: it has texts too."""
        config: dict[str, float | str] = dict(self.message.loss_fn_config)
        for key, value in self.message.loss_fn_config_v2.items():
            config[key] = value.text if value.WhichOneof("of") == "text" else value.number
        return config


def _array(raw: bytes, dtype: int, path: str) -> np.ndarray:
    if dtype not in _NUMPY:
        raise invalid(path, dtype, "a dtype of 1 float32, 2 int64, 3 int32 or 4 bfloat16")
    kind = np.dtype(_NUMPY[dtype])
    if len(raw) % kind.itemsize:
        raise invalid(path, f"{len(raw)} bytes", f"a multiple of {kind.itemsize} bytes")
    values = np.frombuffer(raw, kind)
    if dtype == _BFLOAT16:
        values = (values.astype("<u4") << 16).view("<f4")
    return values.astype(np.int64) if values.dtype.kind == "i" else values.astype(np.float32)


def _tensor(tensor: Any, path: str) -> np.ndarray:
    shape = list(tensor.shape)
    if tensor.WhichOneof("of") != "sparse_csr":
        values = _array(tensor.dense, tensor.dtype, path)
        return shape_values(values, shape or None, path)
    sparse = tensor.sparse_csr
    values = _array(sparse.values, tensor.dtype, path)
    rows, columns = (
        _array(raw, _INT64, path) for raw in (sparse.crow_indices, sparse.col_indices)
    )
    return densify(values, rows, columns, shape, path)


def _datum(datum: Any, path: str) -> Datum:
    parts = []
    for index, chunk in enumerate(datum.model_input):
        at = f"{path}.model_input[{index}]"
        if chunk.WhichOneof("of") != "encoded_text":
            raise invalid(at, chunk.WhichOneof("of"), "a chunk of encoded_text")
        parts.append(_array(chunk.encoded_text.tokens, _INT32, at))
    inputs = {
        name: _tensor(tensor, f"{path}.loss_fn_inputs.{name}")
        for name, tensor in datum.loss_fn_inputs.items()
    }
    return Datum(np.concatenate(parts) if parts else np.zeros(0, np.int64), inputs)


def read_message(body: bytes) -> PassMessage:
    """Parses a ForwardBackwardRequest. @raises Refused"""
    request = message_class("ForwardBackwardRequest")()
    try:
        request.ParseFromString(body)
    except message.DecodeError as error:
        raise Refused(422, f"body: expected a ForwardBackwardRequest: {error}") from None
    return PassMessage(request)


def read_turn(request: PassMessage) -> Turn:
    """Reads the place of a request in its model's sequence. @raises Refused"""
    if request.message.seq_id < 1:
        raise invalid("seq_id", request.message.seq_id, "an integer of at least 1")
    return Turn(request.message.model_id, request.message.seq_id)


def read_data(request: PassMessage) -> list[Datum]:
    """Reads the data of a request, without checks against loss and model. @raises Refused"""
    return [_datum(datum, f"data[{index}]") for index, datum in enumerate(request.message.data)]


def _encode_pass(answer: PassAnswer) -> bytes:
    output = message_class("ForwardBackwardOutput")(
        loss_fn_output_type="ArrayRecord", metrics=answer.result.metrics
    )
    # All data of a record have as many targets per position.
    for _, outputs in groupby(answer.result.outputs, _trailing_shapes):
        _add_record(output.loss_fn_outputs, list(outputs))
    return output.SerializeToString()


def _trailing_shapes(output: Mapping[str, np.ndarray]) -> Mapping[str, tuple[int, ...]]:
    return {name: array.shape[1:] for name, array in output.items()}


def _add_record(records: Any, outputs: Sequence[Mapping[str, np.ndarray]]) -> None:
    record = records.add(type_tag="ArrayRecord", num_datums=len(outputs))
    for name, shape in _trailing_shapes(outputs[0]).items():
        arrays = [np.asarray(each[name]) for each in outputs]
        dtype = _INT64 if arrays[0].dtype.kind == "i" else _FLOAT32
        parts = [array.astype(_NUMPY[dtype]).tobytes() for array in arrays]
        offsets = np.cumsum([0, *map(len, parts)]).astype("<i8")
        field = record.fields[name]
        field.data, field.offsets, field.dtype = b"".join(parts), offsets.tobytes(), dtype
        field.trailing_shape.extend(shape)


def _encode_sample(answer: SampleAnswer) -> bytes:
    response = message_class("SampleResponse")()
    for sampled in answer.sequences:
        response.sequences.add(
            stop_reason=0 if sampled.stop_reason == "stop" else 1,
            tokens=np.asarray(sampled.tokens, "<i4").tobytes(),
            logprobs=np.asarray(sampled.logprobs, "<f4").tobytes(),
        )
    if answer.prompt_logprobs is not None:
        response.prompt_logprobs = answer.prompt_logprobs.astype("<f4").tobytes()
    return response.SerializeToString()


def encode_proto(answer: Answer) -> bytes | None:
    """Encodes an answer as protobuf; None for answers that are JSON in both dialects."""
    if isinstance(answer, PassAnswer):
        return _encode_pass(answer)
    return _encode_sample(answer) if isinstance(answer, SampleAnswer) else None
