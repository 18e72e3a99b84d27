"""A BERT encoder with a masked-LM head, started from all-MiniLM-L6-v2, saved as a Hugging Face BertForMaskedLM.

Post-norm layers, exact GELU, learned positions, tied output embeddings. Parameter names are Hugging Face's.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

CONFIG = dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536,
              layer_norm_eps=1e-12, max_position_embeddings=128)


def tree(**children) -> nn.ModuleDict:
    """Modules under the names that Hugging Face gives them."""
    return nn.ModuleDict(children)


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

    def forward(self, x, visible):
        batch, length, d = x.shape
        q, k, v = (self.attention["self"][name](x).view(batch, length, self.heads, -1).transpose(1, 2)
                   for name in ("query", "key", "value"))
        scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
        if visible is not None:
            scores = scores.masked_fill(~visible, -1e4)
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, d)
        x = self.attention["output"]["LayerNorm"](x + self.attention["output"]["dense"](y))
        y = self.output["dense"](F.gelu(self.intermediate["dense"](x)))
        return self.output["LayerNorm"](x + y)


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


def save_hf(model: MaskedLM, folder: Path, tokenizer_json: str, special: dict) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config = {"architectures": ["BertForMaskedLM"], "model_type": "bert", **model.config, "hidden_act": "gelu",
              "type_vocab_size": 2, "position_embedding_type": "absolute", "tie_word_embeddings": True,
              "torch_dtype": "float32", "bos_token_id": special["end"], "eos_token_id": special["end"],
              "pad_token_id": special["end"], "mask_token_id": special["mask"],
              # This is a denoiser of masked diffusion without time conditioning, not a filler of 15 % gaps.
              "diffusion": {"process": "mdlm", "time_conditioning": False, "shift_logits": False}}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "tokenizer.json").write_text(tokenizer_json)
    save_file({name: p.detach().contiguous() for name, p in model.named_parameters()}, folder / "model.safetensors",
              metadata={"format": "pt"})


def load_hf(folder: Path) -> MaskedLM:
    config = json.loads((folder / "config.json").read_text())
    model = MaskedLM({key: config[key] for key in (*CONFIG, "vocab_size")})
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model
