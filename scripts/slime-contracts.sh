#!/usr/bin/env bash
# slime's own contract tests, and ours on its real classes, against the plugin: scripts/slime-contracts.sh CHECKOUT
# CHECKOUT is a checkout of github.com/THUDM/slime, which is on no package registry. Needs `npm run build` and
# `scripts/python-env.sh slime` (PYTHON names another interpreter with its packages and pytest).
# Consultations are played for real by `bedside serve`; slime's engines are a stand-in that draws texts at random.
set -euo pipefail

[ $# -eq 1 ] && [ -d "$1/slime" ] || {
  echo 'usage: scripts/slime-contracts.sh CHECKOUT' >&2
  exit 2
}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export SLIME_CHECKOUT=$(cd "$1" && pwd)
python=${PYTHON:-$root/.venvs/slime/bin/python}
work=$(mktemp -d)
pids=()
trap 'for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done; rm -rf "$work"' EXIT

# Waits for a line in a file and prints it.
first_line() {
  for _ in $(seq 1200); do
    if [ -s "$1" ]; then
      head -n 1 "$1"
      return
    fi
    sleep 0.1
  done
  echo "$1: nothing came" >&2
  return 1
}

tokenizer=$root/test/fixtures/tokenizers/chatml
node "$root/dist/cli/main.js" serve --port 0 --no-token --json --tokenizer "$tokenizer" >"$work/serve" &
pids+=($!)
"$python" "$root/test/python/slime_router.py" "$tokenizer" >"$work/router" &
pids+=($!)
BEDSIDE_URL=$(first_line "$work/serve" | "$python" -c 'import json, sys; print(json.load(sys.stdin)["address"])')
BEDSIDE_ENGINE_URL=$(first_line "$work/router")
export BEDSIDE_URL BEDSIDE_ENGINE_URL
export BEDSIDE_TOKENS='{"max_tokens": 64, "context_length": 4096}'
export BEDSIDE_SESSION='{"tier": "easy", "max_turns": 4}'
export BEDSIDE_SLIME='{"rollout_batch_size": 2, "n_samples_per_prompt": 2}'
export BEDSIDE_EVAL='{"heldout": {"split": "heldout", "cases": 4}}'
export PYTHONPATH=$root/src/trainers/python:$SLIME_CHECKOUT${PYTHONPATH:+:$PYTHONPATH}
at=bedside_trainers.slime

cd "$SLIME_CHECKOUT"
contract() { "$python" "tests/plugin_contracts/test_plugin_$1_contracts.py" "${@:2}" -q -p no:cacheprovider; }
contract rollout --rollout-function-path $at.generate_rollout
contract generate --custom-generate-function-path $at.generate
contract path_loading --eval-function-path $at.generate_rollout --data-source-path $at.SeedSource \
  --dynamic-sampling-filter-path $at.keep_learning_groups
contract runtime_hook --custom-reward-post-process-path $at.reward_post_process

# Ours, on slime's own classes and rollout functions.
export BEDSIDE_TEST_COMMAND='["node", "'"$root"'/dist/cli/main.js"]' TORCH_COMPILE_DISABLE=1
unset BEDSIDE_SLIME BEDSIDE_EVAL BEDSIDE_ENGINE_URL
cd "$root"
"$python" test/python/slime_plugin.py
"$python" test/python/slime_stock.py
"$python" test/python/slime_facts.py >/dev/null
