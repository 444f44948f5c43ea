"""Serves a service over HTTP until a signal or the end of the parent process."""

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

# Time for requests, and for the engine's thread, to finish at shutdown.
_GRACE_SECONDS = 2
_PARENT_SECONDS = 1.0


def bind(host: str, port: int) -> socket.socket:
    """Opens a listening socket; port 0 is any free one. @raises OSError if the port is taken"""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's algorithm only if the protocol is explicit; else answers wait 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform != "win32":
        # Allows a port that is still in TIME_WAIT after an earlier server.
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
        # We handle signals ourselves, so that the process exits with 0.
        yield


def has_ended(pid: int, *, child: bool) -> bool:
    """Whether a process has ended. @param child whether it is the parent of this process"""
    if child:
        return os.getppid() != pid
    if sys.platform == "win32":
        # On Windows, signal 0 would not only test for the process.
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
    while not has_ended(pid, child=child):
        await asyncio.sleep(_PARENT_SECONDS)
    stop()
    # If the ended process was the reader of stderr, the pipe is broken.
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
        # A long step is running; exiting is safe, because folders are written atomically.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
