#!/usr/bin/env python3
"""Writes tests/data/hf/FAMILY (tiny random models as Hugging Face folders) and tests/data/reference/FAMILY.json (what
the reference networks of this folder make of them, computed in float64). Both are committed; the same versions of
PyTorch write the same bytes, but for the names of storages in an old pytorch_model.bin. Needs torch, tokenizers,
safetensors.

    python make_reference.py
    python check_reference.py      # needs transformers: an outside judge of the same folders
"""

import json
import random
import shutil
from collections import OrderedDict
from pathlib import Path

import torch
from safetensors.torch import save_file

from families import FAMILIES, Maker
from tiny_tokenizers import encodings

DATA = Path(__file__).resolve().parents[2] / "data"
LENGTHS = {"denoiser": [1, 6, 19], "classifier": [2, 9, 24, 40], "prm": [1, 13, 30, 64]}


def write_json(path, value, **options):
    path.write_text(json.dumps(value, ensure_ascii=False, **options) + "\n")


def write_weights(folder, weights, shards, torch_form):
    """Safetensors, or pytorch_model.bin in the `new` form of torch.save or the `old` one, from before PyTorch 1.6."""
    if torch_form:
        torch.save(OrderedDict(weights), folder / "pytorch_model.bin", _use_new_zipfile_serialization=torch_form == "new")
        return
    if shards == 1:
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        return
    names = list(weights)
    where = {}
    for s in range(shards):
        file = f"model-{s + 1:05}-of-{shards:05}.safetensors"
        part = names[len(names) * s // shards:len(names) * (s + 1) // shards]
        save_file({n: weights[n] for n in part}, folder / file, metadata={"format": "pt"})
        where |= {n: file for n in part}
    size = sum(t.numel() * t.element_size() for t in weights.values())
    write_json(folder / "model.safetensors.index.json", {"metadata": {"total_size": size}, "weight_map": where}, indent=2)


def write_tokenizer(folder, tokenizer, files):
    vocab = tokenizer["model"]["vocab"]
    if files == "tokenizer.json":
        write_json(folder / files, tokenizer)
    elif files == "vocab.txt":
        (folder / files).write_text("".join(t + "\n" for t in vocab))
    else:
        write_json(folder / "vocab.json", vocab)
        merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
        (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
        outside = {t["content"]: t["id"] for t in tokenizer["added_tokens"] if t["content"] not in vocab}
        if outside:
            write_json(folder / "added_tokens.json", outside, indent=2)


def write_folder(folder, family, weights):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_json(folder / "config.json", family["config"], indent=2)
    write_tokenizer(folder, family["tokenizer"], family.get("tokenizer_files", "tokenizer.json"))
    if "settings" in family:
        write_json(folder / "tokenizer_config.json", family["settings"], indent=2)
    if "special_tokens" in family:
        write_json(folder / "special_tokens_map.json", family["special_tokens"])
    write_weights(folder, weights, family.get("shards", 1), family.get("torch_form"))


def token_rows(family, rng):
    """A handful of rows of different lengths: random tokens, about a third masks, specials where the family has them."""
    kind = "prm" if "step" in family else "denoiser" if "mask" in family else "classifier"
    rows = []
    for length in LENGTHS[kind]:
        row = [rng.randrange(family["config"]["vocab_size"]) for _ in range(length)]
        if "mask" in family:
            row = [family["mask"] if rng.random() < 0.35 else t for t in row]
        if "around" in family:
            pad = family["config"]["pad_token_id"]  # RoBERTa's own code gives it a position of its own
            row = [t + 3 if t == pad else t for t in row]
            if length > 1:
                row[0], row[-1] = family["around"]
        if "step" in family:
            row = [t + 1 if t == family["step"] else t for t in row]
            for i in {length - 1, *(rng.randrange(length) for _ in range(length // 5))}:
                row[i] = family["step"]
        rows.append(row)
    return rows


def make(name, seed):
    maker = Maker(seed)
    family = FAMILIES[name](maker)
    dtype = family.get("dtype", torch.float32)
    stored = {n: t.to(dtype) if t.is_floating_point() else t for n, t in maker.weights.items()}
    write_folder(DATA / "hf" / name, family, stored)
    exact = {n: t.double() for n, t in stored.items()}  # the reference sees what the file holds
    cases, largest = [], 0.0
    for row in token_rows(family, random.Random(seed)):
        out = family["forward"](exact, family["config"], row)
        largest = max(largest, out.abs().max().item())
        cases.append({"tokens": row, "rows": out.shape[0], "columns": out.shape[1],
                      "values": [float(f"{v:.8g}") for v in out.flatten().tolist()]})
    write_json(DATA / "reference" / f"{name}.json", {"cases": cases, "texts": encodings(family["tokenizer"])},
               separators=(",", ":"))
    print(f"{name:20} {sum(t.numel() for t in stored.values()):8} parameters, outputs up to {largest:.3g}")


if __name__ == "__main__":
    (DATA / "reference").mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate(FAMILIES, start=40):
        make(name, seed)
