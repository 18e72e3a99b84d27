"""Dream (Dream-org/Dream-v0-7B): Qwen2 that looks both ways. The logits are as the network gives them: row l predicts
position l + 1."""

from common import linear
from qwen2 import trunk


def forward(w, config, ids):
    """Logits [length, vocab], before any shift."""
    return linear(trunk(w, config, ids, causal=False), w, "lm_head")
