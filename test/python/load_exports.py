"""Loads exports with the libraries they are made for, and prints what was loaded as one line of JSON.

load_exports.py data|verl|trl|slime FOLDER; the folder holds <format>.parquet and <format>.jsonl of each format,
samples.jsonl and trajectories.parquet.
"""

import importlib.util
import json
import os
import sys

FORMATS = ("sft", "prompts", "verl", "slime")

TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' }}"
    "{% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] + '<|end|>' }}{% endgeneration %}"
    "{% else %}{{ message['content'] + '<|end|>' }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def tokenizer():
    """A tokenizer of single bytes with a chat template, made here so that nothing is fetched."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    wrapped = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|end|>", pad_token="<|pad|>")
    roles = ["<|system|>", "<|user|>", "<|assistant|>"]
    wrapped.add_special_tokens({"additional_special_tokens": roles})
    wrapped.chat_template = TEMPLATE
    return wrapped


def load_data(folder):
    import datasets
    import duckdb
    import pyarrow.parquet

    datasets.disable_progress_bars()
    found = {}
    for name in FORMATS:
        parquet, jsonl = (os.path.join(folder, f"{name}.{kind}") for kind in ("parquet", "jsonl"))
        cache = os.path.join(folder, "cache")
        one = datasets.load_dataset("parquet", data_files=parquet, split="train", cache_dir=cache)
        other = datasets.load_dataset("json", data_files=jsonl, split="train", cache_dir=cache)
        asked = duckdb.connect().execute("select * from read_parquet(?)", [parquet])
        columns = [column[0] for column in asked.description]
        found[name] = {
            "datasets": one.to_list(),
            "datasets_jsonl": other.to_list(),
            "duckdb": [dict(zip(columns, row)) for row in asked.fetchall()],
            "pyarrow": pyarrow.parquet.read_table(parquet).to_pylist(),
        }
    found["trajectories"] = load_trajectories(os.path.join(folder, "trajectories.parquet"))
    return found


def load_trajectories(path):
    import datasets
    import duckdb
    import numpy
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    # Bits, since equality says nothing of the two zeros.
    bits = [
        numpy.asarray(row, dtype=numpy.float32).view(numpy.uint32).tolist()
        for row in table["logprobs"].to_pylist()
    ]
    counts = duckdb.connect().execute(
        "select policy_version_max, count(*), sum(length), sum(list_sum(mask)), sum(drawn)"
        " from read_parquet(?) group by 1 order by 1",
        [path],
    )
    metadata = duckdb.connect().execute(
        "select decode(value) from parquet_kv_metadata(?) where decode(key) = 'bedside'", [path]
    )
    cache = os.path.join(os.path.dirname(path), "cache")
    loaded = datasets.load_dataset("parquet", data_files=path, split="train", cache_dir=cache)
    return {
        "schema": table.schema.metadata[b"bedside"].decode() if table.schema.metadata else None,
        "file_metadata": pyarrow.parquet.read_metadata(path).metadata[b"bedside"].decode(),
        "duckdb_metadata": metadata.fetchall(),
        "types": {field.name: str(field.type) for field in table.schema},
        "rows": table.to_pylist(),
        "datasets": loaded.to_list(),
        "logprob_bits": bits,
        "by_version": [[int(cell) for cell in row] for row in counts.fetchall()],
    }


def load_verl(folder):
    from omegaconf import OmegaConf
    from verl.utils.dataset.rl_dataset import RLHFDataset

    config = OmegaConf.create(
        {
            "cache_dir": os.path.join(folder, "cache"),
            "max_prompt_length": 100_000,
            "filter_overlong_prompts_workers": 1,
            "return_raw_chat": True,
        }
    )
    found = {}
    for kind in ("parquet", "jsonl"):
        path = os.path.join(folder, f"verl.{kind}")
        rows = RLHFDataset(data_files=path, tokenizer=tokenizer(), config=config)
        found[kind] = [
            {
                key: rows[i][key]
                for key in ("raw_prompt", "data_source", "reward_model", "extra_info", "index", "agent_name")
            }
            for i in range(len(rows))
        ]
    return found


def tiny_model(size):
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=size,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=8192,
        )
    )


def load_trl(folder):
    import datasets
    from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

    datasets.disable_progress_bars()
    words = tokenizer()

    def load(name):
        path = os.path.join(folder, f"{name}.parquet")
        cache = os.path.join(folder, "cache")
        return datasets.load_dataset("parquet", data_files=path, split="train", cache_dir=cache)

    common = {"use_cpu": True, "report_to": [], "max_steps": 1, "disable_tqdm": True, "save_strategy": "no"}
    trainer = SFTTrainer(
        model=tiny_model(len(words)),
        args=SFTConfig(
            output_dir=os.path.join(folder, "sft"),
            assistant_only_loss=True,
            max_length=8192,
            per_device_train_batch_size=1,
            **common,
        ),
        train_dataset=load("sft"),
        processing_class=words,
    )
    learnt = [
        words.decode([label for label in row["labels"] if label != -100])
        for row in trainer.train_dataset
    ]
    loss = trainer.train().training_loss
    asked = []

    def reward(prompts, completions, case_id, seed, language, **_):
        asked.extend(zip(prompts, case_id, seed, language))
        return [float(i) for i in range(len(prompts))]

    GRPOTrainer(
        model=tiny_model(len(words)),
        reward_funcs=reward,
        args=GRPOConfig(
            output_dir=os.path.join(folder, "grpo"),
            num_generations=2,
            per_device_train_batch_size=2,
            max_completion_length=4,
            **common,
        ),
        train_dataset=load("prompts"),
        processing_class=words,
    ).train()
    return {"learnt": learnt, "loss": loss, "asked": asked}


def load_slime(folder):
    sys.path.insert(0, os.environ["BEDSIDE_SLIME"])
    from slime.utils.data import Dataset
    from slime.utils.types import Sample

    found = {"prompts": {}}
    # slime reads parquet where pyarrow is installed.
    kinds = ("parquet", "jsonl") if importlib.util.find_spec("pyarrow") else ("jsonl",)
    for kind in kinds:
        path = os.path.join(folder, f"slime.{kind}")
        options = {"prompt_key": "prompt", "label_key": "label", "apply_chat_template": True}
        rows = Dataset(path, tokenizer(), None, None, **options)
        found["prompts"][kind] = [[row.prompt, row.label, row.metadata] for row in rows.samples]
    with open(os.path.join(folder, "samples.jsonl"), encoding="utf-8") as lines:
        samples = [Sample.from_dict(json.loads(line)) for line in lines]
    found["samples"] = [
        {
            "back": {key: sample.to_dict()[key] for key in ("tokens", "loss_mask", "rollout_log_probs", "status")},
            "status": sample.status.name,
            "drawn": sample.effective_response_length,
            "whole": len(sample.loss_mask) == sample.response_length == len(sample.rollout_log_probs),
            "rollout": [sample.group_index, sample.index, sample.rollout_id, sample.reward],
        }
        for sample in samples
    ]
    return found


def plain(value):
    """Arrays and numbers of numpy as JSON has them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


if __name__ == "__main__":
    work = {"data": load_data, "verl": load_verl, "trl": load_trl, "slime": load_slime}[sys.argv[1]]
    result = work(sys.argv[2])
    print("\n" + json.dumps(result, default=plain))
