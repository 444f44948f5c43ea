"""A consultation as a plain class with tools: what TRL's `environment_factory` and others like it take."""

from __future__ import annotations

from typing import Any

from ._errors import Refused
from .consultation import Client, Consultation


class ToolEnvironment:
    """One consultation at a time, with each action as a method. Every public method but `reset` and `get_reward` is a tool.

    Columns of a dataset's row are options of the consultation (seed, split, index, tier, …); others are left alone.
    Subclass it to fix options: `class Easy(ToolEnvironment): options = {"tier": "easy"}`.
    """

    #: Laid under the columns of a row.
    options: dict[str, Any] = {}
    #: Columns that are options.
    columns = (
        "seed",
        "index",
        "split",
        "case_id",
        "tier",
        "case_seed",
        "clinic",
        "language",
        "persona",
        "reward",
        "max_turns",
        "money",
        "minutes",
    )

    def __init__(self) -> None:
        self._client = Client()
        self._consultation: Consultation | None = None

    def reset(self, **row: Any) -> str:
        """Begins the consultation of a row and gives the intake."""
        if self._consultation is not None:
            self._consultation.close()
        chosen = {key: row[key] for key in self.columns if row.get(key) is not None}
        self._consultation = self._client.open(**{**self.options, **chosen})
        return self._consultation.first.message

    def ask_patient(self, question: str) -> str:
        """
        Says something to the patient, most often a question, and gives the reply.

        Args:
            question: What to say.

        Returns:
            The patient's words.
        """
        return self._take({"message": question})

    def order_exam(self, exam: str) -> str:
        """
        Orders one examination by name and gives its report.

        Args:
            exam: Name of the examination.

        Returns:
            The report.
        """
        return self._take({"order": exam})

    def diagnose(self, diagnosis: str, recommendation: str = "") -> str:
        """
        Ends the consultation with a diagnosis.

        Args:
            diagnosis: The diagnosis.
            recommendation: Advice and treatment.

        Returns:
            A word that the consultation is over.
        """
        advice = {"recommendation": recommendation} if recommendation else {}
        return self._take({"diagnosis": diagnosis, **advice})

    def get_reward(self) -> float | None:
        """The reward; None before the first reset, and where the score is not known, which is not 0.

        It is asked for when a rollout is over: a doctor who stopped without a diagnosis has wasted the turns that are
        left, and gets what the consultation pays for that.
        """
        if self._consultation is None:
            return None
        while not self._consultation.last.done:
            self._consultation.step("")
        return self._consultation.last.reward

    def _take(self, action: dict[str, Any]) -> str:
        if self._consultation is None:
            raise RuntimeError("Expected reset() before a tool")
        if self._consultation.last.done:
            return "The consultation is over."
        try:
            reply = self._consultation.step(action)
        except Refused as error:
            if error.code != "bad-request":
                raise
            return str(error)
        return reply.message or "The consultation is over."
