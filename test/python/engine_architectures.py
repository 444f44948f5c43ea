"""Log-probs of other architectures: those of the model itself, or a refusal that names it."""

import unittest

from architectures import BOUND, judge, make_architecture  # isort: split

from engine_harness import awake, data_for, fresh_folder, gradients, make_tokenizer, open_tiny, report  # isort: split

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from bedside_trainers.engines.engine import EngineError, LossSpec, ModelSpec

# One of every kind of head, cap, window and expert; `architectures.py` itself goes through all.
SERVED = (
    "cohere", "cohere2_moe", "exaone4", "gemma", "gemma2", "gemma3_text", "gemma3n_text", "gpt2", "gpt_neox", "granite",
    "granitemoe", "hyperclovax", "jetmoe", "mixtral", "nanochat", "olmo2", "opt", "phi3", "qwen3_moe", "vaultgemma",
)  # fmt: skip
REFUSED = {
    "bert": "'bert': by its head .* they differ by",
    "falcon_mamba": "FalconMambaForCausalLM",
    "gpt_oss": "GptOssForCausalLM",
    "llama4_text": "llama4_text",
    "marian": r"\(marian\): log-probs of sampling are [0-9.]+ nats",
    "minicpm3": "minicpm3",
    "qwen3_next": "qwen3_next",
    "recurrent_gemma": "recurrent_gemma",
    "stablelm": "stablelm",
}


class Architectures(unittest.TestCase):
    def test_log_probs_are_the_models_own(self):
        for kind in SERVED:
            found = judge(kind)
            self.assertIsNone(found.refused or found.not_made, kind)
            self.assertLessEqual(found.gap, BOUND, kind)

    def test_what_is_not_served_is_refused_by_name(self):
        for kind, message in REFUSED.items():
            found = judge(kind)
            self.assertIsNone(found.gap, kind)
            self.assertRegex(found.refused or found.not_made, message)

    def test_gradients_are_the_models_own(self):
        for kind in ("granite", "cohere", "gemma2", "hyperclovax"):
            folder = fresh_folder()
            make_architecture(kind, folder)
            make_tokenizer(folder)
            engine, data = open_tiny(folder, dtype="float64"), data_for(8, 3, 30)
            awake(engine, "m", ModelSpec(mode="full"))
            found = gradients(engine, "m", data, LossSpec("cross_entropy"))
            plain = AutoModelForCausalLM.from_pretrained(
                folder, dtype=torch.float64, attn_implementation="eager"
            ).eval()
            for one in data:
                logits = plain(input_ids=torch.from_numpy(one.tokens)[None], use_cache=False).logits[0]
                targets = torch.from_numpy(one.inputs["target_tokens"])
                picked = logits.log_softmax(-1).gather(1, targets[:, None])[:, 0]
                (-picked * torch.from_numpy(one.inputs["weights"])).sum().backward()
            for weight, parameter in plain.named_parameters():
                theirs = parameter.grad.numpy()
                gap = np.abs(found[weight] - theirs).max() / np.abs(theirs).max()
                # The library's norms and angles are float32 at any precision.
                self.assertLess(gap, 1e-5, f"{kind}: {weight}")

    def test_the_context_length_is_asked_for_where_there_is_none(self):
        folder = fresh_folder()
        make_architecture("whisper", folder)
        make_tokenizer(folder)
        with self.assertRaisesRegex(EngineError, "`context_length`: the configuration of whisper"):
            open_tiny(folder)
        self.assertEqual(open_tiny(folder, context_length=99).info.context_length, 99)


if __name__ == "__main__":
    report(__name__)
