"""Qwen2's layers: the trunk of Dream (without a causal mask) and of Qwen2.5-Math-PRM (with one)."""

from common import attention, linear, rms_norm, rope, silu, split_heads


def trunk(w, config, ids, causal):
    """Hidden states after the last norm, [length, hidden]."""
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    eps, base = config["rms_norm_eps"], config["rope_theta"]
    x = w["model.embed_tokens.weight"][ids]
    for i in range(config["num_hidden_layers"]):
        p = f"model.layers.{i}."
        y = rms_norm(x, w[p + "input_layernorm.weight"], eps)
        q = split_heads(linear(y, w, p + "self_attn.q_proj"), heads)
        k, v = (split_heads(linear(y, w, p + "self_attn." + n), kv_heads) for n in ("k_proj", "v_proj"))
        x = x + linear(attention(rope(q, base), rope(k, base), v, causal), w, p + "self_attn.o_proj")
        y = rms_norm(x, w[p + "post_attention_layernorm.weight"], eps)
        x = x + linear(silu(linear(y, w, p + "mlp.gate_proj")) * linear(y, w, p + "mlp.up_proj"), w, p + "mlp.down_proj")
    return rms_norm(x, w["model.norm.weight"], eps)
