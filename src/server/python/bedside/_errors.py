"""Errors of the client."""

from __future__ import annotations

from typing import Any


class BedsideError(Exception):
    """Any error of this package."""


class ServerUnavailable(BedsideError):
    """The server cannot be started or reached; the message says what to do."""


class Refused(BedsideError):
    """The server refused a request.

    code: why, as in `bad-request`, `conflict`, `session-gone`, `capacity`, `unavailable`.
    details: what else it said: the wrong `fields`, say.
    """

    def __init__(self, code: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.details = details or {}

    @property
    def passing(self) -> bool:
        """Whether the same request may be answered later."""
        return self.code in ("capacity", "draining", "deadline", "unavailable")


def refusal(status: int, body: Any) -> Refused:
    """The error of a reply that is none."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return Refused("unavailable", f"Expected a reply of bedside serve, got status {status}")
    details = {key: value for key, value in error.items() if key not in ("code", "message")}
    return Refused(str(error.get("code")), str(error.get("message")), details)
