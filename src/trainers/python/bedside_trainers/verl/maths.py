"""verl's trainer on a CPU: its configuration, data set, advantages and actor loss. The one file here that imports them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from tensordict import TensorDict
from verl import DataProto
from verl.trainer import main_ppo
from verl.trainer.ppo.ray_trainer import compute_advantage
from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_and_add_to_batch
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.utils.tensordict_utils import assign_non_tensor_data
from verl.workers.config import ActorConfig
from verl.workers.utils.losses import ppo_loss

from ..stand_in_engine import StandInEngine

#: Keys that the loss reads.
_LOSS_KEYS = (
    "prompts",
    "responses",
    "attention_mask",
    "response_mask",
    "old_log_probs",
    "advantages",
)


def configuration(overrides: Sequence[str]) -> DictConfig:
    """verl's configuration `ppo_trainer` with overrides in Hydra's words."""
    folder = Path(main_ppo.__file__).parent / "config"
    with initialize_config_dir(str(folder), version_base=None):
        return compose("ppo_trainer", overrides=list(overrides))


def data_set(file: str, tokenizer: Any, config: DictConfig) -> Any:
    """verl's data set of a file of rows."""
    return RLHFDataset(file, tokenizer, config=config.data, processor=None)


def actor_config(config: DictConfig) -> ActorConfig:
    """Settings of the actor's loss."""
    return omega_conf_to_dataclass(config.actor_rollout_ref.actor)


def batch_of(
    rows: Sequence[dict[str, Any]], uids: Sequence[str], siblings: int, step: int
) -> DataProto:
    """The batch for an agent loop worker: each row as many times as its group has siblings, one after another."""
    batch = DataProto.from_single_dict(collate_fn(list(rows)))
    batch.non_tensor_batch["uid"] = np.array(uids, dtype=object)
    batch.meta_info["global_steps"] = step
    return batch.repeat(siblings, interleave=True)


def samples_of(batch: DataProto) -> list[tuple[list[int], list[int]]]:
    """Prompt and response ids of each row, without padding."""
    prompts, responses = batch.batch["prompts"], batch.batch["responses"]
    attention = batch.batch["attention_mask"].bool()
    width = prompts.shape[1]
    return [
        (
            prompts[row][attention[row, :width]].tolist(),
            responses[row][attention[row, width:]].tolist(),
        )
        for row in range(len(batch))
    ]


def padded(values: Sequence[np.ndarray], like: torch.Tensor) -> torch.Tensor:
    """Values of each response's tokens, padded with 0 to the width of `like`."""
    out = torch.zeros(like.shape, dtype=torch.float64)
    for row, one in enumerate(values):
        out[row, : len(one)] = torch.from_numpy(one)
    return out


def add_advantages(batch: DataProto, config: DictConfig) -> DataProto:
    """verl's own computing of advantages, by the estimator of its configuration."""
    batch.batch["token_level_scores"] = batch.batch["rm_scores"]
    batch.batch["token_level_rewards"] = batch.batch["rm_scores"]
    algorithm = config.algorithm
    return compute_advantage(
        batch,
        adv_estimator=algorithm.adv_estimator,
        gamma=algorithm.gamma,
        lam=algorithm.lam,
        num_repeat=config.actor_rollout_ref.rollout.n,
        norm_adv_by_std_in_grpo=algorithm.norm_adv_by_std_in_grpo,
        config=algorithm,
    )


def add_correction(batch: DataProto, config: DictConfig) -> DataProto:
    """verl's weights of samples that another engine drew, and its rejections, as its configuration asks for them."""
    correction = config.algorithm.rollout_correction
    if correction is None or not (correction.get("rollout_is") or correction.get("rollout_rs")):
        return batch
    return compute_rollout_correction_and_add_to_batch(batch, correction)[0]


def loss_and_slopes(
    batch: DataProto, logprobs: Sequence[np.ndarray], config: ActorConfig
) -> tuple[float, list[np.ndarray], dict[str, float]]:
    """verl's actor loss of a mini-batch, its derivative by each row's log-probs, and its metrics."""
    samples = samples_of(batch)
    # As a worker's model gives them: at each token of a row, the log-prob of the next one.
    flat = np.concatenate(
        [
            np.concatenate([np.zeros(len(prompt) - 1), values, [0.0]])
            for (prompt, _), values in zip(samples, logprobs, strict=True)
        ]
    )
    leaf = torch.tensor(flat, dtype=torch.float64, requires_grad=True)
    names = [
        *_LOSS_KEYS,
        *(name for name in ("ref_log_prob", "rollout_is_weights") if name in batch.batch),
    ]
    data = TensorDict({name: batch.batch[name] for name in names}, batch_size=len(batch))
    assign_non_tensor_data(data, "dp_size", 1)
    assign_non_tensor_data(data, "batch_num_tokens", int(batch.batch["response_mask"].sum()))
    assign_non_tensor_data(data, "global_batch_size", len(batch))
    loss, metrics = ppo_loss(config, {"log_probs": leaf}, data)
    loss.backward()
    assert leaf.grad is not None
    ends = np.cumsum([len(prompt) + len(response) for prompt, response in samples])
    slopes = [
        leaf.grad[end - len(response) - 1 : end - 1].numpy()
        for end, (_, response) in zip(ends, samples, strict=True)
    ]
    told = {
        name: float(one.aggregate() if hasattr(one, "aggregate") else one)
        for name, one in metrics.items()
    }
    return float(loss.detach()), slopes, told


def minibatches(batch: DataProto, size: int) -> list[DataProto]:
    """Parts of a batch in order, the last of which may be smaller."""
    return [
        batch.select_idxs(list(range(at, min(at + size, len(batch)))))
        for at in range(0, len(batch), size)
    ]


def engine_logprobs(
    engine: StandInEngine, batch: DataProto, temperature: float, *, reference: bool = False
) -> Any:
    """Log-probs of each row's response, as the engine's weights have them."""
    return engine.logprobs(samples_of(batch), temperature, reference=reference)
