"""The inference engines of slime: ids go to its router's /generate, and ids with their log-probs come back."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp

from ..token_sessions import LostConsultation

#: Seconds that engines may be away (a weight update, a restart), and between tries.
PATIENCE_SECONDS, WAIT_SECONDS = 300.0, 1.0


class EngineRefused(Exception):
    """An engine refused a request, and would again."""


@dataclass(frozen=True)
class Reply:
    """What an engine drew. ending: `stop`, `length`, or `abort` where it was told to break off."""

    tokens: list[int]
    logprobs: list[float]
    text: str
    meta: Mapping[str, Any]

    @property
    def ending(self) -> str:
        """Why it ended."""
        return str(self.meta["finish_reason"]["type"])

    @property
    def version(self) -> int:
        """Number of the weights; 0 before their first update."""
        version = str(self.meta.get("weight_version", ""))
        return int(version) if version.isdigit() else 0


class Engine:
    """The engines behind a router, for one event loop."""

    def __init__(self, router: str) -> None:
        self.router = router
        # A draw takes as long as it takes; slime's own client waits without bound too.
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10)
        self._http = aiohttp.ClientSession(
            timeout=timeout, connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=4)
        )

    async def _post(self, url: str, body: object, headers: Mapping[str, str]) -> Any:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                async with self._http.post(url, json=body, headers=headers) as response:
                    if 400 <= response.status < 500:
                        text = (await response.text())[:500]
                        raise EngineRefused(f"{url}: status {response.status}: {text}")
                    response.raise_for_status()
                    return await response.json(content_type=None)
            except (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError) as lost:
                if time.monotonic() > until:
                    raise LostConsultation(f"No engine answered at {url}: {lost!r}") from lost
            await asyncio.sleep(WAIT_SECONDS)

    async def draw(
        self, ids: Sequence[int], sampling: Mapping[str, Any], *, key: str
    ) -> Reply:
        """Draws a continuation of ids. key: consultations of one key go to one engine, which has their prefix.

        @raises EngineRefused; LostConsultation where no engine answers for long
        """
        body = {"input_ids": list(ids), "sampling_params": dict(sampling), "return_logprob": True}
        found = await self._post(f"{self.router}/generate", body, {"X-SMG-Routing-Key": key})
        meta = found["meta_info"]
        drawn = meta.get("output_token_logprobs") or []
        logprobs, tokens = [float(one[0]) for one in drawn], [int(one[1]) for one in drawn]
        return Reply(tokens, logprobs, str(found.get("text", "")), meta)

    async def abort(self) -> None:
        """Tells every engine to break off what it draws."""
        async with self._http.get(f"{self.router}/workers") as response:
            found = await response.json(content_type=None) if response.ok else {"workers": []}
        urls = [str(worker["url"]) for worker in found["workers"]] or [self.router]
        await asyncio.gather(*(self._abort(url) for url in urls))

    async def _abort(self, url: str) -> None:
        async with self._http.post(f"{url}/abort_request", json={"abort_all": True}) as response:
            await response.read()


_shared: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Engine]]
_shared = weakref.WeakKeyDictionary()


def shared_engine(router: str) -> Engine:
    """The engines of the running event loop, behind a router. They are let go with their process."""
    engines = _shared.setdefault(asyncio.get_running_loop(), {})
    if router not in engines:
        engines[router] = Engine(router)
    return engines[router]
