"""Log-probs and entropies of tokens from hidden states, computed in chunks of logits to bound memory."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from .logits import LogitTransform

# Maximum elements of a chunk of logits, and its maximum rows, by type of device: 32 MiB in float32 for a CPU's cache,
# 512 MiB for a GPU, whose small products are slow.
CHUNK_ELEMENTS = {"cpu": 1 << 23, "cuda": 1 << 27}
CHUNK_ROWS = {"cpu": 1024, "cuda": 16384}


def chunk_rows(vocabulary: int, device: torch.device) -> int:
    """Rows of one chunk of logits for a vocabulary of this size."""
    rows = CHUNK_ELEMENTS.get(device.type, CHUNK_ELEMENTS["cpu"]) // vocabulary // 16 * 16
    return max(16, min(CHUNK_ROWS.get(device.type, CHUNK_ROWS["cpu"]), rows))


def at_least_float32(logits: Tensor) -> Tensor:
    """Converts logits to float32 unless they are float64; log-probs are computed in that type."""
    return logits if logits.dtype == torch.float64 else logits.float()


def scaled_logprobs(logits: Tensor, temperature: Tensor | None) -> Tensor:
    """Log-probs of the full distribution, per row; `temperature` has one number per row."""
    logits = at_least_float32(logits)
    if temperature is not None:
        logits = logits / temperature[:, None].to(logits.dtype)
    return functional.log_softmax(logits, dim=-1)


def _statistics(logprobs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    picked = logprobs.gather(1, targets[:, None]).squeeze(1)
    entropy = -(logprobs.exp() * logprobs).sum(-1)
    return picked, entropy


def _logits(hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Linear head on whole blocks of rows, like `Decoder.logits`."""
    spare = -len(hidden) % 16
    rows = functional.pad(hidden, (0, 0, 0, spare)) if spare else hidden
    return functional.linear(rows, weight, bias)[: len(hidden)]


class _LinearHead(torch.autograd.Function):
    """Linear head that recomputes logits in the backward pass, so that only one chunk is in memory at a time."""

    @staticmethod
    def forward(ctx, hidden, weight, bias, targets, temperature, transform):
        rows = chunk_rows(weight.shape[0], weight.device)
        parts = []
        for start in range(0, hidden.shape[0], rows):
            span = slice(start, start + rows)
            logits = transform.apply(_logits(hidden[span], weight, bias))
            temps = None if temperature is None else temperature[span]
            parts.append(_statistics(scaled_logprobs(logits, temps), targets[span]))
        picked, entropy = (torch.cat(column) for column in zip(*parts))
        ctx.save_for_backward(hidden, weight, bias, targets, temperature, entropy)
        ctx.transform = transform
        return picked, entropy

    @staticmethod
    def backward(ctx, picked_grad, entropy_grad):
        hidden, weight, bias, targets, temperature, entropy = ctx.saved_tensors
        rows = chunk_rows(weight.shape[0], weight.device)
        wants_weight, wants_bias = ctx.needs_input_grad[1:3]
        hidden_grad = torch.empty_like(hidden)
        weight_grad = torch.zeros_like(weight) if wants_weight else None
        bias_grad = torch.zeros_like(bias) if wants_bias else None
        for start in range(0, hidden.shape[0], rows):
            span = slice(start, start + rows)
            logits = ctx.transform.apply(functional.linear(hidden[span], weight, bias))
            temps = None if temperature is None else temperature[span]
            up = _logit_grad(
                scaled_logprobs(logits, temps),
                targets[span],
                entropy[span],
                picked_grad[span],
                entropy_grad[span],
            )
            if temps is not None:
                up.div_(temps[:, None].to(up.dtype))
            up = ctx.transform.pull_back_(up, logits).to(weight.dtype)
            torch.mm(up, weight, out=hidden_grad[span])
            if wants_weight:
                weight_grad.addmm_(up.t(), hidden[span])
            if wants_bias:
                bias_grad.add_(up.sum(0))
        return hidden_grad, weight_grad, bias_grad, None, None, None


def _logit_grad(logprobs, targets, entropy, picked_grad, entropy_grad) -> Tensor:
    """Gradient of g log p(target) + e H by the logits, g (1[target] - p) - e p (log p + H).

    g and e are the incoming gradients of the target's log-prob and of the entropy H; p are the probabilities."""
    probabilities = logprobs.exp()
    if bool(entropy_grad.any()):
        factor = logprobs.add_(entropy[:, None]).mul_(entropy_grad[:, None])
        grad = probabilities.mul_(factor.add_(picked_grad[:, None])).neg_()
    else:
        grad = probabilities.mul_(-picked_grad[:, None])
    row = torch.arange(len(targets), device=targets.device)
    grad[row, targets] += picked_grad
    return grad


def token_statistics(
    head: torch.nn.Module,
    transform: LogitTransform,
    hidden: Tensor,
    targets: Tensor,
    temperature: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """log p of each row's target and the row's entropy, differentiable by hidden states and head; `transform` makes
    logits of the head's output."""
    if type(head) is torch.nn.Linear:
        hidden = hidden.to(head.weight.dtype)
        return _LinearHead.apply(hidden, head.weight, head.bias, targets, temperature, transform)

    def chunk_statistics(rows, wanted, temps):
        return _statistics(scaled_logprobs(transform.apply(head(rows)), temps), wanted)

    size = chunk_rows(head.out_features, hidden.device)
    parts = []
    for start in range(0, max(1, len(hidden)), size):
        span = slice(start, start + size)
        temps = None if temperature is None else temperature[span]
        rows = (hidden[span], targets[span], temps)
        parts.append(checkpoint(chunk_statistics, *rows, use_reentrant=False))
    picked, entropy = (torch.cat(column) for column in zip(*parts))
    return picked, entropy
