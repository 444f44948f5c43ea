"""Client of token sessions: consultations of `bedside serve` for a trainer that owns the model.

The server says which ids to read, the trainer's engine draws, and the ids drawn go back. Nothing is tokenised here.
"""

from __future__ import annotations

import asyncio
import os
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

try:
    import aiohttp
except ImportError as error:
    raise ImportError(
        "Expected aiohttp: pip install 'bedside-trainers[slime]' or 'bedside-trainers[verl]', from src/trainers/python"
    ) from error

from . import __version__

#: Seconds that a reply may take; the server gives up before.
REPLY_SECONDS = 60.0
#: Seconds between tries: the first wait, and the longest.
FIRST_WAIT, LONGEST_WAIT = 0.25, 5.0
#: Times that a turn is asked again where the world failed at it (a patient's model, a judge).
WORLD_TRIES = 5
#: Refusals that waiting may cure, however often they come.
_PASSING = frozenset({"capacity", "draining", "deadline"})


class SessionError(Exception):
    """Any error of this client."""


class BadJob(SessionError):
    """The job's settings do not fit together; nothing was played."""


class Refused(SessionError):
    """The server refused a request, and would again: options that do not exist, a draw that is none.

    code: as in `bad-request`, `conflict`, `not-found`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class LostConsultation(SessionError):
    """The world failed and the consultation cannot go on. Its sample is left out and counted; it has no score."""


class ServerUnreachable(LostConsultation):
    """No server answered for as long as the client waits."""


@dataclass(frozen=True)
class ToRead:
    """What the policy reads at the start of a turn.

    prompt: all ids, of which the last `heard` are new since its last draw.
    max_tokens, stop: most tokens that may be drawn, and the ids that end a reply.
    """

    index: int
    prompt: list[int]
    heard: int
    max_tokens: int
    stop: list[int]


@dataclass(frozen=True)
class SessionEnd:
    """The end of a consultation.

    reward: None where the score is not known, which is not 0.
    score: total and named parts, as the reward gave them.
    forks: token streams that were broken off.
    """

    reward: float | None
    score: Mapping[str, Any] | None
    forks: int
    turns: int


@dataclass(frozen=True)
class Options:
    """A token session's options: the consultation's own (`seed`, `index`, `tier`, …), and the bounds of its tokens."""

    max_tokens: int
    context_length: int
    history: str | None = None
    consultation: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """As the server takes it."""
        limits = {"max_tokens": self.max_tokens, "context_length": self.context_length}
        history = {} if self.history is None else {"history": self.history}
        return {**self.consultation, **limits, **history}


def _read(body: Mapping[str, Any]) -> ToRead | SessionEnd:
    if body["done"]:
        return SessionEnd(body["reward"], body["score"], body["forks"], body["turns"])
    names = ("index", "prompt", "heard", "max_tokens", "stop")
    return ToRead(**{name: body[name] for name in names})


def _credentials(url: str | None, token: str | None) -> tuple[str, str | None]:
    """Address and token, from the environment where they are not given. @raises BadJob"""
    url = url or os.environ.get("BEDSIDE_URL") or ""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadJob(f"Expected the address of `bedside serve` in BEDSIDE_URL, got {url!r}")
    token = token or os.environ.get("BEDSIDE_TOKEN")
    path = os.environ.get("BEDSIDE_TOKEN_FILE")
    if not token and path:
        try:
            token = Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise BadJob(f"BEDSIDE_TOKEN_FILE: expected the server's token: {error}") from error
    return url.rstrip("/"), token or None


def _series(version: str) -> str:
    """Releases that work together: those of one minor version before 1.0, of one major version since."""
    major, minor, *_ = [*version.split("."), "0"]
    return f"0.{minor}" if major == "0" else major


class _Failure(Exception):
    """A reply that is a refusal."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class TokenClient:
    """A client for one event loop; use it as `async with TokenClient() as client:`.

    url, token: default BEDSIDE_URL, and BEDSIDE_TOKEN or the file BEDSIDE_TOKEN_FILE.
    patience_seconds: how long a server that does not answer, or is full, is asked again.
    connections: at once; sessions may be more.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        patience_seconds: float = 300.0,
        connections: int = 1024,
    ) -> None:
        self.url, self._token = _credentials(url, token)
        self.patience_seconds = patience_seconds
        self._connections = connections
        self._http: aiohttp.ClientSession | None = None
        self._checked: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections. The sessions stay at the server until they are closed or idle."""
        if self._http is not None:
            await self._http.close()
            self._http = None

    def _connect(self) -> aiohttp.ClientSession:
        if self._http is None:
            headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
            self._http = aiohttp.ClientSession(
                headers=headers,
                # Below the 5 s after which the server closes one: a draw may last longer.
                connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=4),
                timeout=aiohttp.ClientTimeout(total=REPLY_SECONDS),
            )
        return self._http

    async def _once(self, method: str, path: str, body: object) -> Any:
        """One try. @raises _Failure for a refusal; aiohttp's errors, OSError and TimeoutError where it was lost"""
        async with self._connect().request(method, self.url + path, json=body) as response:
            reply = None if response.status == 204 else await response.json(content_type=None)
            if response.status < 400:
                return reply
            error = reply.get("error") if isinstance(reply, dict) else None
            if not isinstance(error, dict):
                raise _Failure(
                    "unavailable",
                    f"Expected a reply of bedside serve, got status {response.status}",
                )
            raise _Failure(str(error.get("code")), str(error.get("message")))

    async def request(self, method: str, path: str, body: object = None) -> Any:
        """Sends a request that may be sent twice, until it is answered.

        @raises Refused; LostConsultation where the world failed; ServerUnreachable after `patience_seconds`
        """
        until = time.monotonic() + self.patience_seconds
        wait, failures = FIRST_WAIT, 0
        while True:
            try:
                return await self._once(method, path, body)
            except _Failure as failure:
                reason: Exception = failure
                if failure.code == "unavailable":
                    failures += 1
                    if failures == WORLD_TRIES:
                        raise LostConsultation(str(failure)) from None
                elif failure.code not in _PASSING:
                    raise Refused(failure.code, str(failure)) from None
            # A reply cut off in the middle is a ValueError of JSON.
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as lost:
                reason = lost
            if time.monotonic() + wait > until:
                message = f"Expected an answer of bedside serve at {self.url} within {self.patience_seconds:g} s: {str(reason) or type(reason).__name__}"
                raise ServerUnreachable(message) from reason
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    async def _check(self) -> None:
        health = await self.request("GET", "/healthz")
        version = str(health.get("version") if isinstance(health, dict) else None)
        if _series(version) != _series(__version__):
            raise BadJob(
                f"Expected bedside serve {_series(__version__)}.x, as bedside-trainers {__version__} is, "
                f"got {version} at {self.url}: install the same version of both"
            )

    async def check(self) -> None:
        """Asks the server, once, whether it is of a version that fits. @raises BadJob; ServerUnreachable"""
        if self._checked is None or (self._checked.done() and self._failed(self._checked)):
            self._checked = asyncio.ensure_future(self._check())
        await asyncio.shield(self._checked)

    @staticmethod
    def _failed(task: asyncio.Task[None]) -> bool:
        """Whether asking again may give another answer."""
        return task.cancelled() or isinstance(task.exception(), LostConsultation)

    async def open(
        self, options: Options, draws: Sequence[Mapping[str, Any]] = ()
    ) -> TokenSession:
        """Opens a consultation.

        draws: of an earlier session with these options, taken again.
        @raises Refused; LostConsultation; BadJob for a server of another version
        """
        await self.check()
        session = TokenSession(self, options, draws)
        await session.reopen()
        return session


class TokenSession:
    """One consultation. `next` is what is to be read, or the end. One call at a time.

    reopened: times that the server had lost it and it was played again from its draws.
    """

    next: ToRead | SessionEnd

    def __init__(
        self, client: TokenClient, options: Options, draws: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self._client = client
        self._options = options
        self._draws = [dict(draw) for draw in draws]
        self._id: str | None = None
        self.reopened = 0

    @property
    def draws(self) -> list[dict[str, Any]]:
        """What was drawn so far, for another session to go on with."""
        return list(self._draws)

    async def reopen(self) -> None:
        """Opens the session at the server, with the draws so far.

        @raises LostConsultation where the world answered them otherwise than before
        """
        body = {**self._options.body(), "draws": self._draws}
        opened = await self._client.request("POST", "/v1/token-sessions", body)
        told = _read(opened)
        if self._id is None:
            self.next = told
        else:
            self.reopened += 1
            if told != self.next:
                raise LostConsultation(
                    f"Expected the same ids after {len(self._draws)} draws as before the server lost the session: "
                    "a model that plays the patient, or another version of the server, answered otherwise"
                )
        self._id = str(opened["session"])

    async def draw(
        self,
        tokens: Sequence[int],
        logprobs: Sequence[float],
        version: int,
        prompt: Sequence[int] | None = None,
    ) -> ToRead | SessionEnd:
        """Sends what was drawn, once however often it must be sent; returns the new `next`.

        logprobs: natural logarithms of the sampler, one a token. version: number of the policy that drew.
        prompt: the ids it read, where they are others than `next.prompt`.
        @raises Refused; LostConsultation
        """
        if isinstance(self.next, SessionEnd):
            raise TypeError("Expected a draw before the end of the consultation")
        sent: dict[str, Any] = {
            "index": self.next.index,
            "tokens": list(tokens),
            # An engine's rounding can leave a log-probability a hair above 0.
            "logprobs": [
                min(float(value), 0.0) if value < 1e-3 else float(value) for value in logprobs
            ],
            "version": version,
        }
        if prompt is not None:
            sent["prompt"] = list(prompt)
        while True:
            try:
                told = await self._client.request(
                    "POST", f"/v1/token-sessions/{self._id}/draws", sent
                )
                break
            except Refused as refused:
                if refused.code != "session-gone":
                    raise
            await self.reopen()
        self._draws.append(sent)
        self.next = _read(told)
        return self.next

    async def close(self) -> None:
        """Ends the session at the server. One that cannot be reached ends by itself when it is idle."""
        if self._id is None:
            return
        try:
            await self._client._once("DELETE", f"/v1/token-sessions/{self._id}", None)
        except (_Failure, aiohttp.ClientError, TimeoutError, OSError, ValueError):
            return

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


_shared: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, TokenClient]
_shared = weakref.WeakKeyDictionary()


def shared_client() -> TokenClient:
    """The client of the running event loop for the server of the environment, made at its first use."""
    loop = asyncio.get_running_loop()
    client = _shared.get(loop)
    if client is None:
        client = _shared[loop] = TokenClient()
    return client
