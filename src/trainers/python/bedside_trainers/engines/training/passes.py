"""Forward and backward passes of a model over data: outputs per datum, gradients on the body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..engine import Datum, EngineError, ForwardResult, LossSpec, NonFinite
from ..head import token_statistics
from ..threads import Threads
from ..weights import Body
from . import losses
from .batching import MicroBatch, Prepared, collate, micro_batches, prepare

WIRE_LOSSES = ("cross_entropy", "importance_sampling", "ppo", "cispo", "dro", "gspo")
LOSSES = (*WIRE_LOSSES, "bedside", "value")
_OPTIONAL = ("old_logprobs", "ref_logprobs")


@dataclass(frozen=True)
class Limits:
    """Bounds of a pass: padded tokens of a micro-batch, vocabulary, context length, device and threads."""

    budget: int
    vocabulary: int
    context: int
    device: torch.device
    threads: Threads


@dataclass(frozen=True)
class _Evaluation:
    """Loss of a micro-batch: its value, the tensors to backpropagate from with their gradients, and flat outputs."""

    value: float
    roots: Sequence[Tensor]
    slopes: Sequence[Tensor]
    outputs: Mapping[str, Tensor]


def _required(loss: LossSpec, with_loss: bool) -> tuple[str, ...]:
    if loss.name == "value":
        old = ("old_values",) if "range" in loss.config else ()
        return ("weights", "returns", *old) if with_loss else ("weights",)
    if loss.name == "cross_entropy":
        return ("target_tokens", "weights") if with_loss else ("target_tokens",)
    if not with_loss:
        return ("target_tokens", "weights") if loss.name == "bedside" else ("target_tokens",)
    drawn = ("target_tokens", "logprobs", "advantages")
    own = {"bedside": ("weights",), "gspo": ("sequence_ratio_mask",)}
    return (*drawn, *own.get(loss.name, ()))


def _needed(loss: LossSpec) -> Callable[[Mapping[str, np.ndarray]], np.ndarray]:
    if loss.name in ("bedside", "value"):
        return lambda inputs: np.asarray(inputs["weights"]) != 0
    return lambda inputs: np.ones(len(inputs["target_tokens"]), dtype=bool)


def _slope(loss_sum: Callable[[Tensor], Tensor], at: Tensor) -> tuple[float, Tensor]:
    """A loss summed over tokens, and its derivative by each token's input, in float64."""
    with torch.enable_grad():
        leaf = at.detach().double().requires_grad_()
        total = loss_sum(leaf)
        (slope,) = torch.autograd.grad(total, leaf)
    return total.item(), slope


def _evaluate_values(
    body: Body, batch: MicroBatch, hidden: Tensor, loss: LossSpec, with_loss: bool
):
    values = body.head(hidden.to(body.head.weight.dtype)).squeeze(-1)
    outputs = {"values": values.detach()}
    if not with_loss:
        return _Evaluation(0.0, [], [], outputs)
    weights, inputs = batch.inputs["weights"], batch.inputs
    total, slope = _slope(
        lambda leaf: (weights * losses.value_loss(loss.config, leaf, inputs)).sum(), values
    )
    return _Evaluation(total, [values], [slope.to(values.dtype)], outputs)


def _evaluate_tokens(
    body: Body, batch: MicroBatch, hidden: Tensor, loss: LossSpec, with_loss: bool
):
    picked, entropy = token_statistics(
        body.head, body.transform, hidden, batch.targets, batch.temperature
    )
    outputs = {"logprobs": picked.detach()}
    ours = loss.name == "bedside"
    if ours:
        outputs["entropies"] = entropy.detach()
    if not with_loss:
        return _Evaluation(0.0, [], [], outputs)

    def drawn(leaf: Tensor) -> losses.Drawn:
        return losses.Drawn(leaf, batch.inputs, batch.datum, len(batch.data))

    if not ours:
        total, slope = _slope(
            lambda leaf: losses.wire(loss.name, loss.config, drawn(leaf)).sum(), picked
        )
        return _Evaluation(total, [picked], [slope.to(picked.dtype)], outputs)
    weights = batch.inputs["weights"]
    total, slope = _slope(
        lambda leaf: (weights * losses.bedside(loss.config, drawn(leaf))).sum(), picked
    )
    # As the losses are reduced, or the same for every token.
    bonus = losses.number(loss.config, "entropy", 0.0) * weights
    bonus = bonus + losses.number(loss.config, "entropy_per_token", 0.0) * (weights != 0)
    value = total - float((bonus * entropy.detach().double()).sum())
    slopes = [slope.to(picked.dtype), (-bonus).to(entropy.dtype)]
    return _Evaluation(value, [picked, entropy], slopes, {**outputs, "slopes": slope})


def _scatter(into: Sequence[dict], batch: MicroBatch, outputs: Mapping[str, Tensor]) -> None:
    counts = np.cumsum([len(one.positions) for one in batch.data])[:-1]
    for name, flat in outputs.items():
        whole = flat if flat.dtype == torch.float64 else flat.float()
        for one, part in zip(batch.data, np.split(whole.cpu().numpy(), counts)):
            row = np.zeros(len(one.tokens), dtype=part.dtype)
            row[one.positions] = part
            into[one.place][name] = row


def run_pass(body: Body, data: Sequence[Datum], loss: LossSpec, limits: Limits, backward: bool):
    """Runs a pass in micro-batches; with `backward`, leaves the gradient of the summed loss on the body's parameters.
    A forward pass computes the loss only if all of its inputs are given.
    @raises EngineError before any computing, NonFinite during the pass"""
    if loss.name not in LOSSES:
        raise EngineError(f"Expected a loss of {', '.join(LOSSES)}, got {loss.name!r}")
    if (loss.name == "value") != (getattr(body.head, "out_features", 0) == 1):
        raise EngineError(f"Expected a loss for the model's own head, got {loss.name!r}")
    required = _required(loss, True)
    given = all(name in datum.inputs for datum in data for name in required)
    with_loss = backward or (given and (loss.name != "bedside" or "kind" in loss.config))
    names = (*required, *_OPTIONAL) if with_loss else _required(loss, False)
    needed, required = _needed(loss), _required(loss, with_loss)
    prepared = prepare(data, needed, required, _OPTIONAL, limits.vocabulary, limits.context)
    outputs: list[dict[str, np.ndarray]] = [{} for _ in data]
    evaluate = _evaluate_values if loss.name == "value" else _evaluate_tokens
    total, read = 0.0, 0
    for part in micro_batches(prepared, limits.budget):
        limits.threads.fit(sum(one.reads for one in part))
        batch = collate(part, names, limits.context, limits.device)
        with torch.set_grad_enabled(backward):
            hidden = body.hidden(batch.tokens).flatten(0, 1).index_select(0, batch.rows)
            evaluation = evaluate(body, batch, hidden, loss, with_loss)
        total += evaluation.value
        read += sum(one.reads for one in part)
        if backward:
            if not np.isfinite(total):
                raise NonFinite(f"Expected a finite loss, got {total}")
            torch.autograd.backward(evaluation.roots, evaluation.slopes)
        _scatter(outputs, batch, evaluation.outputs)
    _fill(outputs, prepared, loss, with_loss)
    return ForwardResult(outputs, {"loss:sum": total, "tokens:sum": float(read)})


def _fill(
    outputs: Sequence[dict], prepared: Sequence[Prepared], loss: LossSpec, with_loss: bool
) -> None:
    """Fills in zero outputs for data without any needed position, which were not read."""
    extra = ("entropies", "slopes") if with_loss else ("entropies",)
    ours = extra if loss.name == "bedside" else ()
    names = ("values",) if loss.name == "value" else ("logprobs", *ours)
    for one in prepared:
        for name in names:
            outputs[one.place].setdefault(name, np.zeros(len(one.tokens), dtype=np.float32))
