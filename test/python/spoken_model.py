"""Makes a small model that speaks as a doctor of the small clinic: run by test/server/python-recipes.slow.test.ts.

Takes a folder; prints {"model"}, the model's.
"""

import json
import sys
from pathlib import Path

import small_clinic
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import bedside

home = Path(sys.argv[1])
home.mkdir(parents=True)
small_clinic.write_cases(home / "cases.jsonl", 32, 2)
with bedside.serve("--cases", str(home / "cases.jsonl")) as server, bedside.Client(server.url, server.token) as client:
    talks = small_clinic.demonstrate(client, 32, 0)
folder = home / "model"
small_clinic.make_model(folder, [message["content"] for talk in talks for message in talk], 0)
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
small_clinic.imitate(model, [small_clinic.masked(tokenizer, talk) for talk in talks], steps=60, seed=0)
model.save_pretrained(folder)
print(json.dumps({"model": str(folder)}))
