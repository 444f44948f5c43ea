"""A server of consultations on this machine: found, started and ended."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import subprocess
import tempfile
import threading
from typing import Any, Sequence

from ._command import NODE_HELP, find_command
from ._errors import ServerUnavailable

#: Seconds until a server that was started must listen.
START_SECONDS = 60
#: Variable in which the server finds its token.
TOKEN = "BEDSIDE_SERVE_TOKEN"


class Server:
    """A server that this process has started. It ends with `close`, with the process, and after a `with` block.

    url, token: what clients need.
    """

    def __init__(self, command: str | Sequence[str] | None = None, options: Sequence[str] = ()) -> None:
        line = find_command(command)
        self._owner = os.getpid()
        self.token: str = os.environ.get(TOKEN) or secrets.token_urlsafe(24)
        # Its standard input ends with this process, however that ends.
        arguments = [*line, "serve", "--json", "--stop-with-input", *options]
        # Token and log have no place in the file system: a process that is killed would leave them there.
        environment = {**os.environ, TOKEN: self.token}
        self._log = tempfile.TemporaryFile()
        try:
            # A session of its own: Ctrl-C in a terminal reaches the trainer, which ends the server when it is done.
            self._process = subprocess.Popen(
                arguments,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                start_new_session=True,
            )
        except OSError as error:
            self._log.close()
            raise ServerUnavailable(f"Expected to start `{line[0]}`: {error}. {NODE_HELP}") from error
        atexit.register(self.close)
        ready = self._ready()
        self.url: str = ready["address"]

    def _ready(self) -> dict[str, Any]:
        timer = threading.Timer(START_SECONDS, self._process.kill)
        timer.start()
        try:
            line = self._process.stdout.readline() if self._process.stdout else b""
        finally:
            timer.cancel()
        try:
            ready: dict[str, Any] = json.loads(line)
            return ready
        except ValueError:
            self._process.kill()
            self._process.wait()
            self._log.seek(0)
            said = self._log.read().decode(errors="replace").strip()[-2000:]
            self.close()
            raise ServerUnavailable(f"Expected bedside serve to start; it said: {said or 'nothing'}. {NODE_HELP}")

    def close(self) -> None:
        """Ends the server, and its sessions with it; safe more than once. A forked process leaves it alone."""
        atexit.unregister(self.close)
        if os.getpid() != self._owner:
            return
        process = self._process
        if process.poll() is None:
            if process.stdin:
                process.stdin.close()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for stream in (process.stdin, process.stdout, self._log):
            if stream and not stream.closed:
                stream.close()

    def _runs(self) -> bool:
        # A forked process cannot wait for what is not its child.
        return os.getpid() != self._owner or self._process.poll() is None

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def serve(*options: str, command: str | Sequence[str] | None = None) -> Server:
    """Starts a server with options of `bedside serve`, as in `serve("--cases", "cases.jsonl")`."""
    return Server(command, options)


_shared: Server | None = None
_shared_lock = threading.Lock()


def address(url: str | None, token: str | None) -> tuple[str, str | None]:
    """The server to talk to: the one named, $BEDSIDE_URL's, or one that all of this process share."""
    global _shared
    url = url or os.environ.get("BEDSIDE_URL")
    if url:
        return url.rstrip("/"), token or os.environ.get("BEDSIDE_TOKEN")
    with _shared_lock:
        if _shared is None or not _shared._runs():
            _shared = Server()
        return _shared.url, _shared.token
