"""Consultations inside slime: the functions that its flags name, played as token sessions with its own engines.

| flag | function |
|---|---|
| --rollout-function-path, --eval-function-path | bedside_trainers.slime.generate_rollout |
| --custom-generate-function-path | bedside_trainers.slime.generate |
| --dynamic-sampling-filter-path | bedside_trainers.slime.keep_whole_groups, …keep_learning_groups |
| --data-source-path | bedside_trainers.slime.SeedSource |
| --custom-reward-post-process-path | bedside_trainers.slime.reward_post_process |
| --custom-advantage-function-path | bedside_trainers.slime.token_advantages |
| --custom-rollout-log-function-path | bedside_trainers.slime.log_rollout |
| --custom-eval-rollout-log-function-path | bedside_trainers.slime.log_eval |
"""

from .learning import (
    keep_learning_groups,
    keep_whole_groups,
    reward_post_process,
    token_advantages,
)
from .metrics import log_eval, log_rollout
from .play import generate
from .rollout import generate_rollout
from .seeds import SeedSource

__all__ = [
    "SeedSource",
    "generate",
    "generate_rollout",
    "keep_learning_groups",
    "keep_whole_groups",
    "log_eval",
    "log_rollout",
    "reward_post_process",
    "token_advantages",
]
