"""One batch through slime's loss and through the sidecar's engine: the same loss and the same gradient."""

import json
import sys
import tempfile
from pathlib import Path

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "src/trainers/python"))

from bedside_trainers.engines.environment import prepare_environment  # noqa: E402

prepare_environment()

import numpy as np  # noqa: E402

from bedside_trainers.engines.engine import AdamParams, Datum, LossSpec  # noqa: E402
from bedside_trainers.slime.formulas import LossFlags, batch_loss  # noqa: E402
from bedside_trainers.stand_in_engine import StandInEngine  # noqa: E402
from bedside_trainers.tiny_model import make_tiny_model  # noqa: E402
from bedside_trainers.tiny_weights import Shape  # noqa: E402

folder = Path(tempfile.mkdtemp(prefix="bedside-slime-")) / "model"
texts = ["Do you have a fever? Yes, since Monday.", "Order: blood count.", "您好，哪里不舒服？"] * 8
make_tiny_model(texts, folder, Shape(vocab=320, width=32, hidden=64, heads=2, kv_heads=1))
chance = np.random.default_rng(0)


def one_batch(engine):
    """Samples of which some tokens were heard, their rows, and log-probs of the sampler's."""
    pairs, masks = [], []
    for _ in range(6):
        ids = chance.integers(0, engine.vocabulary, int(chance.integers(12, 40))).tolist()
        begin = int(chance.integers(2, 8))
        pairs.append((ids[:begin], ids[begin:]))
        mask = (chance.random(len(ids) - begin) < 0.7).astype(float)
        mask[0] = 1
        masks.append(mask)
    new = engine.logprobs(pairs)
    old = [row + chance.normal(0, 0.3, len(row)) for row in new]
    return pairs, masks, old, new, chance.normal(0, 1, len(pairs))


def compare(dtype, flags, kind):
    engine = StandInEngine(folder, dtype=dtype)
    pairs, masks, old, new, advantages = one_batch(engine)
    sums = [mask.sum() for mask in masks]
    data = {
        "loss_masks": masks,
        "log_probs": old,
        "rollout_log_probs": old,
        "advantages": [[one] for one in advantages],
        "rollout_mask_sums": [[one] for one in sums],
        "rollouts": [[len(pairs)]],
    }
    found = batch_loss(data, new, flags)
    engine.backward(pairs, found.slopes)
    ours = engine.step(AdamParams(0.0))
    every = sum(sums) if flags.calculate_per_token_loss else None
    datums = []
    for (prompt, response), mask, before, advantage, total in zip(pairs, masks, old, advantages, sums):
        whole = np.asarray([*prompt, *response])
        room = np.zeros(len(prompt) - 1)
        along = lambda values: np.concatenate([room, values])
        inputs = {
            "target_tokens": whole[1:],
            "weights": along(mask / (every or total * len(pairs))),
            "logprobs": along(before),
            "advantages": along(mask * advantage),
        }
        datums.append(Datum(whole[:-1], inputs))
    result = engine._engine.forward_backward("stand-in", datums, LossSpec("bedside", kind))
    theirs = engine.step(AdamParams(0.0))
    engine.close()
    loss = result.metrics["loss:sum"]
    return {"loss": [found.loss, loss], "gradient": [ours, theirs]}


clip = {"kind": "ppo-clip", "low": 0.2, "high": 0.28, "entropy": 0.0}
mean = LossFlags(eps_clip=0.2, eps_clip_high=0.28)
print(
    json.dumps(
        {
            "float64 rollout-mean": compare("float64", mean, clip),
            "float64 token-mean": compare("float64", LossFlags(eps_clip=0.2, eps_clip_high=0.28, calculate_per_token_loss=True), clip),
            "float64 dual": compare("float64", LossFlags(eps_clip=0.2, eps_clip_high=0.28, eps_clip_c=1.5), {**clip, "dual": 1.5}),
            "float64 gspo": compare("float64", LossFlags(advantage_estimator="gspo", eps_clip=0.2, eps_clip_high=0.28), {**clip, "kind": "gspo"}),
            "float64 cispo": compare("float64", LossFlags(advantage_estimator="cispo", eps_clip=0.2, eps_clip_high=0.28), {**clip, "kind": "cispo"}),
            "float32 rollout-mean": compare("float32", mean, clip),
        }
    )
)
