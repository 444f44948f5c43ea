"""The fixed inputs that all three generators share, and the JSON writer.

Only the standard library is used, so the numbers do not depend on any pin.
"""

import json
import random

# One row per episode: group, reward, second reward, response mask, advantage.
# Zeros between ones are environment tokens, zeros at the end are padding.
RAGGED = [
    ("a", 1.0, 0.2, "111111111", 0.8),
    ("a", 0.25, 0.9, "111110000", -1.1),
    ("a", 0.0, 0.4, "110011100", -0.6),
    ("a", 0.7, 0.4, "111000110", 1.4),
    ("b", 0.5, 0.1, "111100000", 0.35),
    ("b", 0.5, 0.3, "100110111", -0.9),
    ("b", 0.5, 0.8, "111111000", 0.0),
    ("c", 0.7, 0.6, "110111000", 0.7),
    ("d", 0.9, 0.5, "111111110", -1.7),
    ("d", -0.4, 0.5, "100000000", 2.1),
]
# The same batch with the fourth row masked out whole, as an aborted episode is.
ABORTED_ROW = 3
# Rows whose rollout log-probabilities lie far from the trainer's, as a whole sequence.
ROLLOUT_SHIFT = {0: 0.16, 3: 0.32, 5: -0.25, 8: -0.12}
# (row, token) -> log_prob - old_log_prob, beyond the clip ranges and the dual clip.
RATIO_OUTLIERS = {
    (0, 1): 0.45, (0, 4): -0.7, (1, 2): 1.3, (1, 3): -0.5, (2, 4): 1.2, (3, 0): 0.21,
    (4, 2): -0.4, (5, 3): 0.9, (7, 1): 0.6, (8, 0): 1.45, (8, 5): -0.3, (9, 0): -0.35,
}


def number(value):
    return round(value, 6)


def ragged(seed=20261122):
    draw = random.Random(seed)
    batch = {
        "group": [row[0] for row in RAGGED],
        "reward": [row[1] for row in RAGGED],
        "second_reward": [row[2] for row in RAGGED],
        "response_mask": [[int(bit) for bit in row[3]] for row in RAGGED],
        "advantage": [row[4] for row in RAGGED],
    }
    names = ["log_prob", "old_log_prob", "rollout_log_prob", "ref_log_prob", "token_advantage",
             "token_reward", "value", "old_value", "return"]
    for name in names:
        batch[name] = []
    for row, mask in enumerate(batch["response_mask"]):
        length = max(token for token, bit in enumerate(mask) if bit) + 1
        columns = {name: [0.0] * len(mask) for name in names}
        for token in range(length):
            log_prob = number(-0.02 - abs(draw.gauss(0, 0.8)))
            ratio = RATIO_OUTLIERS.get((row, token), draw.gauss(0, 0.12))
            old = number(log_prob - ratio)
            columns["log_prob"][token] = log_prob
            columns["old_log_prob"][token] = old
            outlier = draw.choice([-0.9, 0.8]) if draw.random() < 0.1 else 0.0
            columns["rollout_log_prob"][token] = number(
                old - draw.gauss(0, 0.06) - outlier - ROLLOUT_SHIFT.get(row, 0.0)
            )
            columns["ref_log_prob"][token] = number(log_prob + draw.gauss(0, 0.4))
            columns["token_advantage"][token] = number(batch["advantage"][row] + draw.gauss(0, 0.5))
            columns["token_reward"][token] = number(draw.gauss(0, 0.05))
            columns["value"][token] = number(draw.gauss(0.3, 0.3))
            columns["old_value"][token] = number(columns["value"][token] + draw.gauss(0, 0.2))
            columns["return"][token] = number(draw.gauss(0.4, 0.5))
        last = length - 1
        columns["token_reward"][last] = number(columns["token_reward"][last] + batch["reward"][row])
        for name in names:
            batch[name].append(columns[name])
    return batch


def aborted():
    batch = ragged()
    width = len(batch["response_mask"][0])
    batch["response_mask"][ABORTED_ROW] = [0] * width
    return batch


def extreme():
    """Log-ratios past every stability clamp: +-20 on ratios, 10 on k3 and on GSPO's ratio."""
    log_prob = [[-0.5, -30.0, -0.1], [-26.0, -0.2, -1.0], [-0.3, -12.5, -0.9]]
    other = [[-25.5, -1.0, -0.4], [-0.4, -24.0, -0.7], [-12.0, -0.2, -13.4]]
    return {
        "group": ["a", "a", "a"],
        "reward": [1.0, 0.0, 0.5],
        "response_mask": [[1, 1, 1], [1, 1, 0], [1, 0, 1]],
        "advantage": [0.9, -0.7, -0.2],
        "log_prob": log_prob,
        "old_log_prob": other,
        "ref_log_prob": other,
        "rollout_log_prob": [[-0.6, -1.0, -26.0], [-0.4, -0.3, -0.7], [-12.0, -25.2, -13.4]],
    }


def on_policy():
    """log_prob = old_log_prob = rollout_log_prob: every ratio is 1, and every gradient is not 0."""
    log_prob = [[-0.5, -1.25, -0.1, -0.7], [-0.2, -0.9, -2.0, 0.0], [-1.5, -0.05, 0.0, 0.0]]
    return {
        "group": ["a", "a", "a"],
        "reward": [1.0, 0.0, 0.5],
        "response_mask": [[1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 0, 0]],
        "advantage": [1.0, -1.0, 0.25],
        "log_prob": log_prob,
        "old_log_prob": log_prob,
        "rollout_log_prob": log_prob,
        "ref_log_prob": log_prob,
    }


def even():
    """Three groups of four, the shape TRL and slime insist on; the rewards of b are all equal."""
    return {
        "group": [name for name in "abc" for _ in range(4)],
        "reward": [1.0, 0.25, 0.0, 0.7, 0.5, 0.5, 0.5, 0.5, 0.9, -0.4, 0.9, 0.1],
        "second_reward": [0.2, 0.9, 0.4, 0.4, 0.1, 0.3, 0.8, 0.0, 0.5, 0.5, 0.5, 0.5],
        "response_mask": [[1, 1], [1, 0], [1, 1], [1, 1]] * 3,
    }


def batches():
    return {
        "ragged": ragged(),
        "aborted": aborted(),
        "even": even(),
        "extreme": extreme(),
        "on-policy": on_policy(),
    }


def plain(value):
    """Tensors to lists, so that one writer serves every case."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def write(path, head, cases):
    """One line per batch and per case; NaN and infinity are refused."""
    names = [case["name"] for case in cases]
    assert len(names) == len(set(names)), "case names must be unique"

    def line(value):
        return json.dumps(plain(value), separators=(",", ":"), allow_nan=False)

    parts = [f'  "{key}": {line(value)}' for key, value in head.items()]
    rows = ",\n".join(f'    "{name}": {line(batch)}' for name, batch in batches().items())
    parts.append('  "batches": {\n' + rows + "\n  }")
    parts.append('  "cases": [\n' + ",\n".join("    " + line(case) for case in cases) + "\n  ]")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(parts) + "\n}\n")
    print(f"{path}: {len(cases)} cases")
