"""How many threads a pass is worth: waking them costs more than a small one takes."""

from __future__ import annotations

import torch

# Parameters times tokens from which more than one thread is faster, measured on two cores.
_WORTH = 5e8


class Threads:
    """One thread or all there are at opening; which of them changes no bit of a result."""

    def __init__(self, parameters: int, device: torch.device) -> None:
        self._parameters = parameters
        self._most = torch.get_num_threads() if device.type == "cpu" else 0

    def fit(self, tokens: int) -> None:
        """Sets the number of threads for a pass over so many tokens, padding too."""
        wanted = self._most if self._parameters * tokens >= _WORTH else min(1, self._most)
        if wanted and wanted != torch.get_num_threads():
            torch.set_num_threads(wanted)
