"""Modules with exchangeable weights: models share a module, and switching between them copies nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from .engine import ModelInfo, ModelSpec
from .logits import LogitTransform
from .training.adamw import Moments

Weights = dict[str, Tensor]


@dataclass
class Body:
    """A module whose named parameters point at one set of weights at a time."""

    module: nn.Module
    # From token ids (batch, length) to the last hidden states (batch, length, width).
    hidden: Callable[[Tensor], Tensor]
    # From hidden states to what `transform` makes logits of, or to one value.
    head: nn.Module
    parameters: Mapping[str, nn.Parameter]
    transform: LogitTransform = LogitTransform()

    def use(self, weights: Mapping[str, Tensor]) -> None:
        """Points every named parameter at its tensor, and clears gradients."""
        for name, parameter in self.parameters.items():
            parameter.grad = None
            parameter.data = weights[name]

    def gradients(self) -> Weights:
        """Takes the gradients that backward passes have left on the parameters since `use`."""
        found = {name: one.grad for name, one in self.parameters.items() if one.grad is not None}
        for parameter in self.parameters.values():
            parameter.grad = None
        return found


@dataclass
class Model:
    """A training model: its own weights on a shared body."""

    info: ModelInfo
    body: Body
    # Trained weights, in full precision.
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
        """Updates the working copy in the body's precision; call it after any change of the weights."""
        self.working = {
            name: one.to(self.body.parameters[name].dtype) for name, one in self.weights.items()
        }

    def activate(self) -> Body:
        """Points the body at this model's weights and returns it."""
        self.body.use(self.working)
        return self.body


def structural_copy(module: nn.Module) -> nn.Module:
    """Copies a module; its frozen parameters and its buffers share the original's storage."""
    memo: dict[int, object] = {}
    for parameter in module.parameters():
        # Quantised parameters are more than their data, and are never exchanged.
        plain = parameter.is_floating_point()
        memo[id(parameter)] = nn.Parameter(parameter.data, False) if plain else parameter
    for buffer in module.buffers():
        memo[id(buffer)] = buffer
    return copy.deepcopy(module, memo)


def clone_weights(weights: Mapping[str, Tensor]) -> Weights:
    """Copies weights into new storage."""
    return {name: tensor.detach().clone() for name, tensor in weights.items()}


def shape_key(spec: ModelSpec) -> tuple:
    """Key of models that can share a body."""
    if spec.mode == "full":
        return ("full", spec.head)
    targets = (spec.train_attn, spec.train_mlp, spec.train_unembed)
    return ("lora", spec.head, spec.rank, spec.alpha, targets)
