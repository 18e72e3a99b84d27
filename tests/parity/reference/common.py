"""What the reference networks share. Everything is float64 on one sequence: x is [length, d]. Weights are a dict from
the tensor names of the published Hugging Face files to tensors."""

import math

import torch


def linear(x, w, name):
    y = x @ w[name + ".weight"].T
    return y + w[name + ".bias"] if name + ".bias" in w else y


def rms_norm(x, weight, eps):
    return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def layer_norm(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    y = centred / torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + eps) * weight
    return y if bias is None else y + bias


def silu(x):
    return x / (1 + torch.exp(-x))


def gelu_erf(x):
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def split_heads(x, heads):
    """[length, heads * size] to [heads, length, size]."""
    return x.view(x.shape[0], heads, -1).transpose(0, 1)


def rope(x, base):
    """Rotary positions 0, 1, 2 ... on x [heads, length, size]: element i of a head is paired with element i + size/2."""
    length, half = x.shape[1], x.shape[2] // 2
    angle = torch.outer(torch.arange(length, dtype=x.dtype), base ** (-torch.arange(half, dtype=x.dtype) / half))
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def attention(q, k, v, causal=False):
    """q [heads, length, size], k and v [kv_heads, length, size]: head h looks at key head h // (heads / kv_heads)."""
    repeat = q.shape[0] // k.shape[0]
    k, v = k.repeat_interleave(repeat, 0), v.repeat_interleave(repeat, 0)
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores[0]).triu(1).bool(), -math.inf)
    y = torch.softmax(scores, -1) @ v
    return y.transpose(0, 1).reshape(y.shape[1], -1)
