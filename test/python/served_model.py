"""A language model of random weights behind a real OpenAI-compatible server: llama.cpp's own, in this process.

The vocabulary and the merges are those of a tokenizer folder of the tests. Reads one JSON line: `tokenizer`, `template`,
`folder` (for the weights) and `port` (0: any). Prints one JSON line with the address, and serves until its input ends.
"""

import json
import os
import sys
from pathlib import Path

import gguf
import numpy as np
import xllamacpp

WIDTH, HEADS, KV_HEADS, LAYERS, FEED_FORWARD, CONTEXT = 64, 4, 2, 2, 128, 8192
NAME = "tiny"
# A token of its own, so that a bias can make a model that knows nothing begin a call; its arguments are constrained.
CALL_TAGS = ("<tool_call>\n",)


def read_tokenizer(folder: Path) -> tuple[list[str], list[str], dict[str, bool]]:
    """Tokens by id, merges, and which of the tokens are special."""
    held = json.loads((folder / "tokenizer.json").read_text(encoding="utf8"))
    added = {one["content"]: one for one in held["added_tokens"]}
    ids = {**held["model"]["vocab"], **{text: one["id"] for text, one in added.items()}}
    for tag in CALL_TAGS:
        ids[tag] = len(ids)
    tokens = sorted(ids, key=lambda text: ids[text])
    if [ids[text] for text in tokens] != list(range(len(tokens))):
        raise ValueError(f"{folder}: expected ids without gaps")
    merges = [one if isinstance(one, str) else " ".join(one) for one in held["model"]["merges"]]
    special = {text: one["special"] for text, one in added.items()}
    return tokens, merges, {**special, **dict.fromkeys(CALL_TAGS, False)}


def write_model(path: Path, tokenizer: Path, template: str) -> None:
    """Writes a Llama of random weights, the same for the same tokenizer."""
    tokens, merges, added = read_tokenizer(tokenizer)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    kinds = {True: gguf.TokenType.CONTROL, False: gguf.TokenType.USER_DEFINED}
    writer.add_token_types(
        [kinds[added[text]] if text in added else gguf.TokenType.NORMAL for text in tokens]
    )
    writer.add_token_merges(merges)
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_bos_token_id(tokens.index("<|endoftext|>"))
    writer.add_add_bos_token(False)
    writer.add_chat_template(template)
    draw = np.random.default_rng(0)

    def weights(name: str, rows: int, columns: int) -> None:
        values = draw.standard_normal((rows, columns)) / np.sqrt(columns)
        writer.add_tensor(name, values.astype(np.float32))

    def ones(name: str) -> None:
        writer.add_tensor(name, np.ones(WIDTH, dtype=np.float32))

    weights("token_embd.weight", len(tokens), WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        ones(f"{block}.attn_norm.weight")
        weights(f"{block}.attn_q.weight", WIDTH, WIDTH)
        weights(f"{block}.attn_k.weight", WIDTH // HEADS * KV_HEADS, WIDTH)
        weights(f"{block}.attn_v.weight", WIDTH // HEADS * KV_HEADS, WIDTH)
        weights(f"{block}.attn_output.weight", WIDTH, WIDTH)
        ones(f"{block}.ffn_norm.weight")
        weights(f"{block}.ffn_gate.weight", FEED_FORWARD, WIDTH)
        weights(f"{block}.ffn_up.weight", FEED_FORWARD, WIDTH)
        weights(f"{block}.ffn_down.weight", WIDTH, FEED_FORWARD)
    ones("output_norm.weight")
    weights("output.weight", len(tokens), WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path: Path, port: int) -> xllamacpp.Server:
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = CONTEXT
    params.n_parallel = 2
    params.n_batch = 512
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.use_jinja = True
    params.sampling.temp = 1.0
    return xllamacpp.Server(params)


def main() -> None:
    asked = json.loads(sys.stdin.readline())
    path = Path(asked["folder"]) / f"{NAME}.gguf"
    if not path.exists():
        write_model(path, Path(asked["tokenizer"]), asked["template"])
    server = serve(path, asked["port"])
    print(json.dumps({"address": server.listening_address, "model": NAME}), flush=True)
    sys.stdin.read()
    # Its threads would hold the process open.
    os._exit(0)


main()
