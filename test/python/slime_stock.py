"""slime's own rollout functions with the plugin's `generate`, filter and data source: needs SLIME_CHECKOUT.

The stock rollout, whole and partial, and the fully asynchronous one; facts as JSON.
"""

import json
import os
import sys

from slime_plugin import SESSION, Consultations, folder, forget
from slime_rollouts import Drawing, SeedSource, Serving, arguments, first_of, flat, parity, run, siblings

from slime.rollout import fully_async_rollout, sglang_rollout
from slime.utils.http_utils import init_http_client
from slime.utils.misc import SingletonMeta
from transformers import AutoTokenizer  # noqa: F401 (slime loads the tokenizer of hf_checkpoint)

STOCK = "slime.rollout.sglang_rollout.generate_rollout"


def flags(router, model, **over):
    at = "bedside_trainers.slime"
    given = dict(
        hf_checkpoint=model,
        rollout_function_path=STOCK,
        custom_generate_function_path=f"{at}.generate",
        dynamic_sampling_filter_path=f"{at}.keep_whole_groups",
        rollout_stop=None,
        rollout_stop_token_ids=None,
        rollout_skip_special_tokens=False,
        rollout_seed=1,
        sglang_dp_size=1,
        sglang_speculative_algorithm=None,
        mask_offpolicy_in_partial_rollout=False,
        group_rm=False,
        custom_rm_path=None,
        rm_type=None,
        use_distributed_post=False,
        rollout_sample_filter_path=None,
        rollout_all_samples_process_path=None,
        use_rollout_routing_replay=False,
        ci_test=False,
        rollout_sample_hook_path=None,
    )
    return arguments(router, **{**given, **over})


def facts(groups, drawing):
    samples = flat(groups)
    return {
        "groups": len(groups),
        "sizes": sorted({len(group) for group in groups}),
        "numbers": [first_of(group[0]).group_index for group in groups],
        "siblings": siblings(groups),
        "unscored": sum(first_of(one).reward is None for group in groups for one in group),
        "statuses": sorted({sample.status.value for sample in samples}),
        **parity(samples, drawing.drawn),
    }


def play(name, function, rollouts=3, history="keep", family="chatml", seconds=0.0, **over):
    SingletonMeta._instances.clear()
    drawing = Drawing(folder(family), seed=len(name), seconds=seconds)
    serving = Serving(drawing)
    tokens = {"max_tokens": 64, "context_length": 4096, "history": history}
    # To the end of the process: slime's worker goes on for a while after it is stopped.
    os.environ["BEDSIDE_URL"] = servers[family].address
    os.environ["BEDSIDE_TOKENS"] = json.dumps(tokens)
    run(forget())
    args = flags(serving.router, folder(family), **over)
    init_http_client(args)
    source = SeedSource(args)
    groups, buffered = [], 0
    for number in range(rollouts):
        output = function(args, number, source)
        groups += getattr(output, "samples", output)
        buffered += source.get_buffer_length()
    fully_async_rollout._stop_global_worker()
    return {**facts(groups, drawing), "buffered": buffered}


os.environ["BEDSIDE_SESSION"] = json.dumps(SESSION)
servers = {family: Consultations(family) for family in ("chatml", "qwen")}
stock, fully = sglang_rollout.generate_rollout, fully_async_rollout.generate_rollout_fully_async
found = {
    "whole": play("whole", stock),
    "partial": play("partial", stock, seconds=0.01, over_sampling_batch_size=24, partial_rollout=True),
    "several": play("several", stock, history="strip-reasoning", family="qwen"),
    "async": play("async", fully, rollout_function_path="slime.rollout.fully_async_rollout.generate_rollout_fully_async"),
}
for server in servers.values():
    server.kill()
print(json.dumps(found))
wrong = {
    name: one
    for name, one in found.items()
    if one["groups"] != 24 or one["sizes"] != [4] or one["siblings"] or one["unscored"] or one["wrong"]
    or len(set(one["numbers"])) != 24
}
sys.stdout.flush()
os._exit(bool(wrong))
