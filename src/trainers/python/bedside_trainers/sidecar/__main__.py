"""`python -m bedside_trainers.sidecar`: checks its arguments, opens an engine and serves it."""

from __future__ import annotations

import argparse
import ipaddress
import json
import math
import os
import secrets
import socket
import sys
from pathlib import Path
from typing import NoReturn

from ..engines import open_engine
from ..engines.engine import Engine, EngineError, SamplingPlace
from .settings import Limits, Settings

TOKEN_VARIABLE = "BEDSIDE_SIDECAR_TOKEN"
TOKEN_PREFIX = "tml-"
_SWITCH_SECONDS = 0.0005
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


def _fail(message: str) -> NoReturn:
    print(f"bedside sidecar: {message}", file=sys.stderr, flush=True)
    raise SystemExit(2)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _fail(f"{message}; see --help")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, received {text}")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a positive number of seconds, received {text}")
    return value


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, received {text}")
    return value


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = _Parser(prog="python -m bedside_trainers.sidecar", description=__doc__)
    add, limits = parser.add_argument, Limits()
    add("--model", type=Path, required=True, help="a Hugging Face model folder, with tokenizer")
    add("--state", type=Path, required=True, help="where checkpoints and exports are kept")
    add("--name", help="what clients call the model; default: the folder's name")
    add("--engine", choices=("peft", "unsloth"), default="peft")
    add("--dtype", choices=("auto", "float32", "float64", "bfloat16"), default="auto")
    add("--device", choices=("auto", "cpu", "cuda"), default="auto")
    add("--threads", type=_positive, help="of the CPU")
    add("--token-budget", type=_positive, help="tokens of a micro-batch")
    add("--context-length", type=_positive, help="most tokens of a sequence; default: the model's")
    add("--sampler", choices=("vllm", "sglang"), help="another server draws the tokens")
    add("--sampler-url", help="its address")
    add("--sampler-folder", type=Path, help="where it reads adapters; default: STATE/adapters")
    add("--host", default="127.0.0.1")
    add("--port", type=_port, default=0, help="0 is any free one")
    add("--allow-remote", action="store_true", help="lets --host be reached from other machines")
    add("--token-file", type=Path, help=f"where a fresh token goes if {TOKEN_VARIABLE} is not set")
    add("--max-request-bytes", type=_positive, default=limits.request_bytes)
    add("--max-models", type=_positive, default=limits.models)
    add("--max-snapshots", type=_positive, default=limits.snapshots)
    add(
        "--missing-seconds",
        type=_seconds,
        default=limits.missing_seconds,
        help="how long a model's requests wait for an earlier one that does not arrive, before they fail",
    )
    add("--max-chunk-len", type=_positive, help="datums the official client puts in a request")
    add("--parent-pid", type=_positive, help="stop when this process has ended")
    return parser.parse_args(argv)


def _token(file: Path | None) -> str:
    token = os.environ.get(TOKEN_VARIABLE)
    if token is not None:
        if not token.startswith(TOKEN_PREFIX) or len(token) < 12:
            _fail(f"{TOKEN_VARIABLE}: expected '{TOKEN_PREFIX}' and at least 8 characters")
        return token
    if file is None:
        _fail(f"no token: set {TOKEN_VARIABLE}, or name a file for a fresh one with --token-file")
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    try:
        file.unlink(missing_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(token + "\n")
    except OSError as error:
        _fail(f"--token-file: cannot write {file}: {error.strerror}")
    return token


def _check_host(host: str, allowed: bool) -> None:
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if not (loopback or allowed):
        _fail(f"--host {host} can be reached from other machines: say so with --allow-remote")


def _listen(host: str, port: int) -> socket.socket:
    try:
        from .serve import bind

        return bind(host, port)
    except ImportError as error:
        _fail(_missing_package(error, "peft"))
    except OSError as error:
        hint = "; expected a free port, 0 is any" if port else ""
        _fail(f"cannot listen on {host}:{port}: {error.strerror or error}{hint}")


def _missing_package(error: ImportError, engine: str) -> str:
    name = error.name or str(error)
    setup = "bedside sidecar setup" + ("" if engine == "peft" else f" --engine {engine}")
    return f"the Python package '{name}' is missing: make the environment with `{setup}`"


def _sampling_place(arguments: argparse.Namespace) -> SamplingPlace | None:
    kind, url = arguments.sampler, arguments.sampler_url
    if (kind is None) != (url is None):
        _fail("--sampler and --sampler-url: expected both or neither")
    if kind is None:
        return None
    return SamplingPlace(kind, url, arguments.sampler_folder or arguments.state / "adapters")


def _engine(arguments: argparse.Namespace) -> Engine:
    # Read when the libraries are loaded: the model is a local folder, and logs should have no progress bars.
    for variable in ("HF_HUB_OFFLINE", "TQDM_DISABLE"):
        os.environ.setdefault(variable, "1")
    if arguments.threads is not None:
        os.environ.update(dict.fromkeys(_THREAD_VARIABLES, str(arguments.threads)))
    options = {
        "model_name": arguments.name,
        "training_tokens": arguments.token_budget,
        "context_length": arguments.context_length,
        "sampling": _sampling_place(arguments),
    }
    try:
        return open_engine(
            arguments.engine,
            arguments.model,
            dtype=arguments.dtype,
            device=arguments.device,
            options={name: value for name, value in options.items() if value is not None},
        )
    except ImportError as error:
        _fail(_missing_package(error, arguments.engine))
    except EngineError as error:
        _fail(str(error))


def main(argv: list[str] | None = None) -> None:
    """Runs the server; prints one JSON line once it serves. Bad input exits with 2 and one line on stderr."""
    arguments = _arguments(argv)
    _check_host(arguments.host, arguments.allow_remote)
    if not (arguments.model / "config.json").is_file():
        _fail(f"--model: expected a folder with config.json, received {arguments.model}")
    token = _token(arguments.token_file)
    try:
        arguments.state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _fail(f"--state: cannot make {arguments.state}: {error.strerror}")
    listener = _listen(arguments.host, arguments.port)
    engine = _engine(arguments)
    for note in engine.info.notes:
        print(f"bedside sidecar: {note}", file=sys.stderr, flush=True)
    limits = Limits(
        request_bytes=arguments.max_request_bytes,
        models=arguments.max_models,
        snapshots=arguments.max_snapshots,
        missing_seconds=arguments.missing_seconds,
    )
    settings = Settings(arguments.state, token, limits, arguments.max_chunk_len)
    run(engine, settings, listener, arguments.parent_pid)


def run(engine: Engine, settings: Settings, listener: socket.socket, parent: int | None) -> None:
    """Serves an engine and prints the ready line; the server ends with the process `parent`."""
    from .about import own_capabilities
    from .serve import serve
    from .service import Service

    service = Service(engine, settings)
    host, port = listener.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def ready() -> None:
        line = {"address": address, "pid": os.getpid(), **own_capabilities(service.parts)}
        print(json.dumps(line), flush=True)

    # The engine's thread is mostly Python between short operators; by default, requests would wait 5 ms for each switch.
    sys.setswitchinterval(_SWITCH_SECONDS)
    serve(service, listener, ready, parent_pid=parent)


if __name__ == "__main__":
    main()
