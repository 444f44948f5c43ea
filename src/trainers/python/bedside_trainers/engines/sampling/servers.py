"""Sampling servers: vLLM and SGLang over HTTP. Both take and give token ids, and LoRA adapters as folders they read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx

from ..engine import EngineError, SampleJob

KEY_VARIABLE = "BEDSIDE_SAMPLER_KEY"
# Longer than any reply takes; a server that is gone is found out by its connection.
_DRAWING = httpx.Timeout(600.0, connect=10.0)
_OTHERS = httpx.Timeout(60.0, connect=10.0)
_MOST_SEED = 1 << 31


class ServerError(Exception):
    """The sampling server did not answer, or not as it should."""


@dataclass(frozen=True)
class Drawn:
    """Tokens and their log-probs, as a server gave them."""

    tokens: Sequence[int]
    logprobs: Sequence[float]


class SamplingServer(Protocol):
    """What is asked of a server."""

    name: str

    def check_job(self, job: SampleJob) -> None:
        """@raises EngineError for a setting at which its log-probs are not those of the full distribution"""

    def load(self, adapter: str, folder: Path) -> None: ...

    def unload(self, adapter: str) -> None: ...

    def draw(self, job: SampleJob, limit: int, adapter: str | None) -> Drawn: ...

    def close(self) -> None: ...


def _client(url: str) -> httpx.Client:
    key = os.environ.get(KEY_VARIABLE)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    # As many as `RemoteSampler` has threads.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    # No proxy of the environment: the server is a neighbour, and prompts should not travel.
    return httpx.Client(
        base_url=url, headers=headers, timeout=_OTHERS, limits=limits, trust_env=False
    )


class _Http:
    """Requests to one server, with errors in words."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self._url = url
        self._client = _client(url)

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        timeout: httpx.Timeout = _OTHERS,
    ) -> Any:
        try:
            answer = self._client.request(method, path, json=body, timeout=timeout)
        except httpx.HTTPError as error:
            raise ServerError(f"{self.name} at {self._url}{path}: {error}") from error
        if answer.is_error:
            said = answer.text[:300]
            raise ServerError(f"{self.name} at {self._url}{path}: {answer.status_code} {said}")
        try:
            return answer.json()
        except json.JSONDecodeError:
            return {}  # Both answer some requests with plain text.

    def close(self) -> None:
        self._client.close()


def _settings(job: SampleJob, limit: int, tokens_key: str) -> dict[str, Any]:
    return {
        tokens_key: limit,
        "temperature": job.temperature,
        "top_p": job.top_p,
        "top_k": job.top_k,
        "stop": list(job.stop_strings),
        "stop_token_ids": sorted(job.stop_tokens),
        "skip_special_tokens": False,
    }


class VllmServer(_Http):
    """vLLM 0.10 or later, started with `--enable-lora --logprobs-mode processed_logprobs` and
    `VLLM_ALLOW_RUNTIME_LORA_UPDATING=1`."""

    def __init__(self, url: str) -> None:
        super().__init__("vllm", url)
        models = self._send("GET", "/v1/models").get("data")
        if not models:
            raise ServerError(f"vllm at {url}/v1/models: expected the base model's name, got none")
        self._base = models[0]["id"]

    def check_job(self, job: SampleJob) -> None:
        if job.top_p < 1 or job.top_k > 0:
            raise EngineError(
                "Expected top_p 1 and no top_k: vllm gives log-probs after both, not of the full distribution"
            )

    def load(self, adapter: str, folder: Path) -> None:
        body = {"lora_name": adapter, "lora_path": str(folder)}
        self._send("POST", "/v1/load_lora_adapter", body)

    def unload(self, adapter: str) -> None:
        self._send("POST", "/v1/unload_lora_adapter", {"lora_name": adapter})

    def draw(self, job: SampleJob, limit: int, adapter: str | None) -> Drawn:
        body = {
            "model": adapter or self._base,
            "prompt": list(job.prompt),
            "seed": job.seed % _MOST_SEED,
            "logprobs": 0,
            "return_token_ids": True,
            "include_stop_str_in_output": True,
            **_settings(job, limit, "max_tokens"),
        }
        answer = self._send("POST", "/v1/completions", body, _DRAWING)
        try:
            choice = answer["choices"][0]
            return Drawn(choice["token_ids"], choice["logprobs"]["token_logprobs"])
        except (KeyError, IndexError, TypeError) as error:
            raise ServerError(
                f"vllm: expected choices with token_ids and logprobs, missed {error}"
            ) from error


class SglangServer(_Http):
    """SGLang 0.5 or later, started with `--enable-lora`."""

    def __init__(self, url: str) -> None:
        super().__init__("sglang", url)
        self._send("GET", "/health")

    def check_job(self, job: SampleJob) -> None:
        pass  # Its log-probs are taken at the temperature, before top-p and top-k.

    def load(self, adapter: str, folder: Path) -> None:
        body = {"lora_name": adapter, "lora_path": str(folder)}
        answer = self._send("POST", "/load_lora_adapter", body)
        if answer.get("success") is False:
            raise ServerError(f"sglang: {answer.get('error_message')}")

    def unload(self, adapter: str) -> None:
        self._send("POST", "/unload_lora_adapter", {"lora_name": adapter})

    def draw(self, job: SampleJob, limit: int, adapter: str | None) -> Drawn:
        settings = _settings(job, limit, "max_new_tokens")
        body = {
            "input_ids": list(job.prompt),
            "sampling_params": {
                **settings,
                "sampling_seed": job.seed % _MOST_SEED,
                "no_stop_trim": True,
            },
            "return_logprob": True,
            **({"lora_path": adapter} if adapter else {}),
        }
        answer = self._send("POST", "/generate", body, _DRAWING)
        try:
            drawn = answer["meta_info"]["output_token_logprobs"]
            return Drawn([one[1] for one in drawn], [one[0] for one in drawn])
        except (KeyError, IndexError, TypeError) as error:
            raise ServerError(
                f"sglang: expected meta_info.output_token_logprobs, missed {error}"
            ) from error


SERVERS = {"vllm": VllmServer, "sglang": SglangServer}
