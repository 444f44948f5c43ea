"""From a head's output to a model's logits: what its configuration declares, held to the logits of the model itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from .engine import EngineError

# Keys of a configuration that hold a factor of the logits, or its inverse: Granite divides by `logits_scaling`,
# HyperCLOVA X multiplies by it. Which of the two it is is measured.
_SCALES = ("logit_scale", "logits_scaling", "lm_head_multiplier", "output_multiplier")
_CAPS = ("final_logit_softcapping", "logits_soft_cap")
# Head outputs are compared up to this size, where a cap cannot be overlooked.
_PEAK = 200.0


@dataclass(frozen=True)
class LogitTransform:
    """Logits from a head's output z: `scale` z, or with a `cap` cap · tanh(scale z / cap)."""

    scale: float = 1.0
    cap: float | None = None

    def apply(self, output: Tensor) -> Tensor:
        """Logits of a head's output, in float32 or wider unless nothing is to be done."""
        if self.scale == 1 and self.cap is None:
            return output
        logits = (output if output.dtype == torch.float64 else output.float()) * self.scale
        return logits if self.cap is None else (logits / self.cap).tanh_() * self.cap

    def pull_back_(self, grad: Tensor, logits: Tensor) -> Tensor:
        """Turns the gradient by the logits into that by the head's output, in place."""
        if self.cap is not None:
            grad.mul_(1 - (logits / self.cap).square_())
        return grad if self.scale == 1 else grad.mul_(self.scale)


def declared_transforms(config: Any) -> list[LogitTransform]:
    """Every transform that the keys of a configuration may mean, the identity included: not all models heed theirs."""
    values = [getattr(config, name, None) for name in _SCALES]
    scales = [scale for value in values if value for scale in (float(value), 1 / value)]
    caps = [float(cap) for cap in (getattr(config, name, None) for name in _CAPS) if cap]
    return [LogitTransform(*one) for one in product(dict.fromkeys([*scales, 1.0]), [*caps, None])]


@contextmanager
def _amplified(head: nn.Module, factor: float) -> Iterator[None]:
    handle = head.register_forward_pre_hook(lambda _, given: (given[0] * factor, *given[1:]))
    try:
        yield
    finally:
        handle.remove()


@torch.inference_mode()
def find_transform(
    causal: nn.Module,
    hidden: Callable[[Tensor], Tensor],
    logits: Callable[[Tensor], Tensor],
    ids: Tensor,
) -> LogitTransform:
    """The transform of a causal model, by its configuration, and by its own last hidden states and logits for token
    ids (batch, length).
    @raises EngineError, with the type and the size of the gap, if its logits are none of its last hidden states"""
    config = causal.config.get_text_config()
    head = causal.get_output_embeddings()
    candidates = declared_transforms(config)
    try:
        states = hidden(ids)
        factor = max(1.0, _PEAK / head(states).abs().max().item())
        gaps = dict.fromkeys(candidates, 0.0)
        for size in (1.0, factor):
            with _amplified(head, size):
                theirs = logits(ids).double()
            output = head(states * size)
            for one in candidates:
                # As a share of what a cap is applied to, whose rounding it has.
                peak = output.abs().max().item() * one.scale
                gap = (one.apply(output) - theirs).abs().max().item() / peak
                # Not max(): a NaN must not be lost.
                gaps[one] = gap if not gap <= gaps[one] else gaps[one]
    except Exception as error:  # Code of any model: whatever it raises, the model is not served.
        raise EngineError(
            f"Expected a model with a linear head, got {config.model_type!r}: {error!r}"
        ) from error
    best = min(candidates, key=lambda one: gaps[one])
    if not gaps[best] <= logit_bound(output.dtype):
        raise EngineError(
            f"Expected logits that follow from the last hidden states, got {config.model_type!r}: by its head and "
            f"{best} they differ by {gaps[best]:.2g} of the largest"
        )
    return best


def logit_bound(dtype: torch.dtype) -> float:
    """Rounding of a head in this precision, as a share of its largest logit; anything more is another model."""
    return {torch.float64: 1e-6, torch.float32: 1e-5}.get(dtype, 0.02)
