"""Medical consultations as environments for reinforcement learning.

    import bedside

    env = bedside.make("consultation", tier="easy")
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step("Do you have a fever?")

Without a `url` a server of consultations is started on this machine and ended with the process; it needs Node 20.19
or newer.
"""

from . import cases, rewards
from ._errors import BedsideError, Refused, ServerUnavailable
from ._server import Server, serve
from ._version import __version__
from .consultation import Client, Consultation, Reply
from .aio import AsyncClient, AsyncConsultation
from .gym import ConsultationEnv, Utterance, make, make_vec
from .tools import ToolEnvironment

__all__ = [
    "AsyncClient",
    "AsyncConsultation",
    "BedsideError",
    "Client",
    "Consultation",
    "ConsultationEnv",
    "Refused",
    "Reply",
    "Server",
    "ServerUnavailable",
    "ToolEnvironment",
    "Utterance",
    "cases",
    "make",
    "make_vec",
    "rewards",
    "serve",
]
