"""Passes and steps of the torch engine, on real gradients."""

import itertools
import unittest

from engine_harness import VOCAB, awake, data_for, drain, gradients, make_model, only, open_tiny, report  # isort: split

import loss_gradients
import numpy as np
import torch
from transformers import AutoModelForCausalLM

from bedside_trainers.engines import head
from bedside_trainers.engines.engine import AdamParams, Datum, EngineError, LossSpec, ModelSpec, NonFinite, SampleJob
from bedside_trainers.engines.training import adamw
from bedside_trainers.engines.training.passes import WIRE_LOSSES

OBJECTIVES = (
    {"kind": "policy-gradient"},
    {"kind": "cross-entropy"},
    {"kind": "importance-sampling"},
    {"kind": "ppo-clip", "low": 0.2, "high": 0.28},
    {"kind": "ppo-clip", "low": 0.2, "high": 0.2, "dual": 3.0},
    {"kind": "cispo", "low": 0.9, "high": 0.28},
    {"kind": "gspo", "low": 0.3, "high": 0.4},
    {"kind": "sapo", "tau_positive": 1.0, "tau_negative": 1.05},
)
CORRECTIONS = (
    {},
    {"correction_level": "token", "correction_mode": "truncate", "correction_max": 2.0},
    {
        "correction_level": "token",
        "correction_mode": "mask",
        "correction_min": 0.5,
        "correction_max": 5.0,
    },
    {"correction_level": "sequence", "correction_mode": "truncate", "correction_max": 1.5},
    {"correction_level": "sequence", "correction_mode": "mask", "correction_max": 3.0},
)
PENALTIES = ({}, *({"kl_estimator": name, "kl_coefficient": 0.3} for name in ("k1", "k2", "k3")))
PPO = LossSpec("bedside", {"kind": "ppo-clip", "low": 0.2, "high": 0.2, "entropy": 0.01})


def marked(data: list[Datum]) -> list[Datum]:
    """The data with the mask of GSPO: tokens of a weight."""
    return [
        Datum(one.tokens, {**one.inputs, "sequence_ratio_mask": one.inputs["weights"] != 0})
        for one in data
    ]


def closed_form(config: dict, datum: Datum, logprobs: np.ndarray):
    """Value and slopes of one datum by test/python/loss_gradients.py, its normaliser apart."""
    loss = {"kind": config["kind"]}
    loss |= {key: config[key] for key in ("low", "high", "dual") if key in config}
    for ours, theirs in (("tau_positive", "tauPositive"), ("tau_negative", "tauNegative")):
        loss |= {theirs: config[ours]} if ours in config else {}
    if "correction_level" in config:
        parts = ("level", "mode", "min", "max")
        given = {part: config.get(f"correction_{part}") for part in parts}
        loss["correction"] = {part: one for part, one in given.items() if one is not None}
    if "kl_estimator" in config:
        loss["kl"] = {"estimator": config["kl_estimator"], "coefficient": config["kl_coefficient"]}
    inputs = datum.inputs
    segment = {"mask": (inputs["weights"] != 0).tolist()}
    names = ("logprobs", "oldLogprobs", "refLogprobs", "advantages")
    wire = ("logprobs", "old_logprobs", "ref_logprobs", "advantages")
    segment |= {name: inputs[key].tolist() for name, key in zip(names, wire)}
    case = {"loss": loss, "segments": [segment], "now": [logprobs.tolist()], "weights": [1.0]}
    judged = loss_gradients.run(case)
    return judged["value"], np.array(judged["gradients"][0])


class Losses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.engine = open_tiny(make_model(), dtype="float64")
        awake(cls.engine, "m", ModelSpec(rank=4))

    def test_every_loss_has_the_value_and_the_slopes_of_its_closed_form(self):
        every = itertools.product(OBJECTIVES, CORRECTIONS, PENALTIES)
        for number, (objective, correction, penalty) in enumerate(every):
            config = {**objective, **correction, **penalty, "entropy": 0.0}
            data = data_for(number, 3, 12)
            result = self.engine.forward_backward("m", data, LossSpec("bedside", config))
            total = 0.0
            for datum, out in zip(data, result.outputs):
                weight = datum.inputs["weights"].max()
                value, slopes = closed_form(config, datum, out["logprobs"])
                np.testing.assert_allclose(
                    out["slopes"], weight * slopes, 1e-9, 1e-9, err_msg=str(config)
                )
                total += weight * value
            self.assertLess(
                abs(result.metrics["loss:sum"] - total), 1e-9 * (1 + abs(total)), config
            )
        self.engine.discard("m")

    def test_the_losses_of_the_wire_are_their_formulas(self):
        data = marked(only(data_for(3, 5), "target_tokens", "weights", "logprobs", "advantages"))
        config = {"clip_low_threshold": 0.7, "clip_high_threshold": 1.1, "beta": 0.4}
        for name in WIRE_LOSSES:
            result = self.engine.forward_backward("m", data, LossSpec(name, config))
            expected = 0.0
            for datum, out in zip(data, result.outputs):
                lp, inputs = out["logprobs"], datum.inputs
                self.assertTrue((lp < 0).all(), "every target has its log-prob")
                advantage, ratio = inputs["advantages"], np.exp(lp - inputs["logprobs"])
                held = np.clip(ratio, 0.7, 1.1)
                drawn = inputs["weights"] != 0
                whole = np.exp(np.log(ratio)[drawn].mean()) * np.ones_like(ratio)
                expected += {
                    "cross_entropy": -inputs["weights"] * lp,
                    "importance_sampling": -ratio * advantage,
                    "ppo": -np.minimum(ratio * advantage, held * advantage),
                    "cispo": -held * advantage * lp,
                    "gspo": -np.minimum(whole * advantage, np.clip(whole, 0.7, 1.1) * advantage),
                    "dro": -(lp * advantage - 0.2 * (lp - inputs["logprobs"]) ** 2) * drawn,
                }[name].sum()
            self.assertAlmostEqual(result.metrics["loss:sum"], expected, 9, name)
        self.engine.discard("m")

    def test_a_mask_of_the_wire_hides_its_targets(self):
        data = marked(only(data_for(4, 4), "target_tokens", "weights", "logprobs", "advantages"))
        turned = [
            Datum(one.tokens, {**one.inputs, "target_tokens": np.where(
                one.inputs["weights"] != 0, one.inputs["target_tokens"], 5)})
            for one in data
        ]  # fmt: skip
        for name in WIRE_LOSSES:
            loss = LossSpec(name, {"beta": 0.1})
            mine, other = (gradients(self.engine, "m", one, loss) for one in (data, turned))
            for weight in mine:
                np.testing.assert_array_equal(mine[weight], other[weight], name)

    def test_gspo_of_the_wire_has_the_gradient_of_our_own(self):
        data = marked(only(data_for(8, 4), "target_tokens", "weights", "logprobs", "advantages"))
        ones = [
            Datum(one.tokens, {**{k: v for k, v in one.inputs.items() if k != "sequence_ratio_mask"},
                               "weights": (one.inputs["weights"] != 0).astype(np.float64)})
            for one in data
        ]  # fmt: skip
        wire = LossSpec("gspo", {"clip_low_threshold": 0.1, "clip_high_threshold": 5.0})
        ours = LossSpec("bedside", {"kind": "gspo", "low": 0.9, "high": 4.0})
        mine, other = gradients(self.engine, "m", data, wire), gradients(self.engine, "m", ones, ours)
        for weight in mine:
            self.assertGreater(np.abs(mine[weight]).max(), 0)
            np.testing.assert_allclose(mine[weight], other[weight], rtol=1e-9, atol=1e-12)
        bare = Datum(data[0].tokens, {**data[0].inputs, "sequence_ratio_mask": 0 * data[0].tokens})
        with self.assertRaisesRegex(EngineError, "a marked token in every datum"):
            self.engine.forward_backward("m", [*data[1:], bare], wire)
        self.engine.discard("m")

    def test_tokens_are_counted_without_padding(self):
        data = only(data_for(8, 4), "target_tokens", "weights")
        result = self.engine.forward("m", data, LossSpec("cross_entropy"))
        self.assertEqual(result.metrics["tokens:sum"], sum(len(one.tokens) for one in data))

    def test_gradients_are_those_of_finite_differences(self):
        heat = {"temperature": np.array([0.7])}
        cases = [
            ({"kind": "ppo-clip", "low": 0.2, "high": 0.2, "entropy": 0.3}, heat),
            ({"kind": "sapo", "tau_positive": 1.0, "tau_negative": 2.0, "entropy": 0.0}, {}),
            (
                {
                    "kind": "policy-gradient",
                    "entropy": 0.1,
                    "kl_estimator": "k3",
                    "kl_coefficient": 0.2,
                },
                heat,
            ),
            ({"kind": "ppo-clip", "low": 0.2, "high": 0.2, "entropy_per_token": 0.02}, heat),
        ]
        engine = open_tiny(make_model(tie_word_embeddings=False), dtype="float64")
        awake(engine, "lora", ModelSpec(rank=2, train_unembed=True))
        awake(engine, "full", ModelSpec(mode="full"))
        awake(engine, "value", ModelSpec(rank=2, head="value"), 0.2)
        for model in ("lora", "full"):
            for config, more in cases:
                self.differences(
                    engine, model, data_for(9, 3, 10, **more), LossSpec("bedside", config)
                )
            self.differences(engine, model, data_for(9, 3, 10), LossSpec("dro", {"beta": 0.2}))
        self.differences(engine, "value", data_for(9, 3, 10), LossSpec("value", {"range": 0.5}))

    def differences(self, engine, model, data, loss, step=1e-6):
        found = gradients(engine, model, data, loss)
        weights, rng = engine._models[model].weights, np.random.default_rng(1)
        for name in sorted(found):
            place = tuple(int(rng.integers(size)) for size in weights[name].shape)
            values = []
            for sign in (1, -1):
                weights[name][place] += sign * step
                values.append(engine.forward(model, data, loss).metrics["loss:sum"])
                weights[name][place] -= sign * step
            expected = (values[0] - values[1]) / (2 * step)
            self.assertLess(abs(found[name][place] - expected), 1e-6 * (1 + abs(expected)), name)


class Passes(unittest.TestCase):
    def test_order_splitting_and_micro_batches_change_nothing(self):
        for dtype, bound in (("float64", 1e-12), ("float32", 2e-5)):
            folder, data = make_model(), data_for(5, 17, 60)
            config = {**PPO.config, "kl_estimator": "k2", "kl_coefficient": 0.1}
            loss, seen = LossSpec("bedside", config), []
            for budget in (1, 200, 1 << 20):
                engine = open_tiny(folder, dtype=dtype, training_tokens=budget)
                awake(engine, "m", ModelSpec(rank=4))
                seen.append(gradients(engine, "m", data, loss))
                seen.append(gradients(engine, "m", data[::-1], loss))
            for one in data:
                engine.forward_backward("m", [one], loss)
            held = engine._models["m"].gradients
            seen.append({name: value.double().numpy() for name, value in held.items()})
            for name, whole in seen[0].items():
                for other in seen[1:]:
                    gap = np.abs(other[name] - whole).max()
                    self.assertLess(gap, bound * (1 + np.abs(whole).max()), name)

    def test_chunks_of_logits_are_the_whole(self):
        folder, data = make_model(), data_for(6, 6, 60)
        engine = open_tiny(folder, dtype="float64")
        awake(engine, "m", ModelSpec(mode="full"))
        whole = gradients(engine, "m", data, PPO)
        kept, head.CHUNK_ELEMENTS = head.CHUNK_ELEMENTS, {"cpu": VOCAB * 16}
        try:
            self.assertEqual(head.chunk_rows(VOCAB, torch.device("cpu")), 16)
            for name, value in gradients(engine, "m", data, PPO).items():
                np.testing.assert_allclose(value, whole[name], 1e-11, 1e-12)
        finally:
            head.CHUNK_ELEMENTS = kept

    def test_passes_are_those_of_the_library(self):
        families = {
            "qwen3": {},
            "qwen3 untied": {"tie_word_embeddings": False},
            "qwen2": {"model_type": "qwen2"},
            "llama": {"model_type": "llama", "attention_bias": True, "rope_parameters": {
                "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 64}},
            "mistral": {"model_type": "mistral", "sliding_window": None},
            "mistral by the library": {"model_type": "mistral", "sliding_window": 9},
        }  # fmt: skip
        for name, settings in families.items():
            folder, data = make_model(**settings), data_for(8, 4, 50)
            engine = open_tiny(folder, dtype="float64")
            awake(engine, "m", ModelSpec(mode="full"))
            found = gradients(engine, "m", data, LossSpec("cross_entropy"))
            plain = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
            for one in data:
                ids = torch.from_numpy(one.tokens)[None]
                logprobs = plain(input_ids=ids).logits[0].log_softmax(-1)
                targets = torch.from_numpy(one.inputs["target_tokens"])
                picked = logprobs.gather(1, targets[:, None])[:, 0]
                (-picked * torch.from_numpy(one.inputs["weights"])).sum().backward()
            for weight, parameter in plain.named_parameters():
                theirs = parameter.grad.numpy()
                # The library's norms and angles are float32 at any precision.
                gap = np.abs(found[weight] - theirs).max() / np.abs(theirs).max()
                self.assertLess(gap, 1e-5, f"{name}: {weight}")

    def test_an_entropy_bonus_over_tokens_is_a_mean_whatever_the_weights_are(self):
        folder, data, coefficient = make_model(), data_for(8, 4, 50), 0.3
        drawn = sum(int((one.inputs["weights"] != 0).sum()) for one in data)
        loss = {"kind": "policy-gradient", "entropy_per_token": coefficient / drawn}
        engine = open_tiny(folder, dtype="float64")
        awake(engine, "m", ModelSpec(mode="full"))
        value = engine.forward_backward("m", data, LossSpec("bedside", loss)).metrics["loss:sum"]
        found = gradients(engine, "m", data, LossSpec("bedside", loss))
        plain = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
        total, entropies = 0.0, 0.0
        for one in data:
            logprobs = plain(input_ids=torch.from_numpy(one.tokens)[None]).logits[0].log_softmax(-1)
            targets = torch.from_numpy(one.inputs["target_tokens"])
            picked = logprobs.gather(1, targets[:, None])[:, 0]
            weights, advantages = (torch.from_numpy(one.inputs[key]) for key in ("weights", "advantages"))
            total = total - (weights * advantages * picked).sum()
            # Of every drawn token alike: weights differ from token to token here.
            entropies = entropies - (logprobs.exp() * logprobs).sum(-1)[weights != 0].sum()
        theirs = total - coefficient * entropies / drawn
        self.assertLess(abs(value - theirs.item()), 1e-6 * abs(theirs.item()))
        theirs.backward()
        for weight, parameter in plain.named_parameters():
            gap = np.abs(found[weight] - parameter.grad.numpy()).max() / np.abs(parameter.grad.numpy()).max()
            self.assertLess(gap, 1e-5, weight)

    def test_activations_computed_again_give_the_same_gradient(self):
        folder, data = make_model(), data_for(8, 4, 50)
        seen = []
        for checkpointing in (False, True):
            engine = open_tiny(folder, checkpointing=checkpointing)
            awake(engine, "m", ModelSpec(rank=4))
            seen.append(gradients(engine, "m", data, PPO))
        for name, value in seen[0].items():
            np.testing.assert_array_equal(value, seen[1][name])

    def test_dropout_of_a_configuration_is_off_in_training(self):
        gpt2 = {"model_type": "gpt2", "vocab_size": VOCAB, "n_positions": 256, "n_embd": 64, "n_layer": 2,
                "n_head": 4, "bos_token_id": 0, "eos_token_id": 0, "resid_pdrop": 0.3, "embd_pdrop": 0.3}  # fmt: skip
        opt = {"model_type": "opt", "dropout": 0.4, "ffn_dim": 96, "word_embed_proj_dim": 64,
               "num_key_value_heads": 4}  # fmt: skip
        data = data_for(8, 4, 50)
        for settings in ({"model_type": "llama", "attention_dropout": 0.4}, gpt2, opt):
            folder, seen = make_model(**settings), []
            for checkpointing in (False, True, True):
                engine = open_tiny(folder, checkpointing=checkpointing)
                awake(engine, "m", ModelSpec(mode="full"))
                first, second = (
                    engine.forward_backward("m", data, LossSpec("cross_entropy")) for _ in range(2)
                )
                for one, other in zip(first.outputs, second.outputs):
                    np.testing.assert_array_equal(one["logprobs"], other["logprobs"])
                seen.append(gradients(engine, "m", data, PPO))
            for name, value in seen[0].items():
                np.testing.assert_array_equal(value, seen[1][name], name)

    def test_layers_of_other_architectures_are_computed_again(self):
        folder, data = make_model(model_type="olmo2"), data_for(8, 1, 30)
        saved = []
        for checkpointing in (False, True):
            engine = open_tiny(folder, checkpointing=checkpointing)
            awake(engine, "m", ModelSpec(mode="full"))
            count = 0

            def keep(tensor):
                nonlocal count
                count += tensor.numel()
                return tensor

            with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
                engine._models["m"].activate().hidden(torch.from_numpy(data[0].tokens)[None])
            saved.append(count)
        self.assertLess(saved[1], saved[0] / 3)

    def test_models_share_nothing_that_is_trained(self):
        engine = open_tiny(make_model())
        data = data_for(10, 6)
        specs = {
            "a": ModelSpec(rank=4), "b": ModelSpec(rank=4, seed=1), "c": ModelSpec(rank=8),
            "d": ModelSpec(mode="full"), "e": ModelSpec(mode="full"),
        }  # fmt: skip
        for model, spec in specs.items():
            engine.create(model, spec)
        before = {model: self.logprobs(engine, model, data) for model in specs}
        for trained in ("a", "d"):
            engine.forward_backward("b", data, PPO)
            for _ in range(3):
                engine.forward_backward(trained, data, PPO)
                engine.optim_step(trained, AdamParams(1e-2))
        after = {model: self.logprobs(engine, model, data) for model in specs}
        for model in specs:
            same = all(np.array_equal(x, y) for x, y in zip(before[model], after[model]))
            self.assertEqual(same, model not in ("a", "d"), model)

    def logprobs(self, engine, model, data):
        result = engine.forward(model, only(data, "target_tokens", "weights"), LossSpec("bedside"))
        return [one["logprobs"] for one in result.outputs]

    def test_bad_data_is_refused_before_any_gradient(self):
        engine = open_tiny(make_model())
        engine.create("m", ModelSpec())
        good = data_for(11, 2, 10)
        tokens, inputs = good[1].tokens, good[1].inputs
        bad = {
            "target_tokens` from 0": {**inputs, "target_tokens": inputs["target_tokens"] + VOCAB},
            "of length": {**inputs, "weights": inputs["weights"][1:]},
            "expected `advantages`": {key: inputs[key] for key in inputs if key != "advantages"},
            "'old_logprobs', 'ref_logprobs'": {
                key: inputs[key] for key in inputs if key != "old_logprobs"
            },
            "temperature": {**inputs, "temperature": np.array([0.0])},
        }
        for message, wrong in bad.items():
            with self.assertRaisesRegex(EngineError, r"data\[1\].*" + message.replace("[", r"\[")):
                engine.forward_backward("m", [good[0], Datum(tokens, wrong)], PPO)
        for loss in (LossSpec("nll"), LossSpec("value"), LossSpec("bedside", {"kind": "?"})):
            with self.assertRaises(EngineError):
                engine.forward_backward("m", good, loss)
        long = Datum(np.zeros(300, dtype=np.int64), {})
        with self.assertRaisesRegex(EngineError, "1 to 256 tokens, got 300"):
            engine.forward("m", [long], PPO)
        with self.assertRaisesRegex(EngineError, "'other'"):
            engine.forward("other", good, PPO)
        self.assertEqual(engine._models["m"].gradients, {})


class Steps(unittest.TestCase):
    def test_steps_are_those_of_adamw(self):
        torch.manual_seed(0)
        ours = {name: torch.randn(5, 3, dtype=torch.float64) for name in "ab"}
        theirs = [torch.nn.Parameter(ours[name].clone()) for name in "ab"]
        optimizer = torch.optim.AdamW(theirs, 1e-2, (0.8, 0.95), 1e-6, 0.1)
        moments = adamw.Moments()
        for _ in range(5):
            grads = {name: torch.randn(5, 3, dtype=torch.float64) for name in "ab"}
            for parameter, name in zip(theirs, "ab"):
                parameter.grad = grads[name].clone()
            norm = torch.nn.utils.clip_grad_norm_(theirs, 2.0)
            optimizer.step()
            adam = AdamParams(1e-2, 0.8, 0.95, 1e-6, 0.1, 2.0)
            self.assertAlmostEqual(adamw.step(ours, grads, moments, adam), norm.item(), 12)
            for parameter, name in zip(theirs, "ab"):
                torch.testing.assert_close(ours[name], parameter.data, rtol=1e-6, atol=1e-8)

    def test_steps_in_groups_are_the_same_to_the_bit(self):
        draw = torch.Generator().manual_seed(0)
        seen, kept = [], adamw._GROUP_BYTES
        weights = {name: torch.randn(7, 11, generator=draw) for name in "abcde"}
        grads = {name: torch.randn(7, 11, generator=draw) for name in "abde"}
        try:
            for adamw._GROUP_BYTES in (1 << 28, 2 * 7 * 11 * 4, 1):
                ours, moments = {name: one.clone() for name, one in weights.items()}, adamw.Moments()
                for _ in range(3):
                    adamw.step(ours, grads, moments, AdamParams(1e-2, 0.8, 0.95, 1e-6, 0.1, 2.0))
                seen.append((ours, moments.first, moments.second))
        finally:
            adamw._GROUP_BYTES = kept
        for other in seen[1:]:
            for mine, theirs in zip(seen[0], other):
                for name in "abcde":
                    self.assertTrue(torch.equal(mine[name], theirs[name]), name)

    def test_what_is_not_finite_makes_no_step(self):
        engine = open_tiny(make_model())
        engine.create("m", ModelSpec(rank=4))
        data = data_for(12, 4)
        engine.forward_backward("m", data, PPO)
        engine.optim_step("m", AdamParams(1e-3))
        held = engine._models["m"]
        before = {name: one.clone() for name, one in held.weights.items()}
        data[2].inputs["advantages"][:] = np.nan
        engine.forward_backward("m", data[:2], PPO)
        with self.assertRaises(NonFinite):
            engine.forward_backward("m", data, PPO)
        self.assertEqual(held.gradients, {})
        engine.forward_backward("m", data[:2], PPO)
        next(iter(held.gradients.values())).fill_(np.inf)
        with self.assertRaises(NonFinite):
            engine.optim_step("m", AdamParams(1e-3))
        self.assertEqual((held.gradients, held.moments.steps), ({}, 1))
        for name, one in held.weights.items():
            torch.testing.assert_close(one, before[name], rtol=0, atol=0)

    def test_a_value_head_begins_at_zero_and_learns(self):
        engine = open_tiny(make_model())
        engine.create("v", ModelSpec(rank=8, head="value"))
        data = data_for(13, 8)
        first = engine.forward("v", only(data, "weights"), LossSpec("value"))
        self.assertTrue(all((one["values"] == 0).all() for one in first.outputs))
        losses = []
        for _ in range(40):
            losses.append(engine.forward_backward("v", data, LossSpec("value")).metrics["loss:sum"])
            engine.optim_step("v", AdamParams(3e-3))
        self.assertLess(losses[-1], 0.2 * losses[0])

    def test_it_learns_a_reward_by_drawing(self):
        engine = open_tiny(make_model())
        engine.create("m", ModelSpec(rank=8))
        rewards = []
        for step in range(25):
            engine.snapshot("m", "now")
            for key in range(48):
                engine.submit(SampleJob(key, "now", [5, 6, 7 + key % 3], 4, seed=1000 * step + key))
            done = drain(engine)
            scores = np.array([sum(t % 2 == 0 for t in done[key].tokens) / 4 for key in range(48)])
            rewards.append(scores.mean())
            data = [self.datum(key, done[key], scores[key] - scores.mean()) for key in range(48)]
            engine.forward_backward("m", data, LossSpec("importance_sampling"))
            engine.optim_step("m", AdamParams(2e-3))
        self.assertGreater(np.mean(rewards[-3:]), np.mean(rewards[:3]) + 0.25, rewards)

    def datum(self, key, sampled, advantage):
        ids = np.array([5, 6, 7 + key % 3, *sampled.tokens])
        mask = np.arange(len(ids) - 1) >= 2
        logprobs = np.concatenate([[0, 0], sampled.logprobs])
        inputs = {"target_tokens": ids[1:], "logprobs": logprobs, "advantages": advantage * mask}
        return Datum(ids[:-1], inputs)


if __name__ == "__main__":
    report(__name__)
