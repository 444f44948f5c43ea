"""Rewards of consultations that are over: by the rewards of the package, with no model but a judge that is named."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from ._command import run
from ._errors import BedsideError
from .consultation import Client, Consultation, read_reply

#: A consultation, its `record()`, or a logged dialogue.
Episode = Union[Consultation, Mapping[str, Any]]


def names() -> list[str]:
    """The names of all rewards, as of `bedside rewards list`."""
    return [reward["name"] for reward in json.loads(run("rewards", "list", "--json"))]


def score(
    episodes: Iterable[Episode],
    reward: str = "default",
    *,
    grammar: str = "spoken",
    url: str | None = None,
    token: str | None = None,
) -> list[dict[str, Any] | None]:
    """Scores consultations that are over with another reward; gives a score each, in their order.

    A score is `{"total": number or None, "parts": {name: {"status": …, "value": …}}}`. A total of None says that it is not known,
    which is not 0: leave that consultation out. A consultation without an end has no score: None.

    episodes: each a `Consultation` or its `record()`, which a server plays again, the same to the letter; or a
        dialogue logged elsewhere: `{"messages": [{"role", "content"}, …]}` with one of `diagnosis` (and `recommendation`),
        `caseId`, `case` and `truth`. What such a log does not tell (costs, say) is not known to a reward that reads it.
    reward: a name of `names()`; of logged dialogues also a module, `./mine.mjs`.
    grammar: how the doctor of a logged dialogue writes: `spoken`, `labelled`, `huatuo`.
    url, token: of a server, as in `make`.
    Raises Refused and BedsideError for a reward or an episode that cannot be read.
    """
    given = [one.record() if isinstance(one, Consultation) else dict(one) for one in episodes]
    scores: list[dict[str, Any] | None] = [None] * len(given)
    played = [at for at, one in enumerate(given) if "actions" in one]
    logged = [at for at, one in enumerate(given) if "actions" not in one]
    if played:
        with Client(url, token) as client:
            for at in played:
                scores[at] = _score_played(client, given[at], reward)
    if logged:
        for at, found in zip(logged, _score_logged([given[at] for at in logged], reward, grammar)):
            scores[at] = found
    return scores


def _score_played(client: Client, record: Mapping[str, Any], reward: str) -> dict[str, Any] | None:
    body = {**record["options"], "reward": reward, "actions": record["actions"]}
    opened = client.request("POST", "/v1/sessions", body)
    client.request("DELETE", f"/v1/sessions/{opened['session']}")
    return read_reply(opened).observation.get("score")


def _score_logged(rows: Sequence[Mapping[str, Any]], reward: str, grammar: str) -> list[dict[str, Any] | None]:
    with tempfile.TemporaryDirectory(prefix="bedside-") as folder:
        chats, scored = Path(folder) / "chats.jsonl", Path(folder) / "scored.jsonl"
        # The id is the row's place: what is written may be in another order.
        text = [json.dumps({**row, "id": str(at)}, ensure_ascii=False) for at, row in enumerate(rows)]
        chats.write_text("\n".join(text) + "\n", encoding="utf-8")
        flags = ["--reward", reward, "--grammar", grammar, "--out", str(scored), "--quiet", "--json"]
        try:
            run("rewards", "score", str(chats), *flags)
        except BedsideError:
            # None could be scored, and the reasons are written; or nothing is.
            if not scored.exists():
                raise
        found = [json.loads(line) for line in scored.read_text(encoding="utf-8").splitlines()]
    by_place = {int(one["episode"]["id"]): one.get("score") for one in found}
    return [by_place.get(at) for at in range(len(rows))]
