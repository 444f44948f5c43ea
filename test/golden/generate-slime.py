"""Runs slime's own functions on the shared inputs and writes slime.json.

.venvs/slime/bin/python test/golden/generate-slime.py <checkout of THUDM/slime>

slime's training code needs Megatron and GPUs. Only `megatron.core.mpu` is replaced here, by one
that answers "one process, no parallelism", and `get_log_probs_and_entropy`, which would read
logits, by one that returns the fixed log-probabilities. `RolloutManager._post_process_rewards`
lives in a module that imports SGLang, so its definition alone is compiled out of that file.
Everything else is the checkout's code, run as written.
"""

import os

os.environ["TORCH_COMPILE_DISABLE"] = "1"
os.environ["TORCHDYNAMO_DISABLE"] = "1"

import ast
import platform
import subprocess
import sys
import types
from argparse import Namespace
from importlib.metadata import version
from pathlib import Path

import torch
import torch.distributed as dist

import inputs

HERE = Path(__file__).parent
BATCHES = inputs.batches()
if len(sys.argv) != 2:
    sys.exit("usage: generate-slime.py <checkout of THUDM/slime>")
CHECKOUT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(CHECKOUT))
cases = []


def stub_megatron():
    mpu = types.ModuleType("megatron.core.mpu")
    for name in ["context_parallel", "data_parallel", "tensor_model_parallel"]:
        setattr(mpu, f"get_{name}_world_size", lambda **options: 1)
        setattr(mpu, f"get_{name}_rank", lambda **options: 0)
        setattr(mpu, f"get_{name}_group", lambda **options: dist.group.WORLD)
    mpu.is_pipeline_last_stage = lambda **options: True
    core = types.ModuleType("megatron.core")
    core.mpu = mpu
    # slime's package __init__ would import Megatron's model code; only its path is wanted.
    package = types.ModuleType("slime.backends.megatron_utils")
    package.__path__ = [str(CHECKOUT / "slime/backends/megatron_utils")]
    sys.modules.update({"megatron": types.ModuleType("megatron"), "megatron.core": core,
                        "megatron.core.mpu": mpu, "slime.backends.megatron_utils": package})


stub_megatron()
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

from slime.backends.megatron_utils import loss as slime_loss  # noqa: E402
from slime.utils import ppo_utils  # noqa: E402


def add(name, kind, function, batch, config, outputs, dtype="float64", given=None):
    cases.append({
        "name": name, "kind": kind, "function": function, "dtype": dtype, "batch": batch,
        "config": config, "inputs": given or {}, "outputs": outputs,
    })


# slime holds one unpadded tensor per sample, so rows are cut to their response's length.
def lengths(batch):
    masks = inputs.ragged()["response_mask"] if batch == "aborted" else BATCHES[batch]["response_mask"]
    return [max(token for token, bit in enumerate(mask) if bit) + 1 for mask in masks]


def rows(batch, name, dtype=torch.float64):
    return [torch.tensor(row[:length], dtype=dtype)
            for row, length in zip(BATCHES[batch][name], lengths(batch), strict=True)]


def padded(values, batch):
    width = len(BATCHES[batch]["response_mask"][0])
    return [row.tolist() + [0.0] * (width - len(row)) for row in values]


# --- rewards and advantages ---


def post_process_rewards():
    source = (CHECKOUT / "slime/ray/rollout.py").read_text()
    found = [node for node in ast.walk(ast.parse(source))
             if isinstance(node, ast.FunctionDef) and node.name == "_post_process_rewards"]
    assert len(found) == 1
    found[0].args.args[1].annotation = None
    space = {"torch": torch}
    exec(compile(ast.Module(body=found, type_ignores=[]), "rollout.py", "exec"), space)
    return space["_post_process_rewards"]


def normalise(batch, estimator, per_prompt, prompts, std=True, label=""):
    args = Namespace(advantage_estimator=estimator, rewards_normalization=True,
                     n_samples_per_prompt=per_prompt, rollout_batch_size=prompts,
                     grpo_std_normalization=std)
    samples = [Namespace(get_reward_value=lambda _, value=value: value) for value in BATCHES[batch]["reward"]]
    owner = Namespace(args=args, custom_reward_post_process_func=None)
    _, result = post_process_rewards()(owner, samples)
    name = f"rewards/{estimator}/{batch}/{'std' if std else 'no-std'}"
    add(f"{name}/{label}" if label else name, "rewards", "ray.rollout.RolloutManager._post_process_rewards",
        batch, vars(args), {"rewards": [None if value != value else value for value in result]},
        dtype="float32")


def rewards():
    for std in [True, False]:
        normalise("even", "grpo", 4, 3, std)
    normalise("even", "reinforce_plus_plus_baseline", 4, 3)
    normalise("ragged", "grpo", 4, 4, label="unequal-groups-use-the-whole-batch")
    normalise("even", "grpo", 1, 12, label="singletons-are-NaN")
    normalise("even", "grpo", 1, 12, std=False, label="singletons")


ADVANTAGE_DEFAULTS = {
    "kl_coef": 0.0, "kl_loss_type": "k1", "gamma": 1.0, "lambd": 1.0, "normalize_advantages": False,
    "use_rollout_logprobs": False, "use_opd": False, "custom_advantage_function_path": None,
}


def advantage(estimator, batch, options=None, label=""):
    config = {"advantage_estimator": estimator, **ADVANTAGE_DEFAULTS, **(options or {})}
    sizes = lengths(batch)
    data = {
        "log_probs": rows(batch, "old_log_prob"), "ref_log_probs": rows(batch, "ref_log_prob"),
        "rollout_log_probs": rows(batch, "rollout_log_prob"), "rewards": BATCHES[batch]["reward"],
        "values": rows(batch, "value"), "response_lengths": sizes,
        "loss_masks": rows(batch, "response_mask"), "total_lengths": [size + 1 for size in sizes],
    }
    slime_loss.compute_advantages_and_returns(Namespace(**config), data)
    name = "/".join(part for part in ["advantage", estimator, batch, label] if part)
    add(name, "advantage", "backends.megatron_utils.loss.compute_advantages_and_returns", batch, config,
        {"advantages": padded(data["advantages"], batch), "returns": padded(data["returns"], batch)},
        dtype="float32 inside", given={"response_lengths": sizes})


def advantages():
    advantage("grpo", "ragged")
    advantage("grpo", "ragged", {"normalize_advantages": True}, "whitened")
    for estimator in ["reinforce_plus_plus", "reinforce_plus_plus_baseline", "ppo"]:
        advantage(estimator, "ragged")
        advantage(estimator, "ragged", {"kl_coef": 0.1, "gamma": 0.9, "lambd": 0.95}, "kl,gamma=0.9")
        advantage(estimator, "ragged", {"normalize_advantages": True}, "whitened")


# --- losses ---

LOSS_DEFAULTS = {
    "loss_type": "policy_loss", "advantage_estimator": "grpo", "eps_clip": 0.2, "eps_clip_high": 0.2,
    "eps_clip_c": None, "calculate_per_token_loss": False, "use_tis": False, "tis_clip": 2.0,
    "tis_clip_low": 0.0, "custom_tis_function_path": None, "use_opsm": False, "opsm_delta": 1e-4,
    "use_kl_loss": False, "kl_loss_coef": 0.0, "kl_loss_type": "k1", "use_unbiased_kl": False,
    "use_rollout_logprobs": False, "get_mismatch_metrics": False, "entropy_coef": 0.0,
    "recompute_loss_function": False, "allgather_cp": False,
}
ICEPOP = "slime.backends.megatron_utils.loss.icepop_function"


def sums_of_rollouts(masks, rollouts):
    """The denominator each sample carries: its whole rollout's token count, siblings included."""
    totals = {}
    for mask, rollout in zip(masks, rollouts, strict=True):
        totals[rollout] = totals.get(rollout, 0.0) + mask.sum()
    return torch.stack([totals[rollout] for rollout in rollouts])


def loss(name, batch, options=None, rollouts=None, advantages=None):
    config = {**LOSS_DEFAULTS, **(options or {})}
    sizes, masks = lengths(batch), rows(batch, "response_mask")
    rollouts = list(range(len(sizes))) if rollouts is None else rollouts
    log_probs = [row.requires_grad_() for row in rows(batch, "log_prob")]
    slime_loss.get_log_probs_and_entropy = lambda *a, **k: (
        None, {"log_probs": log_probs, "entropy": [torch.zeros_like(row) for row in log_probs]})
    slime_loss.get_rollout_top_p_logprob_kwargs = lambda *a, **k: {}
    data = {
        "advantages": [torch.full((size,), value, dtype=torch.float64)
                       for size, value in zip(sizes, BATCHES[batch]["advantage"], strict=True)],
        "log_probs": rows(batch, "old_log_prob"), "rollout_log_probs": rows(batch, "rollout_log_prob"),
        "ref_log_probs": rows(batch, "ref_log_prob"), "loss_masks": masks, "response_lengths": sizes,
        "total_lengths": [size + 1 for size in sizes], "unconcat_tokens": None,
        "rollout_mask_sums": sums_of_rollouts(masks, rollouts),
    }
    if advantages is not None:
        data["advantages"] = rows(batch, advantages)
    count = len(set(rollouts))
    value, normaliser, log = slime_loss.loss_function(
        Namespace(**config), data, 1, count, torch.zeros(1, dtype=torch.float64))
    # Megatron divides by the token count when the loss is per token.
    value = value / normaliser
    value.backward()
    metrics = dict(zip(log["keys"], log["values"].tolist()[1:], strict=True))
    given = {"rollouts": rollouts, "step_global_batch_size": count}
    if advantages is not None:
        given["advantages"] = BATCHES[batch][advantages]
    add(f"loss/{name}/{batch}", "loss", "backends.megatron_utils.loss.loss_function", batch, config,
        {"loss": value.item(), "normaliser": normaliser.item(), "metric_sums": metrics,
         "gradient": padded([row.grad for row in log_probs], batch)}, given=given,
        dtype="float32 inside" if config["use_kl_loss"] else "float64")


def losses():
    siblings = [0, 0, 1, 1, 2, 3, 4, 4, 4, 5]
    for estimator in ["grpo", "gspo", "cispo"]:
        own = {"advantage_estimator": estimator}
        for batch in ["ragged", "aborted", "on-policy"]:
            loss(f"{estimator}/rollout-mean", batch, own)
        loss(f"{estimator}/token-mean", "ragged", {**own, "calculate_per_token_loss": True})
        loss(f"{estimator}/rollout-mean-of-siblings", "ragged", own, siblings)
        loss(f"{estimator}/tis", "ragged", {**own, "use_tis": True})
    loss("grpo/token-mean", "aborted", {"calculate_per_token_loss": True})
    loss("grpo/clip-higher", "ragged", {"eps_clip_high": 0.28})
    loss("grpo/dual-clip", "ragged", {"eps_clip_c": 3.0})
    loss("grpo/token-mean", "extreme", {"calculate_per_token_loss": True})
    loss("gspo/rollout-mean", "extreme", {"advantage_estimator": "gspo"})
    loss("gspo/tight", "ragged", {"advantage_estimator": "gspo", "eps_clip": 3e-4, "eps_clip_high": 4e-4})
    upper = {"advantage_estimator": "cispo", "eps_clip": 1.0, "eps_clip_high": 4.0}
    loss("cispo/upper-only", "ragged", {**upper, "calculate_per_token_loss": True})
    loss("grpo/token-advantages", "ragged", advantages="token_advantage")
    loss("grpo/tis-0.5-2", "ragged", {"use_tis": True, "tis_clip_low": 0.5})
    loss("grpo/icepop-0.5-2", "ragged",
         {"use_tis": True, "tis_clip_low": 0.5, "custom_tis_function_path": ICEPOP})
    loss("grpo/rollout-as-old", "ragged", {"use_rollout_logprobs": True})
    loss("grpo/opsm", "ragged", {"use_opsm": True, "opsm_delta": 0.05})
    loss("gspo/opsm", "ragged", {"advantage_estimator": "gspo", "use_opsm": True, "opsm_delta": 0.05})
    loss("gspo/dual-clip", "ragged", {"advantage_estimator": "gspo", "eps_clip_c": 1.3})
    for kind in ["k1", "k2", "k3", "low_var_kl"]:
        loss(f"grpo/kl-{kind}", "ragged", {"use_kl_loss": True, "kl_loss_coef": 0.1, "kl_loss_type": kind})
    for kind in ["k1", "k2", "k3"]:
        unbiased = {"use_kl_loss": True, "kl_loss_coef": 0.1, "kl_loss_type": kind, "use_unbiased_kl": True}
        loss(f"grpo/kl-{kind}-unbiased", "ragged", unbiased)


def value_losses():
    for clip in [0.1, 0.5]:
        sizes, masks = lengths("ragged"), rows("ragged", "response_mask")
        values = [row.requires_grad_() for row in rows("ragged", "value")]
        slime_loss.get_values = lambda *a, **k: (None, {"values": values})
        data = {"values": rows("ragged", "old_value"), "returns": rows("ragged", "return"),
                "loss_masks": masks, "response_lengths": sizes, "unconcat_tokens": None,
                "total_lengths": [size + 1 for size in sizes],
                "rollout_mask_sums": sums_of_rollouts(masks, list(range(len(sizes))))}
        config = {**LOSS_DEFAULTS, "loss_type": "value_loss", "value_clip": clip}
        value, _, _ = slime_loss.loss_function(
            Namespace(**config), data, 1, len(sizes), torch.zeros(1, dtype=torch.float64))
        value.backward()
        add(f"value/clip={clip}", "value", "backends.megatron_utils.loss.loss_function", "ragged",
            {"value_clip": clip}, {"loss": value.item(),
                                   "gradient": padded([row.grad for row in values], "ragged")})


# --- the functions of the loss one by one, per token and without a reduction ---


def tokens(batch, name):
    return torch.tensor(BATCHES[batch][name], dtype=torch.float64)


def token_functions():
    for batch in ["ragged", "extreme"]:
        advantages = tokens(batch, "advantage").unsqueeze(-1).expand_as(tokens(batch, "log_prob"))
        for clip_c in [None, 3.0]:
            log_prob = tokens(batch, "log_prob").requires_grad_()
            value, clipped = ppo_utils.compute_policy_loss(
                tokens(batch, "old_log_prob") - log_prob, advantages, 0.2, 0.28, clip_c)
            value.sum().backward()
            add(f"token/compute_policy_loss/{batch}/eps_clip_c={clip_c}", "token",
                "utils.ppo_utils.compute_policy_loss", batch,
                {"eps_clip": 0.2, "eps_clip_high": 0.28, "eps_clip_c": clip_c},
                {"loss": value.detach(), "clipped": clipped, "gradient_of_sum": log_prob.grad})
        log_prob = tokens(batch, "log_prob").requires_grad_()
        value, clipped = ppo_utils.compute_cispo_loss(
            tokens(batch, "old_log_prob") - log_prob, log_prob, advantages, 0.2, 0.28)
        value.sum().backward()
        add(f"token/compute_cispo_loss/{batch}", "token", "utils.ppo_utils.compute_cispo_loss", batch,
            {"eps_clip": 0.2, "eps_clip_high": 0.28},
            {"loss": value.detach(), "clipped": clipped, "gradient_of_sum": log_prob.grad})
        for kind in ["k1", "k2", "k3", "low_var_kl"]:
            kl_case(batch, kind, False)
        kl_case(batch, "k3", True)
    sizes = lengths("ragged")
    kl = ppo_utils.compute_gspo_kl(rows("ragged", "log_prob"), rows("ragged", "old_log_prob"),
                                   rows("ragged", "log_prob"), rows("ragged", "response_mask"))
    add("token/compute_gspo_kl/ragged", "token", "utils.ppo_utils.compute_gspo_kl", "ragged", {},
        {"ppo_kl": padded(kl.split(sizes), "ragged")})
    weights()


def kl_case(batch, kind, unbiased):
    log_prob = tokens(batch, "log_prob").requires_grad_()
    ratio = torch.exp(log_prob - tokens(batch, "old_log_prob")) if unbiased else None
    value = ppo_utils.compute_approx_kl(log_prob, tokens(batch, "ref_log_prob"), kind, ratio)
    value.sum().backward()
    name = f"kl/{kind}{'-unbiased' if unbiased else ''}/{batch}"
    add(name, "kl", "utils.ppo_utils.compute_approx_kl", batch,
        {"kl_loss_type": kind, "importance_ratio": "exp(log_prob - old_log_prob)" if unbiased else None},
        {"kl": value.detach(), "gradient_of_sum": log_prob.grad}, dtype="float32 inside")


def weights():
    sizes = lengths("ragged")
    for name in ["vanilla_tis_function", "icepop_function"]:
        for low in [0.0, 0.5]:
            args = Namespace(tis_clip=2.0, tis_clip_low=low)
            ones = torch.ones(sum(sizes), dtype=torch.float64)
            masks = rows("ragged", "response_mask")
            result, kept, metrics = getattr(slime_loss, name)(
                args, pg_loss=ones, train_log_probs=rows("ragged", "old_log_prob"),
                rollout_log_probs=rows("ragged", "rollout_log_prob"), loss_masks=masks)
            assert all(map(torch.equal, kept, masks))
            metrics = {key: padded(value.split(sizes), "ragged") for key, value in metrics.items()}
            add(f"correction/{name}/low={low}", "correction", f"backends.megatron_utils.loss.{name}",
                "ragged", vars(args), {"weights": padded(result.split(sizes), "ragged"), **metrics})


rewards()
advantages()
losses()
value_losses()
token_functions()
commit = subprocess.run(["git", "-C", str(CHECKOUT), "rev-parse", "HEAD"], check=True,
                        capture_output=True, text=True).stdout.strip()
head = {
    "source": "slime",
    "commit": commit,
    "versions": {"torch": version("torch"), "python": platform.python_version()},
}
inputs.write(HERE / "slime.json", head, cases)
