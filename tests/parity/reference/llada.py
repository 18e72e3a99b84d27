"""LLaDA (GSAI-ML/LLaDA-8B): LLaMA's layers without a causal mask."""

from common import attention, linear, rms_norm, rope, silu, split_heads


def forward(w, config, ids):
    """Logits [length, vocab]."""
    heads, eps, base = config["n_heads"], config["rms_norm_eps"], config["rope_theta"]
    x = w["model.transformer.wte.weight"][ids]
    for i in range(config["n_layers"]):
        p = f"model.transformer.blocks.{i}."
        y = rms_norm(x, w[p + "attn_norm.weight"], eps)
        q = split_heads(linear(y, w, p + "q_proj"), heads)
        k, v = (split_heads(linear(y, w, p + n), config["n_kv_heads"]) for n in ("k_proj", "v_proj"))
        x = x + linear(attention(rope(q, base), rope(k, base), v), w, p + "attn_out")
        y = rms_norm(x, w[p + "ff_norm.weight"], eps)
        x = x + linear(silu(linear(y, w, p + "ff_proj")) * linear(y, w, p + "up_proj"), w, p + "ff_out")
    x = rms_norm(x, w["model.transformer.ln_f.weight"], eps)
    return linear(x, w, "model.transformer.ff_out")
