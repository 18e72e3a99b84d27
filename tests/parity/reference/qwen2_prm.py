"""Qwen2.5-Math-PRM: a causal Qwen2 and a two-layer head, read at the step tokens."""

import torch

from common import linear
from qwen2 import trunk


def forward(w, config, ids, step_token):
    """Probability that each step is right, [steps, 1]; a step ends at a step token."""
    x = trunk(w, config, ids, causal=True)[[i for i, t in enumerate(ids) if t == step_token]]
    y = linear(torch.relu(linear(x, w, "score.0")), w, "score.2")
    return torch.softmax(y, -1)[:, 1:]
