"""slime's plugin with a real server of consultations: partial rollouts, faults, advantages, bad input."""

import asyncio
import contextlib
import inspect
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from argparse import Namespace
from pathlib import Path
from unittest import mock

from slime_rollouts import (
    Drawing,
    GENUINE,
    SAYINGS,
    Sample,
    SeedSource,
    Serving,
    arguments,
    first_of,
    flat,
    generate_rollout,
    parity,
    reward_post_process,
    root,
    run,
    siblings,
)

from bedside_trainers.slime import generate, keep_learning_groups, keep_whole_groups, log_eval, log_rollout
from bedside_trainers.slime.bridge import main as bridge
from bedside_trainers import token_sessions
from bedside_trainers.slime.library import (
    DynamicFilterOutput,
    RolloutFnEvalOutput,
    RolloutFnTrainOutput,
    call_dynamic_filter,
)
from bedside_trainers.token_sessions import BadJob, LostConsultation, TokenSession

COMMAND = json.loads(os.environ["BEDSIDE_TEST_COMMAND"])
HOME = tempfile.TemporaryDirectory(prefix="bedside-slime-")
TOKENS = {"max_tokens": 64, "context_length": 4096}
SESSION = {"tier": "easy", "max_turns": 5}


def folder(family):
    return str(root / "test/fixtures/tokenizers" / family)


class Consultations:
    """`bedside serve`, which can be killed and started again at its port."""

    def __init__(self, family, port=0, tokenizer=None):
        self.tokenizer, self.port = str(tokenizer or folder(family)), port
        self.process = None
        self.start()

    def start(self):
        flags = ["serve", "--no-token", "--json", "--port", str(self.port), "--tokenizer", self.tokenizer]
        # It ends with its input, so with this process however that ends.
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([*COMMAND, *flags, "--stop-with-input"], **pipes)
        self.address = json.loads(self.process.stdout.readline())["address"]
        self.port = int(self.address.rsplit(":", 1)[1])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def job(**over):
    """The environment of a job."""
    given = {"BEDSIDE_TOKENS": TOKENS, "BEDSIDE_SESSION": SESSION, **over}
    text = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
    with mock.patch.dict(os.environ, text):
        try:
            yield
        finally:
            run(forget())


async def forget():
    """A process plays one job; here it plays another."""
    client = token_sessions._shared.pop(asyncio.get_running_loop(), None)
    if client:
        await client.close()
    token_sessions._shared.clear()


_servers = {}


def served(family="chatml"):
    """The address of a server of a family, started once."""
    if family not in _servers:
        _servers[family] = Consultations(family)
    return _servers[family].address


def rollout(draw, data_source=None, number=0, **over):
    serving = Serving(draw)
    args = arguments(serving.router, **over)
    return generate_rollout(args, number, data_source or SeedSource(args)), args


class Parity(unittest.TestCase):
    """What slime trains on is what was drawn."""

    def check(self, family, history):
        draw = Drawing(folder(family), seed=1)
        with job(BEDSIDE_URL=served(family), BEDSIDE_TOKENS={**TOKENS, "history": history}):
            output, _ = rollout(draw)
        found = parity(flat(output.samples), draw.drawn)
        self.assertEqual((found["wrong"], found["left"]), (0, 0), found)
        self.assertEqual(found["matched"], len(draw.drawn))
        self.assertEqual(siblings(output.samples), 0)
        self.assertEqual([len(group) for group in output.samples], [4] * 8)
        # Nothing is several samples but what was counted as a fork.
        rollouts = [one for group in output.samples for one in group]
        self.assertEqual(output.metrics["bedside/forks"], len(flat(output.samples)) - len(rollouts))
        return output

    def test_chatml(self):
        self.assertEqual(self.check("chatml", "keep").metrics["bedside/forks"], 0)

    def test_llama(self):
        self.check("llama", "keep")

    def test_qwen_whose_template_drops_reasoning(self):
        output = self.check("qwen", "strip-reasoning")
        self.assertGreater(output.metrics["bedside/forks"], 0)
        # slime wants one depth, and one number for the samples of a rollout.
        for group in output.samples:
            for one in group:
                self.assertIsInstance(one, list)
                self.assertEqual({sample.rollout_id for sample in one}, {one[0].index})
                self.assertEqual(len({sample.reward for sample in one}), 1)


class Partial(unittest.TestCase):
    """Rollouts that break off consultations and go on with them."""

    def test_go_on_where_they_were_broken_off(self):
        draw = Drawing(folder("chatml"), seed=2, seconds=0.01)
        with job(BEDSIDE_URL=served()):
            serving = Serving(draw)
            args = arguments(serving.router, over_sampling_batch_size=24, partial_rollout=True)
            source = SeedSource(args)
            outputs, broken = [], 0
            for number in range(4):
                outputs.append(generate_rollout(args, number, source))
                broken += source.get_buffer_length()
        groups = [group for output in outputs for group in output.samples]
        self.assertGreater(broken, 0)
        samples = flat(groups)
        self.assertTrue(any("start_rollout_id" in sample.metadata for sample in samples))
        numbers = [first_of(group[0]).group_index for group in groups]
        self.assertEqual(len(set(numbers)), len(numbers))
        self.assertEqual(siblings(groups), 0)
        self.assertEqual({sample.status.value for sample in samples} - {"completed", "truncated"}, set())
        found = parity(samples, draw.drawn)
        self.assertEqual(found["wrong"], 0, found)

    def test_go_on_in_the_middle_of_a_reply(self):
        whole = Drawing(folder("chatml"), seed=12)
        parts = []

        async def draw(ids, sampling, aborted):
            tokens, logprobs, ending = await whole(ids, sampling, aborted)
            half = len(tokens) // 2 if whole.random.random() < 0.4 else len(tokens)
            parts.append((ids, tokens[:half], logprobs[:half]))
            return tokens[:half], logprobs[:half], ending if half == len(tokens) else "abort"

        with job(BEDSIDE_URL=served()):
            output, _ = rollout(draw)
        samples = flat(output.samples)
        found = parity(samples, parts)
        self.assertEqual((found["wrong"], found["left"]), (0, 0), found)
        # Replies were drawn in parts, and are one turn each.
        turns = sum(sample.metadata["bedside"]["turns"] for sample in samples)
        self.assertGreater(found["matched"], turns)
        self.assertEqual({sample.status.value for sample in samples} - {"completed", "truncated"}, set())

    def test_are_dropped_where_they_are_not_to_go_on(self):
        draw = Drawing(folder("chatml"), seed=3, seconds=0.01)
        with job(BEDSIDE_URL=served()):
            serving = Serving(draw)
            args = arguments(serving.router, over_sampling_batch_size=24)
            source = SeedSource(args)
            output = generate_rollout(args, 0, source)
        self.assertEqual(len(output.samples), 8)
        self.assertEqual(source.get_buffer_length(), 0)


class Faults(unittest.TestCase):
    """The world fails: samples are played again or replaced, and never scored 0."""

    def test_server_killed_in_the_middle(self):
        own = Consultations("chatml")
        draw = Drawing(folder("chatml"), seed=4, seconds=0.05)
        def killer():
            for _ in range(3):
                time.sleep(0.5)
                own.kill()
                own.start()

        with job(BEDSIDE_URL=own.address):
            thread = threading.Thread(target=killer)
            thread.start()
            outputs = []
            serving = Serving(draw)
            args = arguments(serving.router, rollout_batch_size=16, over_sampling_batch_size=16, global_batch_size=64)
            source = SeedSource(args)
            while thread.is_alive() or not outputs:
                outputs.append(generate_rollout(args, len(outputs), source))
        own.kill()
        groups = [group for output in outputs for group in output.samples]
        found = parity(flat(groups), draw.drawn)
        self.assertEqual(found["wrong"], 0, found)
        self.assertEqual(siblings(groups), 0)
        self.assertTrue(all(first_of(one).reward is not None for group in groups for one in group))
        numbers = [first_of(group[0]).group_index for group in groups]
        self.assertEqual(numbers, sorted(set(numbers)))

    def lose(self, seeds):
        """Consultations of some seeds are lost at their first draw; `seeds` says how often."""
        real = TokenSession.draw

        async def draw(session, *given, **named):
            seed = session._options.consultation["seed"]
            if not session.draws and seeds.get(seed, 0) > 0:
                seeds[seed] -= 1
                raise LostConsultation("the patient's model is down")
            return await real(session, *given, **named)

        return mock.patch.object(TokenSession, "draw", draw)

    def test_lost_consultations_are_played_again_with_their_patient(self):
        draw = Drawing(folder("chatml"), seed=5)
        with job(BEDSIDE_URL=served()), self.lose({1: 2, 3: 1}):
            output, _ = rollout(draw)
        self.assertEqual(output.metrics["bedside/replayed"], 3)
        self.assertNotIn("bedside/lost_groups", output.metrics)
        self.assertEqual([first_of(group[0]).group_index for group in output.samples], list(range(8)))
        self.assertEqual(siblings(output.samples), 0)
        self.assertEqual(parity(flat(output.samples), draw.drawn)["wrong"], 0)

    def test_groups_that_cannot_be_played_are_replaced_and_counted(self):
        draw = Drawing(folder("chatml"), seed=6)
        with job(BEDSIDE_URL=served()), self.lose({2: 10**6, 5: 10**6}):
            output, _ = rollout(draw)
        # A group begun for the first that was lost may be done before the second is given up.
        lost = output.metrics["bedside/lost_groups"]
        self.assertIn(lost, (1, 2))
        self.assertEqual(output.metrics["rollout/dynamic_filter/drop_lost"], lost)
        numbers = [first_of(group[0]).group_index for group in output.samples]
        self.assertEqual(len(numbers), 8)
        self.assertFalse({2, 5} & set(numbers))
        self.assertTrue(all(first_of(one).reward is not None for group in output.samples for one in group))

    def test_a_world_that_always_fails_ends_the_rollout(self):
        draw = Drawing(folder("chatml"), seed=7)
        with job(BEDSIDE_URL=served()), self.lose({seed: 10**6 for seed in range(1000)}):
            with self.assertRaisesRegex(LostConsultation, "the patient's model is down"):
                rollout(draw, rollout_batch_size=2, over_sampling_batch_size=2, global_batch_size=8)

    def test_unknown_scores_are_no_zeros(self):
        lost = Sample(group_index=0, index=2, metadata={"bedside": {"lost": "x"}}, reward=None)
        self.assertFalse(keep_whole_groups(None, [Sample(reward=1.0), lost]).keep)
        self.assertTrue(keep_whole_groups(None, [Sample(reward=1.0), [Sample(reward=0.0)]]).keep)
        self.assertFalse(keep_learning_groups(None, [Sample(reward=1.0), Sample(reward=1.0)]).keep)
        self.assertTrue(keep_learning_groups(None, [Sample(reward=1.0), Sample(reward=0.5)]).keep)

    def test_filters_drop_groups_and_others_are_begun(self):
        draw = Drawing(folder("chatml"), seed=8)
        path = "bedside_trainers.slime.keep_learning_groups"
        with job(BEDSIDE_URL=served()):
            output, args = rollout(draw, dynamic_sampling_filter_path=path, rollout_batch_size=4, over_sampling_batch_size=4, global_batch_size=16)
        self.assertEqual(len(output.samples), 4)
        self.assertTrue(all(keep_learning_groups(args, group).keep for group in output.samples))
        self.assertGreater(output.metrics["rollout/dynamic_filter/drop_zero_variance"], 0)


def scored(group, index, reward, rollout=None, tokens=2):
    return Sample(
        group_index=group,
        index=index,
        rollout_id=rollout,
        tokens=[1] * (tokens + 1),
        response_length=tokens,
        loss_mask=[1] * tokens,
        rollout_log_probs=[-1.0] * tokens,
        reward=reward,
        status=Sample.Status.COMPLETED,
        metadata={} if reward is not None else {"bedside": {"lost": "x"}},
    )


class Learning(unittest.TestCase):
    """Advantages in the place of slime's normalised rewards."""

    def test_groups_of_any_size(self):
        samples = [
            *[scored(0, n, reward) for n, reward in enumerate([1.0, 0.0, 0.5])],
            *[scored(1, n + 3, reward) for n, reward in enumerate([1.0, None])],
            scored(2, 5, 1.0, rollout=5),
            scored(2, 5, 1.0, rollout=5),
            scored(2, 6, 0.0, rollout=6),
        ]
        with job(BEDSIDE_URL=served(), BEDSIDE_ADVANTAGE={"name": "dr-grpo"}):
            raw, rewards = reward_post_process(Namespace(reward_key=None), samples)
        self.assertEqual(raw[:4] + raw[5:], [1.0, 0.0, 0.5, 1.0, 1.0, 1.0, 0.0])
        self.assertNotEqual(raw[4], raw[4])
        self.assertEqual(rewards, [0.5, -0.5, 0.0, 0.0, 0.0, 0.5, 0.5, -0.5])
        self.assertEqual([sample.remove_sample for sample in samples], [False] * 4 + [True] + [False] * 3)

    def test_slimes_own_flags_without_a_method(self):
        samples = [scored(0, n, reward) for n, reward in enumerate([1.0, 0.0, 0.0])]
        with job(BEDSIDE_URL=served()):
            flags = Namespace(advantage_estimator="grpo", grpo_std_normalization=True, rewards_normalization=True)
            _, rewards = reward_post_process(flags, samples)
            self.assertAlmostEqual(rewards[0], (2 / 3) / (3**-0.5 + 1e-6), 12)
            flags.grpo_std_normalization = False
            self.assertAlmostEqual(reward_post_process(flags, samples)[1][0], 2 / 3, 12)
            flags.rewards_normalization = False
            self.assertEqual(reward_post_process(flags, samples)[1], [1.0, 0.0, 0.0])
            flags = Namespace(advantage_estimator="ppo")
            self.assertEqual(reward_post_process(flags, samples)[1], [1.0, 0.0, 0.0])

    def test_are_not_whitened_a_second_time(self):
        with job(BEDSIDE_URL=served(), BEDSIDE_ADVANTAGE={"name": "grpo"}):
            with self.assertRaisesRegex(BadJob, "normalize-advantages"):
                reward_post_process(Namespace(normalize_advantages=True), [scored(0, 0, 1.0)])


    def test_are_whitened_by_the_stand_in_over_the_tokens_that_were_drawn(self):
        import numpy as np

        from bedside_trainers.slime.stand_in import whitened

        advantages, masks = [1.0, -0.5, 0.25], [[1, 0, 1, 1], [1], [0, 0]]
        tokens = np.array([1.0, 1.0, 1.0, -0.5])
        found = whitened(advantages, masks)
        for value, was in zip(found, advantages):
            self.assertAlmostEqual(value, (was - tokens.mean()) / np.sqrt(tokens.var(ddof=1) + 1e-8), 12)

    def test_at_the_tokens_that_were_drawn(self):
        import torch

        from bedside_trainers.slime import token_advantages

        data = {
            "rewards": [0.5, -1.0],
            "loss_masks": [torch.tensor([1, 0, 1]), torch.tensor([0, 1])],
            "kl": [torch.zeros(3), torch.zeros(2)],
        }
        token_advantages(Namespace(context_parallel_size=1), data)
        self.assertEqual([one.tolist() for one in data["advantages"]], [[0.5, 0, 0.5], [0, -1]])
        self.assertEqual([one.tolist() for one in data["returns"]], [[0.5, 0, 0.5], [0, -1]])
        with self.assertRaisesRegex(BadJob, "context parallelism of 1"):
            token_advantages(Namespace(context_parallel_size=2), data)


class Evaluation(unittest.TestCase):
    def test_plays_held_out_cases_and_logs(self):
        draw = Drawing(folder("chatml"), seed=9)
        with tempfile.TemporaryDirectory() as home:
            file = Path(home) / "metrics.jsonl"
            cases = {"heldout": {"split": "heldout", "cases": 6}, "chinese": {"language": "zh", "cases": 3}}
            with job(BEDSIDE_URL=served(), BEDSIDE_EVAL=cases, BEDSIDE_METRICS=str(file)):
                serving = Serving(draw)
                args = arguments(serving.router, num_rollout=7)
                output = generate_rollout(args, 3, None, evaluation=True)
                self.assertFalse(log_eval(3, args, output.data, output.metrics))
                trained = generate_rollout(args, 3, SeedSource(args))
                self.assertFalse(log_rollout(3, args, flat(trained.samples), trained.metrics, 1.5))
            lines = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual({name: len(one["rewards"]) for name, one in output.data.items()}, {"heldout": 6, "chinese": 3})
        self.assertEqual([(one["type"], one["step"]) for one in lines], [("held-out", 3), ("held-out", 3), ("step", 4)])
        rewards = [first_of(one).reward for group in trained.samples for one in group]
        self.assertAlmostEqual(lines[2]["reward"], sum(rewards) / 32, 12)
        self.assertEqual(lines[2]["groups"]["formed"], 8)
        self.assertEqual(lines[2]["steps"], 7)


class Seeds(unittest.TestCase):
    def test_go_on_after_a_checkpoint(self):
        with tempfile.TemporaryDirectory() as home, job():
            args = Namespace(n_samples_per_prompt=2, save=home, load=home, buffer_filter_path=None)
            source = SeedSource(args)
            source.get_samples(3)
            source.add_samples(source.get_samples(1))
            source.save(7)
            source.get_samples(5)
            again = SeedSource(args)
            again.load(7)
            self.assertEqual([group[0].group_index for group in again.get_samples(3)], [3, 4, 5])
            self.assertEqual([sample.index for sample in again.get_samples(1)[0]], [12, 13])
            other = SeedSource(args)
            other.load(8)
            self.assertEqual(other.get_samples(1)[0][0].metadata, {"seed": 0, "index": 0})
            (Path(home) / "rollout" / "bedside_seeds_7.json").write_text("{}")
            with self.assertRaisesRegex(ValueError, "bedside-seeds/1"):
                other.load(7)
            with self.assertRaisesRegex(ValueError, "groups of 2"):
                other.add_samples([[Sample()]])


class Contracts(unittest.TestCase):
    """What slime asks of a function that one of its flags names: its parameters, and the shape of what it gives back.

    Twins, in our words, of those of slime's contract tests that a function of ours can meet; docs/slime.md lists both.
    """

    def takes(self, function, *names):
        self.assertEqual(tuple(inspect.signature(function).parameters)[: len(names)], names)

    def check_sample(self, sample):
        self.assertIsInstance(sample, Sample)
        self.assertIsInstance(sample.tokens, list)
        self.assertEqual({type(token) for token in sample.tokens}, {int})
        self.assertEqual((type(sample.response), type(sample.response_length)), (str, int))
        self.assertIsNotNone(sample.reward)
        self.assertIsInstance(sample.status, Sample.Status)

    def test_rollout_function(self):
        own = inspect.signature(generate_rollout).parameters
        self.assertEqual(tuple(own), ("args", "rollout_id", "data_source", "evaluation"))
        self.assertEqual({one.kind for one in own.values()}, {inspect.Parameter.POSITIONAL_OR_KEYWORD})
        defaults = [one.default for one in own.values()]
        self.assertEqual(defaults, [inspect.Parameter.empty] * 3 + [False])
        draw = Drawing(folder("chatml"), seed=21)
        cases = {"heldout": {"split": "heldout", "cases": 3}}
        with job(BEDSIDE_URL=served(), BEDSIDE_EVAL=cases):
            trained, args = rollout(draw, number=2, rollout_batch_size=3, n_samples_per_prompt=2, global_batch_size=6)
            # As slime evaluates: no data source is asked.
            evaluated = generate_rollout(args, 2, None, evaluation=True)
        self.assertIsInstance(trained, RolloutFnTrainOutput)
        self.assertEqual([len(group) for group in trained.samples], [2, 2, 2])
        for sample in flat(trained.samples):
            self.check_sample(sample)
        self.assertIsInstance(evaluated, RolloutFnEvalOutput)
        self.assertEqual(list(evaluated.data), ["heldout"])
        for found in evaluated.data.values():
            self.assertEqual({len(found[name]) for name in ("rewards", "truncated", "samples")}, {3})
            self.assertEqual({type(one) for one in found["truncated"]}, {bool})
            for sample, reward in zip(found["samples"], found["rewards"]):
                self.check_sample(sample)
                self.assertEqual(sample.reward, reward)

    def test_generate(self):
        self.takes(generate, "args", "sample", "sampling_params", "evaluation")
        serving = Serving(Drawing(folder("chatml"), seed=22))
        for evaluation in (False, True):
            given = Sample(index=5, group_index=2, prompt="a prompt of slime's")
            with job(BEDSIDE_URL=served()):
                played = run(generate(arguments(serving.router), given, {"temperature": 0.3}, evaluation=evaluation))
            self.check_sample(played)
            self.assertEqual((played.index, played.group_index), (5, 2))
            self.assertEqual(len(played.loss_mask), played.response_length)

    def test_filters(self):
        """Of samples that no consultation of ours made, as slime's flags may mix them."""
        for function in (keep_whole_groups, keep_learning_groups):
            self.takes(function, "args", "samples")
            group = [Sample(index=n, tokens=[1, 2], response_length=1, reward=float(n)) for n in range(2)]
            output = call_dynamic_filter(function, Namespace(reward_key=None), group)
            self.assertIsInstance(output, DynamicFilterOutput)
            self.assertTrue(output.keep)

    def test_data_source(self):
        self.takes(SeedSource.__init__, "self", "args")
        source = SeedSource(Namespace(n_samples_per_prompt=3))
        groups = source.get_samples(2)
        self.assertEqual([len(group) for group in groups], [3, 3])
        self.assertEqual({type(sample) for sample in flat(groups)}, {Sample})
        source.add_samples(groups[:1])
        self.assertEqual(source.get_samples(1), groups[:1])
        source.save(0)
        source.load(0)
        self.assertIsInstance(len(source), int)

    def test_reward_post_process(self):
        self.assertEqual(tuple(inspect.signature(reward_post_process).parameters), ("args", "samples"))
        samples = [Sample(index=n, tokens=[1, 2], response_length=2, reward=n + 0.5, loss_mask=[1, 1]) for n in (0, 1)]
        with job(BEDSIDE_URL=served()):
            raw, rewards = reward_post_process(Namespace(), samples)
        self.assertEqual((list(raw), len(rewards)), ([0.5, 1.5], 2))
        self.assertEqual({type(one) for one in rewards}, {float})

    def test_logs(self):
        """slime goes on with its own log where they return False."""
        self.assertEqual(
            tuple(inspect.signature(log_rollout).parameters),
            ("rollout_id", "args", "samples", "rollout_extra_metrics", "rollout_time"),
        )
        self.assertEqual(
            tuple(inspect.signature(log_eval).parameters), ("rollout_id", "args", "data", "extra_metrics")
        )
        with tempfile.TemporaryDirectory() as home, job(BEDSIDE_METRICS=str(Path(home) / "metrics.jsonl")):
            sample = Sample(index=0, reward=1.0)
            self.assertIs(log_rollout(3, Namespace(num_rollout=9), [sample], {"reward": 1.0}, 0.5), False)
            data = {"one": {"rewards": [1.0], "truncated": [False], "samples": [sample]}}
            self.assertIs(log_eval(4, Namespace(), data, {"acc": 1.0}), False)
            lines = [json.loads(line) for line in (Path(home) / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual([(one["type"], one["step"], one["reward"]) for one in lines], [("step", 4, 1.0), ("held-out", 4, 1.0)])


class BadInput(unittest.TestCase):
    """Said before anything is drawn."""

    def refused(self, says, environment=None, **over):
        draw = Drawing(folder("chatml"), seed=0)
        with job(**{"BEDSIDE_URL": served(), **(environment or {})}):
            with self.assertRaisesRegex(BadJob, says):
                rollout(draw, **over)
        self.assertEqual(draw.drawn, [])

    def test_steps_that_are_not_whole(self):
        self.refused("multiple of global_batch_size .24.", global_batch_size=24)

    def test_too_little_oversampling(self):
        self.refused("over_sampling_batch_size of at least", over_sampling_batch_size=4)

    def test_tokens(self):
        self.refused("BEDSIDE_TOKENS: max_tokens", {"BEDSIDE_TOKENS": {}})
        self.refused("BEDSIDE_TOKENS: expected JSON", {"BEDSIDE_TOKENS": "{"})

    def test_another_version(self):
        with mock.patch("bedside_trainers.token_sessions.__version__", "0.2.0"):
            self.refused("install the same version", {"BEDSIDE_URL": served("llama")})

    def test_no_router(self):
        self.refused("Expected slime's router", sglang_router_ip=None)

    def test_a_context_without_room(self):
        self.refused("context", {"BEDSIDE_TOKENS": {"max_tokens": 8, "context_length": 16}})

    def test_stock_rollout_without_its_filter(self):
        from bedside_trainers.slime import generate

        args = Namespace(rollout_function_path="slime.rollout.sglang_rollout.generate_rollout")
        with job(BEDSIDE_URL=served()), self.assertRaisesRegex(BadJob, "keep_whole_groups"):
            run(generate(args, Sample(index=0), {}))


class Bridge(unittest.TestCase):
    """Files for --load-debug-rollout-data."""

    def write(self, home, rows):
        path = Path(home) / "samples.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    def rows(self):
        rows = []
        for n in range(6):
            sample = scored(n // 2, n, float(n), rollout=n)
            rows.append({**sample.to_dict(), "metadata": {"advantage": n / 8}})
        return rows

    def test_holds_whole_groups(self):
        import torch

        with tempfile.TemporaryDirectory() as home:
            path = self.write(home, self.rows())
            self.assertEqual(bridge([str(path), "--out", home, "--rollouts-per-file", "4"]), 0)
            parts = [torch.load(Path(home) / f"{n}.pt", weights_only=False) for n in range(2)]
        self.assertEqual([part["rollout_id"] for part in parts], [0, 1])
        back = [Sample.from_dict(one) for part in parts for one in part["samples"]]
        self.assertEqual([[sample.index for sample in back[:4]], [sample.index for sample in back[4:]]], [[0, 1, 2, 3], [4, 5]])
        self.assertEqual([sample.metadata["advantage"] for sample in back], [n / 8 for n in range(6)])

    def test_names_the_line_that_is_none(self):
        for change, says in [({"loss_mask": [1]}, "2 of loss_mask"), ({"status": "done"}, "status|Status"), ({"reward": None}, "a reward")]:
            with tempfile.TemporaryDirectory() as home:
                path = self.write(home, [self.rows()[0], {**self.rows()[1], **change}])
                with mock.patch("sys.stderr") as error:
                    self.assertEqual(bridge([str(path), "--out", home]), 1)
                said = "".join(str(call.args[0]) for call in error.write.call_args_list)
                self.assertRegex(said, f"samples.jsonl:2: .*({says})")


class Report(unittest.TextTestResult):
    passed = ()
    since = 0.0

    def startTest(self, test):
        self.since = time.monotonic()
        super().startTest(test)

    def addSuccess(self, test):
        print(f"{time.monotonic() - self.since:6.1f} s {test.id()}", file=sys.stderr)
        self.passed = [*self.passed, test.id()]


if __name__ == "__main__":
    runner = unittest.TextTestRunner(stream=sys.stderr, resultclass=Report)
    done = runner.run(unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:] or ["__main__"]))
    for server in _servers.values():
        server.kill()
    failed = {test.id(): text for test, text in [*done.failures, *done.errors]}
    print(json.dumps({"genuine": GENUINE, "passed": list(done.passed), "failed": failed}))
    # Threads with event loops end with the process.
    sys.stdout.flush()
    os._exit(bool(failed))
