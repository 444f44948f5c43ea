"""Modules and the sets of weights they point at: switching models copies nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from .adamw import Moments
from .engine import ModelInfo, ModelSpec

Weights = dict[str, Tensor]


@dataclass
class Body:
    """A module whose named parameters point at one set of weights at a time."""

    module: nn.Module
    # Token ids to the last hidden states: (batch, length) to (batch, length, width).
    hidden: Callable[[Tensor], Tensor]
    # Hidden states to logits, or to one value.
    head: nn.Module
    parameters: Mapping[str, nn.Parameter]

    def use(self, weights: Mapping[str, Tensor]) -> None:
        """Points every named parameter at its tensor, without a gradient."""
        for name, parameter in self.parameters.items():
            parameter.grad = None
            parameter.data = weights[name]

    def gradients(self) -> Weights:
        """What backward passes left on the parameters since `use`."""
        found = {name: one.grad for name, one in self.parameters.items() if one.grad is not None}
        for parameter in self.parameters.values():
            parameter.grad = None
        return found


@dataclass
class Model:
    """A training model: weights of its own on a body it shares."""

    info: ModelInfo
    body: Body
    # What is trained, in full precision.
    weights: Weights
    generator: torch.Generator
    moments: Moments = field(default_factory=Moments)
    gradients: Weights = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trained()

    @property
    def spec(self) -> ModelSpec:
        return self.info.spec

    def trained(self) -> None:
        """After any change of the weights: what the body computes with follows, in its own precision."""
        self.working = {
            name: one.to(self.body.parameters[name].dtype) for name, one in self.weights.items()
        }

    def engage(self) -> Body:
        """The body with this model's weights in place."""
        self.body.use(self.working)
        return self.body


def structural_copy(module: nn.Module) -> nn.Module:
    """A module of its own whose parameters and buffers share the original's storage, frozen."""
    memo: dict[int, object] = {}
    for parameter in module.parameters():
        # Quantised ones are more than their data, and never pointed elsewhere.
        plain = parameter.is_floating_point()
        memo[id(parameter)] = nn.Parameter(parameter.data, False) if plain else parameter
    for buffer in module.buffers():
        memo[id(buffer)] = buffer
    return copy.deepcopy(module, memo)


def cloned(weights: Mapping[str, Tensor]) -> Weights:
    """The same numbers in storage of their own."""
    return {name: tensor.detach().clone() for name, tensor in weights.items()}


def shape_key(spec: ModelSpec) -> tuple:
    """What models have in common that can share a body."""
    if spec.mode == "full":
        return ("full", spec.head)
    targets = (spec.train_attn, spec.train_mlp, spec.train_unembed)
    return ("lora", spec.head, spec.rank, spec.alpha, targets)
