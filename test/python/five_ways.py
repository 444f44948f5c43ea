"""The loss of a batch and its derivative by every log-prob: the sidecar's loss, slime's functions and verl's.

Reads {"cases": [{"loss": ours, "rows": [{mask, logprobs, oldLogprobs, refLogprobs, advantage, now}]}]}; the normaliser is the
mean over drawn tokens. Writes for each {name: {"loss", "gradients"}}.
"""

import json
import os
import sys
from pathlib import Path

os.environ["TORCH_COMPILE_DISABLE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[2] / "src/trainers/python"))

import numpy as np
import torch
from tensordict import TensorDict
from verl import DataProto

from bedside_trainers.engines.training import losses
from bedside_trainers.slime.formulas import LossFlags, batch_loss
from bedside_trainers.verl import maths


def sidecar(loss, rows, masks):
    """As the engine computes it: drawn tokens of all data, flat."""
    kl, total = loss.get("kl"), sum(mask.sum() for mask in masks)
    at = [np.flatnonzero(mask) for mask in masks]

    def flat(name):
        return torch.tensor(np.concatenate([np.asarray(row[name])[t] for row, t in zip(rows, at)]), dtype=torch.float64)

    datum = torch.tensor(np.repeat(np.arange(len(rows)), [len(t) for t in at]))
    advantages = torch.tensor(np.repeat([row["advantage"] for row in rows], [len(t) for t in at]), dtype=torch.float64)
    inputs = {"logprobs": flat("logprobs"), "old_logprobs": flat("oldLogprobs"), "advantages": advantages}
    inputs["ref_logprobs"] = flat("refLogprobs")
    config = {name: value for name, value in loss.items() if name not in ("kl", "entropy")}
    if kl:
        config |= {"kl_estimator": kl["estimator"], "kl_coefficient": kl["coefficient"]}
    leaf = flat("now").requires_grad_()
    value = losses.bedside(config, losses.Drawn(leaf, inputs, datum, len(rows))).sum() / total
    value.backward()
    out = [np.zeros(len(mask)) for mask in masks]
    for row, t, slopes in zip(out, at, np.split(leaf.grad.numpy(), np.cumsum([len(t) for t in at])[:-1])):
        row[t] = slopes
    return value.item(), out


def slime(loss, rows, masks):
    kl = loss.get("kl")
    estimator = {"ppo-clip": "grpo"}.get(loss["kind"], loss["kind"])
    flags = LossFlags(
        advantage_estimator=estimator,
        eps_clip=loss["low"],
        eps_clip_high=loss["high"],
        eps_clip_c=loss.get("dual"),
        calculate_per_token_loss=True,
        use_kl_loss=kl is not None,
        kl_loss_coef=kl["coefficient"] if kl else 0.0,
        kl_loss_type="k3",
    )
    data = {
        "loss_masks": masks,
        "log_probs": [row["oldLogprobs"] for row in rows],
        "rollout_log_probs": [row["logprobs"] for row in rows],
        "ref_log_probs": [row["refLogprobs"] for row in rows],
        "advantages": [[row["advantage"]] for row in rows],
        "rollout_mask_sums": [[mask.sum()] for mask in masks],
        "rollouts": [[len(rows)]],
    }
    found = batch_loss(data, [row["now"] for row in rows], flags)
    return found.loss, [slope * mask for slope, mask in zip(found.slopes, masks)]


def verl(loss, rows, masks):
    kl, width = loss.get("kl"), max(map(len, masks))

    def padded(name):
        out = np.zeros((len(rows), width))
        for row, values in enumerate(rows):
            out[row, : len(values[name])] = values[name]
        return torch.tensor(out)

    mask = padded("mask")
    lengths = torch.tensor([len(one) for one in masks])
    responses = (torch.arange(width) < lengths[:, None]).long()
    advantage = torch.tensor([row["advantage"] for row in rows], dtype=torch.float64)
    batch = {
        "prompts": torch.ones(len(rows), 1, dtype=torch.long),
        "responses": responses,
        "attention_mask": torch.cat([torch.ones(len(rows), 1, dtype=torch.long), responses], dim=1),
        "response_mask": mask.long(),
        "old_log_probs": padded("oldLogprobs"),
        "ref_log_prob": padded("refLogprobs"),
        "advantages": advantage[:, None] * mask,
    }
    actor = "actor_rollout_ref.actor"
    overrides = [
        "actor_rollout_ref.model.path=/none",
        "actor_rollout_ref.rollout.name=vllm",
        f"{actor}.ppo_micro_batch_size_per_gpu=1",
        f"{actor}.policy_loss.loss_mode={'vanilla' if loss['kind'] == 'ppo-clip' else loss['kind']}",
        f"{actor}.clip_ratio_low={loss['low']}",
        f"{actor}.clip_ratio_high={loss['high']}",
        f"{actor}.clip_ratio_c={loss.get('dual', 1e9)}",
        f"{actor}.loss_agg_mode=token-mean",
        f"{actor}.entropy_coeff=0",
        f"{actor}.use_kl_loss={kl is not None}",
        *([f"{actor}.kl_loss_coef={kl['coefficient']}", f"{actor}.kl_loss_type=low_var_kl"] if kl else []),
    ]
    config = maths.actor_config(maths.configuration(overrides))
    data = DataProto(batch=TensorDict(batch, batch_size=len(rows)), non_tensor_batch={}, meta_info={})
    value, slopes, _ = maths.loss_and_slopes(data, [np.asarray(row["now"]) for row in rows], config)
    return value, slopes


told = []
for case in json.load(sys.stdin)["cases"]:
    masks = [np.asarray(row["mask"], dtype=float) for row in case["rows"]]
    ways = {}
    for name, way in {"sidecar": sidecar, "slime": slime, "verl": verl}.items():
        value, slopes = way(case["loss"], case["rows"], masks)
        ways[name] = {"loss": value, "gradients": [np.asarray(one).tolist() for one in slopes]}
    told.append(ways)
print(json.dumps(told))
