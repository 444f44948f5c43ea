"""Attention with bit-identical results per query row, independent of the batch, in training and in sampling.

Matrix products take whole quads of query rows over whole blocks of keys, and values are summed block by block, so that
a matrix library takes the same path for each row. Widths are of one head; `heads` are those of keys and values.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

# Spans of keys are a multiple of this.
BLOCK = 128
# Rows of queries in a product are a multiple of this.
QUAD = 4
# Maximum elements of a block of scores in training, so that it stays in the CPU cache.
_SCORES = 1 << 20


def _weighted_sum(weights: Tensor, values: Tensor) -> Tensor:
    """Attention weights (n, rows, span) times values (n, span, width)."""
    total = torch.bmm(weights[..., :BLOCK], values[:, :BLOCK])
    for start in range(BLOCK, values.shape[1], BLOCK):
        block = slice(start, start + BLOCK)
        total = total + torch.bmm(weights[..., block], values[:, block])
    return total


def attend(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor,
    scale: float,
    softcap: float | None = None,
) -> Tensor:
    """Attention of queries (rows, query heads, length, width) over keys and values (rows, heads, span, width), with an
    additive mask (rows, 1, length, span); returns (rows, length, query heads, width). `softcap` bounds scores s to
    softcap · tanh(s / softcap)."""
    rows, query_heads, length, width = query.shape
    heads = keys.shape[1]
    group = query_heads // heads * length
    queries = (query * scale).reshape(rows * heads, group, width)
    spare = -group % QUAD
    if spare:
        queries = functional.pad(queries, (0, 0, 0, spare))
    scores = torch.bmm(queries, keys.flatten(0, 1).transpose(1, 2))
    if softcap is not None:
        scores.div_(softcap).tanh_().mul_(softcap)
    real = scores[:, :group].view(rows, heads, -1, length, keys.shape[2])
    real.add_(mask[:, :, None])
    total = _weighted_sum(torch.softmax(scores, dim=-1), values.flatten(0, 1))
    return total[:, :group].reshape(rows, query_heads, length, width).transpose(1, 2)


def _by_head(x: Tensor, length: int) -> Tensor:
    """(batch, positions, heads, width) to (batch · heads, length, width), padded with zeros."""
    batch, positions, heads, width = x.shape
    out = x.new_zeros((batch, heads, length, width))
    out[:, :, :positions] = x.transpose(1, 2)
    return out.view(batch * heads, length, width)


class _CausalAttention(torch.autograd.Function):
    """Causal attention that recomputes scores in the backward pass, a block of queries at a time."""

    @staticmethod
    def forward(ctx, query, key, value, scale):
        batch, positions, query_heads, _ = query.shape
        heads = key.shape[2]
        group = query_heads // heads
        queries = _by_head(query * scale, -(-positions // QUAD) * QUAD)
        queries = queries.view(batch * heads, group, queries.shape[1], -1)
        span = -(-positions // BLOCK) * BLOCK
        keys, values = _by_head(key, span), _by_head(value, span)
        out = torch.empty_like(queries)
        for some, rows, seen in _tiles(queries):
            weights = _attention_weights(queries[some, :, rows], keys[some, seen], rows.start)
            block = _weighted_sum(weights, values[some, seen])
            out[some, :, rows] = block.view(out[some, :, rows].shape)
        ctx.save_for_backward(queries, keys, values, out)
        ctx.scale, ctx.heads, ctx.positions = scale, heads, positions
        return _by_position(out, batch, positions)

    @staticmethod
    def backward(ctx, grad):
        queries, keys, values, out = ctx.saved_tensors
        batch = len(keys) // ctx.heads
        grad = _by_head(grad, queries.shape[2]).view_as(queries)
        inner = (grad * out).sum(-1, keepdim=True)
        query_grad = torch.empty_like(queries)
        key_grad, value_grad = torch.zeros_like(keys), torch.zeros_like(values)
        for some, rows, seen in _tiles(queries):
            asked, slope, less = (x[some, :, rows].flatten(1, 2) for x in (queries, grad, inner))
            weights = _attention_weights(queries[some, :, rows], keys[some, seen], rows.start)
            value_grad[some, seen].baddbmm_(weights.transpose(1, 2), slope)
            score_grad = torch.bmm(slope, values[some, seen].transpose(1, 2))
            score_grad.sub_(less).mul_(weights)
            block = torch.bmm(score_grad, keys[some, seen])
            query_grad[some, :, rows] = block.view(query_grad[some, :, rows].shape)
            key_grad[some, seen].baddbmm_(score_grad.transpose(1, 2), asked)
        found = (query_grad.mul_(ctx.scale), key_grad.unsqueeze(1), value_grad.unsqueeze(1))
        return *(_by_position(one, batch, ctx.positions) for one in found), None


def _tiles(queries: Tensor):
    """Slices of sequences, query positions and visible keys whose scores stay below `_SCORES` elements."""
    count, group, length, _ = queries.shape
    for start in range(0, length, BLOCK):
        rows, seen = slice(start, min(start + BLOCK, length)), slice(0, start + BLOCK)
        step = max(1, _SCORES // (group * BLOCK * seen.stop))
        for first in range(0, count, step):
            yield slice(first, first + step), rows, seen


def _attention_weights(queries: Tensor, keys: Tensor, start: int) -> Tensor:
    """Causal softmax of scores, (n, group · rows, span), for query positions from `start` on."""
    count, group, rows, width = queries.shape
    scores = torch.bmm(queries.reshape(count, group * rows, width), keys.transpose(1, 2))
    later = torch.full((rows, BLOCK), float("-inf"), dtype=scores.dtype).triu_(1)
    scores.view(count, group, rows, -1)[..., start:].add_(later)
    return torch.softmax(scores, dim=-1)


def _by_position(x: Tensor, batch: int, positions: int) -> Tensor:
    """(batch · heads, group, length, width) to (batch, positions, heads · group, width)."""
    whole = x.view(batch, -1, *x.shape[2:])
    return whole[:, :, :positions].transpose(1, 2).contiguous()


def causal_attention(query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    """Causal self-attention on a CPU, of (batch, positions, query heads or heads, width)."""
    return _CausalAttention.apply(query, key, value, scale)
