"""CPU threads of a pass: waking several costs more than a small pass takes."""

from __future__ import annotations

import torch

# Parameters times tokens from which several threads are faster than one, measured on two cores.
_MULTITHREADED = 5e8


class Threads:
    """Switches between one thread and all that were available at open; results are bit-identical."""

    def __init__(self, parameters: int, device: torch.device) -> None:
        self._parameters = parameters
        self._limit = torch.get_num_threads() if device.type == "cpu" else 0

    def fit(self, tokens: int) -> None:
        """Sets the number of threads for a pass over this many tokens, padding included."""
        wanted = self._limit if self._parameters * tokens >= _MULTITHREADED else min(1, self._limit)
        if wanted and wanted != torch.get_num_threads():
            torch.set_num_threads(wanted)
