"""Bits of matrix products: whether they depend on what is computed beside them, on threads or on places in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from .decoder import ROWS

NOTE = (
    "the last bits of a matrix product on this machine depend on the rows computed with it, the number of threads or the "
    "place in memory: two runs of the same recipe may differ in the last digits, and so may a run that was resumed"
)
# Matrices are tried up to this many rows and columns; larger ones take the same paths.
_WIDEST = 512
_ROWS = (ROWS, 5 * ROWS, 25 * ROWS, 125 * ROWS)


def _at(x: Tensor, offset: int) -> Tensor:
    """A copy that begins `offset` elements after a multiple of 64 bytes."""
    room = torch.empty(x.numel() + 128, dtype=x.dtype, device=x.device)
    start = -(room.data_ptr() // x.element_size()) % (64 // x.element_size()) + offset
    return room[start : start + x.numel()].view_as(x).copy_(x)


def _variants(x: Tensor, weight: Tensor, grad: Tensor, threads: int) -> Iterator[tuple[Tensor, ...]]:
    """The products of a linear layer and its gradients for rows x, computed in several ways."""
    several = threads if x.device.type == "cpu" else 1
    for count in {1, several}:
        for offset in (0, 4):
            if x.device.type == "cpu":
                torch.set_num_threads(count)
            rows, up = _at(x, offset), _at(grad, offset)
            yield rows @ weight.t(), up @ weight, up.t() @ rows


@torch.inference_mode()
def bits_hold(weights: Iterable[Tensor]) -> bool:
    """Whether products with matrices of these shapes have the same bits in any batch of whole blocks of rows, by any
    number of threads and at any place in memory; tried on a few."""
    found = {
        (min(one.shape[0], _WIDEST), min(one.shape[1], _WIDEST), one.dtype, one.device)
        for one in weights
        if one.ndim == 2 and one.is_floating_point()
    }
    threads = torch.get_num_threads()
    try:
        return all(_shape_holds(*one, threads) for one in sorted(found, key=str))
    finally:
        if threads != torch.get_num_threads():
            torch.set_num_threads(threads)


def _shape_holds(
    out: int, width: int, dtype: torch.dtype, device: torch.device, threads: int
) -> bool:
    draw = torch.Generator().manual_seed(0)
    weight, x, grad = (
        torch.randn(shape, generator=draw).to(device, dtype)
        for shape in ((out, width), (_ROWS[-1], width), (_ROWS[-1], out))
    )
    forward, back, _ = next(_variants(x, weight, grad, threads))
    for rows in _ROWS:
        seen = list(_variants(x[:rows], weight, grad[:rows], threads))
        for one in seen:
            expected = (forward[:rows], back[:rows], seen[0][2])
            if not all(map(torch.equal, one, expected)):
                return False
    return True
