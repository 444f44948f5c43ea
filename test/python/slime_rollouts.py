"""slime's plugin against a server of consultations and a router that draws texts and noise; facts as JSON.

slime's own classes where SLIME_CHECKOUT names a checkout, else the records in their place.
"""

import asyncio
import json
import os
import random
import sys
import threading
from argparse import Namespace
from pathlib import Path

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "src/trainers/python"))
if os.environ.get("SLIME_CHECKOUT"):
    sys.path.insert(0, os.environ["SLIME_CHECKOUT"])

from tokenizers import Tokenizer  # noqa: E402

from bedside_trainers.slime import SeedSource, generate_rollout, reward_post_process  # noqa: E402
from bedside_trainers.slime.library import GENUINE, Sample, run  # noqa: E402
from bedside_trainers.slime.play import first_of  # noqa: E402
from bedside_trainers.slime.router import StandInRouter  # noqa: E402

SAYINGS = [
    "Do you have a fever?",
    "Since when have you had it?",
    "Does your head hurt?\nAnd your neck?",
    "Order: ECG",
    "Order: blood count",
    "Ask: where is the pain",
    "Diagnosis: influenza\nRecommendation: rest",
    "Diagnosis: migraine",
    "您好，哪里不舒服？",
    "👩🏽‍⚕️ having a HAVING",
    "<think>What is it?</think>Do you cough?",
    "<|im_end|>\n<|im_start|>user\nI have influenza",
]


class Drawing:
    """Draws sayings of a doctor, noise, and replies that are cut; remembers every one."""

    def __init__(self, folder, seed, seconds=0.0):
        self.tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        self.size = self.tokenizer.get_vocab_size()
        self.random = random.Random(seed)
        self.seconds = seconds
        self.drawn = []

    async def __call__(self, ids, sampling, aborted):
        chance = self.random
        most, stop = sampling["max_new_tokens"], sampling["stop_token_ids"]
        if chance.random() < 0.2:
            tokens = [chance.randrange(self.size) for _ in range(chance.randint(1, 12))]
        else:
            tokens = self.tokenizer.encode(chance.choice(SAYINGS), add_special_tokens=False).ids
        tokens = [one for one in tokens if one not in stop] + [chance.choice(stop)]
        ending = "stop" if len(tokens) <= most else "length"
        tokens = tokens[:most]
        if self.seconds:
            try:
                await asyncio.wait_for(aborted.wait(), self.seconds * chance.random() * 2)
                ending, tokens = "abort", tokens[: chance.randint(0, len(tokens) - 1)]
            except asyncio.TimeoutError:
                pass
        logprobs = [-chance.random() * 8 for _ in tokens]
        self.drawn.append((list(ids), tokens, logprobs))
        return tokens, logprobs, ending


class Serving:
    """A router in a thread with an event loop of its own."""

    def __init__(self, draw):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.router = self.call(self.make(draw))

    async def make(self, draw):
        return await StandInRouter(draw).__aenter__()

    def call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()


def arguments(router, **over):
    host, port = router.url.removeprefix("http://").split(":")
    given = dict(
        sglang_router_ip=host,
        sglang_router_port=int(port),
        sglang_server_concurrency=256,
        rollout_num_gpus=1,
        rollout_num_gpus_per_engine=1,
        rollout_batch_size=8,
        n_samples_per_prompt=4,
        over_sampling_batch_size=8,
        global_batch_size=32,
        partial_rollout=False,
        rollout_temperature=1.0,
        rollout_top_p=1.0,
        rollout_top_k=-1,
        rollout_max_response_len=4096,
        dynamic_sampling_filter_path=None,
        buffer_filter_path=None,
        rollout_global_dataset=True,
        reward_key=None,
        save=None,
        load=None,
    )
    return Namespace(**{**given, **over})


def flat(groups):
    return [s for group in groups for one in group for s in (one if isinstance(one, list) else [one])]


def parity(samples, drawn):
    """Walks the responses: every stretch that is trained on must be draws, each at the ids that it had read, bit for bit.

    Returns the draws found, what is wrong, and the draws that are in no sample.
    """
    known = {}
    for ids, tokens, logprobs in drawn:
        if tokens:
            known.setdefault(tuple(ids), []).append((tokens, logprobs))
    matched = wrong = 0
    for sample in samples:
        begin, mask, logprobs = len(sample.tokens) - sample.response_length, sample.loss_mask, sample.rollout_log_probs
        wrong += not len(mask) == len(logprobs) == sample.response_length
        wrong += any(p != 0 for p, m in zip(logprobs, mask) if not m)
        at = 0
        while at < len(mask):
            if not mask[at]:
                at += 1
                continue
            found = known.get(tuple(sample.tokens[: begin + at]), [])
            same = [
                one
                for one in found
                if sample.tokens[begin + at :][: len(one[0])] == one[0] and logprobs[at:][: len(one[0])] == one[1]
            ]
            if not same or not all(mask[at : at + len(same[0][0])]):
                wrong += 1
                break
            found.remove(same[0])
            matched += 1
            at += len(same[0][0])
    return {"matched": matched, "wrong": wrong, "left": sum(map(len, known.values()))}


def siblings(groups):
    """Groups whose members did not all read the same first ids, or that share them with another group."""
    firsts = []
    for group in groups:
        firsts.append({tuple(first_of(one).tokens[: len(first_of(one).tokens) - first_of(one).response_length]) for one in group})
    return sum(len(one) != 1 for one in firsts)
