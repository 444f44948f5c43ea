"""Consultations over HTTP: one object each, with lost connections and servers started again taken care of."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any, Iterable
from urllib.parse import urlsplit

from ._errors import Refused, ServerUnavailable, refusal
from ._server import address
from ._version import __version__

#: Seconds that a reply may take; the server gives up before.
REPLY_SECONDS = 60.0
#: Times that a request is sent again after a lost connection or a passing refusal, and the first wait in seconds.
RETRIES = 4
FIRST_WAIT = 0.25
#: Says which release this client is of; a server of another series refuses it.
VERSION_HEADER = "X-Bedside-Version"


@dataclass(frozen=True)
class Reply:
    """What a consultation says after an action.

    message: what the doctor hears: the intake, a patient's words, a report, or why an action was refused.
    reward: a number at the end; None before, and where the score is not known (which is not 0).
    terminated, truncated: whether the doctor ended it, or a limit did.
    observation: all the server said: turns_left, money_spent, outcome, stop, score and more.
    """

    message: str
    reward: float | None
    terminated: bool
    truncated: bool
    observation: dict[str, Any]

    @property
    def done(self) -> bool:
        """Whether the consultation is over."""
        return self.terminated or self.truncated


def read_reply(body: dict[str, Any]) -> Reply:
    """A reply of the server."""
    seen = body["observation"]
    return Reply(seen["message"], body["reward"], seen["terminated"], seen["truncated"], seen)


def action_of(action: str | dict[str, Any]) -> dict[str, Any]:
    """An action as the server takes it: text is a message."""
    return {"message": action} if isinstance(action, str) else {"message": "", **action}


def tool_action(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The action of a tool call. Raises Refused for a tool or an argument that does not exist."""
    field = {"ask_patient": ("question", "message"), "order_exam": ("exam", "order")}.get(name)
    if field is None:
        if name == "diagnose":
            return {"message": "", **arguments}
        raise Refused("not-found", f"Expected ask_patient, order_exam or diagnose, got {name!r}")
    given, sent = field
    if set(arguments) != {given} or not isinstance(arguments[given], str):
        raise Refused("bad-request", f"Expected {name}({given}=text), got {sorted(arguments)}")
    return {"message": "", sent: arguments[given]}


class Client:
    """A client of a server of consultations. Not for several threads at once: make one for each."""

    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        self.url, self._token = address(url, token)
        self._connection: http.client.HTTPConnection | None = None

    def _send(self, method: str, path: str, body: bytes | None) -> tuple[int, Any]:
        if self._connection is None:
            parts = urlsplit(self.url)
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(parts.hostname or "", parts.port, timeout=REPLY_SECONDS)
            self._base = parts.path
        headers = {"Content-Type": "application/json", VERSION_HEADER: __version__}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        self._connection.request(method, self._base + path, body, headers)
        response = self._connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else None

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Sends a request that may be sent twice. Raises Refused, or ServerUnavailable after some tries."""
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        wait = FIRST_WAIT
        for attempt in range(RETRIES + 1):
            last = attempt == RETRIES
            kept = self._connection is not None
            try:
                status, reply = self._send(method, path, data)
            except (OSError, http.client.HTTPException, ValueError) as lost:
                self.close()
                if last:
                    raise ServerUnavailable(f"Expected a server at {self.url}: {lost!r}") from lost
                # A server closes connections that rest for seconds, as they do between a trainer's steps: that is no
                # reason to wait.
                if kept and not isinstance(lost, TimeoutError):
                    continue
            else:
                if status < 400:
                    return reply
                error = refusal(status, reply)
                if last or not error.passing:
                    raise error
            time.sleep(wait)
            wait *= 2
        raise AssertionError("not reached")

    def open(self, **options: Any) -> Consultation:
        """Opens a consultation. Options are those of the server: tier, seed, split, index, language, reward, …"""
        return Consultation(self, options)

    def tools(self) -> list[dict[str, Any]]:
        """The actions as tools in the form of OpenAI's API, for chat templates and servers."""
        found = self.request("GET", "/v1/tools")["tools"]
        return [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool["description"],
                    "parameters": tool["input_schema"],
                },
            }
            for tool in found
        ]

    def splits(self) -> dict[str, int]:
        """The number of cases of each split."""
        return {split["name"]: split["cases"] for split in self.request("GET", "/v1/splits")["splits"]}

    def close(self) -> None:
        """Closes the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Consultation:
    """One consultation: say something, order, diagnose; or reply as a language model and call tools.

    first: the reply before any action, with the intake.
    last: the reply to the last action.
    messages: the dialogue as chat messages (`role`, `content`), to be rendered for a language model. The doctor is the
        assistant.
    """

    def __init__(self, client: Client, options: dict[str, Any]) -> None:
        self._client = client
        self._options = options
        self._actions: list[dict[str, Any]] = []
        self._id = ""
        body = self._begin()
        self.first = self.last = read_reply(body)
        self.messages: list[dict[str, str]] = list(self.first.observation.get("prompt", []))

    def _begin(self) -> dict[str, Any]:
        body: dict[str, Any] = {**self._options, "actions": self._actions}
        opened: dict[str, Any] = self._client.request("POST", "/v1/sessions", body)
        self._id = opened["session"]
        return opened

    def step(self, action: str | dict[str, Any]) -> Reply:
        """Takes one action: text said by the doctor, or a dict with `order` or `diagnosis`.

        A session that the server has lost is opened again, with the actions before. Raises Refused for an action that
        cannot be read, and after the end.
        """
        sent = action_of(action)
        body = {"action": sent, "index": len(self._actions)}
        try:
            reply = self._client.request("POST", f"/v1/sessions/{self._id}/steps", body)
        except Refused as error:
            if error.code != "session-gone":
                raise
            self._begin()
            reply = self._client.request("POST", f"/v1/sessions/{self._id}/steps", body)
        self._actions.append(sent)
        self.last = read_reply(reply)
        return self.last

    def say(self, text: str) -> Reply:
        """Takes a language model's reply as the action, and keeps both sides in `messages`."""
        reply = self.step(text)
        self.messages.append({"role": "assistant", "content": text})
        if not reply.done:
            self.messages.append({"role": "user", "content": reply.message})
        return reply

    def call(self, name: str, arguments: dict[str, Any]) -> Reply:
        """Calls a tool: ask_patient(question), order_exam(exam) or diagnose(diagnosis, recommendation, …)."""
        return self.step(tool_action(name, arguments))

    def record(self) -> dict[str, Any]:
        """Options and actions, plain JSON: all that is needed to play it again or to score it by another reward."""
        return {"options": dict(self._options), "actions": list(self._actions)}

    def close(self) -> None:
        """Ends the session at the server."""
        try:
            self._client.request("DELETE", f"/v1/sessions/{self._id}")
        except Refused as error:
            if error.code not in ("session-gone", "not-found"):
                raise

    def __enter__(self) -> Consultation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def play(consultation: Consultation, actions: Iterable[str | dict[str, Any]]) -> Reply:
    """Takes actions until the consultation ends; gives the last reply."""
    for action in actions:
        if consultation.step(action).done:
            break
    return consultation.last
