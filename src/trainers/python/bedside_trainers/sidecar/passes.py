"""Forward and backward passes as they come, in either dialect, held to the loss and the model."""

from __future__ import annotations

from ..engines.engine import EngineInfo
from .data import Bounds, check_data, read_data, with_weights
from .fields import Fields
from .losses import OWN_LOSSES, WIRE_LOSSES, loss_of
from .proto import PassRequest
from .refusal import invalid
from .wire import Pass, Turn, read_turn


def read_pass(
    body: Fields | PassRequest, info: EngineInfo, bounds: Bounds, *, own: bool, forward: bool
) -> tuple[Turn, Pass]:
    """Turn and work of a request. @param own with the losses beyond the wire's @raises Refused"""
    if isinstance(body, PassRequest):
        turn, data, name, path, place = body.turn, body.data, body.loss_fn, "loss_fn", "data"
        config = Fields(body.config, "loss_fn_config")
        backward = not (body.forward_only or forward)
    else:
        fields = body.fields("forward_input" if forward else "forward_backward_input")
        turn, data, place = read_turn(body), read_data(fields), fields.at("data")
        name, path = fields.text("loss_fn"), fields.at("loss_fn")
        config, backward = fields.fields("loss_fn_config", {}), not forward
    loss, shape = loss_of(name, config, OWN_LOSSES if own else WIRE_LOSSES, path)
    if info.losses and name not in info.losses:
        raise invalid(path, name, f"a loss of this engine: {', '.join(info.losses)}")
    held = check_data(data, shape, bounds, backward=backward, path=place)
    return turn, Pass(with_weights(held, shape), loss, backward)
