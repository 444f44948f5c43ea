"""Token sampling with temperature, top-k and top-p; a draw depends only on the job's seed and the position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..engine import SampleJob
from ..head import scaled_logprobs

_MASK = (1 << 64) - 1


def _mix64(x: int) -> int:
    """Finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _MASK
    return x ^ (x >> 31)


def uniform(seed: int, position: int) -> float:
    """Uniform number in [0, 1), keyed by a seed and a position."""
    mixed = _mix64((_mix64(seed & _MASK) + (position + 1) * 0x9E3779B97F4A7C15) & _MASK)
    return (mixed >> 11) / (1 << 53)


def _truncate(logprobs: Tensor, job: SampleJob) -> Tensor:
    """Probabilities of one row after top-k, then top-p; the most likely token is always kept."""
    probabilities = logprobs.double().exp()
    order = torch.argsort(logprobs, descending=True, stable=True)
    ranked = probabilities[order]
    keep = torch.ones_like(ranked, dtype=torch.bool)
    if job.top_k > 0:
        keep[job.top_k :] = False
    if job.top_p < 1:
        ranked = ranked * keep
        before = ranked.cumsum(0) - ranked
        keep &= before < job.top_p * ranked.sum()
        keep[0] = True
    kept = torch.zeros_like(probabilities)
    kept[order[keep]] = probabilities[order[keep]]
    return kept


def _inverse_cdf(probabilities: Tensor, uniforms: np.ndarray) -> Tensor:
    """Inverse-CDF sampling: the first token whose cumulative probability exceeds u. Rows need not sum to 1."""
    cumulative = probabilities.cumsum(-1)
    wanted = torch.from_numpy(uniforms).to(cumulative.device)[:, None] * cumulative[:, -1:]
    drawn = torch.searchsorted(cumulative, wanted, right=True).squeeze(-1)
    # u close to 1 may round up to the total: then take the last token with any probability.
    last = (cumulative < cumulative[:, -1:]).sum(-1)
    return torch.minimum(drawn, last)


def draw(
    logits: Tensor, jobs: Sequence[SampleJob], positions: Sequence[int]
) -> tuple[list[int], list[float]]:
    """One token per row, and its log-prob under the full distribution at the job's temperature (at 1 if that is 0)."""
    temps = [job.temperature if job.temperature > 0 else 1.0 for job in jobs]
    scaled = any(value != 1 for value in temps)
    temperature = torch.tensor(temps, dtype=torch.float64, device=logits.device) if scaled else None
    logprobs = scaled_logprobs(logits, temperature)
    probabilities = torch.softmax(logprobs.double(), dim=-1)
    for row, job in enumerate(jobs):
        if job.top_k > 0 or job.top_p < 1:
            probabilities[row] = _truncate(logprobs[row], job)
    uniforms = np.array([uniform(job.seed, at) for job, at in zip(jobs, positions)])
    drawn = _inverse_cdf(probabilities, uniforms)
    greedy = [job.temperature == 0 for job in jobs]
    if any(greedy):
        drawn = torch.where(torch.tensor(greedy, device=drawn.device), logprobs.argmax(-1), drawn)
    picked = logprobs.gather(1, drawn[:, None]).squeeze(1)
    return drawn.tolist(), picked.double().tolist()
