"""Drawing through a sampling server: its tokens have the trainer's log-probs, and follow the weights."""

import unittest
from dataclasses import replace

from engine_harness import awake, data_for, drain, fresh_folder, make_model, make_tokenizer, only, open_tiny, report  # isort: split

import numpy as np
from sampling_server import StandIn

from bedside_trainers.engines.engine import (
    AdamParams,
    Datum,
    EngineError,
    LossSpec,
    ModelSpec,
    SampleJob,
    SamplingPlace,
)

SPEC = ModelSpec(rank=4)
ALL = LossSpec("cross_entropy")
KINDS = ("vllm", "sglang")
JOB = SampleJob("a", "tuned", [3, 4, 5, 6], 12, temperature=0.7, seed=5)


def opened(kind, folder=None, temper=True, served=None):
    folder = folder or make_model()
    server = StandIn(served or folder, temper)
    place = SamplingPlace(kind, server.url, fresh_folder() / "adapters")
    return open_tiny(folder, sampling=place), server, place


def trained(engine, job, tokens) -> np.ndarray:
    ids = np.array([*job.prompt, *tokens])
    datum = Datum(ids[:-1], {"target_tokens": ids[1:], "temperature": np.array([job.temperature])})
    return engine.forward("m", [datum], ALL).outputs[0]["logprobs"][len(job.prompt) - 1 :]


def draw(engine, *jobs):
    for job in jobs:
        engine.submit(job)
    return drain(engine)


class Remote(unittest.TestCase):
    def test_has_the_trainers_log_probs_before_and_after_a_step(self):
        for kind in KINDS:
            with self.subTest(kind):
                engine, server, place = opened(kind)
                awake(engine, "m", SPEC)
                before = []
                for _ in range(2):
                    engine.snapshot("m", "tuned")
                    jobs = [replace(JOB, key=n, seed=n) for n in range(6)]
                    done = draw(engine, *jobs)
                    for job in jobs:
                        sampled = done[job.key]
                        self.assertIsNone(sampled.error)
                        self.assertEqual(len(sampled.tokens), 12)
                        gap = np.abs(trained(engine, job, sampled.tokens) - np.array(sampled.logprobs))
                        self.assertLess(gap.max(), 1e-4)
                    before.append([done[n].logprobs for n in range(6)])
                    engine.forward_backward("m", only(data_for(1, 4), "target_tokens", "weights"), ALL)
                    engine.optim_step("m", AdamParams(learning_rate=0.05))
                self.assertNotEqual(*before)
                # The first snapshot's adapter went when the second took its name.
                self.assertEqual(len(server.adapters), 1)
                self.assertEqual(len(list(place.folder.iterdir())), 1)
                engine.drop_snapshot("tuned")
                self.assertEqual((server.adapters, list(place.folder.iterdir())), ({}, []))

    def test_stops_as_the_engine_does(self):
        for kind in KINDS:
            with self.subTest(kind):
                engine, server, _ = opened(kind)
                engine.snapshot(None, "tuned")
                whole = draw(engine, JOB)["a"].tokens
                stopped = draw(engine, replace(JOB, stop_tokens=frozenset({whole[4]})))["a"]
                self.assertEqual((stopped.tokens, stopped.stop_reason), (whole[: whole.index(whole[4]) + 1], "stop"))
                # A server that goes on too long is cut.
                server.tokenizer.decode = lambda _ids: ""
                text = make_tokenizer(fresh_folder()).decode(whole[2])
                cut = draw(engine, replace(JOB, stop_strings=(text,)))["a"]
                self.assertEqual(cut.stop_reason, "stop")
                self.assertLessEqual(len(cut.tokens), 3)

    def test_scores_prompts_itself(self):
        engine, server, _ = opened("vllm")
        engine.snapshot(None, "tuned")
        asked = len(server.seen)
        done = draw(engine, replace(JOB, prompt_logprobs=True))["a"]
        self.assertEqual((len(done.prompt_logprobs), len(done.tokens)), (4, 12))
        self.assertEqual(len(server.seen), asked)

    def test_refuses_what_a_server_cannot(self):
        engine, _, _ = opened("vllm")
        engine.snapshot(None, "tuned")
        with self.assertRaisesRegex(EngineError, "top_p 1 and no top_k: vllm"):
            engine.submit(replace(JOB, top_p=0.9))
        with self.assertRaisesRegex(EngineError, "Expected a snapshot, got 'other'"):
            engine.submit(replace(JOB, snapshot="other"))
        engine.create("full", ModelSpec(mode="full"))
        with self.assertRaisesRegex(EngineError, "Expected a LoRA model"):
            engine.snapshot("full", "whole")
        with self.assertRaisesRegex(EngineError, "Expected a snapshot, got 'whole'"):
            engine.submit(replace(JOB, snapshot="whole"))

    def test_refuses_log_probs_of_another_temperature_or_model(self):
        with self.assertRaisesRegex(EngineError, r"is \d\.\d+ nats off: .*processed_logprobs"):
            opened("vllm", temper=False)
        with self.assertRaisesRegex(EngineError, "nats off: does it serve the same folder"):
            opened("sglang", served=make_model(seed=3))

    def test_says_where_nobody_listens(self):
        for kind in KINDS:
            place = SamplingPlace(kind, "http://127.0.0.1:9", fresh_folder())
            with self.assertRaisesRegex(EngineError, f"{kind} at http://127.0.0.1:9/.*refused"):
                open_tiny(make_model(), sampling=place)
        with self.assertRaisesRegex(EngineError, "http address of a sampling server, got 'file:///x'"):
            open_tiny(make_model(), sampling=SamplingPlace("vllm", "file:///x", fresh_folder()))

    def test_a_server_that_fails_or_babbles_ends_the_sequence_with_its_words(self):
        engine, server, _ = opened("vllm")
        engine.snapshot(None, "tuned")
        right = server.route
        for wrong, words in (
            ({"choices": []}, "expected choices with token_ids"),
            ({"choices": [{"token_ids": [5, 6], "logprobs": {"token_logprobs": [-1]}}]}, "as many log-probs"),
            ({"choices": [{"token_ids": [-5], "logprobs": {"token_logprobs": [-1]}}]}, "expected token ids"),
            ({"choices": [{"token_ids": [5], "logprobs": {"token_logprobs": [None]}}]}, "expected token ids"),
            ({"choices": [{"token_ids": [5], "logprobs": {"token_logprobs": [-1]}}]}, "ended after 1 tokens"),
        ):
            server.route = lambda _path, _body, wrong=wrong: wrong
            self.assertIn(words, draw(engine, JOB)["a"].error)
        server.route = right
        self.assertIsNone(draw(engine, JOB)["a"].error)
        server.shutdown()
        server.server_close()

    def test_a_sequence_that_is_given_up_is_forgotten(self):
        engine, _, _ = opened("sglang")
        engine.snapshot(None, "tuned")
        engine.submit(JOB)
        engine.cancel("a")
        self.assertEqual(engine.waiting, 0)
        again = draw(engine, JOB)
        self.assertEqual(list(again), ["a"])


if __name__ == "__main__":
    report(__name__)
