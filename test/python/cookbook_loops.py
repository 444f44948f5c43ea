"""Loops of tinker-cookbook, unmodified, against a running sidecar: run by test/trainers/python/cookbook.slow.test.ts.

Reads {"address", "token", "tokenizer", "folder"} on stdin; writes what each loop logged, and what the loop that is
refused was told. The server is named `MODEL`, the loops' own default, whose tokenizer is looked for as a folder of that
name; so are the data sets. Replaced are the address, the model and the data, and sizes that fit a small model.
"""

import asyncio
import json
import logging
import os
import shutil
import sys
from pathlib import Path

given = json.load(sys.stdin)
home = Path(given["folder"])
os.chdir(home)
os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "HF_HOME": str(home / "cache"),
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "TINKER_TELEMETRY": "0",
    "TINKER_API_KEY": given["token"],
    "TINKER_BASE_URL": given["address"],
}

from tinker_cookbook.recipes import rl_loop, sl_loop  # noqa: E402
from tinker_cookbook.recipes.math_rl.math_env import Gsm8kDatasetBuilder, MathEnv  # noqa: E402
from tinker_cookbook.rl import train as rl_train  # noqa: E402
from tinker_cookbook.supervised import train as supervised_train  # noqa: E402
from tinker_cookbook.supervised.data import FromConversationFileBuilder  # noqa: E402
from tinker_cookbook.supervised.types import ChatDatasetBuilderCommonConfig  # noqa: E402

MODEL, RENDERER = "Qwen/Qwen3.5-9B-Base", "role_colon"
RANK, STEPS, LENGTH = 16, 2, 768
QUESTION = "For how many days has she had a fever?"


def write_lines(path, rows):
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def lay_out():
    """The model's tokenizer and the data sets, where the loops look for them."""
    (home / MODEL).parent.mkdir()
    (home / MODEL).symlink_to(given["tokenizer"])
    # The answers are a coin's: what is learnt from them is right half of the time, and a group of samples differs.
    talks = [
        [
            *MathEnv.standard_fewshot_prefix(),
            {"role": "user", "content": QUESTION + MathEnv.question_suffix()},
            {"role": "assistant", "content": f"\\boxed{{{1 + n % 2}}}"},
        ]
        for n in range(120)
    ]
    write_lines(home / "HuggingFaceH4/no_robots/train.jsonl", [{"messages": t} for t in talks])
    sums = [{"question": QUESTION, "answer": "#### 1"}] * 4
    splits = {split: f"{split}/rows.jsonl" for split in ("train", "test")}
    for path in splits.values():
        write_lines(home / "openai/gsm8k" / path, sums)
    files = [{"split": split, "path": path} for split, path in splits.items()]
    configs = json.dumps([{"config_name": "main", "data_files": files}])
    (home / "openai/gsm8k/README.md").write_text(f"---\nconfigs: {configs}\n---\n")


def logged(name):
    return [json.loads(line) for line in (home / name / "metrics.jsonl").read_text().splitlines()]


def imitate():
    last = sl_loop.renderers.TrainOnWhat.LAST_ASSISTANT_MESSAGE
    rate = {"learning_rate": 1e-2, "lora_rank": RANK, "train_on_what": last}
    sl_loop.main(sl_loop.Config(log_path="sl_loop", batch_size=4, max_length=LENGTH, **rate))
    return logged("sl_loop")


def reward(name, **changes):
    """The loop of rewards, from the checkpoint that imitation left."""
    (home / name).mkdir()
    (checkpoint,) = (home / "sl_loop/checkpoints.jsonl").read_text().splitlines()[-1:]
    record = json.dumps({**json.loads(checkpoint), "batch": 0})
    (home / name / "checkpoints.jsonl").write_text(f"{record}\n")
    sizes = {"batch_size": 2, "group_size": 8, "max_tokens": 16, "lora_rank": RANK}
    rl_loop.main(rl_loop.Config(log_path=name, max_steps=STEPS, **sizes, **changes))
    return logged(name)


def supervised():
    common = ChatDatasetBuilderCommonConfig(
        model_name_for_tokenizer=MODEL, renderer_name=RENDERER, max_length=LENGTH, batch_size=4
    )
    data = FromConversationFileBuilder(
        file_path="HuggingFaceH4/no_robots/train.jsonl", test_size=2, common_config=common
    )
    every = {"save_every": 1, "eval_every": 1, "max_steps": STEPS}
    config = supervised_train.Config(
        log_path="supervised",
        model_name=MODEL,
        recipe_name="test",
        dataset_builder=data,
        lora_rank=RANK,
        **every,
    )
    asyncio.run(supervised_train.main(config))
    return logged("supervised")


def rewarded():
    data = Gsm8kDatasetBuilder(
        batch_size=2, model_name_for_tokenizer=MODEL, renderer_name=RENDERER, group_size=8
    )
    lines = (home / "sl_loop/checkpoints.jsonl").read_text().splitlines()
    every = {"save_every": 1, "eval_every": 1, "max_steps": STEPS}
    config = rl_train.Config(
        log_path="rl",
        model_name=MODEL,
        recipe_name="test",
        dataset_builder=data,
        learning_rate=1e-4,
        max_tokens=16,
        lora_rank=RANK,
        load_checkpoint_path=json.loads(lines[-1])["state_path"],
        **every,
    )
    asyncio.run(rl_train.main(config))
    return logged("rl")


def refused():
    """What the default of rl_loop is told: the formula of its loss is not public."""
    try:
        reward("rl_loop.default")
    except Exception as error:
        return str(error)
    finally:
        shutil.rmtree(home / "rl_loop.default", ignore_errors=True)


lay_out()
outcome = {
    "sl_loop": imitate(),
    **{f"rl_loop {loss}": reward(f"rl_loop.{loss}", loss_fn=loss) for loss in given["losses"]},
    "supervised.train": supervised(),
    "rl.train": rewarded(),
    "refused": refused(),
}
logging.disable(logging.CRITICAL)
print(json.dumps(outcome))
