"""Reads model folders with transformers.

Reads {"folders", "messages"} on stdin; writes for each what became of it: architecture, keys, parameters, ids.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

given = json.load(sys.stdin)


def read(folder):
    model, loading = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer.apply_chat_template(given["messages"], add_generation_prompt=True)["input_ids"]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits
    assert torch.isfinite(logits).all()
    return {
        "architecture": type(model).__name__,
        "missing": sorted(loading["missing_keys"]),
        "unexpected": sorted(loading["unexpected_keys"]),
        "parameters": model.num_parameters(),
        "tied": model.lm_head.weight is model.model.embed_tokens.weight,
        "ids": ids,
        "ends": model.generation_config.eos_token_id,
        "vocabulary": logits.shape[-1],
    }


torch.set_num_threads(2)
json.dump([read(folder) for folder in given["folders"]], sys.stdout)
