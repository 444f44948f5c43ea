"""Transformer operations with hand-written gradients: fewer passes over memory than autograd, same numbers."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


class _RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, epsilon):
        inverse = _inverse_rms(x, epsilon)
        ctx.save_for_backward(x, weight, inverse)
        return (x * inverse).mul_(weight)

    @staticmethod
    def backward(ctx, grad):
        x, weight, inverse = ctx.saved_tensors
        width = x.shape[-1]
        product = (grad * x).reshape(-1, width)
        along = product.mv(weight).view_as(inverse)
        weight_grad = product.t().mv(inverse.view(-1)) if ctx.needs_input_grad[1] else None
        back = (grad * weight).mul_(inverse)
        back.addcmul_(x, along.mul_(inverse**3 / width), value=-1)
        return back, weight_grad, None


def _inverse_rms(x: Tensor, epsilon: float) -> Tensor:
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return norm.square_().div_(x.shape[-1]).add_(epsilon).rsqrt_()


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """RMSNorm: x / √(mean x² + ε) times the weight, over the last dimension (Zhang and Sennrich 2019)."""
    if torch.is_grad_enabled():
        return _RmsNorm.apply(x, weight, epsilon)
    return (x * _inverse_rms(x, epsilon)).mul_(weight)


class _Rotary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, cosine, sine):
        ctx.save_for_backward(cosine, sine)
        return _rotate(x, cosine, sine, 1)

    @staticmethod
    def backward(ctx, grad):
        cosine, sine = ctx.saved_tensors
        return _rotate(grad, cosine, sine, -1), None, None


def _rotate(x: Tensor, cosine: Tensor, sine: Tensor, sign: int) -> Tensor:
    half = x.shape[-1] // 2
    left, right = x[..., :half], x[..., half:]
    out = torch.empty_like(x)
    torch.mul(left, cosine, out=out[..., :half]).addcmul_(right, sine, value=-sign)
    torch.mul(right, cosine, out=out[..., half:]).addcmul_(left, sine, value=sign)
    return out


def rotary(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotary embedding: rotates each head's halves by its position's angles (Su et al. 2021), of half the width."""
    if torch.is_grad_enabled():
        return _Rotary.apply(x, cosine, sine)
    return _rotate(x, cosine, sine, 1)


class _GatedSilu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate, up):
        ctx.save_for_backward(gate, up)
        return functional.silu(gate).mul_(up)

    @staticmethod
    def backward(ctx, grad):
        gate, up = ctx.saved_tensors
        gate_grad = torch.ops.aten.silu_backward(grad * up, gate)
        return gate_grad, functional.silu(gate).mul_(grad)


def gated_silu(gate: Tensor, up: Tensor) -> Tensor:
    """SwiGLU: silu(gate) times up (Shazeer 2020)."""
    if torch.is_grad_enabled():
        return _GatedSilu.apply(gate, up)
    return functional.silu(gate, inplace=True).mul_(up)


class _Project(torch.autograd.Function):
    """Linear maps of one input, each W + s B A (base weight, LoRA scale and factors), merged as in the sampler."""

    @staticmethod
    def forward(ctx, x, scale, *maps):
        flat = x.view(-1, x.shape[-1])
        ctx.scale = scale
        ctx.save_for_backward(flat, *maps)
        outs = []
        for start in range(0, len(maps), 4):
            weight, bias, down, up = maps[start : start + 4]
            out = functional.linear(flat, merge_lora(weight, down, up, scale), bias)
            outs.append(out.view(*x.shape[:-1], -1))
        return tuple(outs)

    @staticmethod
    def backward(ctx, *grads):
        flat, *maps = ctx.saved_tensors
        scale = ctx.scale
        back = None
        found: list[Tensor | None] = []
        for number, grad in enumerate(grads):
            weight, bias, down, up = maps[4 * number : 4 * number + 4]
            wants_weight, wants_bias = ctx.needs_input_grad[4 * number + 2 : 4 * number + 4]
            grad = grad.reshape(-1, grad.shape[-1])
            merged = merge_lora(weight, down, up, scale)
            back = grad.mm(merged) if back is None else back.addmm_(grad, merged)
            found.append(grad.t().mm(flat) if wants_weight else None)
            found.append(grad.sum(0) if wants_bias else None)
            if down is None:
                found.extend((None, None))
            else:
                found.append(grad.mm(up).mul_(scale).t().mm(flat))
                found.append(grad.t().mm(flat.mm(down.t())).mul_(scale))
        return back.view(*grads[0].shape[:-1], -1), None, *found


def merge_lora(weight: Tensor, down: Tensor | None, up: Tensor | None, scale: float) -> Tensor:
    """Merged weight W + s B A of a LoRA layer, used in training and in sampling alike."""
    return weight if down is None or up is None else torch.addmm(weight, up, down, alpha=scale)


def project(x: Tensor, scale: float, *maps: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Applies linear maps (weight, bias or None, LoRA's A and B or None) to x; one output each."""
    flat = [tensor for one in maps for tensor in one]
    if torch.is_grad_enabled():
        return _Project.apply(x, scale, *flat)
    return tuple(functional.linear(x, merge_lora(w, a, b, scale), bias) for w, bias, a, b in maps)
