"""Drawing with the torch engine: the trainer's log-probs, and the same bytes in whatever company."""

import unittest
from dataclasses import replace

from engine_harness import CONTEXT, VOCAB, awake, data_for, drain, make_model, make_tokenizer, open_tiny, report  # isort: split

import numpy as np
import torch

from bedside_trainers.engines import slots
from bedside_trainers.engines.engine import AdamParams, Datum, EngineError, LossSpec, ModelSpec, SampleJob
from bedside_trainers.engines.sampling.draw import uniform

SPEC = ModelSpec(rank=4)
ALL = LossSpec("cross_entropy")


def ready(folder, spec=SPEC, scale=0.05, **settings):
    """An engine with the snapshots `tuned`, of a model that is not its base, and `base`."""
    engine = open_tiny(folder, **settings)
    awake(engine, "m", spec, scale)
    engine.create("base", ModelSpec(rank=1))
    engine.snapshot("m", "tuned")
    engine.snapshot(None, "base")
    return engine


def random_jobs(rng, count: int, longest: int = 150) -> list[SampleJob]:
    """Jobs of which many begin alike."""
    stems = [rng.integers(3, VOCAB, int(rng.integers(10, longest))).tolist() for _ in range(4)]
    jobs = []
    for key in range(count):
        stem = stems[int(rng.integers(4))]
        cut = int(rng.integers(1, len(stem) + 1))
        own = rng.integers(3, VOCAB, int(rng.integers(1, 30))).tolist()
        prompt = stem if rng.random() < 0.3 else stem[:cut] + own
        jobs.append(
            SampleJob(
                key=key,
                snapshot="tuned" if rng.random() < 0.7 else "base",
                prompt=prompt,
                max_tokens=int(rng.integers(0, 25)),
                temperature=float(rng.choice([1.0, 0.6, 1.7, 0.0])),
                top_k=int(rng.choice([-1, -1, 20])),
                top_p=float(rng.choice([1.0, 1.0, 0.8])),
                seed=int(rng.integers(1 << 40)),
                stop_tokens=frozenset({7}),
                prompt_logprobs=bool(rng.random() < 0.2),
            )
        )
    return jobs


def whole(sampled) -> tuple:
    """Everything drawn, to the last bit."""
    prompt = sampled.prompt_logprobs
    tail = None if prompt is None else prompt.tobytes()
    return sampled.tokens, sampled.logprobs, sampled.stop_reason, tail


def in_some_order(engine, jobs, rng) -> dict:
    """Jobs submitted at random moments of each other's drawing."""
    done, left = {}, [jobs[place] for place in rng.permutation(len(jobs))]
    while left or engine.waiting:
        for _ in range(int(rng.integers(0, 5))):
            if left:
                engine.submit(left.pop())
        done.update((one.key, one) for one in engine.advance())
    return done


def trained_logprobs(engine, job, sampled) -> np.ndarray:
    """What the trainer gives every token but the first of prompt and reply."""
    ids = np.array([*job.prompt, *sampled.tokens])
    heat = np.array([job.temperature or 1.0])
    datum = Datum(ids[:-1], {"target_tokens": ids[1:], "temperature": heat})
    model = "m" if job.snapshot == "tuned" else "base"
    return engine.forward(model, [datum], ALL).outputs[0]["logprobs"]


class Drawing(unittest.TestCase):
    def test_a_job_is_drawn_alike_in_any_company(self):
        folder = make_model()
        rng = np.random.default_rng(0)
        for rows, budget, stored in ((64, 1024, 1 << 24), (5, 40, 1 << 16), (17, 333, 0)):
            jobs = random_jobs(rng, 30)
            alone = ready(folder, stored_bytes=0)
            expected = {}
            for job in jobs:
                alone.submit(job)
                expected |= drain(alone)
            engine = ready(folder, rows=rows, prompt_tokens=budget, stored_bytes=stored)
            for _ in range(2):
                done = in_some_order(engine, jobs, rng)
                for key, one in done.items():
                    self.assertEqual(whole(one), whole(expected[key]), jobs[key])
            self.assertEqual(len(done), len(jobs))
            self.assertEqual(engine.metrics()["reused_tokens"] > 0, stored > 0)

    def test_log_probs_are_the_trainers(self):
        rng = np.random.default_rng(1)
        for settings, spec in (
            ({}, SPEC),
            ({}, ModelSpec(mode="full")),
            ({"model_type": "llama", "tie_word_embeddings": False}, SPEC),
        ):
            engine = ready(make_model(**settings), spec)
            self.assertEqual(engine.metrics()["same_bits"], 1)
            for _ in range(3):
                jobs = random_jobs(rng, 25)
                done = in_some_order(engine, jobs, rng)
                for job in jobs:
                    self.near(engine, job, done[job.key], 0)

    def near(self, engine, job, sampled, bound):
        ids = [*job.prompt, *sampled.tokens]
        if len(ids) < 2:
            return
        expected, first = trained_logprobs(engine, job, sampled), len(job.prompt) - 1
        if sampled.tokens:
            self.assertLessEqual(np.abs(expected[first:] - sampled.logprobs).max(), bound)
        if sampled.prompt_logprobs is not None:
            self.assertTrue(np.isnan(sampled.prompt_logprobs[0]))
            gap = np.abs(expected[:first] - sampled.prompt_logprobs[1:])
            self.assertLessEqual(gap.max(initial=0), bound)

    def test_other_families_and_precisions_draw_too(self):
        cases = (
            ({"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 20,
              "layer_types": ["full_attention", "sliding_attention"]}, "auto", 1e-5),
            ({"model_type": "mistral", "sliding_window": 16}, "auto", 1e-5),
            ({"tie_word_embeddings": False}, "auto", 1e-5),
            ({"model_type": "gpt2", "vocab_size": VOCAB, "n_positions": CONTEXT, "n_embd": 64,
              "n_layer": 2, "n_head": 4, "bos_token_id": 0, "eos_token_id": 0}, "auto", 1e-5),
            ({"model_type": "olmo2"}, "auto", 1e-5),
            ({}, "float64", 1e-9),
            ({}, "bfloat16", 0.2),
        )  # fmt: skip
        rng = np.random.default_rng(2)
        for settings, dtype, bound in cases:
            with self.subTest(settings=settings, dtype=dtype):
                gpt2 = settings.get("model_type") == "gpt2"
                spec = ModelSpec(mode="full") if gpt2 else ModelSpec(rank=4, train_unembed=True)
                engine = open_tiny(make_model(**settings), dtype=dtype)
                awake(engine, "m", spec)
                engine.snapshot("m", "tuned")
                jobs = [replace(job, snapshot="tuned") for job in random_jobs(rng, 12)]
                for key, sampled in in_some_order(engine, jobs, rng).items():
                    self.near(engine, jobs[key], sampled, bound)

    def test_a_conversation_reads_only_what_is_new(self):
        folder = make_model()
        engine, rng = ready(folder), np.random.default_rng(3)
        prompts = [rng.integers(3, VOCAB, 40).tolist() for _ in range(6)]
        for turn in range(4):
            for key, prompt in enumerate(prompts):
                engine.submit(SampleJob(key, "tuned", prompt, 10, seed=turn))
            before = engine.metrics()["prompt_tokens"]
            done = drain(engine)
            read = engine.metrics()["prompt_tokens"] - before
            self.assertEqual(read, 6 * (40 if turn == 0 else 6), "one token drawn last, five heard")
            fresh = ready(folder)
            for key, prompt in enumerate(prompts):
                fresh.submit(SampleJob(key, "tuned", prompt, 10, seed=turn))
                self.assertEqual(whole(drain(fresh)[key]), whole(done[key]))
                heard = rng.integers(3, VOCAB, 5).tolist()
                prompts[key] = [*prompt, *done[key].tokens, *heard]

    def test_siblings_read_their_prompt_once(self):
        for length in (48, 50, 7):
            engine, prompt = ready(make_model()), list(range(3, 3 + length))
            for key in range(12):
                engine.submit(SampleJob(key, "tuned", prompt, 6, seed=key))
            self.assertEqual(len({one.tokens for one in drain(engine).values()}), 12)
            # Prompts shorter than a block of the store are read by each.
            again = 1 if length > 16 else length
            self.assertEqual(engine.metrics()["prompt_tokens"], length + 11 * again)

    def test_tokens_are_drawn_as_likely_as_they_are(self):
        engine = ready(make_model(), scale=0.0)
        count, prompt = 3000, [5, 6, 7]
        for temperature, top_k, top_p in (
            (1.0, -1, 1.0),
            (0.5, -1, 1.0),
            (1.0, 5, 1.0),
            (1.0, -1, 0.5),
        ):
            for seed in range(count):
                engine.submit(SampleJob(seed, "base", prompt, 1, temperature, top_k, top_p, seed))
            done = drain(engine)
            targets = np.arange(VOCAB)
            data = [Datum(np.array(prompt), {
                "target_tokens": np.array([0, 0, token]), "temperature": np.array([temperature])})
                for token in targets]  # fmt: skip
            outputs = engine.forward("base", data, ALL).outputs
            p = np.exp(np.array([one["logprobs"][2] for one in outputs], dtype=np.float64))
            for one in done.values():
                self.assertAlmostEqual(one.logprobs[0], np.log(p[one.tokens[0]]), 4)
            order = np.argsort(-p)
            kept = order[:top_k] if top_k > 0 else order
            kept = kept[np.cumsum(p[kept]) - p[kept] < top_p]
            q = np.zeros(VOCAB)
            q[kept] = p[kept] / p[kept].sum()
            seen = np.bincount([one.tokens[0] for one in done.values()], minlength=VOCAB)
            self.assertEqual(seen[q == 0].sum(), 0)
            likely = q * count >= 5
            statistic = ((seen - q * count)[likely] ** 2 / (q * count)[likely]).sum()
            self.assertLess(statistic, likely.sum() + 5 * np.sqrt(2 * likely.sum()))

    def test_uniform_numbers_are_spread_and_keyed(self):
        drawn = np.array([uniform(seed, place) for seed in range(100) for place in range(100)])
        self.assertTrue(((drawn >= 0) & (drawn < 1)).all())
        self.assertEqual(len(set(drawn)), len(drawn))
        counts = np.histogram(drawn, 20, (0, 1))[0]
        self.assertLess(((counts - 500) ** 2 / 500).sum(), 45)
        self.assertEqual(uniform(-1, 3), uniform((1 << 64) - 1, 3))


class Attention(unittest.TestCase):
    def test_fused_attention_is_ours_with_and_without_a_mask(self):
        torch.manual_seed(0)
        for start, length, window in ((0, 40, None), (0, 40, 64), (0, 40, 16), (7, 33, None)):
            held = slots.Slots(slots.KeyShape(1, 2, 16), torch.float32, torch.device("cpu"))
            held.reserve(3, start + length)
            held.data[0].normal_()
            positions = torch.arange(start, start + length).expand(3, -1)
            batch = slots.SlotBatch(held, 0, positions, start + length, from_start=start == 0)
            query, key, value = (torch.randn(3, heads, length, 16) for heads in (4, 2, 2))
            keys, values = batch.update(key, value, 0)
            ours = slots.attend_slots(query, keys, values, batch, 0.25, window)
            fused = slots.attend_fused(query, keys, values, batch, 0.25, window)
            torch.testing.assert_close(fused, ours, rtol=1e-5, atol=1e-5)


class Ending(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = make_model()
        cls.engine = ready(cls.folder)

    def run_one(self, **settings):
        self.engine.submit(SampleJob(0, **{"snapshot": "tuned", "prompt": [5, 6], **settings}))
        return drain(self.engine)[0]

    def test_stop_tokens_and_lengths(self):
        free = self.run_one(max_tokens=20, seed=4)
        self.assertEqual((len(free.tokens), free.stop_reason), (20, "length"))
        stop = free.tokens[6]
        cut = self.run_one(max_tokens=20, seed=4, stop_tokens=frozenset({stop}))
        self.assertEqual(cut.tokens, free.tokens[: free.tokens.index(stop) + 1])
        self.assertEqual(cut.stop_reason, "stop")
        self.assertEqual(self.run_one(max_tokens=0).tokens, ())
        whole_context = self.run_one(max_tokens=10**6, prompt=[5] * (CONTEXT - 3))
        self.assertEqual((len(whole_context.tokens), whole_context.stop_reason), (3, "length"))
        greedy = self.run_one(max_tokens=9, temperature=0.0)
        self.assertEqual(greedy.tokens, self.run_one(max_tokens=9, temperature=0.0, seed=9).tokens)
        self.assertEqual(greedy.tokens, self.run_one(max_tokens=9, top_k=1, seed=3).tokens)

    def test_stop_strings_across_tokens_and_bytes(self):
        tokenizer = make_tokenizer(self.folder)
        found = 0
        for seed in range(40):
            free = self.run_one(max_tokens=30, seed=seed)
            text = tokenizer.decode(free.tokens)
            for place in range(3, len(text) - 4, 7):
                stop = text[place : place + 3]
                if "\ufffd" in stop or not stop.strip():
                    continue
                cut = self.run_one(max_tokens=30, seed=seed, stop_strings=(stop, "never this"))
                self.assertEqual(cut.stop_reason, "stop")
                self.assertEqual(cut.tokens, free.tokens[: len(cut.tokens)])
                self.assertIn(stop, tokenizer.decode(cut.tokens))
                self.assertNotIn(stop, tokenizer.decode(cut.tokens[:-1]))
                found += 1
        self.assertGreater(found, 20)

    def test_what_cannot_be_drawn_is_refused(self):
        bad = {
            "snapshot, got 'none'": {"snapshot": "none"},
            "1 to 256 tokens, got 0": {"prompt": []},
            "1 to 256 tokens, got 300": {"prompt": [5] * 300},
            "tokens from 0 to 319": {"prompt": [5, VOCAB]},
            "temperature -1": {"temperature": -1},
            "top_p 0": {"top_p": 0},
        }
        for message, settings in bad.items():
            with self.assertRaisesRegex(EngineError, message):
                self.run_one(**{"max_tokens": 4, **settings})
        self.assertEqual(self.engine.waiting, 0)

    def test_jobs_can_be_cancelled(self):
        engine = ready(self.folder, rows=3)
        for key in range(8):
            engine.submit(SampleJob(key, "tuned", [5, 6, key], 12, seed=key))
        first = engine.advance()
        for key in (0, 2, 5, 99):
            engine.cancel(key)
        done = {one.key: one for one in first} | drain(engine)
        self.assertEqual(sorted(done), [1, 3, 4, 6, 7])
        for key, one in done.items():
            alone = ready(self.folder)
            alone.submit(SampleJob(key, "tuned", [5, 6, key], 12, seed=key))
            self.assertEqual(whole(one), whole(drain(alone)[key]))

    def test_little_room_only_makes_it_slower(self):
        rng = np.random.default_rng(5)
        jobs = random_jobs(rng, 20)
        seen = []
        for settings in ({}, {"rows": 1}, {"key_bytes": 300 * 512}):
            done = in_some_order(ready(self.folder, **settings), jobs, rng)
            seen.append({key: whole(one) for key, one in done.items()})
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])


class Snapshots(unittest.TestCase):
    def test_a_snapshot_stays_what_it_was(self):
        for spec in (SPEC, ModelSpec(mode="full")):
            engine = ready(make_model(), spec)
            jobs = [SampleJob(key, "tuned", [5, key], 10, seed=key) for key in range(5)]
            now = []
            for name in ("tuned", "tuned", "later"):
                for job in jobs:
                    engine.submit(replace(job, snapshot=name))
                now.append({key: whole(one) for key, one in drain(engine).items()})
                ppo = LossSpec("bedside", {"kind": "policy-gradient"})
                engine.forward_backward("m", data_for(1, 4), ppo)
                engine.optim_step("m", AdamParams(1e-2))
                if "later" not in engine._snapshots._kept:
                    engine.snapshot("m", "later")
            self.assertEqual(now[0], now[1])
            self.assertNotEqual(now[0], now[2])

    def test_jobs_of_a_dropped_snapshot_end_with_an_error(self):
        engine = ready(make_model())
        for key, name in enumerate(("tuned", "base", "tuned")):
            engine.submit(SampleJob(key, name, [5, 6], 6))
        engine.advance()
        engine.drop_snapshot("tuned")
        done = drain(engine)
        self.assertRegex(done[0].error, "'tuned' was dropped")
        self.assertIsNone(done[1].error)
        self.assertEqual(len(done), 3)
        with self.assertRaises(EngineError):
            engine.submit(SampleJob(4, "tuned", [5], 1))

    def test_all_snapshots_share_one_budget_of_keys(self):
        folder, rng = make_model(), np.random.default_rng(6)
        # Bytes of one token: 2 layers of 2 heads of 16, keys and values, in float32.
        token, names = 2 * 2 * 2 * 16 * 4, ["base", "tuned", *(f"s{number}" for number in range(4))]
        jobs = [
            SampleJob(key, names[key % 6], rng.integers(3, VOCAB, 60).tolist(), 20, seed=key)
            for key in range(48)
        ]
        seen = []
        for keys, stored in ((1 << 28, 1 << 26), (1500 * token, 400 * token)):
            engine = ready(folder, key_bytes=keys, stored_bytes=stored)
            for name in names[2:]:
                engine.snapshot("m", name)
            done: dict = {}
            for part in (jobs[:24], jobs[24:36], jobs[36:]):
                for job in part:
                    engine.submit(job)
                while engine.waiting:
                    done.update((one.key, whole(one)) for one in engine.advance())
                    held = engine.metrics()
                    # One sequence of each snapshot is drawn at any size.
                    self.assertLessEqual(held["key_bytes"], keys + 6 * 128 * token)
                    self.assertLessEqual(held["stored_bytes"], stored)
            seen.append(done)
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(held["key_bytes_budget"], 1500 * token)

    def test_a_long_sequence_after_many_short_ones_takes_no_room_for_them(self):
        token, engine = 2 * 2 * 2 * 16 * 4, ready(make_model(), key_bytes=40 * 128 * 512)
        for key in range(40):
            engine.submit(SampleJob(key, "tuned", [5, 6, 7], 4, seed=key))
        drain(engine)
        engine.submit(SampleJob(99, "tuned", [5] * 200, 30))
        drain(engine)
        self.assertLessEqual(engine.metrics()["key_bytes"], 40 * 128 * token)

    def test_snapshots_say_when_they_are_full(self):
        engine = ready(make_model(), ModelSpec(mode="full"), snapshot_bytes=1 << 20)
        each = 4 * sum(one.numel() for one in engine._models["m"].weights.values())
        self.assertEqual(engine.metrics()["snapshot_bytes"], each)
        engine.snapshot("m", "second")
        self.assertFalse(engine.snapshots_full)
        engine.snapshot("m", "third")
        self.assertTrue(engine.snapshots_full)
        self.assertEqual(engine.metrics()["snapshot_bytes"], 3 * each)
        engine.drop_snapshot("tuned")
        engine.drop_snapshot("second")
        self.assertEqual(engine.metrics()["snapshot_bytes"], each)

    def test_many_snapshots_take_turns(self):
        engine = ready(make_model())
        for number in range(7):
            engine.snapshot("m", f"s{number}")
        for round_ in range(2):
            for number in range(7):
                for key in range(3):
                    job = SampleJob((number, key), f"s{number}", [5] * 20, 5 + number, seed=key)
                    engine.submit(job)
            done = drain(engine)
            for number in range(1, 7):
                for key in range(3):
                    one, first = done[number, key], done[0, key]
                    self.assertEqual(one.tokens[:5], first.tokens, round_)


if __name__ == "__main__":
    report(__name__)
