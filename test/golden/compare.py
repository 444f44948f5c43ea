"""Prints where verl, TRL and slime part on the same inputs, from the three JSON files.

python3 test/golden/compare.py
"""

import json
from pathlib import Path

HERE = Path(__file__).parent
DATA = {name: json.loads((HERE / f"{name}.json").read_text()) for name in ["verl", "trl", "slime"]}
CASES = {name: {case["name"]: case for case in data["cases"]} for name, data in DATA.items()}


def out(source, name, key="loss"):
    value = CASES[source][name]["outputs"]
    for part in key.split("."):
        value = value[part]
    return value


def show(value):
    if value is None:
        return "NaN"
    if isinstance(value, list):
        return " ".join(show(item) for item in value)
    return f"{value:.7g}"


def first(rows, start, stop):
    """The first token's value of each row."""
    return [row[0] for row in rows[start:stop]]


def masked_sum(source, name, key):
    case = CASES[source][name]
    masks = DATA[source]["batches"][case["batch"]]["response_mask"]
    values = case["outputs"][key]
    total = 0.0
    for mask, row in zip(masks, values, strict=True):
        row = row * len(mask) if len(row) == 1 else row
        total += sum(bit * item for bit, item in zip(mask, row, strict=True))
    return total


ROWS = []


def row(what, verl, trl, slime):
    ROWS.append((what, *(cell if isinstance(cell, str) else show(cell) for cell in (verl, trl, slime))))


adv = "advantages"
row("group-relative advantage, divided by std; `even`, group a",
    first(out("verl", "advantage/grpo/even/std", adv), 0, 4),
    out("trl", "advantage/even/group", adv)[:4], out("slime", "rewards/grpo/even/std", "rewards")[:4])
row("the same, group b (rewards all equal)", first(out("verl", "advantage/grpo/even/std", adv), 4, 8),
    out("trl", "advantage/even/group", adv)[4:8], out("slime", "rewards/grpo/even/std", "rewards")[4:8])
row("centred only; `even`, group a", first(out("verl", "advantage/grpo/even/no-std", adv), 0, 4),
    out("trl", "advantage/even/none", adv)[:4], out("slime", "rewards/grpo/even/no-std", "rewards")[:4])
row("singleton group, reward 0.7", out("verl", "advantage/grpo/ragged/std", adv)[7][0],
    out("trl", "advantage/even-singletons/group", adv)[3],
    f"{show(out('slime', 'rewards/grpo/even/no-std/singletons', 'rewards')[3])} (std forced off; with std: "
    f"{show(out('slime', 'rewards/grpo/even/std/singletons-are-NaN', 'rewards')[3])})")
row("groups of 4, 3, 1, 2; `ragged`, group a", first(out("verl", "advantage/grpo/ragged/std", adv), 0, 4),
    "not possible (reshapes by num_generations)",
    out("slime", "rewards/grpo/ragged/std/unequal-groups-use-the-whole-batch", "rewards")[:4])
row("two rewards, weights 1 and 0.5, each normalised; `even`, group a",
    first(out("verl", "advantage/gdpo/even/weights=1.0,0.5", adv), 0, 4),
    out("trl", "advantage/even-two/normalize_then_sum/weights=1.0,0.5", adv)[:4], "no such estimator")
row("REINFORCE++ baseline; `even`, group a",
    first(out("verl", "advantage/reinforce_plus_plus_baseline/even", adv), 0, 4), "no such estimator",
    out("slime", "rewards/reinforce_plus_plus_baseline/even/std", "rewards")[:4])
row("REINFORCE++ with gamma 1, first row of `ragged`",
    out("verl", "advantage/reinforce_plus_plus/ragged/gamma=1.0", adv)[0][0], "no such estimator",
    f"{show(out('slime', 'advantage/reinforce_plus_plus/ragged', adv)[0][0])} (whitened on request: "
    f"{show(out('slime', 'advantage/reinforce_plus_plus/ragged/whitened', adv)[0][0])})")
row("PPO clip 0.2, defaults, mean over tokens", out("verl", "loss/vanilla/ragged/token-mean"),
    out("trl", "loss/dapo/ragged"), out("slime", "loss/grpo/token-mean/ragged"))
row("the same without dual clip", out("verl", "loss/vanilla/ragged/token-mean/no-dual-clip"),
    out("trl", "loss/bnpo/ragged"), out("slime", "loss/grpo/token-mean/ragged"))
row("mean over sequences of the token mean, defaults",
    out("verl", "loss/vanilla/ragged/seq-mean-token-mean"), out("trl", "loss/grpo/ragged"),
    out("slime", "loss/grpo/rollout-mean/ragged"))
row("the same with the bound 3",
    out("verl", "loss/vanilla/ragged/seq-mean-token-mean"), out("trl", "loss/grpo/ragged/delta=3"),
    out("slime", "loss/grpo/dual-clip/ragged"))
row("sum over tokens and a constant divisor (Dr. GRPO)",
    f"{show(out('verl', 'loss/vanilla/ragged/seq-mean-token-sum-norm'))} (÷ padded width 9)",
    f"{show(out('trl', 'loss/dr_grpo/ragged'))} (÷ max_completion_length 16)", "no such reduction")
row("one fully masked row, sequence mean",
    f"{show(out('verl', 'loss/vanilla/aborted/seq-mean-token-mean'))} (÷ 9)",
    f"{show(out('trl', 'loss/grpo/aborted'))} (÷ 10)",
    f"{show(out('slime', 'loss/grpo/rollout-mean/aborted'))} (÷ 10 rollouts)")
row("one fully masked row, token mean", out("verl", "loss/vanilla/aborted/token-mean"),
    out("trl", "loss/dapo/aborted"),
    f"{show(out('slime', 'loss/grpo/token-mean/aborted'))} (÷ "
    f"{show(out('slime', 'loss/grpo/token-mean/aborted', 'normaliser'))}: the masked row counts 1)")
row("six rollouts, some of several samples", "one rollout, one row", "one rollout, one row",
    f"{show(out('slime', 'loss/grpo/rollout-mean-of-siblings/ragged'))} (one row each: "
    f"{show(out('slime', 'loss/grpo/rollout-mean/ragged'))})")
row("GSPO, sequence mean", out("verl", "loss/gspo/ragged/seq-mean-token-mean"),
    out("trl", "loss/grpo/ragged/sequence"), out("slime", "loss/gspo/rollout-mean/ragged"))
row("GSPO, token mean", out("verl", "loss/gspo/ragged/token-mean"), out("trl", "loss/dapo/ragged/sequence"),
    out("slime", "loss/gspo/token-mean/ragged"))
row("GSPO with ratios past e^10, sequence mean; `extreme`",
    f"{show(out('verl', 'loss/gspo/extreme/seq-mean-token-mean'))} (clamped)",
    out("trl", "loss/grpo/extreme/sequence"), out("slime", "loss/gspo/rollout-mean/extreme"))
row("PPO clip with ratios past e^20, token mean, no dual clip; `extreme`",
    f"{show(out('verl', 'loss/vanilla/extreme/token-mean/no-dual-clip'))} (clamped)",
    out("trl", "loss/dapo/extreme"), out("slime", "loss/grpo/token-mean/extreme"))
row("SAPO, token mean asked for", f"{show(out('verl', 'loss/sapo/ragged/token-mean'))} (ignores the mode)",
    f"{show(out('trl', 'loss/sapo/ragged'))} (sequence mean)", "no such loss")
row("CISPO, defaults, token mean", f"{show(out('verl', 'loss/cispo/ragged/token-mean'))} (0.8 to 1.2)",
    f"{show(out('trl', 'loss/cispo/ragged'))} (at most 0.2)",
    f"{show(out('slime', 'loss/cispo/token-mean/ragged'))} (0.8 to 1.2)")
row("CISPO, weight from 0 to 5, token mean", f"{show(out('verl', 'loss/cispo/ragged/token-mean/upper-only'))} (low=1, high=4)",
    f"{show(out('trl', 'loss/cispo/ragged/epsilon_high=5'))} (epsilon_high=5)",
    f"{show(out('slime', 'loss/cispo/upper-only/ragged'))} (eps_clip=1, eps_clip_high=4)")
row("token weights, sum over the mask: truncation at the default",
    f"{show(masked_sum('verl', 'correction/ragged/token-truncate', 'weights'))} (≤ 2)",
    f"{show(masked_sum('trl', 'correction/ragged/token_truncate/None,3.0/dapo', 'ratio'))} (≤ 3)",
    f"{show(masked_sum('slime', 'correction/vanilla_tis_function/low=0.0', 'weights'))} (≤ 2)")
row("token weights with bounds 0.5 and 2, clamped", "no such mode (a lower bound means IcePop)",
    masked_sum("trl", "correction/ragged/token_truncate/0.5,2.0/dapo", "ratio"),
    masked_sum("slime", "correction/vanilla_tis_function/low=0.5", "weights"))
row("token weights with bounds 0.5 and 2, outside is 0 (IcePop)",
    masked_sum("verl", "correction/ragged/token-icepop", "weights"),
    masked_sum("trl", "correction/ragged/token_mask/0.5,2.0/dapo", "ratio"),
    masked_sum("slime", "correction/icepop_function/low=0.5", "weights"))
row("sequence weights, outside is 0, upper bound at the default",
    f"{show(masked_sum('verl', 'correction/ragged/sequence-icepop', 'weights'))} (0.5 to 2)",
    f"{show(masked_sum('trl', 'correction/ragged/sequence_mask/None,3.0/dapo', 'ratio'))} (≤ 3, the default)",
    "only by a custom function")
row("k3 on `extreme`, sum over the mask", masked_sum("verl", "kl/k3/extreme", "kl"),
    f"in the loss × 0.1, token mean: {show(out('trl', 'loss/dapo/extreme/kl-plain') - out('trl', 'loss/dapo/extreme'))}",
    f"{show(masked_sum('slime', 'kl/k3/extreme', 'kl'))} (low_var_kl: "
    f"{show(masked_sum('slime', 'kl/low_var_kl/extreme', 'kl'))})")
row("k3 times the ratio", "no (k3+ swaps the gradient instead)",
    f"default: {show(out('trl', 'loss/dapo/ragged/kl-corrected'))}, off: {show(out('trl', 'loss/dapo/ragged/kl-plain'))}",
    f"on request: {show(out('slime', 'loss/grpo/kl-k3-unbiased/ragged'))}, off: "
    f"{show(out('slime', 'loss/grpo/kl-k3/ragged'))}")
row("value loss, clip 0.1, sequence mean", f"{show(out('verl', 'value/seq-mean-token-mean/clip=0.1'))} (has ½)",
    "no critic", f"{show(out('slime', 'value/clip=0.1'))} (no ½)")
print("| what | verl | TRL | slime |\n|---|---|---|---|")
for cells in ROWS:
    print("| " + " | ".join(cells) + " |")
