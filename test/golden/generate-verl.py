"""Runs verl's own functions on the shared inputs and writes verl.json.

.venvs/verl/bin/python test/golden/generate-verl.py
"""

import os

os.environ["TORCH_COMPILE_DISABLE"] = "1"

import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from omegaconf import OmegaConf
from verl.trainer.ppo import core_algos, rollout_corr_helper
from verl.workers.config import ActorConfig

import inputs

HERE = Path(__file__).parent
BATCHES = inputs.batches()
MODES = ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"]
cases = []


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def field(batch, name):
    return tensor(BATCHES[batch][name])


def token_advantages(batch):
    return field(batch, "advantage").unsqueeze(-1) * field(batch, "response_mask")


def add(name, kind, function, batch, config, outputs, dtype="float64", given=None):
    cases.append({
        "name": name, "kind": kind, "function": function, "dtype": dtype, "batch": batch,
        "config": config, "inputs": given or {}, "outputs": outputs,
    })


# --- advantages ---


def outcome_rewards(batch, name="reward"):
    """The episode's reward on its last response token, as verl's reward managers place it."""
    mask = field(batch, "response_mask")
    rewards = torch.zeros_like(mask)
    for row, bits in enumerate(mask):
        ones = bits.nonzero()
        if len(ones):
            rewards[row, ones[-1, 0]] = BATCHES[batch][name][row]
    return rewards


def rounded(estimator, on):
    """gdpo and grpo_vectorized compute in float32; grpo adds epsilon in float32 to a singleton's std."""
    singletons = estimator == "grpo" and on in ["ragged", "aborted"]
    return singletons or estimator in ["gdpo", "grpo_vectorized"]


def advantage(estimator, on, config=None, label="", given=None, **arguments):
    rewards = arguments.pop("rewards", None)
    rewards = outcome_rewards(on) if rewards is None else rewards
    mask = field(on, "response_mask")
    function = core_algos.get_adv_estimator_fn(estimator)
    if "algorithm" in arguments:
        arguments["config"] = OmegaConf.create(arguments.pop("algorithm"))
    adv, returns = function(token_level_rewards=rewards, response_mask=mask, **arguments)
    name = "/".join(part for part in ["advantage", estimator, on, label] if part)
    add(name, "advantage", f"core_algos.{function.__name__}", on, config or {},
        {"advantages": adv, "returns": returns}, given={"token_level_rewards": rewards, **(given or {})},
        dtype="float32 inside" if rounded(estimator, on) else "float64")


def advantages():
    for batch in ["ragged", "aborted"]:
        group = {"index": np.array(BATCHES[batch]["group"], dtype=object)}
        for std in [True, False]:
            label = "std" if std else "no-std"
            config = {"norm_adv_by_std_in_grpo": std, "epsilon": 1e-6}
            advantage("grpo", batch, config, label, norm_adv_by_std_in_grpo=std, **group)
            if batch == "ragged":
                advantage("grpo_vectorized", batch, config, label, norm_adv_by_std_in_grpo=std, **group)
        advantage("rloo", batch, **group)
        advantage("opo", batch, **group)
        advantage("reinforce_plus_plus_baseline", batch, **group)
        for gamma in [1.0, 0.9]:
            config = {"gamma": gamma}
            advantage("reinforce_plus_plus", batch, config, f"gamma={gamma}", algorithm=config)
    even = {"index": np.array(BATCHES["even"]["group"], dtype=object)}
    for std in [True, False]:
        # It refuses groups of one.
        config = {"norm_adv_by_std_in_grpo": std, "epsilon": 1e-6}
        advantage("grpo_passk", "even", config, "std" if std else "no-std", algorithm=config, **even)
    advantage("opo", "even", **even)
    for std in [True, False]:
        config = {"norm_adv_by_std_in_grpo": std, "epsilon": 1e-6}
        advantage("grpo", "even", config, "std" if std else "no-std", norm_adv_by_std_in_grpo=std, **even)
    advantage("rloo", "even", **even)
    advantage("reinforce_plus_plus_baseline", "even", **even)
    config = {"gamma": 1.0}
    advantage("reinforce_plus_plus", "even", config, "gamma=1.0", algorithm=config)
    gdpo("even", [1.0, 0.5])
    group = {"index": np.array(BATCHES["ragged"]["group"], dtype=object)}
    advantage("rloo_vectorized", "ragged", **group)
    advantage("gpg", "ragged", {"f_norm": 1.0}, **group)
    baseline = [0.5, 0.5, 0.5, 0.5, 0.2, 0.2, 0.2, 0.6, 0.1, 0.1]
    advantage("remax", "ragged", given={"reward_baselines": baseline}, reward_baselines=tensor(baseline))
    rewards = field("ragged", "token_reward")
    config = {"gamma": 0.9}
    advantage("reinforce_plus_plus", "ragged", config, "token-rewards", algorithm=config, rewards=rewards)
    for gamma, lam in [(1.0, 1.0), (0.99, 0.95)]:
        config = {"gamma": gamma, "lam": lam, "whitened": True}
        advantage("gae", "ragged", config, f"gamma={gamma},lam={lam}", rewards=rewards,
                  values=field("ragged", "value"), gamma=gamma, lam=lam)
    gdpo("ragged", [1.0, 1.0])
    gdpo("ragged", [1.0, 0.5])


def gdpo(on, weights):
    data = BATCHES[on]
    # verl places each component on the last attended token, padding excluded.
    attended = [[int(any(bits[token:])) for token in range(len(bits))] for bits in data["response_mask"]]
    prompt = torch.ones(len(attended), 1, dtype=torch.long)
    batch = {"prompts": prompt, "attention_mask": torch.cat([prompt, torch.tensor(attended)], dim=1)}
    index = np.array(data["group"], dtype=object)
    components = {"reward": np.array(data["reward"]), "second_reward": np.array(data["second_reward"])}
    config = {"gdpo_reward_keys": ["reward", "second_reward"], "gdpo_reward_weights": weights,
              "norm_adv_by_std_in_grpo": True, "epsilon": 1e-6}
    advantage("gdpo", on, config, f"weights={weights[0]},{weights[1]}", algorithm=config,
              index=index, non_tensor_batch=components, batch=batch)


# --- losses ---


def actor(**options):
    return ActorConfig(strategy="fsdp", rollout_n=4, ppo_micro_batch_size_per_gpu=1, **options)


def loss(policy, batch, mode, options=None, label="", weights=None, advantages=None, given=None):
    function = core_algos.get_policy_loss_fn(policy)
    log_prob = field(batch, "log_prob").requires_grad_()
    adv = token_advantages(batch) if advantages is None else advantages
    config = actor(**(options or {}))
    value, metrics = function(field(batch, "old_log_prob"), log_prob, adv, field(batch, "response_mask"),
                              loss_agg_mode=mode, config=config, rollout_is_weights=weights)
    value.backward()
    policy_loss = config.policy_loss
    shown = {"loss_agg_mode": mode, "clip_ratio_low": config.clip_ratio_low,
             "clip_ratio_high": config.clip_ratio_high, "clip_ratio_c": config.clip_ratio_c,
             "tau_pos": config.tau_pos, "tau_neg": config.tau_neg,
             "global_batch_info": dict(config.global_batch_info)}
    if policy == "dro":
        shown["dro_beta"] = policy_loss.dro_beta
    name = "/".join(part for part in ["loss", policy, batch, mode, label] if part)
    add(name, "loss", f"core_algos.{function.__name__}", batch, shown,
        {"loss": value.item(), "gradient": log_prob.grad, "metrics": metrics}, given=given)


def losses():
    for policy in ["vanilla", "gspo", "sapo", "cispo", "gpg"]:
        for mode in MODES:
            loss(policy, "ragged", mode)
        loss(policy, "on-policy", "token-mean")
        loss(policy, "extreme", "token-mean")
    for mode in MODES:
        loss("vanilla", "aborted", mode)
    loss("gspo", "aborted", "seq-mean-token-mean")
    wide = {"clip_ratio_low": 0.2, "clip_ratio_high": 0.28}
    loss("vanilla", "ragged", "token-mean", {**wide, "clip_ratio_c": 10.0}, "clip-higher")
    loss("vanilla", "ragged", "token-mean", {"clip_ratio": 0.1}, "clip_ratio-alone-is-inert")
    loss("gspo", "extreme", "seq-mean-token-mean")
    loss("vanilla", "extreme", "token-mean", {"clip_ratio_c": 1e12}, "no-dual-clip")
    for mode in ["token-mean", "seq-mean-token-mean"]:
        loss("vanilla", "ragged", mode, {"clip_ratio_c": 100.0}, "no-dual-clip")
    loss("cispo", "ragged", "token-mean", {"clip_ratio_low": 1.0, "clip_ratio_high": 4.0}, "upper-only")
    loss("gspo", "ragged", "seq-mean-token-mean", {"clip_ratio_low": 3e-4, "clip_ratio_high": 4e-4}, "paper")
    loss("sapo", "ragged", "seq-mean-token-mean", {"tau_pos": 2.0, "tau_neg": 3.0}, "hot")
    scaled = {"global_batch_info": {"loss_scale_factor": 64}}
    loss("vanilla", "ragged", "seq-mean-token-sum-norm", scaled, "scale=64")
    shares = {"global_batch_info": {"dp_size": 2, "batch_num_tokens": 120, "global_batch_size": 20}}
    for mode in MODES:
        loss("vanilla", "ragged", mode, shares, "half-of-a-global-batch")
    adv = field("ragged", "token_advantage")
    loss("vanilla", "ragged", "token-mean", label="token-advantages", advantages=adv,
         given={"advantages": adv})
    dro()


def dro():
    from verl.workers.config.actor import PolicyLossConfig

    loss("dro", "ragged", "token-mean", {"policy_loss": PolicyLossConfig(loss_mode="dro", dro_beta=0.1)})
    loss("geo_mean", "ragged", "token-mean")


def aggregation():
    """agg_loss alone, on a loss matrix equal to log_prob."""
    for batch in ["ragged", "aborted"]:
        for mode in [*MODES, "token-sum"]:
            matrix = field(batch, "log_prob").requires_grad_()
            value = core_algos.agg_loss(matrix, field(batch, "response_mask"), mode)
            value.backward()
            add(f"aggregate/{batch}/{mode}", "aggregate", "core_algos.agg_loss", batch,
                {"loss_agg_mode": mode, "loss_mat": "log_prob"},
                {"loss": value.item(), "gradient": matrix.grad})


# --- KL, value loss ---


def kl():
    for batch in ["ragged", "extreme"]:
        for name in ["k1", "abs", "k2", "k3", "k1+", "k3+"]:
            log_prob = field(batch, "log_prob").requires_grad_()
            estimate = core_algos.kl_penalty(log_prob, field(batch, "ref_log_prob"), name)
            mask = field(batch, "response_mask")
            (estimate * mask).sum().backward()
            mean = core_algos.agg_loss(estimate.detach(), mask, "token-mean")
            add(f"kl/{name}/{batch}", "kl", "core_algos.kl_penalty", batch, {"kl_penalty": name},
                {"kl": estimate.detach(), "token_mean": mean.item(), "gradient_of_masked_sum": log_prob.grad})


def value_loss():
    for clip in [0.1, 0.5]:
        for mode in ["token-mean", "seq-mean-token-mean"]:
            value = field("ragged", "value").requires_grad_()
            result, fraction = core_algos.compute_value_loss(
                value, field("ragged", "return"), field("ragged", "old_value"),
                field("ragged", "response_mask"), clip, mode)
            result.backward()
            add(f"value/{mode}/clip={clip}", "value", "core_algos.compute_value_loss", "ragged",
                {"cliprange_value": clip, "loss_agg_mode": mode},
                {"loss": result.item(), "clip_fraction": fraction.item(), "gradient": value.grad})


# --- rollout correction ---


def correction(batch, label, **options):
    proto, mask, metrics = rollout_corr_helper.compute_rollout_correction_and_rejection_mask(
        old_log_prob=field(batch, "old_log_prob"), rollout_log_prob=field(batch, "rollout_log_prob"),
        response_mask=field(batch, "response_mask"), **options)
    weights = proto.batch["rollout_is_weights"] if proto is not None else None
    outputs = {"response_mask": mask, "metrics": metrics}
    if weights is not None:
        outputs["weights"] = weights
    log_prob = field(batch, "log_prob").requires_grad_()
    value, _ = core_algos.compute_policy_loss_vanilla(
        field(batch, "old_log_prob"), log_prob, token_advantages(batch), mask,
        loss_agg_mode="token-mean", config=actor(), rollout_is_weights=weights)
    value.backward()
    outputs["vanilla_token_mean"] = {"loss": value.item(), "gradient": log_prob.grad}
    add(f"correction/{batch}/{label}", "correction",
        "rollout_corr_helper.compute_rollout_correction_and_rejection_mask", batch, options, outputs)


def corrections():
    for level in ["token", "sequence"]:
        correction("ragged", f"{level}-truncate", rollout_is=level, rollout_is_threshold=2.0)
        correction("ragged", f"{level}-icepop", rollout_is=level, rollout_is_threshold="0.5_2.0")
        correction("ragged", f"{level}-truncate-normalised", rollout_is=level,
                   rollout_is_threshold=2.0, rollout_is_batch_normalize=True)
    correction("extreme", "token-truncate", rollout_is="token", rollout_is_threshold=2.0)
    correction("ragged", "reject-token_k1", rollout_rs="token_k1", rollout_rs_threshold="0.5_1.8")
    correction("ragged", "reject-token_k2", rollout_rs="token_k2", rollout_rs_threshold=0.1)
    correction("ragged", "reject-token_k3", rollout_rs="token_k3", rollout_rs_threshold=0.1)
    correction("ragged", "reject-seq_sum_k1", rollout_rs="seq_sum_k1", rollout_rs_threshold="0.5_4.0")
    correction("ragged", "reject-seq_mean_k1", rollout_rs="seq_mean_k1", rollout_rs_threshold="0.8_1.25")
    correction("ragged", "reject-seq_mean_k3", rollout_rs="seq_mean_k3", rollout_rs_threshold=0.05)
    correction("ragged", "reject-seq_max_k3", rollout_rs="seq_max_k3", rollout_rs_threshold=0.2)
    for name, bound in [("seq_sum_k2", 0.3), ("seq_sum_k3", 0.3), ("seq_mean_k2", 0.05), ("seq_max_k2", 0.2)]:
        correction("ragged", f"reject-{name}", rollout_rs=name, rollout_rs_threshold=bound)
    correction("ragged", "reject-two", rollout_rs="token_k1,seq_max_k3", rollout_rs_threshold="0.5_1.8,0.4")
    correction("aborted", "reject-seq_mean_k3", rollout_rs="seq_mean_k3", rollout_rs_threshold=0.05)
    correction("aborted", "sequence-truncate-normalised", rollout_is="sequence", rollout_is_threshold=2.0,
               rollout_is_batch_normalize=True)
    correction("ragged", "truncate-and-reject", rollout_is="token", rollout_is_threshold=2.0,
               rollout_rs="seq_mean_k3", rollout_rs_threshold=0.05)


advantages()
losses()
aggregation()
kl()
value_loss()
corrections()
head = {
    "source": "verl",
    "commit": None,
    "versions": {name: version(name) for name in ["verl", "torch", "numpy", "tensordict"]}
    | {"python": platform.python_version()},
}
inputs.write(HERE / "verl.json", head, cases)
