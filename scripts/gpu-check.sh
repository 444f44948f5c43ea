#!/usr/bin/env bash
# What needs a GPU, run on a model that is made on the spot, with a dated table of what came of it:
#   scripts/gpu-check.sh [part ...]      parts: peft unsloth vllm sglang verl slime; without any, all of them
# A part whose Python or program is not there is `not there` and fails nothing; docs/gpu.md says what each needs.
# Environment: PEFT_PYTHON, UNSLOTH_PYTHON, VERL_PYTHON, SLIME_PYTHON (interpreters), VLLM (the program `vllm`),
# SGLANG_PYTHON, SLIME and MEGATRON (checkouts), DEVICE (cuda; cpu tries the engine's part), DTYPE (auto), OUT (folder).
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
device=${DEVICE:-cuda} dtype=${DTYPE:-auto}
out=${OUT:-$root/runs/gpu-check-$(date -u +%Y-%m-%dT%H%M%SZ)}
port=${PORT:-8100} ray=${RAY:-http://127.0.0.1:8265}
model=$out/model table=$out/table.md
all='peft unsloth vllm sglang verl slime'
[ $# -gt 0 ] || set -- $all
for part in "$@"; do
  case " $all " in *" $part "*) ;; *) echo "usage: scripts/gpu-check.sh [part ...]   parts: $all" >&2; exit 2 ;; esac
done
mkdir -p "$out"
export PYTHONPATH=$root/src/trainers/python${PYTHONPATH:+:$PYTHONPATH}

# The interpreter of a part: the one that was named, else that of .venvs, else python3.
python_of() {
  local named=$1 own=$root/.venvs/$2/bin/python
  if [ -n "$named" ]; then echo "$named"; elif [ -x "$own" ]; then echo "$own"; else echo python3; fi
}
peft=$(python_of "${PEFT_PYTHON:-}" sidecar) unsloth=$(python_of "${UNSLOTH_PYTHON:-}" unsloth)
verl=$(python_of "${VERL_PYTHON:-}" verl) slime=$(python_of "${SLIME_PYTHON:-}" slime)
sglang=${SGLANG_PYTHON:-python3} vllm=${VLLM:-vllm}

# 77 says that what a part needs is not there.
needs() { "$1" -c "import $2" 2>/dev/null || { echo "not there: $2 for $1" >&2; return 77; }; }

# A Qwen3 of random weights with a tokenizer learnt from a few sentences; nothing is downloaded.
make_model() {
  [ -f "$model/config.json" ] && return
  needs "$peft" numpy,tokenizers,safetensors || return
  "$peft" - >"$out/corpus.jsonl" <<'PY'
import json
parts = ["Do you have a fever?", "Since when have you had it?", "Order: full blood count", "I have a cough.", "Yes.", "No."]
ends = [f"Diagnosis: disease {n}\nRecommendation: rest for {n} days" for n in range(400)]
for n, end in enumerate(ends):
    print(json.dumps({"text": f"{parts[n % 6]} {parts[n % 5]} {end}"}))
PY
  "$peft" -m bedside_trainers.tiny_model --corpus "$out/corpus.jsonl" --out "$model" --context 4096
}

check() { "$1" -m bedside_trainers.engine_check "$model" --device "$device" --dtype "$dtype" "${@:2}"; }

part_peft() { needs "$peft" torch,transformers,peft && check "$peft" && check "$peft" --mode full; }
part_unsloth() { needs "$unsloth" unsloth && check "$unsloth" --engine unsloth; }

# Waits for a server of this script's own, and measures its log-probs against the trainer's.
against() {
  local kind=$1 pid=$2 code
  for _ in $(seq 300); do
    kill -0 "$pid" 2>/dev/null || { echo "$kind ended before it listened" >&2; return 1; }
    curl -sf "http://127.0.0.1:$port/health" >/dev/null && break
    sleep 1
  done
  check "$peft" --sampler "$kind" --sampler-url "http://127.0.0.1:$port"
  code=$?
  kill "$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
  return $code
}
part_vllm() {
  command -v "$vllm" >/dev/null || { echo "not there: $vllm" >&2; return 77; }
  VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 "$vllm" serve "$model" --port "$port" --enable-lora \
    --logprobs-mode processed_logprobs --gpu-memory-utilization 0.4 >"$out/vllm-server.log" 2>&1 &
  against vllm $!
}
part_sglang() {
  needs "$sglang" sglang || return
  "$sglang" -m sglang.launch_server --model-path "$model" --port "$port" --enable-lora --max-lora-rank 64 \
    --lora-target-modules all --mem-fraction-static 0.4 >"$out/sglang-server.log" 2>&1 &
  against sglang $!
}

# Two steps by a trainer itself, as a job of a Ray head that is there.
job() {
  command -v node >/dev/null && [ -f "$root/dist/cli/main.js" ] || { echo 'not there: node and npm run build' >&2; return 77; }
  curl -sf "$ray/api/version" >/dev/null || { echo "not there: a Ray head at $ray" >&2; return 77; }
  node "$root/dist/cli/main.js" train "$root/examples/gpu-check.yaml" --backend "$1" --out "$out/run-$1" \
    --set "policy.model=$model" --set "cluster.ray=$ray" --set "cluster.python=$2" "${@:3}"
}
part_verl() { needs "$verl" verl && job verl "$verl"; }
part_slime() {
  local checkout=${SLIME:-} megatron=${MEGATRON:-} shape=bedside-check
  [ -f "$checkout/train.py" ] && [ -d "$megatron" ] || { echo "not there: checkouts of slime (SLIME=$checkout) and Megatron-LM (MEGATRON=$megatron)" >&2; return 77; }
  "$slime" - "$model" >"$checkout/scripts/models/$shape.sh" <<'PY' || return
import json, sys
c = json.load(open(sys.argv[1] + "/config.json"))
flags = {"num-layers": c["num_hidden_layers"], "hidden-size": c["hidden_size"], "ffn-hidden-size": c["intermediate_size"],
         "num-attention-heads": c["num_attention_heads"], "num-query-groups": c["num_key_value_heads"], "kv-channels": c["head_dim"],
         "vocab-size": c["vocab_size"], "norm-epsilon": c["rms_norm_eps"], "normalization": "RMSNorm",
         "rotary-base": int(c.get("rope_theta") or c["rope_parameters"]["rope_theta"])}
switches = ["swiglu", "disable-bias-linear", "group-query-attention", "use-rotary-position-embeddings", "qk-layernorm"]
if not c["tie_word_embeddings"]:
    switches.append("untie-embeddings-and-output-weights")
print("MODEL_ARGS=(", *(f"--{name}" for name in switches), *(f"--{name} {value}" for name, value in flags.items()), ")")
PY
  (. "$checkout/scripts/models/$shape.sh" && cd "$checkout" &&
    PYTHONPATH=$megatron "$slime" tools/convert_hf_to_torch_dist.py "${MODEL_ARGS[@]}" \
      --hf-checkpoint "$model" --save "${model}_torch_dist") || return
  job slime "$slime" --set "cluster.slime=$checkout" --set "cluster.megatron=$megatron" --set "cluster.architecture=$shape"
}

{
  echo "# GPU check, $(date -u +'%Y-%m-%d %H:%M') UTC"
  echo
  nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader 2>/dev/null || echo 'no CUDA device'
  echo
  echo '| part | result | seconds | last line |'
  echo '|---|---|---|---|'
} >"$table"
failed=0
for part in "$@"; do
  started=$SECONDS
  { make_model && "part_$part"; } >"$out/$part.log" 2>&1
  case $? in 0) result=ok ;; 77) result='not there' ;; *) result=failed failed=1 ;; esac
  last=$(grep -v '^$' "$out/$part.log" | tail -n 1 | tr '|' '/' | cut -c 1-120)
  echo "| $part | $result | $((SECONDS - started)) | $last |" | tee -a "$table"
done
echo "the table, and the whole output of each part: $out"
exit $failed
