"""A small Qwen2 with the step head of Qwen2.5-Math-PRM, and saving it as a Hugging Face folder.

Causal; biases on q, k, v; RMSNorm, rotary positions (rotate-half), SwiGLU. Parameter names are those of
Qwen/Qwen2.5-Math-PRM-7B, so the same converter reads both.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

from llada import LLaDA, rotate

CONFIG = dict(hidden_size=192, num_attention_heads=6, num_hidden_layers=6, intermediate_size=576, rope_theta=10000.0,
              rms_norm_eps=1e-5, max_position_embeddings=256)
CHAT_TEMPLATE = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
                 "'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")


class Attention(nn.Module):
    def __init__(self, c: dict):
        super().__init__()
        d = c["hidden_size"]
        self.heads = c["num_attention_heads"]
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, d) for _ in range(3))
        self.o_proj = nn.Linear(d, d, bias=False)

    def forward(self, x, cos, sin, visible):
        batch, length, d = x.shape
        q, k, v = (proj(x).view(batch, length, self.heads, -1).transpose(1, 2)
                   for proj in (self.q_proj, self.k_proj, self.v_proj))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        scores = (q @ k.transpose(2, 3) * q.shape[-1] ** -0.5).masked_fill(~visible, -1e4)
        return self.o_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, d))


class MLP(nn.Module):
    def __init__(self, c: dict):
        super().__init__()
        d, hidden = c["hidden_size"], c["intermediate_size"]
        self.gate_proj, self.up_proj = nn.Linear(d, hidden, bias=False), nn.Linear(d, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, d, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, c: dict):
        super().__init__()
        self.input_layernorm = nn.RMSNorm(c["hidden_size"], c["rms_norm_eps"])
        self.self_attn = Attention(c)
        self.post_attention_layernorm = nn.RMSNorm(c["hidden_size"], c["rms_norm_eps"])
        self.mlp = MLP(c)

    def forward(self, x, cos, sin, visible):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, visible)
        return x + self.mlp(self.post_attention_layernorm(x))


class ProcessReward(nn.Module):
    """`forward` gives the normed hidden states; `score` turns them into two logits, wrong and right.

    `lm_head` predicts the next token. It only helps training and is not saved.
    """

    def __init__(self, config: dict):
        super().__init__()
        self.config = config
        d = config["hidden_size"]
        self.model = nn.ModuleDict({
            "embed_tokens": nn.Embedding(config["vocab_size"], d),
            "layers": nn.ModuleList(Layer(config) for _ in range(config["num_hidden_layers"])),
            "norm": nn.RMSNorm(d, config["rms_norm_eps"])})
        self.score = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 2))
        self.lm_head = nn.Linear(d, config["vocab_size"], bias=False)
        for name, p in self.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight", "proj.bias", "score.2.weight", "score.2.bias")):
                nn.init.zeros_(p)  # every layer starts as the identity, every verdict as one half
            elif p.ndim == 2:
                nn.init.normal_(p, std=0.1 if "embed" in name else d ** -0.5)
        half = d // config["num_attention_heads"] // 2
        angle = torch.outer(torch.arange(config["max_position_embeddings"]).float(),
                            config["rope_theta"] ** -(torch.arange(half) / half))
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, ids, positions, visible):
        """positions: where each token stands. visible: [batch, length, length], who may look at whom."""
        cos, sin = self.cos[positions].unsqueeze(1), self.sin[positions].unsqueeze(1)
        x, visible = self.model["embed_tokens"](ids), visible.unsqueeze(1)
        for layer in self.model["layers"]:
            x = layer(x, cos, sin, visible)
        return self.model["norm"](x)


def begin_with_llada(model: ProcessReward, llada: LLaDA, same: dict[int, int]) -> None:
    """Start from the generator's weights, whose shapes are the same, as Qwen2.5-Math-PRM starts from its generator.

    It has learnt to read the stories and to calculate, though with a view of both sides. same: new token -> old token.
    """
    old, new = llada.model["transformer"], model.model
    with torch.no_grad():
        rows, sources = torch.tensor(list(same.keys())), torch.tensor(list(same.values()))
        new["embed_tokens"].weight[rows] = old["wte"].weight[sources]
        model.lm_head.weight[rows] = old["ff_out"].weight[sources]
        new["norm"].weight.copy_(old["ln_f"].weight)
        for layer, block in zip(new["layers"], old["blocks"]):
            for ours, theirs in ((layer.input_layernorm, block.attn_norm), (layer.post_attention_layernorm, block.ff_norm),
                                 (layer.self_attn.q_proj, block.q_proj), (layer.self_attn.k_proj, block.k_proj),
                                 (layer.self_attn.v_proj, block.v_proj), (layer.self_attn.o_proj, block.attn_out),
                                 (layer.mlp.gate_proj, block.ff_proj), (layer.mlp.up_proj, block.up_proj),
                                 (layer.mlp.down_proj, block.ff_out)):
                ours.weight.copy_(theirs.weight)


def save_hf(model: ProcessReward, folder: Path, tokenizer_json: str, special: dict) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    c = model.config
    config = {
        "architectures": ["Qwen2ForProcessRewardModel"], "model_type": "qwen2", **c,
        "num_key_value_heads": c["num_attention_heads"], "hidden_act": "silu", "tie_word_embeddings": False,
        "use_sliding_window": False, "torch_dtype": "float32", "bos_token_id": special["end"],
        "eos_token_id": special["im_end"], "pad_token_id": special["end"], "step_separator": "\n",  # a step is a line
        "step_join": "min",  # it sees a fault where it is made, less so a line later
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "tokenizer.json").write_text(tokenizer_json)
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "add_bos_token": False,
         "chat_template": CHAT_TEMPLATE, "tokenizer_class": "Qwen2Tokenizer"}, indent=2) + "\n")
    save_file({name: p.detach().contiguous() for name, p in model.named_parameters() if not name.startswith("lm_head")},
              folder / "model.safetensors", metadata={"format": "pt"})


def load_hf(folder: Path) -> ProcessReward:
    config = json.loads((folder / "config.json").read_text())
    model = ProcessReward({key: config[key] for key in (*CONFIG, "vocab_size")})
    missing = model.load_state_dict(load_file(folder / "model.safetensors"), strict=False)
    assert missing.missing_keys == ["lm_head.weight"] and not missing.unexpected_keys, missing
    return model
