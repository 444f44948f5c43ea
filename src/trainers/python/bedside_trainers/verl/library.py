"""verl's classes for agent loops. The one file here that imports them; `plugin.py` imports what `import verl` itself may."""

from __future__ import annotations

from verl.experimental.agent_loop.agent_loop import (
    AgentLoopBase,
    AgentLoopMetrics,
    AgentLoopOutput,
    AgentLoopWorker,
)
from verl.workers.rollout.replica import TokenOutput

__all__ = [
    "AgentLoopBase",
    "AgentLoopMetrics",
    "AgentLoopOutput",
    "AgentLoopWorker",
    "TokenOutput",
]
