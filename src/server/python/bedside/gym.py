"""Consultations as Gymnasium environments: text in, text out."""

from __future__ import annotations

from typing import Any, NoReturn

import gymnasium
from gymnasium.error import CustomSpaceError
from gymnasium.spaces import Text
from gymnasium.vector.utils import create_shared_memory

from .consultation import Client, Consultation

#: Characters of the longest message, as the server bounds them.
LONGEST = 8000


class Utterance(Text):
    """Any text of at most `max_length` characters, in any script. Samples are in Latin letters."""

    def __init__(self, max_length: int = LONGEST, seed: int | None = None) -> None:
        super().__init__(max_length=max_length, min_length=0, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length


@create_shared_memory.register(Utterance)
def _share(space: Utterance, n: int = 1, ctx: Any = None) -> NoReturn:
    """Refuses at once what `AsyncVectorEnv` cannot do: it reads shared text a single time, before there is any."""
    raise CustomSpaceError("Expected AsyncVectorEnv(…, shared_memory=False): observations are text")


class ConsultationEnv(gymnasium.Env[str, str]):
    """One consultation after another. Observations are what the doctor hears; actions are what the doctor says.

    An action is a question in plain words, or a labelled reply: `Order: ECG`; `Diagnosis: …` with `Recommendation: …`.
    `reset(seed=…)` chooses case, patient and noise; options of a reset (tier, language, split, index, persona, reward,
    max_turns, …) lie over those of the env. The reward comes on the last step; where the score is not known it is 0 and
    `info["score"]["total"]` is None: leave such an episode out.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(
        self, url: str | None = None, token: str | None = None, render_mode: str | None = None, **options: Any
    ) -> None:
        self.action_space = Utterance()
        self.observation_space = Utterance()
        self.render_mode = render_mode
        self._client = Client(url, token)
        self._options = options
        self._consultation: Consultation | None = None
        # Refuses an unknown option where it was written, not at the first reset.
        self._client.open(**options).close()

    @property
    def consultation(self) -> Consultation:
        """The one under way."""
        if self._consultation is None:
            raise RuntimeError("Expected reset() before this call")
        return self._consultation

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        if self._consultation is not None:
            self._consultation.close()
        drawn = int(self.np_random.integers(2**32)) if seed is None else seed
        self._consultation = self._client.open(**{**self._options, "seed": drawn, **(options or {})})
        first = self._consultation.first
        return first.message, dict(first.observation)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        reply = self.consultation.step(str(action)[:LONGEST])
        reward = 0.0 if reply.reward is None else float(reply.reward)
        return reply.message, reward, reply.terminated, reply.truncated, dict(reply.observation)

    def render(self) -> str | None:
        """The dialogue so far as text."""
        return self.consultation.last.message if self.render_mode == "ansi" else None

    def close(self) -> None:
        if self._consultation is not None:
            self._consultation.close()
            self._consultation = None
        self._client.close()


def make(
    name: str = "consultation", *, url: str | None = None, token: str | None = None, **options: Any
) -> ConsultationEnv:
    """Makes an environment.

    name: `consultation`.
    url, token: of a server; $BEDSIDE_URL and $BEDSIDE_TOKEN; without them one is started on this machine.
    options: tier, split, index, language, persona, reward, clinic, max_turns, money, minutes. Unknown ones are refused
        by name.
    """
    if name != "consultation":
        raise ValueError(f"Expected the name 'consultation', got {name!r}")
    return ConsultationEnv(url, token, **options)


def make_vec(num_envs: int, **options: Any) -> gymnasium.vector.SyncVectorEnv:
    """Makes `num_envs` environments that step together, in Gymnasium's vector interface."""
    return gymnasium.vector.SyncVectorEnv([lambda: make(**options)] * num_envs)
