"""Tiny random models with a tokenizer, data for them, and how a test module reports to vitest."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src/trainers/python"))

from bedside_trainers.engines.environment import prepare_environment

# Before torch.
prepare_environment()

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

from bedside_trainers.engines import open_engine
from bedside_trainers.engines.engine import Datum, LossSpec, ModelSpec

torch.set_num_threads(1)
transformers.utils.logging.disable_progress_bar()

TEXT = (
    "The patient has had a cough for three days.",
    "Any pain in the chest? Yes.",
    "发热三天,咳嗽。",
)
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
VOCAB, CONTEXT = 320, 256
QWEN3 = {
    "model_type": "qwen3",
    "vocab_size": VOCAB,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": CONTEXT,
    "tie_word_embeddings": True,
    # Hot enough that LoRA alone can make any token likely.
    "initializer_range": 0.12,
}


_HOME = tempfile.TemporaryDirectory(prefix="bedside-engine-")


def fresh_folder() -> Path:
    """An empty folder that goes with this process."""
    return Path(tempfile.mkdtemp(dir=_HOME.name))


def make_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>")
    made.chat_template = TEMPLATE
    made.save_pretrained(folder)
    return made


def make_model(seed: int = 0, **settings) -> Path:
    """A random causal model of about 100 thousand parameters, by default a Qwen3, in a new folder."""
    folder = fresh_folder()
    make_tokenizer(folder)
    config = AutoConfig.for_model(**(settings if "n_embd" in settings else {**QWEN3, **settings}))
    torch.manual_seed(seed)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder


def open_tiny(folder: Path, **settings):
    """A peft engine on the CPU; options by name."""
    dtype = settings.pop("dtype", "auto")
    return open_engine("peft", folder, dtype=dtype, device="cpu", options=settings)


def awake(engine, model_id: str, spec: ModelSpec, scale: float = 0.05) -> None:
    """A model whose LoRA and value head are not the zeros they begin as."""
    engine.create(model_id, spec)
    draw = torch.Generator().manual_seed(7)
    held = engine._models[model_id]
    for name, weight in held.weights.items():
        if "lora_B" in name or "value_head" in name:
            weight.copy_(torch.randn(weight.shape, generator=draw, dtype=torch.float64) * scale)
    held.trained()


def data_for(seed: int, count: int, longest: int = 40, **more) -> list[Datum]:
    """Data with all inputs of the losses: drawn here and there, log-probs near those of random weights."""
    rng = np.random.default_rng(seed)
    data = []
    for _ in range(count):
        length = int(rng.integers(3, longest))
        ids = rng.integers(3, VOCAB, length + 1)
        mask = rng.random(length) < 0.6
        mask[int(rng.integers(length))] = True
        some = {
            "weights": mask * rng.uniform(0.05, 0.2),
            "logprobs": mask * rng.normal(-6, 1, length),
            "old_logprobs": mask * rng.normal(-6, 1, length),
            "ref_logprobs": mask * rng.normal(-6, 1, length),
            "advantages": mask * rng.normal(size=length),
            "returns": mask * rng.normal(size=length),
            "old_values": mask * rng.normal(size=length),
        }
        inputs = {name: values.astype(np.float64) for name, values in some.items()}
        data.append(Datum(ids[:-1], {"target_tokens": ids[1:], **inputs, **more}))
    return data


def only(data: list[Datum], *names: str) -> list[Datum]:
    return [Datum(one.tokens, {name: one.inputs[name] for name in names}) for one in data]


def gradients(engine, model_id: str, data: list[Datum], loss: LossSpec) -> dict[str, np.ndarray]:
    """The gradient of one call, as the optimiser would get it."""
    engine.discard(model_id)
    engine.forward_backward(model_id, data, loss)
    found = engine._models[model_id].gradients
    engine.discard(model_id)
    return {name: one.double().numpy().copy() for name, one in found.items()}


def drain(engine) -> dict:
    """What all jobs in flight become, by key."""
    done = {}
    while engine.waiting:
        done.update((one.key, one) for one in engine.advance())
    return done


def report(module: str) -> None:
    """Runs a module's tests; one JSON document on stdout."""

    class Result(unittest.TestResult):
        def addSuccess(self, test):
            passed.append(test.id().split(".")[-1])

    passed: list[str] = []
    result = Result()
    names = sys.argv[1:]
    loader = unittest.defaultTestLoader
    loaded = loader.loadTestsFromNames(names, sys.modules[module]) if names else None
    (loaded or loader.loadTestsFromModule(sys.modules[module])).run(result)
    failed = {
        test.id().split(".")[-1]: text[-3000:] for test, text in result.failures + result.errors
    }
    json.dump({"passed": passed, "failed": failed}, sys.stdout)
