"""Times verl's compute_grpo_outcome_advantage, and prints the times and its advantages as one line of JSON.

verl_advantages.py reads one object of JSON: totals, one per row, groups one after another; members of each group;
mask, of the response tokens of every row; runs after the first.
"""

import os

os.environ["TORCH_COMPILE_DISABLE"] = "1"

import json
import sys
import time
from importlib.metadata import version

import numpy as np
import torch
from verl.trainer.ppo import core_algos


def main():
    given = json.load(sys.stdin)
    totals = torch.tensor(given["totals"], dtype=torch.float32)
    row = torch.tensor(given["mask"], dtype=torch.float32)
    mask = row.repeat(len(totals), 1)
    last = int(row.nonzero()[-1, 0])
    # As verl's reward managers place an outcome: on the last response token.
    rewards = torch.zeros_like(mask)
    rewards[:, last] = totals
    index = np.array([f"group-{i // given['members']}" for i in range(len(totals))], dtype=object)
    milliseconds = []
    for _ in range(given["runs"] + 1):
        started = time.perf_counter()
        advantages, _ = core_algos.compute_grpo_outcome_advantage(rewards, mask, index)
        milliseconds.append((time.perf_counter() - started) * 1000)
    found = {
        "version": version("verl"),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "ms": milliseconds,
        "advantages": advantages[:, last].tolist(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
