"""Consultations for asyncio: hundreds at once over one pool of connections."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp

from ._errors import Refused, ServerUnavailable, refusal
from ._server import address
from ._version import __version__
from .consultation import FIRST_WAIT, REPLY_SECONDS, RETRIES, VERSION_HEADER, Reply, action_of, read_reply, tool_action


class AsyncClient:
    """A client for one event loop; use it as `async with bedside.AsyncClient() as client:`.

    connections: at once; sessions may be more.
    """

    def __init__(self, url: str | None = None, token: str | None = None, connections: int = 256) -> None:
        self.url, self._token = address(url, token)
        self._connections = connections
        self._http: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> AsyncClient:
        headers = {VERSION_HEADER: __version__}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        self._http = aiohttp.ClientSession(
            headers=headers,
            # Below the seconds after which servers close one, which are few: a trainer's step may last longer.
            connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=4),
            timeout=aiohttp.ClientTimeout(total=REPLY_SECONDS),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Sends a request that may be sent twice. Raises Refused, or ServerUnavailable after some tries."""
        if self._http is None:
            raise RuntimeError("Expected `async with AsyncClient() as client:` around the calls")
        wait = FIRST_WAIT
        for attempt in range(RETRIES + 1):
            last = attempt == RETRIES
            try:
                async with self._http.request(method, self.url + path, json=body) as response:
                    reply = None if response.status == 204 else await response.json(content_type=None)
                    if response.status < 400:
                        return reply
                    error = refusal(response.status, reply)
                if last or not error.passing:
                    raise error
            except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as lost:
                if last:
                    raise ServerUnavailable(f"Expected a server at {self.url}: {lost!r}") from lost
            await asyncio.sleep(wait)
            wait *= 2
        raise AssertionError("not reached")

    async def open(self, **options: Any) -> AsyncConsultation:
        """Opens a consultation; options as of `Client.open`."""
        consultation = AsyncConsultation(self, options)
        await consultation._begin()
        return consultation


class AsyncConsultation:
    """One consultation; as `Consultation`, with coroutines."""

    first: Reply
    last: Reply
    messages: list[dict[str, str]]

    def __init__(self, client: AsyncClient, options: dict[str, Any]) -> None:
        self._client = client
        self._options = options
        self._actions: list[dict[str, Any]] = []
        self._id = ""

    async def _begin(self) -> None:
        body = {**self._options, "actions": self._actions}
        opened = await self._client.request("POST", "/v1/sessions", body)
        self._id = opened["session"]
        if not self._actions:
            self.first = self.last = read_reply(opened)
            self.messages = list(self.first.observation.get("prompt", []))

    async def step(self, action: str | dict[str, Any]) -> Reply:
        """Takes one action, as `Consultation.step`."""
        sent = action_of(action)
        body = {"action": sent, "index": len(self._actions)}
        try:
            reply = await self._client.request("POST", f"/v1/sessions/{self._id}/steps", body)
        except Refused as error:
            if error.code != "session-gone":
                raise
            await self._begin()
            reply = await self._client.request("POST", f"/v1/sessions/{self._id}/steps", body)
        self._actions.append(sent)
        self.last = read_reply(reply)
        return self.last

    async def say(self, text: str) -> Reply:
        """Takes a language model's reply as the action, as `Consultation.say`."""
        reply = await self.step(text)
        self.messages.append({"role": "assistant", "content": text})
        if not reply.done:
            self.messages.append({"role": "user", "content": reply.message})
        return reply

    async def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        """Calls a tool, as `Consultation.call`."""
        return await self.step(tool_action(name, arguments))

    def record(self) -> dict[str, Any]:
        """Options and actions, as `Consultation.record`."""
        return {"options": dict(self._options), "actions": list(self._actions)}

    async def close(self) -> None:
        """Ends the session at the server."""
        try:
            await self._client.request("DELETE", f"/v1/sessions/{self._id}")
        except Refused as error:
            if error.code not in ("session-gone", "not-found"):
                raise

    async def __aenter__(self) -> AsyncConsultation:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
