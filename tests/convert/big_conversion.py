#!/usr/bin/env python3
"""Converts a checkpoint with the shapes of LLaDA-8B and reports time and peak memory. By hand, not in ctest:

    ninja -C build convert_folder && tests/convert/big_conversion.py build/tests/convert_folder --layers 32 --type q8_0

The shards are sparse files (16 GB apparent, nothing on disk), so weights are zeros; the GGUF file is real and takes its
full size (8.5 GB for q8_0 with 32 layers) until it is removed at the end. --layers 2 keeps the two embeddings of
126464 x 4096 at full size and is enough to see whether a tensor is held in memory.
"""
import argparse
import json
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

D, FF, VOCAB = 4096, 12288, 126464
TOP = {"wte.weight": [VOCAB, D], "ln_f.weight": [D], "ff_out.weight": [VOCAB, D]}
BLOCK = {"attn_norm.weight": [D], "ff_norm.weight": [D], "q_proj.weight": [D, D], "k_proj.weight": [D, D],
         "v_proj.weight": [D, D], "attn_out.weight": [D, D], "ff_proj.weight": [FF, D], "up_proj.weight": [FF, D],
         "ff_out.weight": [D, FF]}


def write_shard(path: Path, tensors: dict) -> int:
    header, end = {}, 0
    for name, shape in tensors.items():
        size = 2
        for dimension in shape:
            size *= dimension
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)
    return end


def write_folder(folder: Path, layers: int) -> int:
    config = {"architectures": ["LLaDAModelLM"], "model_type": "llada", "d_model": D, "n_layers": layers, "n_heads": 32,
              "n_kv_heads": 32, "mlp_hidden_size": FF, "vocab_size": VOCAB, "embedding_size": VOCAB,
              "max_sequence_length": 4096, "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "block_type": "llama",
              "weight_tying": False, "mask_token_id": 126336}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
    tokenizer = {"added_tokens": [], "pre_tokenizer": byte_level,
                 "model": {"type": "BPE", "vocab": {f"t{i}": i for i in range(126080)}, "merges": []}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    shards = [{f"model.transformer.{name}": shape for name, shape in TOP.items()}]
    shards += [{f"model.transformer.blocks.{i}.{name}": shape for name, shape in BLOCK.items()} for i in range(layers)]
    weight_map, total = {}, 0
    for i, tensors in enumerate(shards):
        name = f"model-{i:05}.safetensors"
        total += write_shard(folder / name, tensors)
        weight_map |= {tensor: name for tensor in tensors}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="build/tests/convert_folder")
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--type", default="q8_0")
    parser.add_argument("--limit-mb", type=int, default=2048, help="peak memory that is still fine")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pgdlm-big-"))
    try:
        print(f"{write_folder(folder, args.layers) / 1e9:.1f} GB of weights in {args.layers} layers")
        command = [args.program, folder, folder / "out.gguf", args.type]
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False)
        print(done.stdout, end="")
        if done.returncode != 0:
            return done.returncode
        peak = int(done.stdout.split("VmHWM:")[1].split()[0]) // 1024
        print(f"peak {peak} MB, limit {args.limit_mb} MB")
        return 0 if peak <= args.limit_mb else 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
