"""MDLM's diffusion transformer as released (kuleshov-group/mdlm-owt), with its time conditioning left in place: every
layer is modulated by an embedding of the noise level, and the noise level it is told is always 0. Our GGUF files have
this folded away; here it is not, so that a comparison proves the folding."""

import torch

from common import attention, gelu_tanh, layer_norm, linear, rope, silu, split_heads

ROPE_BASE = 10000.0
NORM_EPS = 1e-5


def sigma_embedding(w, sigma):
    """Sinusoids (cosines first, then sines), linear, SiLU, linear."""
    half = w["backbone.sigma_map.mlp.0.weight"].shape[1] // 2
    angle = sigma * 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    y = torch.cat((angle.cos(), angle.sin()))
    y = silu(linear(y, w, "backbone.sigma_map.mlp.0"))
    return linear(y, w, "backbone.sigma_map.mlp.2")


def modulate(x, shift, scale):
    return x * (1 + scale) + shift


def forward(w, config, ids):
    """Logits [length, vocab]."""
    heads = config["n_heads"]
    x = w["backbone.vocab_embed.embedding"][ids]
    c = silu(sigma_embedding(w, 0.0))
    for i in range(config["n_blocks"]):
        p = f"backbone.blocks.{i}."
        shift_a, scale_a, gate_a, shift_m, scale_m, gate_m = linear(c, w, p + "adaLN_modulation").chunk(6)
        y = modulate(layer_norm(x, w[p + "norm1.weight"], None, NORM_EPS), shift_a, scale_a)
        q, k, v = (split_heads(t, heads) for t in linear(y, w, p + "attn_qkv").chunk(3, dim=-1))
        y = attention(rope(q, ROPE_BASE), rope(k, ROPE_BASE), v)
        x = x + gate_a * linear(y, w, p + "attn_out")
        y = modulate(layer_norm(x, w[p + "norm2.weight"], None, NORM_EPS), shift_m, scale_m)
        x = x + gate_m * linear(gelu_tanh(linear(y, w, p + "mlp.0")), w, p + "mlp.2")
    shift, scale = linear(c, w, "backbone.output_layer.adaLN_modulation").chunk(2)
    x = modulate(layer_norm(x, w["backbone.output_layer.norm_final.weight"], None, NORM_EPS), shift, scale)
    return linear(x, w, "backbone.output_layer.linear")
