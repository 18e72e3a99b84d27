#!/usr/bin/env python3
"""Writes tests/data/torch: small checkpoints as torch.save writes them, new form (zip) and old, beside the same tensors
as safetensors, which tests/convert/torch_test.cpp compares. Committed. Old files name storages by addresses, so their
bytes differ from run to run.

    python make_torch_files.py
"""

import os
import shutil
from collections import OrderedDict
from pathlib import Path

import torch
from safetensors.torch import save_file

DATA = Path(__file__).resolve().parents[2] / "data" / "torch"


def save(tensors, name):
    torch.save(tensors, DATA / f"{name}-new.bin")
    torch.save(tensors, DATA / f"{name}-old.bin", _use_new_zipfile_serialization=False)
    save_file({n: t.detach().contiguous().clone() for n, t in tensors.items()}, DATA / f"{name}.safetensors")


def bert():
    """A BERT trunk of width 8 with one layer and 12 words, as tests/convert/fake_hf.cpp describes it."""
    torch.manual_seed(3)
    d, ff, sizes = 8, 16, OrderedDict()
    sizes["embeddings.position_ids"] = None
    for name, rows in (("word", 12), ("position", 16), ("token_type", 2)):
        sizes[f"embeddings.{name}_embeddings.weight"] = (rows, d)
    linear = {f"attention.self.{n}": (d, d) for n in ("query", "key", "value")}
    linear |= {"attention.output.dense": (d, d), "intermediate.dense": (ff, d), "output.dense": (d, ff)}
    for name, shape in linear.items():
        sizes[f"encoder.layer.0.{name}.weight"], sizes[f"encoder.layer.0.{name}.bias"] = shape, shape[:1]
    for name in ("embeddings.LayerNorm", "encoder.layer.0.attention.output.LayerNorm", "encoder.layer.0.output.LayerNorm"):
        sizes[name + ".weight"] = sizes[name + ".bias"] = (d,)
    sizes["pooler.dense.weight"], sizes["pooler.dense.bias"] = (d, d), (d,)
    return OrderedDict((n, torch.randn(s) if s else torch.arange(16).unsqueeze(0)) for n, s in sizes.items())


def odd():
    """Everything else a state dict may hold: shared storages, views, transposed matrices, other types, parameters."""
    matrix = torch.arange(12.0).view(3, 4)
    tensors = OrderedDict(matrix=matrix, tied=matrix, rows=matrix[1:], transposed=matrix.t(), scalar=torch.tensor(3.0),
                          row=torch.ones(1, 5), empty=torch.ones(0, 4), parameter=torch.nn.Parameter(torch.ones(2)),
                          half=torch.ones(3).half(), brain=torch.ones(3).bfloat16(), double=torch.ones(2).double())
    tensors |= {"int": torch.ones(2).int(), "byte": torch.ones(2).byte(), "bool": torch.ones(2).bool()}
    tensors = OrderedDict(tensors)
    tensors._metadata = OrderedDict({"": {"version": 1}})  # as Module.state_dict() leaves it
    return tensors


class Evil:
    def __reduce__(self):
        return os.system, ("echo this must never run",)


if __name__ == "__main__":
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    whole = bert()
    save(whole, "bert")
    torch.save(whole, DATA / "bert-protocol4.bin", pickle_protocol=4)
    names = list(whole)
    for part, some in enumerate((names[:9], names[9:])):
        torch.save({n: whole[n] for n in some}, DATA / f"bert-part{part}.bin")
    save(odd(), "odd")
    torch.save({"strided": torch.arange(12.0).view(3, 4)[:, ::2]}, DATA / "strided-new.bin")
    torch.save({"weight": Evil()}, DATA / "evil-new.bin")
    torch.save({"weight": Evil()}, DATA / "evil-old.bin", _use_new_zipfile_serialization=False)
    torch.save({"state_dict": {"weight": torch.ones(2)}, "epoch": 3}, DATA / "wrapped-new.bin")
