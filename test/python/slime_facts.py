"""The records and formulas that stand in for slime's, against the facts and numbers of slime's own."""

import json
import sys
from dataclasses import fields
from pathlib import Path

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "src/trainers/python"))

from bedside_trainers.slime.formulas import LossFlags, batch_loss  # noqa: E402
from bedside_trainers.slime.library import GENUINE, Sample  # noqa: E402

golden = json.loads((root / "test/golden/slime.json").read_text())
flags = set(LossFlags.__dataclass_fields__)
# Their parts are not the stand-in's.
others = {"custom_tis_function_path", "use_rollout_logprobs"}

losses = []
for case in golden["cases"]:
    config = case["config"]
    if case["kind"] != "loss" or any(config.get(name) for name in others) or config.get("entropy_coef"):
        continue
    batch = {**golden["batches"][case["batch"]], **case["inputs"]}
    masks = batch["response_mask"]
    rollouts = batch.get("rollouts", list(range(len(masks))))
    sums = {}
    for rollout, mask in zip(rollouts, masks):
        sums[rollout] = sums.get(rollout, 0) + sum(mask)
    data = {
        "loss_masks": masks,
        "log_probs": batch["old_log_prob"],
        "rollout_log_probs": batch["rollout_log_prob"],
        "ref_log_probs": batch["ref_log_prob"],
        "advantages": batch.get("advantages", [[one] for one in batch["advantage"]]),
        "rollout_mask_sums": [[sums[rollout]] for rollout in rollouts],
        "rollouts": [[batch["step_global_batch_size"]]],
    }
    found = batch_loss(data, batch["log_prob"], LossFlags(**{k: v for k, v in config.items() if k in flags}))
    wanted = case["outputs"]
    gaps = [abs(found.loss - wanted["loss"]) / max(1, abs(wanted["loss"]))]
    for row, expected in zip(found.slopes, wanted["gradient"]):
        gaps += [abs(a - b) / max(1, abs(b)) for a, b in zip(row.tolist(), expected)]
    losses.append({"name": case["name"], "gap": max(gaps)})

print(
    json.dumps(
        {
            "genuine": GENUINE,
            "fields": [one.name for one in fields(Sample)],
            "status": [one.value for one in Sample.Status],
            "losses": losses,
        }
    )
)
