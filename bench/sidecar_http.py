"""The engine as clients use it: a server in another process, and steps in JSON over HTTP."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from pathlib import Path

from sidecar_work import ALPHA, HIGH, LEARNING_RATE, LOW, RANK, Ours

_TOKEN = "tml-of-the-bench-alone"


class OursOverHttp:
    """`Ours` behind the server; ends with this process."""

    def __init__(self, folder: Path, home: Path, lora: bool) -> None:
        package = Path(__file__).parents[1] / "src" / "trainers" / "python"
        environment = {
            **os.environ,
            "PYTHONPATH": str(package),
            "BEDSIDE_SIDECAR_TOKEN": _TOKEN,
        }
        command = [sys.executable, "-m", "bedside_trainers.sidecar", "--model", str(folder)]
        command += ["--state", str(home / "state"), "--parent-pid", str(os.getpid())]
        self._server = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, text=True
        )
        ready = json.loads(self._server.stdout.readline())
        address = ready["address"].removeprefix("http://")
        self._connection = http.client.HTTPConnection(address, timeout=600)
        session = self._post("/api/v1/create_session", {"tags": []})["session_id"]
        made = {
            "session_id": session,
            "model_seq_id": 0,
            "base_model": ready["model"]["name"],
            "spec": {"mode": "lora" if lora else "full", "rank": RANK, "alpha": ALPHA},
        }
        self._model = self._result("/ext/v1/create_model", made)["model_id"]
        self._next = 1

    def _post(self, path: str, body: dict) -> dict:
        headers = {"X-API-Key": _TOKEN, "Content-Type": "application/json"}
        self._connection.request("POST", path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status == 408:
            return {}
        if answer.status >= 300:
            raise RuntimeError(f"{path}: {answer.status} {text[:500]!r}")
        return json.loads(text)

    def _result(self, path: str, body: dict) -> dict:
        future = self._post(path, body)
        while not (
            answer := self._post("/api/v1/retrieve_future", {"request_id": future["request_id"]})
        ):
            pass
        return answer

    def step(self, rows: list[dict]) -> float:
        """One step on all rows, as `Ours.step` makes it; gives the gradient's norm."""
        given = {
            "data": [_on_wire(row, rows) for row in rows],
            "loss_fn": "ppo",
            "loss_fn_config": {"clip_low_threshold": 1 - LOW, "clip_high_threshold": 1 + HIGH},
        }
        backward = {"model_id": self._model, "seq_id": self._next, "forward_backward_input": given}
        self.padded = self._result("/api/v1/forward_backward", backward)["metrics"]["tokens:sum"]
        adam = {
            **{"learning_rate": LEARNING_RATE, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
            **{"weight_decay": 0.0, "grad_clip_norm": 1.0},
        }
        step = {"model_id": self._model, "seq_id": self._next + 1, "adam_params": adam}
        self._next += 2
        return self._result("/api/v1/optim_step", step)["metrics"]["grad_norm:mean"]


def _on_wire(row: dict, rows: list[dict]) -> dict:
    """A row as a datum of Tinker's `ppo`, which has no weights: they are in the advantages."""
    datum = Ours.datum(row, rows)
    weighed = datum.inputs["advantages"] * datum.inputs["weights"]

    def tensor(values, dtype: str = "float32") -> dict:
        return {"data": values.tolist(), "dtype": dtype, "shape": [len(values)]}

    return {
        "model_input": {"chunks": [{"type": "encoded_text", "tokens": datum.tokens.tolist()}]},
        "loss_fn_inputs": {
            "target_tokens": tensor(datum.inputs["target_tokens"], "int64"),
            "logprobs": tensor(datum.inputs["logprobs"]),
            "advantages": tensor(weighed),
        },
    }
