"""Random consultations through verl's own AgentLoopWorker, against a real server; prints what differed, as JSON.

Reads one object of JSON: url, token, tokenizer (a folder), groups, siblings, seed, faults (of each request, 0 to 1),
lost (seeds that the world loses for good), unscored (seeds whose score is not known), say (a line is printed after so
many draws, for who kills the server), limits.
"""

import asyncio
import json
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

os.environ["TORCH_COMPILE_DISABLE"] = "1"
# As a job does.
os.environ["VERL_USE_EXTERNAL_MODULES"] = "bedside_trainers.verl.plugin"
sys.path.insert(0, str(Path(__file__).parents[2] / "src/trainers/python"))

given = json.load(sys.stdin)
os.environ["BEDSIDE_URL"] = given["url"]
os.environ["BEDSIDE_TOKEN"] = given["token"]
os.environ["BEDSIDE_TOKENS"] = json.dumps(given["limits"])
if "advantage" in given:
    os.environ["BEDSIDE_ADVANTAGE"] = json.dumps(given["advantage"])
os.environ["BEDSIDE_SESSION"] = json.dumps(given.get("session", {}))

import aiohttp
import numpy as np
import torch
from transformers import AutoTokenizer, Qwen3Config

from bedside_trainers import token_sessions
from bedside_trainers.verl import maths
from bedside_trainers.verl.library import AgentLoopWorker, TokenOutput
from bedside_trainers.verl.rows import options_of, row, write_agents

torch.set_num_threads(1)
LINES = [
    "Question: Do you have a fever?",
    "Since when have you had it?",
    "Order: full blood count",
    "<think>It may be a cold.</think>Do you cough?",
    "<think>",
    "   ",
    "Diagnosis: influenza\nRecommendation: rest",
    "您发烧吗？",
    "👩🏽‍⚕️ <|im_end|> <|eot_id|>",
]


class RandomDoctor:
    """verl's client of an engine: says lines, fragments and noise, and remembers every id that it drew."""

    def __init__(self, tokenizer, vocabulary):
        self.tokenizer, self.vocabulary = tokenizer, vocabulary
        self.drawn = {}
        self.count = 0

    async def generate(self, request_id, *, prompt_ids, sampling_params, **_):
        draw = random.Random(f"{given['seed']} {request_id} {len(prompt_ids)}")
        await asyncio.sleep(draw.random() * given.get("delay", 0))
        self.count += 1
        if self.count == given.get("say"):
            print(json.dumps({"draws": self.count}), flush=True)
        ids = self.tokenizer(draw.choice(LINES), add_special_tokens=False)["input_ids"]
        if draw.random() < 0.3:
            ids = ids[: draw.randrange(len(ids) + 1)]
        if draw.random() < 0.3:
            ids = ids + [draw.randrange(self.vocabulary) for _ in range(draw.randrange(1, 6))]
        if draw.random() < 0.9 or not ids:
            ids = ids + [draw.choice(sampling_params["stop_token_ids"])]
        ids = ids[: sampling_params["max_tokens"]]
        logprobs = [-draw.random() for _ in ids]
        self.drawn.setdefault(request_id, []).append((list(prompt_ids), ids, logprobs))
        return TokenOutput(token_ids=ids, log_probs=logprobs, stop_reason="completed", extra_fields={"global_steps": 4})


class Faults:
    """Breaks requests: lost before they are sent, lost after, answered by a server that forgot the session."""

    def __init__(self):
        self.draw = random.Random(given["seed"])
        self.seen = {"before": 0, "after": 0, "forgotten": 0, "lost": 0, "unscored": 0, "refused": 0}
        self.seeds = {}
        self.real = token_sessions.TokenClient._once

    def install(self):
        faults = self

        async def once(client, method, path, body):
            return await faults.once(client, method, path, body)

        token_sessions.TokenClient._once = once

    async def once(self, client, method, path, body):
        at, share = self.draw.random(), given.get("faults", 0)
        opening = path == "/v1/token-sessions"
        session = path.split("/")[3] if path.endswith("/draws") else None
        seed = body["seed"] if opening else self.seeds.get(session)
        if session and seed in given.get("lost", []):
            self.seen["lost"] += 1
            raise token_sessions._Failure("unavailable", "patient-failed: no model")
        if at < share / 3 and method != "DELETE":
            self.seen["before"] += 1
            raise aiohttp.ClientConnectionError("lost before")
        if session and at < 2 * share / 3:
            self.seen["forgotten"] += 1
            await self.real(client, "DELETE", path.removesuffix("/draws"), None)
        try:
            reply = await self.real(client, method, path, body)
        except aiohttp.ClientConnectionError:
            self.seen["refused"] += 1
            raise
        if opening:
            self.seeds[reply["session"]] = seed
        if session and reply["done"] and seed in given.get("unscored", []):
            self.seen["unscored"] += 1
            reply = {**reply, "reward": None, "score": {"total": None, "parts": {}}}
        if session and at > 1 - share / 3:
            self.seen["after"] += 1
            raise aiohttp.ServerDisconnectedError()
        return reply


def model_folder(folder: Path) -> Path:
    """The tokenizer with a model's configuration; verl's worker reads no weights."""
    shutil.copytree(given["tokenizer"], folder, dirs_exist_ok=True)
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    # A token as an object, as older files have it, is refused by the transformers of verl.
    plain = {name: value["content"] if isinstance(value, dict) and "content" in value else value for name, value in settings.items()}
    path.write_text(json.dumps(plain))
    if not (folder / "config.json").exists():
        vocabulary = max(AutoTokenizer.from_pretrained(folder).get_vocab().values()) + 1
        shape = {"vocab_size": vocabulary, "hidden_size": 16, "num_hidden_layers": 1}
        Qwen3Config(**shape, architectures=["Qwen3ForCausalLM"]).save_pretrained(folder)
    return folder


def compare(batch, doctor):
    """What verl trains on against what was drawn: differences by kind."""
    bad = {"ids": 0, "mask": 0, "logprobs": 0, "prompt": 0}
    told = {"rows": len(batch), "drawn": 0, "trained": 0, "leftOut": 0, "forks": 0, "lost": 0, "versions": set()}
    extra = batch.non_tensor_batch
    for at, (prompt, response) in enumerate(maths.samples_of(batch)):
        mask = batch.batch["response_mask"][at][: len(response)].tolist()
        logprobs = batch.batch["rollout_log_probs"][at][: len(response)].tolist()
        if not sum(mask):
            told["lost"] += 1
            continue
        told["trained"] += sum(mask)
        told["forks"] += int(extra["forks"][at])
        told["leftOut"] += int(extra["left_out_tokens"][at])
        told["versions"] |= {version for version, bit in zip(extra["policy_versions"][at], mask) if bit}
        whole = prompt + response
        trained = [token for token, bit in zip(response, mask) if bit]
        of = [logprob for logprob, bit in zip(logprobs, mask) if bit]
        matches = [turns for turns in doctor.drawn.values() if fits(turns, whole, mask, len(prompt), extra["forks"][at])]
        if not matches:
            bad["ids"] += 1
            continue
        # Siblings may have said the same ids, at other log-probs.
        turns = next((turns for turns in matches if logprobs_of(turns) == of), matches[0])
        told["drawn"] += sum(len(ids) for _, ids, _ in turns)
        bad["prompt"] += turns[0][0] != prompt
        if not extra["forks"][at]:
            bad["mask"] += trained != [token for _, ids, _ in turns for token in ids]
            bad["logprobs"] += logprobs_of(turns) != of
        bad["logprobs"] += any(value != 0 for value, bit in zip(logprobs, mask) if not bit)
    return bad, {**told, "versions": sorted(told["versions"])}


def logprobs_of(turns):
    """Log-probs of a consultation's draws, at the precision of verl's tensors."""
    return [float(np.float32(value)) for _, _, values in turns for value in values]


def fits(turns, whole, mask, start, forks):
    """Whether a sample is a consultation's draws: every prompt a prefix, every draw where it was drawn."""
    if turns[-1][0] + turns[-1][1] != whole:
        return False
    for prompt, ids, _ in turns:
        at = len(prompt)
        if not forks and (whole[at : at + len(ids)] != ids or prompt != whole[:at]):
            return False
        if not forks and mask[at - start : at - start + len(ids)] != [1] * len(ids):
            return False
    return True


def rloo_gap(played, scores, known):
    """How far the advantages are from those of RLOO by hand, at drawn tokens; others are 0."""
    gap = 0.0
    for at in known:
        uid = played.non_tensor_batch["uid"][at]
        others = [scores[one] for one in known if one != at and played.non_tensor_batch["uid"][one] == uid]
        expected = (scores[at] - sum(others) / len(others)) * played.batch["response_mask"][at]
        gap = max(gap, float((played.batch["advantages"][at] - expected).abs().max()))
    return gap


async def main():
    with tempfile.TemporaryDirectory() as folder:
        home = model_folder(Path(folder) / "model")
        agents = Path(folder) / "agents.yaml"
        write_agents(agents)
        context = given["limits"]["context_length"]
        config = maths.configuration(
            [
                f"actor_rollout_ref.model.path={home}",
                "actor_rollout_ref.rollout.name=vllm",
                f"actor_rollout_ref.rollout.agent.agent_loop_config_path={agents}",
                f"data.max_prompt_length={context // 2}",
                f"data.max_response_length={context - context // 2}",
                "algorithm.adv_estimator=bedside",
                "trainer.use_v1=false",
                *given.get("overrides", []),
            ]
        )
        tokenizer = AutoTokenizer.from_pretrained(home)
        doctor = RandomDoctor(tokenizer, max(tokenizer.get_vocab().values()) + 1)
        worker = AgentLoopWorker(config, doctor, None, None)
        faults = Faults()
        faults.install()
        token_sessions.FIRST_WAIT = 0.02
        rows = []
        for index in range(given["groups"]):
            one = row(index, options_of(index, "train", given["seed"]))
            rows.append({**one, "raw_prompt": one["prompt"], "index": index, "dummy_tensor": torch.tensor([0])})
        batch = maths.batch_of(rows, [f"g{index}" for index in range(len(rows))], given["siblings"], 4)
        played = await worker.generate_sequences(batch)
        await token_sessions.shared_client().close()
        bad, told = compare(played, doctor)
        uids = played.non_tensor_batch["uid"]
        firsts = {}
        for uid, (prompt, _), count in zip(uids, maths.samples_of(played), played.batch["response_mask"].sum(-1)):
            if count:
                firsts.setdefault(uid, set()).add(tuple(prompt))
        scores = played.batch["rm_scores"].sum(-1).tolist()
        maths.add_advantages(played, config)
        advantages = played.batch["advantages"]
        known = [at for at, lost in enumerate(played.non_tensor_batch["lost"]) if not lost]
        told.update(
            refused=faults.seen["refused"],
            advantageGap=rloo_gap(played, scores, known) if given.get("advantage") else None,
            faults=faults.seen,
            groups=len(firsts),
            patients=len({prompt for prompts in firsts.values() for prompt in prompts}),
            mixed=sum(len(prompts) != 1 for prompts in firsts.values()),
            begunAnew=int(sum(played.non_tensor_batch["begun_anew"])),
            finite=bool(torch.isfinite(advantages).all()),
            lostScores=[str(s) for s, lost in zip(scores, played.non_tensor_batch["lost"]) if lost],
            lostAdvantage=float(sum(advantages[at].abs().sum() for at, lost in enumerate(played.non_tensor_batch["lost"]) if lost)),
        )
    print(json.dumps({"bad": bad, **told}), flush=True)


asyncio.run(main())
