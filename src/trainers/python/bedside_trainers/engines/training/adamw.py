"""AdamW with decoupled weight decay (Loshchilov and Hutter 2019) over named tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..engine import AdamParams, NonFinite

# Bytes of weights that are stepped at once: each of a step's three temporary copies is as large.
_GROUP_BYTES = 1 << 28


@dataclass
class Moments:
    """Optimiser state: step count, first and second moments; empty before the first step."""

    steps: int = 0
    first: dict[str, Tensor] = field(default_factory=dict)
    second: dict[str, Tensor] = field(default_factory=dict)


def gradient_norm(grads: Mapping[str, Tensor]) -> float:
    """Euclidean norm over all gradients, in float64; 0 without gradients."""
    if not grads:
        return 0.0
    norms = torch._foreach_norm([grads[name] for name in sorted(grads)])
    return float(torch.linalg.vector_norm(torch.stack([one.double() for one in norms])))


@torch.no_grad()
def step(
    weights: Mapping[str, Tensor],
    grads: Mapping[str, Tensor],
    moments: Moments,
    adam: AdamParams,
) -> float:
    """Runs one step in place; returns the gradients' norm before clipping. A missing gradient counts as 0.
    @raises NonFinite before anything is changed"""
    norm = gradient_norm(grads)
    if not norm < float("inf"):
        raise NonFinite(f"Expected finite gradients, got a gradient norm of {norm}")
    scale = adam.grad_clip_norm / norm if 0 < adam.grad_clip_norm < norm else None
    moments.steps += 1
    for names in _groups(weights):
        _step_group(names, weights, grads, moments, adam, scale)
    return norm


def _groups(weights: Mapping[str, Tensor]) -> Iterator[list[str]]:
    """Names of weights, as many at once as `_GROUP_BYTES` hold, but at least one."""
    group: list[str] = []
    size = 0
    for name in sorted(weights):
        if group and size + weights[name].nbytes > _GROUP_BYTES:
            yield group
            group, size = [], 0
        group.append(name)
        size += weights[name].nbytes
    if group:
        yield group


def _step_group(
    names: Sequence[str],
    weights: Mapping[str, Tensor],
    grads: Mapping[str, Tensor],
    moments: Moments,
    adam: AdamParams,
    scale: float | None,
) -> None:
    values = [weights[name] for name in names]
    gradients = [
        grads[name].to(weights[name].dtype) if name in grads else torch.zeros_like(weights[name])
        for name in names
    ]
    if scale is not None:
        gradients = torch._foreach_mul(gradients, scale)
    for name in names:
        if name not in moments.first:
            moments.first[name] = torch.zeros_like(weights[name])
            moments.second[name] = torch.zeros_like(weights[name])
    first = [moments.first[name] for name in names]
    second = [moments.second[name] for name in names]
    torch._foreach_lerp_(first, gradients, 1 - adam.beta1)
    torch._foreach_mul_(second, adam.beta2)
    torch._foreach_addcmul_(second, gradients, gradients, 1 - adam.beta2)
    if adam.weight_decay:
        torch._foreach_mul_(values, 1 - adam.learning_rate * adam.weight_decay)
    denominator = torch._foreach_sqrt(second)
    torch._foreach_div_(denominator, (1 - adam.beta2**moments.steps) ** 0.5)
    torch._foreach_add_(denominator, adam.eps)
    torch._foreach_addcdiv_(
        values, first, denominator, -adam.learning_rate / (1 - adam.beta1**moments.steps)
    )
