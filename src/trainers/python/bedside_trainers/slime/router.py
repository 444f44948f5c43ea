"""A stand-in for slime's SGLang router and engines: the same routes, over any function that draws.

It is no SGLang: no batching across requests but what the function does, no weight transfer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from aiohttp import web


#: Draws a continuation of ids with the given sampling parameters: ids, log-probs, and `stop`, `length` or `abort`.
Draw = Callable[
    [Sequence[int], Mapping[str, Any], asyncio.Event], Awaitable[tuple[list[int], list[float], str]]
]


class StandInRouter:
    """Routes /generate, /workers, /v1/loads and /abort_request; use it as `async with StandInRouter(draw) as router:`.

    url: its address, while it runs. version: number of the weights that it names. requests: taken so far.
    """

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._aborted = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self.url = ""
        self.version = 0
        self.requests = 0
        self._under_way = 0

    async def _generate(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests += 1
        version, aborted = self.version, self._aborted
        ids, sampling = body["input_ids"], body["sampling_params"]
        self._under_way += 1
        try:
            tokens, logprobs, ending = await self._draw(ids, sampling, aborted)
        finally:
            self._under_way -= 1
        meta = {
            "output_token_logprobs": [[p, id, None] for p, id in zip(logprobs, tokens, strict=True)],
            "finish_reason": {"type": ending},
            "weight_version": str(version),
            "prompt_tokens": len(ids),
            "completion_tokens": len(tokens),
            "cached_tokens": 0,
        }
        return web.json_response({"text": "", "output_ids": tokens, "meta_info": meta})

    async def _workers(self, _: web.Request) -> web.Response:
        return web.json_response({"workers": [{"url": self.url, "worker_type": "regular"}]})

    async def _loads(self, _: web.Request) -> web.Response:
        return web.json_response({"loads": [{"num_reqs": self._under_way}]})

    async def _abort(self, _: web.Request) -> web.Response:
        self._aborted.set()
        # What is asked from now on is not broken off.
        self._aborted = asyncio.Event()
        return web.Response()

    async def __aenter__(self) -> StandInRouter:
        app = web.Application(client_max_size=64 * 2**20)
        app.add_routes(
            [
                web.post("/generate", self._generate),
                web.get("/workers", self._workers),
                web.get("/v1/loads", self._loads),
                web.post("/abort_request", self._abort),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
