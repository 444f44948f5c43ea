"""What `engine_check` measures, on this machine's CPU."""

import contextlib
import io
import json
import unittest

from engine_harness import make_model, report  # isort: split

from sampling_server import StandIn

from bedside_trainers.engine_check import main


def check(*arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        status = main(["--rows", "4", "--prompt", "20", "--length", "8", *arguments])
    return status, out.getvalue()


class Measures(unittest.TestCase):
    def test_it_measures_parity_bits_speed_and_memory(self):
        folder = str(make_model())
        for mode in ("lora", "full"):
            status, printed = check(folder, "--device", "cpu", "--mode", mode, "--json")
            found = json.loads(printed)
            self.assertEqual((status, found["logprob_gap"], found["same_bits"]), (0, 0, True))
            self.assertTrue(found["drawn_alike_alone"])
            self.assertLess(found["logit_gap"], 1e-5)
            self.assertGreater(found["trained_tokens_per_second"], 0)
            self.assertGreater(found["sampled_tokens_per_second"], 0)
            self.assertGreater(found["peak_bytes"], found["snapshot_bytes"])
        status, printed = check(folder, "--device", "cpu", "--dtype", "bfloat16")
        self.assertEqual(status, 0)
        self.assertRegex(printed, r"logprob gap +0\.\d+")

    def test_it_measures_a_server_that_draws_too(self):
        folder = make_model()
        place = ["--device", "cpu", "--sampler", "sglang", "--sampler-url"]
        status, printed = check(str(folder), *place, StandIn(folder).url, "--json")
        found = json.loads(printed)
        self.assertEqual(status, 0)
        self.assertLess(found["logprob_gap"], 1e-4)
        self.assertIn("drawn by sglang", found["notes"][-1])
        status, printed = check(str(folder), *place, "http://127.0.0.1:9")
        self.assertEqual(status, 2)
        self.assertIn("sglang at http://127.0.0.1:9", printed)

    def test_what_cannot_be_measured_is_said(self):
        self.assertEqual(check("/nowhere")[0], 2)
        status, printed = check(str(make_model()), "--length", "0", "--prompt", "300")
        self.assertEqual(status, 2)
        self.assertIn("1 to 256 tokens, got 300", printed)


if __name__ == "__main__":
    report(__name__)
