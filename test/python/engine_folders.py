"""What the torch engine reads from disk and writes there."""

import json
import resource
import shutil
import signal
import unittest
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from engine_harness import awake, data_for, drain, fresh_folder, make_model, only, open_tiny, report  # isort: split

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from bedside_trainers.engines import open_engine
from bedside_trainers.engines.engine import AdamParams, EngineError, LossSpec, ModelSpec, SampleJob, StorageError

PPO = LossSpec("bedside", {"kind": "ppo-clip", "low": 0.2, "high": 0.2, "entropy": 0.01})
SPECS = (
    (ModelSpec(rank=4, seed=3), PPO),
    (ModelSpec(mode="full"), PPO),
    (ModelSpec(rank=4, head="value"), LossSpec("value", {"range": 0.3})),
)


def stepped(engine, model, loss, seeds, data_of=data_for):
    for seed in seeds:
        engine.forward_backward(model, data_of(seed, 5), loss)
        engine.optim_step(model, AdamParams(1e-3, grad_clip_norm=0.5, weight_decay=0.01))


@contextmanager
def full_disk(room: int):
    """No file can grow beyond `room` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


class Checkpoints(unittest.TestCase):
    def test_the_next_step_after_loading_is_the_same_to_the_bit(self):
        base = make_model()
        for dtype in ("float32", "bfloat16"):
            for spec, loss in SPECS:
                state = fresh_folder()
                engine = open_tiny(base, dtype=dtype)
                engine.create("m", spec)
                stepped(engine, "m", loss, (1, 2, 3))
                engine.save("m", state / "c")
                stepped(engine, "m", loss, (4, 5))
                other = open_tiny(base, dtype=dtype)
                self.assertEqual(other.spec_of(state / "c"), spec)
                other.create("n", replace(spec, seed=99))
                stepped(other, "n", loss, (9,))
                other.forward_backward("n", data_for(8, 3), loss)
                other.load("n", state / "c", optimizer=True)
                stepped(other, "n", loss, (4, 5))
                mine, theirs = engine._models["m"], other._models["n"]
                for name, weight in mine.weights.items():
                    self.assertTrue(torch.equal(weight, theirs.weights[name]), name)
                self.assertTrue(
                    torch.equal(mine.generator.get_state(), theirs.generator.get_state())
                )
                other.load("n", state / "c", optimizer=False)
                self.assertEqual(theirs.moments.steps, 0)

    def test_a_snapshot_of_a_checkpoint_draws_what_the_model_drew(self):
        for spec in (ModelSpec(rank=4), ModelSpec(mode="full")):
            engine, state = open_tiny(make_model()), fresh_folder()
            awake(engine, "m", spec)
            stepped(engine, "m", PPO, (1,))
            engine.save("m", state / "c")
            engine.snapshot("m", "live")
            engine.load_snapshot(state / "c", "read")
            for key in range(8):
                for name in ("live", "read"):
                    engine.submit(SampleJob((name, key), name, [5, 6, key], 12, seed=key))
            done = drain(engine)
            for key in range(8):
                live, read = done["live", key], done["read", key]
                self.assertEqual((live.tokens, live.logprobs), (read.tokens, read.logprobs))

    def test_a_checkpoint_to_sample_from_has_no_optimiser(self):
        engine, state = open_tiny(make_model()), fresh_folder()
        engine.create("m", ModelSpec(rank=4))
        stepped(engine, "m", PPO, (1, 2))
        engine.save("m", state / "c", optimizer=False)
        self.assertFalse((state / "c" / "optimizer.safetensors").exists())
        engine.load_snapshot(state / "c", "s")
        kept = {name: one.clone() for name, one in engine._models["m"].weights.items()}
        stepped(engine, "m", PPO, (3,))
        with self.assertRaisesRegex(EngineError, "saved to sample from"):
            engine.load("m", state / "c", optimizer=True)
        engine.load("m", state / "c", optimizer=False)
        for name, weight in engine._models["m"].weights.items():
            self.assertTrue(torch.equal(weight, kept[name]))

    def test_what_is_no_checkpoint_of_this_model_is_refused(self):
        base, state = make_model(), fresh_folder()
        engine = open_tiny(base)
        engine.create("m", ModelSpec(rank=4))
        stepped(engine, "m", PPO, (1,))
        engine.save("m", state / "c")
        kept = {name: one.clone() for name, one in engine._models["m"].weights.items()}
        stepped(engine, "m", PPO, (2,))
        now = {name: one.clone() for name, one in engine._models["m"].weights.items()}
        shutil.copytree(state / "c", state / "bent")
        path = state / "bent" / "adapter_model.safetensors"
        path.write_bytes(path.read_bytes()[:-4] + b"\0\1\2\3")
        shutil.copytree(state / "c", state / "half")
        (state / "half" / "optimizer.safetensors").unlink()
        cases = {
            "is not|as it was written": "bent",
            "optimizer.safetensors": "half",
            "checkpoint": "none",
        }
        for message, name in cases.items():
            with self.assertRaisesRegex(EngineError, message):
                engine.load("m", state / name, optimizer=True)
        engine.create("wide", ModelSpec(rank=8))
        with self.assertRaisesRegex(EngineError, "rank=8"):
            engine.load("wide", state / "c", optimizer=True)
        for other in (make_model(seed=1), make_model(num_hidden_layers=1)):
            with self.assertRaisesRegex(EngineError, "another"):
                open_tiny(other).load_snapshot(state / "c", "s")
        with self.assertRaisesRegex(EngineError, "there already"):
            engine.save("m", state / "c")
        for name, weight in engine._models["m"].weights.items():
            self.assertTrue(torch.equal(weight, now[name]))
        engine.load("m", state / "c", optimizer=True)
        for name, weight in engine._models["m"].weights.items():
            self.assertTrue(torch.equal(weight, kept[name]))

    def test_a_full_disk_leaves_nothing_behind(self):
        engine, state = open_tiny(make_model()), fresh_folder()
        engine.create("m", ModelSpec(rank=8))
        stepped(engine, "m", PPO, (1,))
        for write in (
            lambda folder: engine.save("m", folder),
            lambda folder: engine.export("m", "adapter", folder),
            lambda folder: engine.export("m", "merged", folder),
        ):
            for room in (100, 20_000):
                with full_disk(room), self.assertRaisesRegex(StorageError, "Could not write"):
                    write(state / "c")
                self.assertEqual(list(state.iterdir()), [])
            write(state / "c")
            shutil.rmtree(state / "c")
        stepped(engine, "m", PPO, (2,))


class Exports(unittest.TestCase):
    def test_exports_are_the_model(self):
        for settings in ({}, {"tie_word_embeddings": False}, {"model_type": "qwen2"}):
            base, state = make_model(**settings), fresh_folder()
            engine = open_tiny(base)
            awake(engine, "m", ModelSpec(rank=4, train_unembed=True))
            stepped(engine, "m", PPO, (1, 2))
            engine.export("m", "adapter", state / "adapter")
            engine.export("m", "merged", state / "merged")
            adapted = PeftModel.from_pretrained(
                AutoModelForCausalLM.from_pretrained(base), state / "adapter"
            ).eval()
            merged = AutoModelForCausalLM.from_pretrained(state / "merged").eval()
            self.assertTrue(AutoTokenizer.from_pretrained(state / "merged").chat_template)
            for datum in data_for(4, 5):
                ids = torch.from_numpy(datum.tokens)[None]
                with torch.no_grad():
                    logits = [model(input_ids=ids).logits[0] for model in (adapted, merged)]
                self.assertLess(
                    (logits[0] - logits[1]).abs().max().item(),
                    1e-5 * (1 + logits[0].abs().max().item()),
                )
                asked = only([datum], "target_tokens")
                ours = engine.forward("m", asked, LossSpec("cross_entropy")).outputs[0]["logprobs"]
                targets = torch.from_numpy(datum.inputs["target_tokens"])[:, None]
                theirs = logits[0].log_softmax(-1).gather(1, targets)[:, 0].numpy()
                self.assertLess(abs(ours - theirs).max(), 1e-5)
            again = open_tiny(state / "merged")
            again.create("m", ModelSpec(mode="full"))

    def test_full_models_export_too_and_values_do_not(self):
        engine, state = open_tiny(make_model()), fresh_folder()
        engine.create("full", ModelSpec(mode="full"))
        engine.create("value", ModelSpec(head="value"))
        stepped(engine, "full", PPO, (1,))
        engine.export("full", "merged", state / "merged")
        merged = AutoModelForCausalLM.from_pretrained(state / "merged")
        for name, parameter in merged.named_parameters():
            self.assertTrue(torch.equal(parameter, engine._models["full"].weights[name]), name)
        for model, kind in (("full", "adapter"), ("value", "merged"), ("full", "gguf")):
            with self.assertRaises(EngineError):
                engine.export(model, kind, state / "x")
        self.assertEqual([path.name for path in state.iterdir()], ["merged"])


class Folders(unittest.TestCase):
    def test_what_a_folder_lacks_is_named(self):
        def without(*names):
            folder = make_model()
            for name in names:
                (folder / name).unlink()
            return folder

        cases = {
            "no such folder": Path("/nowhere"),
            "config.json": without("config.json"),
            "weights": without("model.safetensors"),
            "tokenizer": without("tokenizer.json"),
        }
        for message, folder in cases.items():
            with self.assertRaisesRegex(EngineError, message):
                open_tiny(folder)
        odd = make_model()
        (odd / "config.json").write_text(json.dumps({"model_type": "bert", "vocab_size": 9}))
        with self.assertRaisesRegex(EngineError, "every weight of a causal"):
            open_tiny(odd)
        # Whoever sends token ids needs no template: base models have none.
        open_tiny(without("chat_template.jinja"))
        torn = make_model()
        weights = (torn / "model.safetensors").read_bytes()
        (torn / "model.safetensors").write_bytes(weights[: len(weights) // 2])
        with self.assertRaisesRegex(EngineError, "Could not load"):
            open_tiny(torn)

    def test_settings_that_will_not_do_are_refused(self):
        folder = make_model()
        cases = (
            ("peft or unsloth", {"name": "vllm"}),
            ("dtype", {"dtype": "int4"}),
            ("options", {"options": {"speed": 9}}),
            ("`rows` to be a whole number", {"options": {"rows": 0}}),
            ("1 to 256, the model's own, got 257", {"options": {"context_length": 257}}),
            ("CUDA", {"device": "cuda:0"}),
        )
        for message, settings in cases:
            with self.assertRaisesRegex(EngineError, message):
                open_engine(**{"name": "peft", "model_path": folder, "device": "cpu", **settings})
        engine = open_tiny(folder)
        for message, spec in (
            ("1 to 32", ModelSpec(rank=33)),
            ("1 to 32", ModelSpec(rank=0)),
            ("alpha", ModelSpec(alpha=0)),
            ("leave none", ModelSpec(train_attn=False, train_mlp=False)),
            ("mode", ModelSpec(mode="half")),
            ("head", ModelSpec(head="two")),
        ):
            with self.assertRaisesRegex(EngineError, message):
                engine.create("m", spec)
        info = engine.create("m", ModelSpec(rank=32, train_unembed=True))
        self.assertRegex(info.notes[0], "tied")
        with self.assertRaisesRegex(EngineError, "there already"):
            engine.create("m", ModelSpec())
        engine.unload("m")
        engine.create("m", ModelSpec())

    def test_the_adapter_is_decided_by_the_seed(self):
        engine = open_tiny(make_model())
        for model, seed in (("a", 1), ("b", 1), ("c", 2)):
            torch.manual_seed(seed + len(model))
            engine.create(model, ModelSpec(rank=4, seed=seed))
        held = {model: engine._models[model].weights for model in "abc"}
        for name, weight in held["a"].items():
            self.assertTrue(torch.equal(weight, held["b"][name]))
            self.assertEqual(torch.equal(weight, held["c"][name]), "lora_B" in name)


if __name__ == "__main__":
    report(__name__)
