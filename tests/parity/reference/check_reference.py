#!/usr/bin/env python3
"""An outside judge: loads tests/data/hf with the classes of `transformers` and compares with tests/data/reference.
BERT, RoBERTa and Qwen2 are loaded as they stand; LLaDA runs as LLaMA and Dream as Qwen2, both without the causal mask.
MDLM has no class there. Exits with 1 when something differs by more than 1e-5 of the largest output."""

import json
import sys

import torch
import transformers
from safetensors.torch import load_file

from make_reference import DATA

transformers.logging.set_verbosity_error()


def weights_of(folder):
    return {n: t.double() for file in sorted(folder.glob("*.safetensors")) for n, t in load_file(file).items()}


def loaded(cls, folder):
    return cls.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()


def two_way(model, row):
    ids = torch.tensor([row])
    everyone = torch.zeros(1, 1, len(row), len(row), dtype=torch.float64)  # nothing is hidden
    return model(input_ids=ids, attention_mask=everyone).logits[0]


def judge_bert(cls):
    def make(folder):
        model = loaded(cls, folder)
        return lambda row: torch.atleast_2d(model(torch.tensor([row])).logits[0])
    return make


def judge_prm(folder):
    w = weights_of(folder)
    model = loaded(transformers.Qwen2Model, folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    step = next(t["id"] for t in tokenizer["added_tokens"] if t["content"] == "<extra_0>")

    def run(row):
        x = model(torch.tensor([row])).last_hidden_state[0][torch.tensor(row) == step]
        y = torch.relu(torch.nn.functional.linear(x, w["score.0.weight"], w["score.0.bias"]))
        return torch.nn.functional.linear(y, w["score.2.weight"], w["score.2.bias"]).softmax(-1)[:, 1:]
    return run


def judge_dream(folder):
    c = json.loads((folder / "config.json").read_text())
    c = {k: v for k, v in c.items() if k not in ("architectures", "auto_map", "model_type", "rope_scaling")}
    model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**c, attn_implementation="eager")).double().eval()
    model.load_state_dict(weights_of(folder), strict=True)
    return lambda row: two_way(model, row)


def judge_llada(folder):
    c = json.loads((folder / "config.json").read_text())
    config = transformers.LlamaConfig(
        hidden_size=c["d_model"], intermediate_size=c["mlp_hidden_size"], num_hidden_layers=c["n_layers"],
        num_attention_heads=c["n_heads"], num_key_value_heads=c["n_kv_heads"], rms_norm_eps=c["rms_norm_eps"],
        rope_theta=c["rope_theta"], vocab_size=c["vocab_size"], tie_word_embeddings=False, attn_implementation="eager")
    names = {"wte": "model.embed_tokens", "ln_f": "model.norm", "ff_out": "lm_head", "attn_norm": "input_layernorm",
             "q_proj": "self_attn.q_proj", "k_proj": "self_attn.k_proj", "v_proj": "self_attn.v_proj",
             "attn_out": "self_attn.o_proj", "ff_norm": "post_attention_layernorm", "ff_proj": "mlp.gate_proj",
             "up_proj": "mlp.up_proj", "blocks.ff_out": "mlp.down_proj"}

    def rename(name):
        parts = name.removeprefix("model.transformer.").split(".")
        if parts[0] != "blocks":
            return names[parts[0]] + ".weight"
        return f"model.layers.{parts[1]}." + names.get("blocks." + parts[2], names.get(parts[2])) + ".weight"
    model = transformers.LlamaForCausalLM(config).double().eval()
    model.load_state_dict({rename(n): t for n, t in weights_of(folder).items()}, strict=True)
    return lambda row: two_way(model, row)


JUDGES = {"llada": judge_llada, "dream": judge_dream, "qwen2-prm": judge_prm,
          "roberta-classifier": judge_bert(transformers.RobertaForSequenceClassification),
          "roberta-fill-mask": judge_bert(transformers.RobertaForMaskedLM),
          "bert-classifier": judge_bert(transformers.BertForSequenceClassification),
          "bert-fill-mask": judge_bert(transformers.BertForMaskedLM)}


@torch.no_grad()
def main():
    good = True
    for name, judge in JUDGES.items():
        run = judge(DATA / "hf" / name)
        worst = largest = 0.0
        for case in json.loads((DATA / "reference" / f"{name}.json").read_text())["cases"]:
            expected = torch.tensor(case["values"], dtype=torch.float64).view(case["rows"], case["columns"])
            got = run(case["tokens"])
            assert got.shape == expected.shape, (name, got.shape, expected.shape)
            worst = max(worst, (got - expected).abs().max().item())
            largest = max(largest, expected.abs().max().item())
        good &= worst <= 1e-5 * largest
        print(f"{name:20} differs by at most {worst:.1e}, outputs up to {largest:.3g}")
    sys.exit(not good)


if __name__ == "__main__":
    main()
