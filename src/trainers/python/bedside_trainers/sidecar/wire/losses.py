"""Losses by name: their inputs per datum and their config keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...engines.engine import LossSpec
from .fields import Fields
from .refusal import invalid


@dataclass(frozen=True)
class LossShape:
    """Inputs and config keys of a loss. Inputs are as long as the tokens, those in `scalars` of length 1."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ()
    # Inputs required by a pass without gradients; None requires the same as with them.
    forward: tuple[str, ...] | None = None
    numbers: tuple[str, ...] = ()
    texts: Mapping[str, tuple[str, ...]] | None = None
    # Config keys without a default.
    settings: tuple[str, ...] = ()
    # Whether a position may have several targets: inputs of shape [tokens, K].
    several: bool = False


_RATIO = ("target_tokens", "logprobs", "advantages")
_CLIP = ("clip_low_threshold", "clip_high_threshold")
_KINDS = (
    "policy-gradient",
    "importance-sampling",
    "cross-entropy",
    "ppo-clip",
    "cispo",
    "gspo",
    "sapo",
)

WIRE_LOSSES: Mapping[str, LossShape] = {
    "cross_entropy": LossShape(("target_tokens",), ("weights",), several=True),
    "importance_sampling": LossShape(_RATIO, forward=("target_tokens",)),
    "ppo": LossShape(_RATIO, forward=("target_tokens",), numbers=_CLIP),
    "cispo": LossShape(_RATIO, forward=("target_tokens",), numbers=_CLIP),
    "dro": LossShape(
        _RATIO, forward=("target_tokens",), numbers=("beta",), settings=("beta",)
    ),
    "gspo": LossShape(
        (*_RATIO, "sequence_ratio_mask"), forward=("target_tokens",), numbers=_CLIP
    ),
}

OWN_LOSSES: Mapping[str, LossShape] = {
    **WIRE_LOSSES,
    "bedside": LossShape(
        ("target_tokens", "weights", "logprobs", "advantages"),
        ("old_logprobs", "ref_logprobs", "temperature"),
        scalars=("temperature",),
        forward=("target_tokens", "weights"),
        numbers=(
            *("low", "high", "dual", "tau_positive", "tau_negative", "entropy"),
            *("kl_coefficient", "correction_min", "correction_max"),
            *("kl_ratio", "correction_scale", "off_policy_threshold", "entropy_per_token"),
        ),
        texts={
            "kind": _KINDS,
            "kl_estimator": ("k1", "k2", "k3"),
            "correction_level": ("token", "sequence", "geometric"),
            "correction_mode": ("truncate", "mask"),
            "off_policy_behaviour": ("old", "sampler"),
        },
    ),
    "value": LossShape(
        ("returns", "weights"), ("old_values",), forward=("weights",), numbers=("range",)
    ),
}


# Losses of the official client that are not served, and why.
_UNSERVED = {
    "stable_reinforce": "the formula of stable_reinforce is not public",
    "custom": "custom losses run in the client, with forward_backward_custom",
}


def read_loss(
    name: str, config: Fields, known: Mapping[str, LossShape], path: str
) -> tuple[LossSpec, LossShape]:
    """Parses a loss and its config; returns its shape too. @raises Refused for an unknown loss or setting"""
    shape = known.get(name)
    if shape is None and name in _UNSERVED:
        raise invalid(path, name, f"one of {', '.join(known)}: {_UNSERVED[name]}")
    if shape is None:
        raise invalid(path, name, f"one of {', '.join(known)}")
    texts = shape.texts or {}
    settings: dict[str, float | str] = {}
    for key in config.values:
        if key in texts:
            settings[key] = config.text(key, among=texts[key])
        elif key in shape.numbers:
            settings[key] = config.number(key)
        else:
            expected = ", ".join((*texts, *shape.numbers)) or "no settings"
            raise invalid(
                config.at(key), config.values[key], f"only settings of {name}: {expected}"
            )
    for key in shape.settings:
        config.number(key)
    return LossSpec(name, settings), shape
