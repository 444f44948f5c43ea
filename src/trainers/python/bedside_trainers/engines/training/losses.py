"""Policy and value losses per drawn token, in float64, as functions of log-probs; differentiated by autograd."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from ..engine import EngineError

Config = Mapping[str, float | str]


@dataclass(frozen=True)
class Drawn:
    """Tokens of several data, flat and in order: float64, but for `datum`, the index of each token's datum."""

    logprob: Tensor
    inputs: Mapping[str, Tensor]
    datum: Tensor
    data: int


def number(config: Config, key: str, default: float | None = None) -> float:
    """Reads a number of a loss's config. @raises EngineError if it is missing or not a number"""
    value = config.get(key, default)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise EngineError(f"Expected a number as `{key}` in the loss's configuration, got {value!r}")


def per_datum_sum(values: Tensor, drawn: Drawn) -> Tensor:
    """Sum over the datum of each token, repeated at each token."""
    sums = values.new_zeros(drawn.data).index_add(0, drawn.datum, values)
    return sums[drawn.datum]


def sequence_ratio(drawn: Drawn, logprob: Tensor, old: Tensor, marked: Tensor) -> Tensor:
    """GSPO's ratio per token (Zheng et al. 2025, the token form): the value of the datum's ratio, the geometric mean
    over its marked tokens, with the gradient of each token's own. @raises EngineError for a datum without one"""
    count = per_datum_sum(marked, drawn)
    if (count == 0).any():
        raise EngineError("Expected a marked token in every datum, got a datum without one")
    mean = per_datum_sum(marked * (drawn.logprob - old).detach(), drawn) / count
    return torch.exp(mean) * torch.exp(logprob - logprob.detach())


def clipped_surrogate(ratio: Tensor, advantage: Tensor, low: float, high: float) -> Tensor:
    """PPO's clipped surrogate -min(rA, clip(r, low, high)A), for ratio r and advantage A (Schulman et al. 2017)."""
    outside = torch.where(advantage >= 0, ratio > high, ratio < low)
    return -torch.where(outside, ratio.detach().clamp(low, high), ratio) * advantage


def _surrogate(config: Config, ratio: Tensor, advantage: Tensor) -> Tensor:
    low, high = 1 - number(config, "low"), 1 + number(config, "high")
    value = clipped_surrogate(ratio, advantage, low, high)
    if "dual" not in config:
        return value
    dual = number(config, "dual")
    return torch.where((advantage < 0) & (ratio > dual), -dual * advantage, value)


def _objective(config: Config, drawn: Drawn, logprob: Tensor, old: Tensor) -> Tensor:
    kind = config.get("kind")
    advantage = drawn.inputs["advantages"]
    ratio = torch.exp(logprob - old)
    if kind in ("policy-gradient", "cross-entropy"):
        return -advantage * logprob
    if kind == "importance-sampling":
        return -ratio * advantage
    if kind == "ppo-clip":
        return _surrogate(config, ratio, advantage)
    if kind == "cispo":
        bounds = 1 - number(config, "low"), 1 + number(config, "high")
        return -ratio.detach().clamp(*bounds) * advantage * logprob
    if kind == "gspo":
        whole = sequence_ratio(drawn, logprob, old, torch.ones_like(old))
        return _surrogate(config, whole, advantage)
    if kind == "sapo":
        positive, negative = number(config, "tau_positive"), number(config, "tau_negative")
        # As tensors: Python numbers would be rounded to the default precision here.
        tau = torch.where(advantage > 0, *ratio.new_tensor([positive, negative]))
        return -torch.sigmoid(tau * (ratio - 1)) * (4 / tau) * advantage
    raise EngineError(f"Expected a known `kind` of loss, got {kind!r}")


def _counts(drawn: Drawn) -> Tensor:
    """Number of the datum's tokens, at each of them."""
    return per_datum_sum(torch.ones_like(drawn.logprob), drawn).detach()


def _correction(config: Config, drawn: Drawn, old: Tensor) -> Tensor:
    difference = old - drawn.inputs["logprobs"]
    level = config["correction_level"]
    if level != "token":
        whole = per_datum_sum(difference, drawn)
        difference = whole / _counts(drawn) if level == "geometric" else whole
    rho = torch.exp(difference)
    low, high = number(config, "correction_min", 0.0), number(config, "correction_max")
    scale = number(config, "correction_scale", 1.0)
    if config.get("correction_mode") == "truncate":
        return scale * rho.clamp(low, high)
    return scale * torch.where((rho >= low) & (rho <= high), rho, 0.0)


def _off_policy(config: Config, drawn: Drawn, old: Tensor) -> Tensor:
    """Where the off-policy sequence mask drops a token of negative advantage (DeepSeek-V3.2)."""
    sampled = drawn.inputs["logprobs"]
    behaviour = old if config.get("off_policy_behaviour") == "old" else sampled
    apart = per_datum_sum(behaviour - drawn.logprob.detach(), drawn) / _counts(drawn)
    far = apart > number(config, "off_policy_threshold")
    return far & (drawn.inputs["advantages"] < 0)


def _penalty(config: Config, distance: Tensor) -> Tensor:
    estimator = config["kl_estimator"]
    if estimator == "k1":
        return distance
    if estimator == "k2":
        return distance**2 / 2
    if estimator == "k3":
        return torch.exp(-distance) + distance - 1
    raise EngineError(f"Expected `kl_estimator` to be k1, k2 or k3, got {estimator!r}")


def bedside(config: Config, drawn: Drawn) -> Tensor:
    """The losses of src/batch.ts, per token, before the normaliser and without the entropy bonus.
    @raises EngineError for an invalid config, or a KL penalty without `ref_logprobs`"""
    inputs, logprob = drawn.inputs, drawn.logprob
    old = inputs.get("old_logprobs", inputs["logprobs"])
    corrected = "correction_level" in config and "old_logprobs" in inputs
    if corrected or "off_policy_threshold" in config:
        rho = _correction(config, drawn, old) if corrected else torch.ones_like(old)
        if "off_policy_threshold" in config:
            rho = torch.where(_off_policy(config, drawn, old), 0.0, rho)
        # Dropped tokens contribute 0 even if their ratio is infinite: 0 times infinity would be NaN.
        value = rho * _objective(config, drawn, torch.where(rho == 0, old, logprob), old)
        value = torch.where(rho == 0, 0.0, value)
    else:
        value = _objective(config, drawn, logprob, old)
    if "kl_estimator" in config:
        if "ref_logprobs" not in inputs:
            raise EngineError("Expected `ref_logprobs` for a loss with a KL penalty, got none")
        penalty = _penalty(config, logprob - inputs["ref_logprobs"])
        if number(config, "kl_ratio", 0.0) != 0:
            penalty = torch.exp(logprob - old) * penalty
        value = value + number(config, "kl_coefficient") * penalty
    return value


def wire(name: str, config: Config, drawn: Drawn) -> Tensor:
    """The losses of the Tinker wire, per token; masked tokens have advantage and log-prob 0, or weight 0."""
    logprob, inputs = drawn.logprob, drawn.inputs
    if name == "cross_entropy":
        return -inputs["weights"] * logprob
    advantage, sampled = inputs["advantages"], inputs["logprobs"]
    if name == "dro":
        # Only in this loss does a token of advantage 0 have a gradient: mask tokens that were not drawn.
        distance = torch.where((advantage == 0) & (sampled == 0), 0.0, logprob - sampled)
        return -(logprob * advantage - number(config, "beta") / 2 * distance**2)
    ratio = torch.exp(logprob - sampled)
    if name == "importance_sampling":
        return -ratio * advantage
    low = number(config, "clip_low_threshold", 0.8)
    high = number(config, "clip_high_threshold", 1.2)
    if name == "gspo":
        marked = (inputs["sequence_ratio_mask"] != 0).to(logprob.dtype)
        ratio = sequence_ratio(drawn, logprob, sampled, marked)
    if name in ("ppo", "gspo"):
        return clipped_surrogate(ratio, advantage, low, high)
    return -ratio.detach().clamp(low, high) * advantage * logprob


def value_loss(config: Config, prediction: Tensor, inputs: Mapping[str, Tensor]) -> Tensor:
    """Clipped value loss per token, as in PPO's implementation: ½ max((v - R)², (clip(v, v_old ± range) - R)²), for
    prediction v and return R; ½ (v - R)² without `range`."""
    plain = (prediction - inputs["returns"]) ** 2 / 2
    if "range" not in config:
        return plain
    old, reach = inputs["old_values"], number(config, "range")
    held = torch.clamp(prediction.detach(), old - reach, old + reach) - inputs["returns"]
    return torch.where(held**2 / 2 > plain, held**2 / 2, plain)
