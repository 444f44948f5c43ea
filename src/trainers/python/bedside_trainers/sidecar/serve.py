"""Runs a service over HTTP until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn

from .app import build_app
from .service import Service

# How long a request and the engine's thread may take to come to an end.
_GRACE_SECONDS = 2
_PARENT_SECONDS = 1.0


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 is any free one. @raises OSError where it is taken"""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, as asyncio turns Nagle's algorithm off only where it is: answers would wait 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform != "win32":
        # A server that just ended leaves its port in a state that is no other server's.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    listener.set_inheritable(False)
    return listener


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Signals are ours: the process ends with 0 after them.
        yield


def gone(pid: int, *, child: bool) -> bool:
    """Whether a process has ended. @param child this process was started by it"""
    if child:
        return os.getppid() != pid
    if sys.platform == "win32":
        # There a signal of 0 is no question.
        return False
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "Z"
    except ProcessLookupError:
        return True
    except OSError:
        return False


async def _watch(pid: int, stop: Callable[[], None]) -> None:
    child = os.getppid() == pid
    while not gone(pid, child=child):
        await asyncio.sleep(_PARENT_SECONDS)
    stop()
    # Nobody reads what it says where it was the one that is gone.
    with contextlib.suppress(OSError):
        print(f"stopping: process {pid} has ended", file=sys.stderr, flush=True)


async def _serve(
    service: Service, listener: socket.socket, ready: Callable[[], None], parent_pid: int | None
) -> None:
    config = uvicorn.Config(
        build_app(service),
        access_log=False,
        log_config=None,
        lifespan="off",
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_keep_alive=75,
        server_header=False,
    )
    server = _Server(config)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True
        service.parts.futures.close()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if server.started:
        ready()
    watching = None if parent_pid is None else asyncio.create_task(_watch(parent_pid, stop))
    await serving
    if watching is not None:
        watching.cancel()


def serve(
    service: Service,
    listener: socket.socket,
    ready: Callable[[], None],
    *,
    parent_pid: int | None = None,
) -> None:
    """Serves until SIGTERM, SIGINT or the end of `parent_pid`; calls `ready` once it listens."""
    scheduler = service.parts.scheduler
    scheduler.start()
    asyncio.run(_serve(service, listener, ready, parent_pid))
    if not scheduler.stop(_GRACE_SECONDS):
        # In the middle of a long step: nothing of it is on disk but whole folders.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
