"""A server of the bigram engine on a free port of this process, and a client in plain HTTP."""

import http.client
import json
import socket
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import uvicorn

sys.path.insert(0, str(Path(__file__).parents[2] / "src/trainers/python"))

from server_engine import BigramEngine

from bedside_trainers.sidecar.app import build_app
from bedside_trainers.sidecar.serve import bind
from bedside_trainers.sidecar.service import Service
from bedside_trainers.sidecar.settings import Limits, Settings
from bedside_trainers.sidecar.wire.proto import MEDIA_TYPE, message_class
from bedside_trainers.sidecar.wire.proto import read_data as read_data
from bedside_trainers.sidecar.wire.proto import read_message as read_message
from bedside_trainers.sidecar.wire.proto import read_turn as read_turn

TOKEN = "tml-of-this-test"
V1, OWN = "/api/v1", "/ext/v1"


class Running:
    """A server until `close`."""

    def __init__(self, engine=None, state=None, poll_seconds=20.0, max_chunk_len=None, **limits):
        self.engine = engine or BigramEngine()
        self.state = Path(state or tempfile.mkdtemp(prefix="bedside-server-"))
        settings = Settings(self.state, TOKEN, Limits(**limits), max_chunk_len, poll_seconds)
        self.service = Service(self.engine, settings)
        self.service.parts.scheduler.start()
        listener = bind("127.0.0.1", 0)
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(build_app(self.service), log_config=None, lifespan="off")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listener]})
        self.thread.start()
        while not self.server.started:
            time.sleep(0.001)

    def close(self):
        self.server.should_exit = True
        self.thread.join()
        self.service.parts.scheduler.stop(5)

    def request(self, method, path, body=b"", token=TOKEN, **headers):
        """Status, headers and body; header names with `_` for `-`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        if token is not None:
            sent["X-API-Key"] = token
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def post(self, path, body, **headers):
        """Status and JSON of a route under /api/v1, or of a whole path."""
        path = path if path.startswith("/") else f"{V1}/{path}"
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        status, _, content = self.request("POST", path, raw, **headers)
        return status, json.loads(content)

    def ok(self, path, body, **headers):
        status, reply = self.post(path, body, **headers)
        if status != 200:
            raise AssertionError(f"{path}: {status} {reply}")
        return reply

    def result(self, future):
        """The answer, asked for until it is there."""
        status = 408
        while status == 408:
            status, reply = self.post("retrieve_future", {"request_id": future["request_id"]})
        if status != 200:
            raise AssertionError(f"retrieve_future: {status} {reply}")
        return reply

    def run(self, path, body, **headers):
        """A future and at once its result."""
        return self.result(self.ok(path, body, **headers))

    def session(self):
        return self.ok("create_session", {"tags": []})["session_id"]

    def model(self, session=None, number=0, **config):
        body = {
            "session_id": session or self.session(),
            "model_seq_id": number,
            "base_model": "tiny",
            "lora_config": {"rank": 4, **config},
        }
        return self.run("create_model", body)["model_id"]

    def raw(self, head, body=b""):
        """Bytes as they are on a socket of their own; what comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(head + body)
            received = b""
            while part := connection.recv(65536):
                received += part
        return received


def tensor(values, dtype="float32"):
    return {"data": list(values), "dtype": dtype, "shape": [len(values)]}


def datum(tokens=(1, 2, 3), targets=(2, 3, 4), **inputs):
    held = {"target_tokens": tensor(targets, "int64")}
    held |= {name: tensor(values) for name, values in inputs.items()}
    chunks = [{"type": "encoded_text", "tokens": list(tokens)}]
    return {"model_input": {"chunks": chunks}, "loss_fn_inputs": held}


def backward(model_id, seq_id, data=None, loss="cross_entropy", **config):
    data = [datum(weights=[0.0, 1.0, 1.0])] if data is None else data
    given = {"data": data, "loss_fn": loss, "loss_fn_config": config}
    return {"model_id": model_id, "seq_id": seq_id, "forward_backward_input": given}


def step(model_id, seq_id, rate=0.5):
    return {"model_id": model_id, "seq_id": seq_id, "adam_params": {"learning_rate": rate}}


def proto_backward(model_id, seq_id, forward_only=False):
    """The protobuf of `backward(model_id, seq_id)`."""
    request = message_class("ForwardBackwardRequest")(
        model_id=model_id, seq_id=seq_id, loss_fn="cross_entropy", forward_only=forward_only
    )
    added = request.data.add()
    added.model_input.add().encoded_text.tokens = b"".join(
        n.to_bytes(4, "little") for n in (1, 2, 3)
    )
    targets = added.loss_fn_inputs["target_tokens"]
    targets.dense = b"".join(n.to_bytes(8, "little") for n in (2, 3, 4))
    targets.dtype = 2
    weights = added.loss_fn_inputs["weights"]
    weights.dense, weights.dtype = bytes.fromhex("000000000000803f0000803f"), 1
    weights.shape.append(3)
    return request.SerializeToString()


PROTO = {"Content_Type": MEDIA_TYPE}


class Serving(unittest.TestCase):
    """Each test starts the servers it needs."""

    def start(self, engine=None, **options):
        running = Running(engine, **options)
        self.addCleanup(running.close)
        return running

    def refused(self, server, path, body, status, says):
        got, reply = server.post(path, body)
        self.assertEqual(got, status, reply)
        self.assertIn(says, reply["error"])


class Refusing(unittest.TestCase):
    """One server of small limits for all tests, whose engine is never reached."""

    @classmethod
    def setUpClass(cls):
        cls.server = Running(datums=8, request_bytes=20_000)
        cls.model = cls.server.model()

    @classmethod
    def tearDownClass(cls):
        assert cls.server.engine.log == [], "a refused request reached the engine"
        cls.server.close()

    def refused(self, path, body, says, status=422, **headers):
        got, reply = self.server.post(path, body, **headers)
        self.assertEqual(got, status, (says, reply))
        self.assertIn(says, reply["error"])
        self.assertEqual(reply["category"], "User")


def report(module):
    """Runs a module's tests; writes the names that passed and the errors of the others."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[module])
    names = [test.id().removeprefix(f"{module}.") for group in suite for test in group]
    outcome = unittest.TestResult()
    suite.run(outcome)
    failures = {
        test.id().removeprefix(f"{module}."): text
        for test, text in outcome.errors + outcome.failures
    }
    print(json.dumps({"passed": [n for n in names if n not in failures], "failed": failures}))


__all__ = [name for name in dir() if not name.startswith("_")]
