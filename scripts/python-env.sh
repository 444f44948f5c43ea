#!/usr/bin/env bash
# Makes the Python environments that the golden numbers and the data checks need:
# .venvs/<name> in the repository root, from test/golden/requirements-<name>.txt; `sidecar` from the
# requirements that are shipped, as `bedside sidecar setup` makes it; `served` is a server of language models;
# `bench` for bench/sidecar.js.
# An environment whose stamp matches its pins is left alone. PYTHON names the interpreter.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3}
names='verl trl slime data sidecar tinker cookbook served gym wires verifiers text bench'
# Older official clients of the Tinker wire, each in a folder of the environment for PYTHONPATH.
clients='0.24.1'
# NeMo Gym asks for a later Python than most machines have, and for servers that its agent does not need.
nemo_gym='0.7.0'

usage() {
  echo "usage: scripts/python-env.sh <name>...   names: $names, all" >&2
  exit 2
}

# A path to uv: the one on PATH, else one installed from PyPI into .venvs/uv.
find_uv() {
  if command -v uv; then return; fi
  local home=$root/.venvs/uv
  if [ ! -x "$home/bin/uv" ]; then
    "$python" -m venv "$home" >&2
    "$home/bin/python" -m pip install --quiet uv==0.13.9 >&2
  fi
  echo "$home/bin/uv"
}

# The hash of the interpreter's version and the pins, comments and order aside.
pins_hash() {
  { "$python" -c 'import sys; print(sys.version)'; grep -v '^#' "$1" | LC_ALL=C sort; } |
    "$python" -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())'
}

make_env() {
  local name=$1 pins=$root/test/golden/requirements-$1.txt home=$root/.venvs/$1
  local stamp=$home/pins.sha256 want started=$SECONDS
  case $name in
  sidecar) pins=$root/src/trainers/python/requirements-sidecar.txt ;;
  bench) pins=$root/bench/requirements.txt ;;
  esac
  want=$(pins_hash "$pins")
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ]; then
    echo "$name: up to date"
    return
  fi
  "$uv" venv --quiet --clear --python "$python" "$home"
  # Its pins are whole but for a dependency that is left out.
  local exactly=()
  case $name in cookbook | wires) exactly=(--no-deps) ;; esac
  "$uv" pip install --quiet --python "$home/bin/python" ${exactly[@]+"${exactly[@]}"} --requirement "$pins"
  if [ "$name" = tinker ]; then
    for version in $clients; do
      "$uv" pip install --quiet --python "$home/bin/python" --no-deps \
        --target "$home/sdk-$version" "tinker==$version"
    done
  fi
  if [ "$name" = wires ]; then
    "$uv" pip install --quiet --python "$home/bin/python" --no-deps --python-version 3.13.14 \
      --target "$home/nemo-gym" "nemo-gym==$nemo_gym"
  fi
  echo "$want" >"$stamp"
  echo "$name: made in $((SECONDS - started)) s"
}

[ $# -gt 0 ] || usage
[ "$*" = all ] && set -- $names
for name in "$@"; do
  case " $names " in *" $name "*) ;; *) usage ;; esac
done
mkdir -p "$root/.venvs"
echo '*' >"$root/.venvs/.gitignore"
uv=$(find_uv)
for name in "$@"; do make_env "$name"; done
