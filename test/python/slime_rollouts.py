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


def spans(sample):
    """The stretches of a response that were drawn: where each begins in all the tokens, its ids and log-probs."""
    begin = len(sample.tokens) - sample.response_length
    found, at = [], 0
    mask = sample.loss_mask or []
    while at < len(mask):
        end = at
        while end < len(mask) and mask[end] == mask[at]:
            end += 1
        if mask[at]:
            found.append((begin + at, sample.tokens[begin + at : begin + end], sample.rollout_log_probs[at:end]))
        at = end
    return found


def parity(samples, drawn):
    """Draws that are found in the samples at the ids that were read, bit for bit; and those that are not."""
    key = lambda ids, tokens, logprobs: (tuple(ids), tuple(tokens), tuple(logprobs))
    known = {}
    for ids, tokens, logprobs in drawn:
        known[key(ids, tokens, logprobs)] = known.get(key(ids, tokens, logprobs), 0) + 1
    matched = wrong = 0
    for sample in samples:
        for at, tokens, logprobs in spans(sample):
            one = key(sample.tokens[:at], tokens, logprobs)
            if known.get(one, 0) > 0:
                known[one] -= 1
                matched += 1
            else:
                wrong += 1
        masked = [p for p, m in zip(sample.rollout_log_probs, sample.loss_mask) if not m]
        wrong += any(p != 0 for p in masked)
        wrong += not (len(sample.loss_mask) == len(sample.rollout_log_probs) == sample.response_length)
    return {"matched": matched, "wrong": wrong, "left": sum(known.values())}
