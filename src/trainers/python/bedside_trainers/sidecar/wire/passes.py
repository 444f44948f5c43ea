"""Parses requests of forward and backward passes in either dialect, checked against loss and model."""

from __future__ import annotations

from ...engines.engine import EngineInfo
from .columns import split_columns
from .data import Bounds, check_data, fill_weights, read_data
from .fields import Fields
from .losses import OWN_LOSSES, WIRE_LOSSES, read_loss
from .proto import PassMessage
from .proto import read_data as read_proto_data
from .proto import read_turn as read_proto_turn
from .refusal import Refused, invalid
from .requests import Pass, Turn, read_turn

# A request for a pass in JSON or in protobuf, unchecked.
PassBody = Fields | PassMessage


def find_turn(body: PassBody) -> Turn | None:
    """The place of a request in its model's sequence, if it has a valid one."""
    try:
        return read_turn(body) if isinstance(body, Fields) else read_proto_turn(body)
    except Refused:
        return None


def read_pass(
    body: PassBody, info: EngineInfo, bounds: Bounds, *, own: bool, forward: bool
) -> tuple[Turn, Pass]:
    """Parses the turn and the pass of a request. @param own allows losses beyond the wire's @raises Refused"""
    if isinstance(body, PassMessage):
        turn, data, place = read_proto_turn(body), read_proto_data(body), "data"
        name, path = body.loss_fn, "loss_fn"
        config = Fields(body.config, "loss_fn_config")
        backward = not (body.forward_only or forward)
    else:
        fields = body.fields("forward_input" if forward else "forward_backward_input")
        turn, data, place = read_turn(body), read_data(fields), fields.at("data")
        name, path = fields.text("loss_fn"), fields.at("loss_fn")
        config, backward = fields.fields("loss_fn_config", {}), not forward
    known = OWN_LOSSES if own else WIRE_LOSSES
    if info.losses and name in known and name not in info.losses:
        raise invalid(path, name, f"a loss of this engine: {', '.join(info.losses)}")
    loss, shape = read_loss(name, config, known, path)
    held = check_data(data, shape, bounds, backward=backward, path=place)
    parts, widths = split_columns(fill_weights(held, shape))
    return turn, Pass(parts, loss, backward, widths)
