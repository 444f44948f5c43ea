"""HTTP routes of the server."""

from __future__ import annotations

import hashlib
import hmac
import sys
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from ..engines.engine import EngineError
from .about import metrics_text, own_capabilities, wire_capabilities
from .service import Reply, Service
from .wire.answers import Answer, answer_values, encode_json
from .wire.fields import Fields, read_json
from .wire.passes import PassBody, read_pass
from .wire.proto import MEDIA_TYPE, encode_proto, read_message
from .wire.refusal import Refused
from .wire.requests import Pass, Turn

Handler = Callable[[Request], Awaitable[Response]]


def _json(values: Reply, status: int = 200) -> Response:
    return Response(encode_json(values), status, media_type="application/json")


def _refusal(status: int, message: str) -> Response:
    category = "User" if status < 500 else "Server"
    return _json({"error": message, "category": category}, status)


class _Routes:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._requests: Counter[tuple[str, int]] = Counter()
        self._token = hashlib.sha256(service.settings.token.encode()).digest()

    def open(self, path: str, method: str, handler: Handler, *, free: bool = False) -> Route:
        """Creates a route that counts requests and answers errors in JSON; a `free` route needs no token."""

        async def endpoint(request: Request) -> Response:
            response = await self._guard(request, handler, free=free)
            self._requests[(path, response.status_code)] += 1
            return response

        return Route(path, endpoint, methods=[method])

    def post(self, path: str, reply: Callable[[Fields], Reply]) -> Route:
        async def handler(request: Request) -> Response:
            return _json(reply(read_json(await self._body(request))))

        return self.open(path, "POST", handler)

    def turn(self, path: str, reply: Callable[[Fields], Reply]) -> Route:
        """Creates a route for requests in a model's sequence; a refused one uses up its number."""

        def reply_once(body: Fields) -> Reply:
            with self._service.using_up(body):
                return reply(body)

        return self.post(path, reply_once)

    def get(self, path: str, reply: Callable[[Request], Reply], *, free: bool = False) -> Route:
        async def handler(request: Request) -> Response:
            return _json(reply(request))

        return self.open(path, "GET", handler, free=free)

    def passes(self, path: str, *, own: bool, forward: bool) -> Route:
        """Creates a route for passes in JSON or protobuf, parsed in a thread pool."""

        service = self._service

        def read(body: PassBody) -> tuple[Turn, Pass]:
            return read_pass(body, service.info, service.bounds, own=own, forward=forward)

        async def handler(request: Request) -> Response:
            media_type = request.headers.get("content-type", "")
            encoding = request.headers.get("content-encoding", "identity")
            if encoding != "identity":
                raise Refused(415, f"content-encoding: expected none, received {encoding!r}")
            parse = read_message if MEDIA_TYPE in media_type else read_json
            body = await run_in_threadpool(parse, await self._body(request))
            with service.using_up(body, backward=not forward):
                turn, operation = await run_in_threadpool(read, body)
                return _json(service.submit_pass(turn, operation))

        return self.open(path, "POST", handler)

    async def retrieve_future(self, request: Request) -> Response:
        body = read_json(await self._body(request))
        request_id, answer = await self._service.retrieve_future(body)
        if answer is None:
            again = {"type": "try_again", "request_id": request_id, "queue_state": "active"}
            return _json(again, 408)
        wants_proto = MEDIA_TYPE in request.headers.get("accept", "")
        content, media_type = await run_in_threadpool(_encode, answer, wants_proto)
        return Response(content, media_type=media_type)

    async def weights_info(self, request: Request) -> Response:
        return _json(await self._service.weights_info(read_json(await self._body(request))))

    async def no_route(self, request: Request, error: HTTPException) -> Response:
        """Refuses a route or a method that is not served; the number of such a request, if it has one, is used up."""
        message = f"no route {request.method} {request.url.path}: this server does not have it"

        async def handler(request: Request) -> Response:
            try:
                body = read_json(await self._body(request))
            except Refused:
                body = Fields({})  # the route is what is wrong first
            with self._service.using_up(body):
                raise Refused(error.status_code, message)

        if request.method != "POST":
            return _refusal(error.status_code, message)
        return await self._guard(request, handler, free=False)

    async def finish_session(self, request: Request) -> Response:
        body = read_json(await self._body(request))
        return _json(self._service.finish_session(request.path_params["id"], body))

    async def delete_checkpoint(self, request: Request) -> Response:
        place = [request.path_params[key] for key in ("model_id", "kind", "name")]
        await run_in_threadpool(self._service.delete_checkpoint, *place)
        return Response(status_code=204)

    async def metrics(self, _: Request) -> Response:
        return Response(metrics_text(self._service.parts, self._requests), media_type="text/plain")

    async def _guard(self, request: Request, handler: Handler, *, free: bool) -> Response:
        try:
            if not free:
                self._authorise(request)
            return await handler(request)
        except Refused as refused:
            return _refusal(refused.status, refused.message)
        except EngineError as error:
            return _refusal(422, str(error))
        except ClientDisconnect:
            return _refusal(400, "body: the connection ended before it did")
        except Exception as error:
            traceback.print_exception(error, file=sys.stderr)
            return _refusal(500, f"{type(error).__name__}: see the server's log")

    def _authorise(self, request: Request) -> None:
        given = hashlib.sha256(request.headers.get("x-api-key", "").encode()).digest()
        if not hmac.compare_digest(given, self._token):
            expected = "the header X-API-Key with the token this server was started with"
            raise Refused(401, f"expected {expected}")

    async def _body(self, request: Request) -> bytes:
        limit = self._service.settings.limits.request_bytes
        declared = request.headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > limit:
            raise Refused(413, f"body: expected at most {limit} bytes, received {declared}")
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise Refused(413, f"body: expected at most {limit} bytes, received more")
            parts.append(part)
        return b"".join(parts)


def _encode(answer: Answer, wants_proto: bool) -> tuple[bytes, str]:
    content = encode_proto(answer) if wants_proto else None
    if content is not None:
        return content, MEDIA_TYPE
    return encode_json(answer_values(answer)), "application/json"


def _posts(service: Service) -> dict[str, Callable[[Fields], Reply]]:
    return {
        "client/config": service.client_config,
        "client/dynamic_config": lambda _: {},
        "telemetry": lambda _: {"status": "accepted"},
        "session_heartbeat": service.session_heartbeat,
        "create_session": service.create_session,
        "create_model": service.create_model,
        "get_info": service.get_info,
        "unload_model": service.unload_model,
        "create_sampling_session": service.create_sampling_session,
        "asample": service.asample,
        "cancel_future": service.cancel_future,
    }


def _turns(service: Service) -> dict[str, Callable[[Fields], Reply]]:
    return {
        "optim_step": service.optim_step,
        "save_weights": service.save_weights,
        "save_weights_for_sampler": service.save_weights_for_sampler,
        "load_weights": service.load_weights,
    }


def build_app(service: Service) -> Starlette:
    """Builds the HTTP application of a service."""
    at, v1, own = _Routes(service), "/api/v1", "/ext/v1"
    parts = service.parts
    checkpoint = f"{v1}/training_runs/{{model_id}}/checkpoints/{{kind}}/{{name}}"
    return Starlette(
        routes=[
            at.get(f"{v1}/healthz", lambda _: {"status": "ok"}, free=True),
            at.get(f"{v1}/get_server_capabilities", lambda _: wire_capabilities(parts)),
            at.get(f"{v1}/samplers/{{id}}", lambda r: service.get_sampler(r.path_params["id"])),
            *(at.post(f"{v1}/{name}", reply) for name, reply in _posts(service).items()),
            *(at.turn(f"{v1}/{name}", reply) for name, reply in _turns(service).items()),
            at.passes(f"{v1}/forward_backward", own=False, forward=False),
            at.passes(f"{v1}/forward", own=False, forward=True),
            at.open(f"{v1}/retrieve_future", "POST", at.retrieve_future),
            at.open(f"{v1}/weights_info", "POST", at.weights_info),
            at.open(f"{v1}/sessions/{{id}}/finish", "POST", at.finish_session),
            at.open(checkpoint, "DELETE", at.delete_checkpoint),
            at.get(f"{own}/capabilities", lambda _: own_capabilities(parts)),
            at.post(f"{own}/create_model", service.create_own_model),
            at.passes(f"{own}/forward_backward", own=True, forward=False),
            at.passes(f"{own}/forward", own=True, forward=True),
            at.turn(f"{own}/discard", service.discard),
            at.turn(f"{own}/export", service.export),
            at.open(f"{own}/metrics", "GET", at.metrics),
        ],
        exception_handlers={HTTPException: at.no_route},
    )
