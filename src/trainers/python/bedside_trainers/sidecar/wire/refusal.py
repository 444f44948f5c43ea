"""Refusals: requests rejected before anything is queued or changed."""

from __future__ import annotations

from typing import Any

QUOTED_CHARACTERS = 120


class Refused(Exception):
    """Error that is answered with an HTTP status; the message says what was expected."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def quote(value: Any) -> str:
    """Quotes a value for a message, truncated."""
    text = repr(value)
    return text if len(text) <= QUOTED_CHARACTERS else f"{text[:QUOTED_CHARACTERS]}…"


def invalid(path: str, value: Any, expected: str) -> Refused:
    """Status 422 for an invalid body, with the path, the expectation and the value."""
    return Refused(422, f"{path}: expected {expected}, received {quote(value)}")


def unknown(what: str, name: str, hint: str = "") -> Refused:
    """Status 404 for an unknown session, model or other object."""
    return Refused(404, f"no {what} {quote(name)}{': ' + hint if hint else ''}")
