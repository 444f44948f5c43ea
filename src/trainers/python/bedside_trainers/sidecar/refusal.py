"""Requests refused at once, before anything is queued or changed."""

from __future__ import annotations

from typing import Any

SHOWN = 120


class Refused(Exception):
    """A request that is answered with an HTTP error; the message says what was expected."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def shown(value: Any) -> str:
    """A value as it is quoted in a message, cut short."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def invalid(path: str, value: Any, expected: str) -> Refused:
    """A body that does not read: 422 with the place, the expectation and the value."""
    return Refused(422, f"{path}: expected {expected}, received {shown(value)}")


def unknown(what: str, name: str, hint: str = "") -> Refused:
    """404 for something that is not here."""
    return Refused(404, f"no {what} {shown(name)}{': ' + hint if hint else ''}")
