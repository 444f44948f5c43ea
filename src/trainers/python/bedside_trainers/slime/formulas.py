"""slime's loss of a batch, by its own functions where its checkout is there, else by the same formulas.

test/golden/slime.json holds the numbers of slime's own. The only file of this part that imports torch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")

import numpy as np
import torch

from .library import GENUINE

if GENUINE:
    from slime.utils.ppo_utils import (
        compute_approx_kl,
        compute_cispo_loss,
        compute_gspo_kl,
        compute_opsm_mask,
        compute_policy_loss,
    )
else:

    def compute_approx_kl(
        log_probs: torch.Tensor,
        log_probs_base: torch.Tensor,
        kl_loss_type: str,
        importance_ratio: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Estimates of the KL divergence at each token (Schulman 2020), in single precision as slime's; times a ratio where
        one is given, which makes them unbiased off policy."""
        if kl_loss_type not in ("k1", "k2", "k3", "low_var_kl"):
            raise ValueError(f"Expected k1, k2, k3 or low_var_kl, got {kl_loss_type}")
        apart = log_probs.float() - log_probs_base.float()
        if kl_loss_type == "k1":
            estimate = apart
        elif kl_loss_type == "k2":
            estimate = apart * apart / 2
        else:
            estimate = torch.exp(-apart) + apart - 1
        if importance_ratio is not None:
            estimate = importance_ratio * estimate
        return torch.clamp(estimate, -10, 10) if kl_loss_type == "low_var_kl" else estimate

    def compute_opsm_mask(
        args: LossFlags,
        full_log_probs: Sequence[torch.Tensor],
        full_old_log_probs: Sequence[torch.Tensor],
        advantages: Sequence[torch.Tensor],
        loss_masks: Sequence[torch.Tensor],
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Off-policy sequence mask (DeepSeek-V3.2): 0 at tokens of negative advantage of a sample that the policy has moved
        away from; and the share of each sample that it drops, summed."""
        kept, dropped = [], torch.zeros(())
        rows = zip(full_log_probs, full_old_log_probs, advantages, loss_masks, strict=True)
        for new, old, advantage, mask in rows:
            drawn = torch.clamp(mask.sum(), min=1)
            far = ((old - new) * mask).sum() / drawn > args.opsm_delta
            off = ((advantage < 0) & far).to(mask.dtype)
            dropped = dropped + off.sum() / drawn
            kept.append(1 - off)
        return torch.cat(kept), dropped

    def compute_policy_loss(
        ppo_kl: torch.Tensor,
        advantages: torch.Tensor,
        eps_clip: float,
        eps_clip_high: float,
        eps_clip_c: float | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Clipped policy loss of each token, and where the clip acts. ppo_kl: old log-prob minus new."""
        ratio = torch.exp(-ppo_kl)
        plain = -advantages * ratio
        bounded = -advantages * torch.clamp(ratio, 1 - eps_clip, 1 + eps_clip_high)
        loss = torch.maximum(plain, bounded)
        if eps_clip_c is not None:
            most = torch.minimum(loss, -advantages * eps_clip_c)
            loss = torch.where(advantages < 0, most, loss)
        return loss, (bounded > plain).float()

    def compute_cispo_loss(
        ppo_kl: torch.Tensor,
        log_probs: torch.Tensor,
        advantages: torch.Tensor,
        eps_clip: float,
        eps_clip_high: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """CISPO's loss of each token (MiniMax-M1, arXiv:2506.13585), and where the bound acts."""
        ratio = torch.exp(-ppo_kl)
        weight = torch.clamp(ratio, 1 - eps_clip, 1 + eps_clip_high)
        return -weight.detach() * advantages * log_probs, (weight != ratio).float()

    def compute_gspo_kl(
        full_log_probs: Sequence[torch.Tensor],
        full_old_log_probs: Sequence[torch.Tensor],
        local_log_probs: Sequence[torch.Tensor],
        loss_masks: Sequence[torch.Tensor],
    ) -> torch.Tensor:
        """Mean of old log-prob minus new over the drawn tokens of each sample, at each of its tokens."""
        means = [
            torch.sum(mask * (old - new)) / torch.clamp(mask.sum(), min=1)
            for new, old, mask in zip(full_log_probs, full_old_log_probs, loss_masks, strict=True)
        ]
        return torch.cat([mean.expand(one.shape) for mean, one in zip(means, local_log_probs, strict=True)])


@dataclass(frozen=True)
class LossFlags:
    """Flags of slime's that say what the loss is, by their names."""

    advantage_estimator: str = "grpo"
    eps_clip: float = 0.2
    eps_clip_high: float | None = None
    eps_clip_c: float | None = None
    calculate_per_token_loss: bool = False
    use_tis: bool = False
    tis_clip: float = 2.0
    tis_clip_low: float = 0.0
    use_kl_loss: bool = False
    kl_loss_coef: float = 0.0
    kl_loss_type: str = "k1"
    use_unbiased_kl: bool = False
    use_opsm: bool = False
    opsm_delta: float = 1e-4


@dataclass(frozen=True)
class BatchLoss:
    """A loss with its derivative by each log-prob, and what share of the drawn tokens was clipped."""

    loss: float
    slopes: list[np.ndarray]
    clipped: float


def _tensors(rows: Sequence[Sequence[float]]) -> list[torch.Tensor]:
    return [torch.as_tensor(np.asarray(row), dtype=torch.float64) for row in rows]


def batch_loss(
    data: Mapping[str, Sequence[Sequence[float]]], new: Sequence[Sequence[float]], flags: LossFlags
) -> BatchLoss:
    """The loss of one optimiser step, and its derivative by the log-probs `new`.

    data: rows of `log_probs` (before the step), `rollout_log_probs` and `loss_masks` along the responses, `advantages`
    one a sample or one a token, `rollout_mask_sums` one a sample; `rollouts` of the step in `[[number]]`;
    `ref_log_probs` of the reference policy where the flags ask for its KL loss.
    """
    masks, old = _tensors(data["loss_masks"]), _tensors(data["log_probs"])
    leaves = [one.requires_grad_() for one in _tensors(new)]
    spread = [
        torch.as_tensor(np.asarray(value), dtype=torch.float64).expand(mask.shape)
        for value, mask in zip(data["advantages"], masks, strict=True)
    ]
    advantages, log_probs = torch.cat(spread), torch.cat(leaves)
    high = flags.eps_clip if flags.eps_clip_high is None else flags.eps_clip_high
    if flags.advantage_estimator == "gspo":
        kl = compute_gspo_kl(leaves, old, leaves, masks)
    else:
        kl = torch.cat(old) - log_probs
    if flags.advantage_estimator == "cispo":
        loss, clipped = compute_cispo_loss(kl, log_probs, advantages, flags.eps_clip, high)
    else:
        loss, clipped = compute_policy_loss(kl, advantages, flags.eps_clip, high, flags.eps_clip_c)
    if flags.use_opsm:
        kept, _ = compute_opsm_mask(flags, leaves, old, spread, masks)
        loss = loss * kept.detach()
    if flags.use_tis:
        weight = torch.exp(torch.cat(old) - torch.cat(_tensors(data["rollout_log_probs"])))
        loss = loss * torch.clamp(weight, flags.tis_clip_low, flags.tis_clip)
    if flags.use_kl_loss:
        reference = torch.cat(_tensors(data["ref_log_probs"]))
        ratio = torch.exp(log_probs - torch.cat(old)) if flags.use_unbiased_kl else None
        penalty = compute_approx_kl(
            log_probs, reference, kl_loss_type=flags.kl_loss_type, importance_ratio=ratio
        )
        loss = loss + flags.kl_loss_coef * penalty
    weights = _weights(data, masks, flags)
    total = torch.sum(loss * weights)
    total.backward()
    drawn = torch.cat(masks)
    return BatchLoss(
        float(total.detach()),
        [np.zeros(0) if leaf.grad is None else leaf.grad.numpy() for leaf in leaves],
        float((clipped * drawn).sum() / max(1.0, float(drawn.sum()))),
    )


def _weights(
    data: Mapping[str, Sequence[Sequence[float]]], masks: Sequence[torch.Tensor], flags: LossFlags
) -> torch.Tensor:
    """What each token counts: the mean over a rollout's drawn tokens, or over those of all."""
    if flags.calculate_per_token_loss:
        # A sample without a drawn token counts as one.
        return torch.cat(list(masks)) / sum(max(1.0, float(mask.sum())) for mask in masks)
    [[rollouts]] = data["rollouts"]
    sums = [float(total) for [total] in data["rollout_mask_sums"]]
    rows = [mask / max(1.0, total) for mask, total in zip(masks, sums, strict=True)]
    return torch.cat(rows) / rollouts
