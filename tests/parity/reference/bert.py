"""BERT and RoBERTa: the trunk, a classifier and a masked-LM head. Old files call a LayerNorm's weight gamma and its
bias beta."""

import torch

from common import attention, gelu_erf, layer_norm, linear, split_heads


def norm(x, w, name, eps):
    old = name + ".gamma" in w
    return layer_norm(x, w[name + (".gamma" if old else ".weight")], w[name + (".beta" if old else ".bias")], eps)


def trunk(w, config, ids):
    """Hidden states, [length, hidden]."""
    root = config["model_type"]  # bert or roberta
    heads, eps = config["num_attention_heads"], config["layer_norm_eps"]
    first = config["pad_token_id"] + 1 if root == "roberta" else 0  # RoBERTa counts positions from there
    p = root + ".embeddings."
    x = (w[p + "word_embeddings.weight"][ids] + w[p + "token_type_embeddings.weight"][0]
         + w[p + "position_embeddings.weight"][first:first + len(ids)])
    x = norm(x, w, p + "LayerNorm", eps)
    for i in range(config["num_hidden_layers"]):
        p = f"{root}.encoder.layer.{i}."
        q, k, v = (split_heads(linear(x, w, p + "attention.self." + n), heads) for n in ("query", "key", "value"))
        x = norm(x + linear(attention(q, k, v), w, p + "attention.output.dense"), w, p + "attention.output.LayerNorm", eps)
        y = gelu_erf(linear(x, w, p + "intermediate.dense"))
        x = norm(x + linear(y, w, p + "output.dense"), w, p + "output.LayerNorm", eps)
    return x


def classify(w, config, ids):
    """Logits of the labels, [1, labels], from the first token."""
    x = trunk(w, config, ids)[:1]
    if config["model_type"] == "roberta":
        return linear(torch.tanh(linear(x, w, "classifier.dense")), w, "classifier.out_proj")
    return linear(torch.tanh(linear(x, w, "bert.pooler.dense")), w, "classifier")


def fill_mask(w, config, ids):
    """Logits [length, vocab]; the output matrix is the embedding."""
    root = config["model_type"]
    dense, after, bias = (("lm_head.dense", "lm_head.layer_norm", "lm_head.bias") if root == "roberta" else
                          ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"))
    y = norm(gelu_erf(linear(trunk(w, config, ids), w, dense)), w, after, config["layer_norm_eps"])
    return y @ w[root + ".embeddings.word_embeddings.weight"].T + w[bias]
