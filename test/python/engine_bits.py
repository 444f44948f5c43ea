"""The same bits on every CPU: in any company of rows, by any number of threads, and run after run."""

import hashlib
import json
import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

from engine_harness import awake, data_for, drain, make_model, open_tiny, report  # isort: split

import torch

from bedside_trainers.engines.engine import AdamParams, LossSpec, ModelSpec, SampleJob

MODEL = {"hidden_size": 128, "intermediate_size": 384}
# Its matrices.
SHAPES = ((64, 128), (32, 128), (128, 64), (384, 128), (128, 384), (320, 128))
# As older CPUs would do it, and as this one does.
INSTRUCTIONS = ({}, {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"})
PPO = LossSpec("bedside", {"kind": "ppo-clip", "low": 0.2, "high": 0.2, "entropy": 0.01})


def products_differ() -> bool:
    """Whether rows of a product change with the rows beside them or with the number of threads."""
    torch.manual_seed(0)
    for out, width in SHAPES:
        weight, x = torch.randn(out, width), torch.randn(600, width)
        torch.set_num_threads(1)
        whole = x @ weight.t()
        for rows in (8, 16, 40, 64, 256):
            for threads in (1, 2):
                torch.set_num_threads(threads)
                if not torch.equal(x[:rows] @ weight.t(), whole[:rows]):
                    return True
    return False


def run_once(folder: str, threads: int) -> None:
    """Draws and steps for a while; prints what it came to."""
    torch.set_num_threads(threads)
    differ = products_differ()
    torch.set_num_threads(threads)
    engine = open_tiny(folder)
    digest = hashlib.sha256()
    awake(engine, "m", ModelSpec(rank=8))
    for step in range(6):
        engine.snapshot("m", "now")
        for key in range(13):
            engine.submit(SampleJob(key, "now", [5, 6, 7 + key], 5 + 3 * key, seed=100 * step + key))
        for _, one in sorted(drain(engine).items()):
            digest.update(repr((one.tokens, one.logprobs)).encode())
        engine.forward_backward("m", data_for(step, 9, 120), PPO)
        engine.optim_step("m", AdamParams(1e-3))
    held = engine._models["m"]
    for state in (held.weights, held.moments.first, held.moments.second):
        for name in sorted(state):
            digest.update(state[name].numpy().tobytes())
    found = {"digest": digest.hexdigest(), "differ": differ, "notes": list(engine.info.notes)}
    print(json.dumps(found | {"same_bits": engine.metrics()["same_bits"]}))


def in_a_process(folder, threads: int, **variables: str) -> dict:
    command = [sys.executable, __file__, "run", str(folder), str(threads)]
    env = {**os.environ, **variables}
    return json.loads(subprocess.run(command, env=env, capture_output=True, check=True).stdout)


class Bits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = make_model(**MODEL)
        plain = [(threads, one) for one in INSTRUCTIONS for threads in (1, 2)]
        with ThreadPoolExecutor(3) as pool:
            own_way = pool.submit(in_a_process, folder, 2, **INSTRUCTIONS[1], MKL_CBWR="OFF")
            cls.runs = list(pool.map(lambda one: in_a_process(folder, one[0], **one[1]), plain))
            cls.own_way = own_way.result()

    def test_runs_are_equal_whatever_the_threads_and_instructions_do(self):
        for one in self.runs:
            self.assertEqual((one["differ"], one["notes"], one["same_bits"]), (False, [], 1))
        digests = [one["digest"] for one in self.runs]
        self.assertEqual(digests[0], digests[1])
        self.assertEqual(digests[2], digests[3])

    def test_a_machine_whose_products_differ_says_so(self):
        # Not every CPU has products that differ; those with AVX2 and MKL have.
        one = self.own_way
        self.assertEqual(bool(one["notes"]), one["differ"])
        self.assertEqual(one["same_bits"], not one["differ"])
        for note in one["notes"]:
            self.assertRegex(note, "two runs of the same recipe may differ")


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        run_once(sys.argv[2], int(sys.argv[3]))
    else:
        report(__name__)
