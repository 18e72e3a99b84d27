"""A small LLaDA: the architecture, its block decoding, and saving it as a Hugging Face folder.

LLaMA's layers without the causal mask: RMSNorm, rotary positions (rotate-half), SwiGLU, no biases, untied head.
Parameter names are those of GSAI-ML/LLaDA-8B, so the same converter reads both.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

CONFIG = dict(d_model=192, n_heads=6, n_layers=6, mlp_hidden_size=576, rope_theta=10000.0, rms_norm_eps=1e-5,
              max_sequence_length=256)


class Block(nn.Module):
    def __init__(self, c: dict):
        super().__init__()
        d, hidden = c["d_model"], c["mlp_hidden_size"]
        self.heads = c["n_heads"]
        self.attn_norm = nn.RMSNorm(d, c["rms_norm_eps"])
        self.q_proj, self.k_proj, self.v_proj, self.attn_out = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.ff_norm = nn.RMSNorm(d, c["rms_norm_eps"])
        self.ff_proj, self.up_proj = nn.Linear(d, hidden, bias=False), nn.Linear(d, hidden, bias=False)
        self.ff_out = nn.Linear(hidden, d, bias=False)

    def forward(self, x, cos, sin, visible):
        batch, length, d = x.shape
        y = self.attn_norm(x)
        q, k, v = (proj(y).view(batch, length, self.heads, -1).transpose(1, 2)
                   for proj in (self.q_proj, self.k_proj, self.v_proj))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        # Written out, because on a CPU the fused attention spends more time in its backward pass than all the rest.
        scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
        if visible is not None:
            scores = scores.masked_fill(~visible, -1e4)
        y = scores.softmax(-1) @ v
        x = x + self.attn_out(y.transpose(1, 2).reshape(batch, length, d))
        y = self.ff_norm(x)
        return x + self.ff_out(F.silu(self.ff_proj(y)) * self.up_proj(y))


def rotate(x, cos, sin):
    """Rotary positions, the first half of each head paired with the second."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype)


class LLaDA(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        self.config = config
        d, vocabulary = config["d_model"], config["vocab_size"]
        self.model = nn.ModuleDict({"transformer": nn.ModuleDict({
            "wte": nn.Embedding(vocabulary, d),
            "blocks": nn.ModuleList(Block(config) for _ in range(config["n_layers"])),
            "ln_f": nn.RMSNorm(d, config["rms_norm_eps"]),
            "ff_out": nn.Linear(d, vocabulary, bias=False)})})
        for name, p in self.named_parameters():
            if ".blocks." in name and name.endswith(("attn_out.weight", "ff_out.weight")):
                nn.init.zeros_(p)  # every block starts as the identity
            elif p.ndim == 2:
                nn.init.normal_(p, std=0.1 if "wte" in name else d ** -0.5)
        half = d // config["n_heads"] // 2
        angle = torch.outer(torch.arange(config["max_sequence_length"]).float(),
                            config["rope_theta"] ** -(torch.arange(half) / half))
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, ids, rows=None, positions=None, visible=None):
        """Logits of every position, or only of `rows` (a boolean mask), which saves most of the head's work.

        positions: where each token stands (default 0, 1, 2 ...). visible: who may look at whom (default everyone).
        """
        net = self.model["transformer"]
        if positions is None:
            cos, sin = self.cos[:ids.shape[1]], self.sin[:ids.shape[1]]
        else:
            cos, sin = self.cos[positions].unsqueeze(1), self.sin[positions].unsqueeze(1)
        x = net["wte"](ids)
        for block in net["blocks"]:
            x = block(x, cos, sin, visible)
        x = net["ln_f"](x if rows is None else x[rows])
        return net["ff_out"](x).float()


@torch.no_grad()
def block_decode(model: LLaDA, prompts: list[list[int]], special: dict, *, length=64, block=8, steps_per_block=8,
                 temperature=0.0, generator=None) -> list[list[int]]:
    """LLaDA's decoding with low-confidence remasking, many prompts at once.

    The canvas is the prompt and `length` masks. Block by block, each step runs the whole canvas, draws a token for
    every masked position of the block (the best one at temperature 0), and keeps those with the highest probability.
    Prompts of different lengths share a batch: the filling behind a shorter canvas is hidden from everyone.
    """
    mask, stop = special["mask"], special["eot"]
    starts = torch.tensor([len(p) for p in prompts])
    width = int(starts.max()) + length
    canvas = torch.full((len(prompts), width), mask)
    for row, prompt in enumerate(prompts):
        canvas[row, :len(prompt)] = torch.tensor(prompt)
    column = torch.arange(width)
    visible = (column < (starts + length).unsqueeze(1))[:, None, None, :] if len(set(map(len, prompts))) > 1 else None
    alive = torch.arange(len(prompts))
    for first in range(0, length, block):
        low = (starts[alive] + first).unsqueeze(1)
        inside = (column >= low) & (column < low + block)
        for step in range(steps_per_block):
            rows = inside & (canvas[alive] == mask)
            logits = model(canvas[alive], rows=rows, visible=None if visible is None else visible[alive])
            logits[:, mask] = -float("inf")
            p = logits.softmax(-1)
            if temperature > 0:
                drawn = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
            else:
                drawn = p.argmax(-1, keepdim=True)
            sure = torch.full(rows.shape, -1.0)
            sure[rows] = p.gather(1, drawn).squeeze(1)
            token = torch.full(rows.shape, mask)
            token[rows] = drawn.squeeze(1)
            keep = block // steps_per_block + (step < block % steps_per_block)
            chosen = sure.topk(keep, dim=1).indices
            canvas[alive] = canvas[alive].scatter(1, chosen, token.gather(1, chosen))
        finished = (inside & (canvas[alive] == stop)).any(1)
        alive = alive[~finished]  # what follows the end of the answer is never looked at
        if len(alive) == 0:
            break
    answers = []
    for row, prompt in enumerate(prompts):
        tokens = canvas[row, len(prompt):len(prompt) + length].tolist()
        answers.append(tokens[:tokens.index(stop)] if stop in tokens else tokens)
    return answers


def save_hf(model: LLaDA, folder: Path, tokenizer_json: str, special: dict, diffusion: dict, chat_template: str) -> None:
    """`diffusion`: how the model wants to be decoded; `pgdlm convert` makes it the defaults of the file."""
    folder.mkdir(parents=True, exist_ok=True)
    c = model.config
    config = {
        "architectures": ["LLaDAModelLM"], "model_type": "llada", **c, "n_kv_heads": c["n_heads"],
        "embedding_size": c["vocab_size"], "block_type": "llama", "activation_type": "silu", "layer_norm_type": "rms",
        "rope": True, "include_bias": False, "weight_tying": False, "torch_dtype": "float32",
        "bos_token_id": special["bos"], "eos_token_id": special["eos"], "pad_token_id": special["eos"],
        "mask_token_id": special["mask"], "diffusion": diffusion,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "tokenizer.json").write_text(tokenizer_json)
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": chat_template}, indent=2) + "\n")
    save_file({name: p.detach().contiguous() for name, p in model.named_parameters()}, folder / "model.safetensors",
              metadata={"format": "pt"})


def load_hf(folder: Path) -> LLaDA:
    config = json.loads((folder / "config.json").read_text())
    model = LLaDA({key: config[key] for key in (*CONFIG, "vocab_size")})
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model
