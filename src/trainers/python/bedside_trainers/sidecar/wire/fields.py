"""Strict parsing of JSON objects: every error names the path, the expectation and the value."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .refusal import Refused, invalid

REQUIRED: Any = object()


@dataclass(frozen=True)
class Fields:
    """A JSON object and its path in the body. An absent key and null are the same."""

    values: Mapping[str, Any]
    path: str = ""

    def at(self, key: str) -> str:
        """Path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        return self.values.get(key) is not None

    def _get(self, key: str, default: Any, expected: str) -> Any:
        value = self.values.get(key)
        if value is not None:
            return value
        if default is REQUIRED:
            raise invalid(self.at(key), value, expected)
        return default

    def text(self, key: str, default: Any = REQUIRED, *, among: tuple[str, ...] = ()) -> Any:
        expected = f"one of {', '.join(among)}" if among else "a text"
        value = self._get(key, default, expected)
        if value is not default and (not isinstance(value, str) or (among and value not in among)):
            raise invalid(self.at(key), value, expected)
        return value

    def integer(
        self, key: str, default: Any = REQUIRED, *, least: int = -(2**63), most: int = 2**64 - 1
    ) -> Any:
        expected = f"an integer from {least} to {most}"
        value = self._get(key, default, expected)
        if value is default:
            return value
        if type(value) is not int or not least <= value <= most:
            raise invalid(self.at(key), value, expected)
        return value

    def number(
        self,
        key: str,
        default: Any = REQUIRED,
        *,
        least: float = -math.inf,
        below: float = math.inf,
    ) -> Any:
        expected = "a finite number"
        if least > -math.inf:
            expected += f" of at least {least}"
        if below < math.inf:
            expected += f" below {below}"
        value = self._get(key, default, expected)
        if value is default:
            return value
        held = _finite(value)
        if held is None or not least <= held < below:
            raise invalid(self.at(key), value, expected)
        return held

    def flag(self, key: str, default: Any = REQUIRED) -> Any:
        value = self._get(key, default, "true or false")
        if type(value) is not bool and value is not default:
            raise invalid(self.at(key), value, "true or false")
        return value

    def fields(self, key: str, default: Any = REQUIRED) -> Fields:
        value = self._get(key, default, "an object")
        if not isinstance(value, Mapping):
            raise invalid(self.at(key), value, "an object")
        return Fields(value, self.at(key))

    def items(self, key: str) -> list[Any]:
        value = self._get(key, REQUIRED, "a list")
        if not isinstance(value, list):
            raise invalid(self.at(key), value, "a list")
        return value

    def each(self, key: str) -> Iterator[Fields]:
        """Yields the objects of a list."""
        for index, value in enumerate(self.items(key)):
            path = f"{self.at(key)}[{index}]"
            if not isinstance(value, Mapping):
                raise invalid(path, value, "an object")
            yield Fields(value, path)


def _finite(value: Any) -> float | None:
    try:
        held = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:
        return None
    return held if math.isfinite(held) else None


def read_json(body: bytes) -> Fields:
    """Parses a body that is one JSON object. NaN and Infinity become numbers, which the fields refuse at their place,
    so that the request's number is known. @raises Refused"""
    try:
        value = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise Refused(422, f"body: expected JSON, received {len(body)} bytes: {error}") from None
    if not isinstance(value, dict):
        raise invalid("body", value, "an object")
    return Fields(value)
