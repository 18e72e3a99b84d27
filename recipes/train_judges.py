"""Train the independent judges: n-gram logistic models that are never used as a reward.

A study steers text with a classifier of train_classifier.py; whether the text became better, or the classifier was fooled,
is for another kind of model to say that has seen other data (judge_data.py).

    python train_judges.py --data DATA --out RUNS/judges       # writes TASK.json and figures.jsonl

A judge is one JSON object. To score a text: lower its case, take its words by the pattern `word`; if `frequent_words` is
not empty, replace a word that is not listed by "~" and its last two letters; put `<s>` before and `</s>` behind; the
n-grams are runs of n neighbours joined by spaces, for each n of `ngrams`. With w their `weights`, or `unknown[n]` for one that
is not listed, the log-odds of the second label are bias + sum(w) / (number of n-grams) ** power.
"""

import argparse
import json
import random
import re
import time
from collections import Counter
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from classifier_data import Example
from figures import judge_figures
from judge_data import JUDGES, WORD, clean_sentences


class Judge:
    """The model of the head of this file, with its training."""

    def __init__(self, labels: list[str], ngrams: list[int], power: float, frequent_words: list[str]):
        self.labels, self.ngrams, self.power = labels, ngrams, power
        self.frequent = set(frequent_words)
        self.index: dict[str, int] = {}
        self.weights = torch.zeros(0)  # of the unknown n-grams (one for each n), then of the known ones
        self.bias = 0.0

    def split(self, text: str) -> list[list[str]]:
        """The n-grams of a text, for each n."""
        found = re.findall(WORD, text.lower())
        if self.frequent:
            found = [w if w in self.frequent else "~" + w[-2:] for w in found]
        found = ["<s>", *found, "</s>"]
        return [[" ".join(found[i:i + n]) for i in range(len(found) - n + 1)] for n in self.ngrams]

    def features(self, text: str) -> list[int]:
        size = len(self.ngrams)
        return [self.index[g] + size if g in self.index else k for k, part in enumerate(self.split(text)) for g in part]

    def choose(self, examples: list[Example], count: int, least: int) -> None:
        """The `count` n-grams whose frequencies differ most surely between the labels (by z-score of the log-odds)."""
        counts = (Counter(), Counter())
        for e in examples:
            counts[e.label].update({g for part in self.split(e.text) for g in part})
        sums = [1 + sum(e.label == label for e in examples) for label in (0, 1)]

        def sureness(g: str) -> float:
            a, b = counts[0][g] + 0.5, counts[1][g] + 0.5
            return abs(np.log(b / sums[1]) - np.log(a / sums[0])) / (1 / a + 1 / b) ** 0.5

        common = [g for g in counts[0] | counts[1] if counts[0][g] + counts[1][g] >= least]
        chosen = sorted(common, key=lambda g: (-sureness(g), g))[:count]
        self.index = {g: i for i, g in enumerate(chosen)}

    def scores(self, rows_: list[list[int]], weights: torch.Tensor) -> torch.Tensor:
        """Sum of the weights of each row over a power of its size."""
        sizes = torch.tensor([len(row) for row in rows_])
        offsets = torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)[:-1]])
        flat = torch.tensor([i for row in rows_ for i in row])
        return F.embedding_bag(flat, weights[:, None], offsets, mode="sum")[:, 0] / sizes ** self.power

    def train(self, examples: list[Example], passes: int, decay: float, seed: int) -> float:
        """Logistic regression by Adam; returns the last pass's mean loss. Both labels get the same total weight."""
        rng = random.Random(seed)
        encoded = [(self.features(e.text), e.label) for e in examples]
        share = sum(e.label for e in examples) / len(examples)
        weights = torch.zeros(len(self.index) + len(self.ngrams), requires_grad=True)
        bias = torch.zeros(1, requires_grad=True)
        optimizer = torch.optim.Adam([weights, bias], lr=0.03)
        steps = passes * (len(encoded) // 512 + 1)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, steps)
        for _ in range(passes):
            rng.shuffle(encoded)
            total = 0.0
            for at in range(0, len(encoded), 512):
                part = encoded[at:at + 512]
                y = torch.tensor([label for _, label in part], dtype=torch.float32)
                loss = F.binary_cross_entropy_with_logits(
                    self.scores([row for row, _ in part], weights) + bias, y,
                    weight=torch.where(y > 0, 0.5 / share, 0.5 / (1 - share)))
                optimizer.zero_grad()
                (loss + decay * weights.square().sum()).backward()
                optimizer.step()
                schedule.step()
                total += loss.item() * len(part)
        self.weights, self.bias = weights.detach().mul(1000).round().div(1000), round(bias.item(), 3)  # as saved
        return total / len(encoded)

    def judge(self, examples: list[Example]) -> np.ndarray:
        """Log-odds of the second label."""
        return (self.scores([self.features(e.text) for e in examples], self.weights) + self.bias).numpy()

    def save(self, path: Path) -> None:
        rounded = [round(w, 3) for w in self.weights.tolist()]
        size = len(self.ngrams)
        path.write_text(json.dumps({
            "kind": "logistic-ngrams", "labels": self.labels, "lowercase": True, "word": WORD,
            "frequent_words": sorted(self.frequent), "ngrams": self.ngrams, "power": self.power,
            "bias": self.bias, "unknown": {str(n): w for n, w in zip(self.ngrams, rounded)},
            "weights": {g: rounded[i + size] for g, i in self.index.items()}},
            ensure_ascii=False, separators=(",", ":")) + "\n")


def make_judge(task: str, data: Path) -> Judge:
    labels = JUDGES[task].labels
    if task == "sentiment":
        return Judge(labels, [1, 2], 0.5, [])
    if task == "toxicity":
        return Judge(labels, [1, 2], 0.0, [])  # one word is enough, however long the text
    # Word order and gaps, seen by trigrams in which rarer words are only their endings.
    sentences = clean_sentences(data, random.Random("judge"))
    common = Counter(w for s in sentences for w in re.findall(WORD, s.lower())).most_common(1500)
    return Judge(labels, [1, 2, 3], 0.5, [w for w, _ in common])


# Of each judge: how many n-grams, seen how often at least, passes over the data, weight decay.
SETTINGS = {"sentiment": (40_000, 8, 3, 1e-6), "toxicity": (20_000, 3, 6, 1e-5), "acceptability": (60_000, 4, 4, 1e-6)}


def train_judge(task: str, data: Path) -> tuple[Judge, dict]:
    held_out = JUDGES[task].held_out(data)
    train = JUDGES[task].train(data, held_out)
    count, least, passes, decay = SETTINGS[task]
    judge = make_judge(task, data)
    judge.choose(train, count, least)
    loss = judge.train(train, passes, decay, seed=1)
    scores = {name: judge.judge(examples).tolist() for name, examples in held_out.items()}
    return judge, {"examples": len(train), "loss": loss,
                   **{name: figure.value for name, figure in judge_figures(task, held_out, scores).items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tasks", nargs="*", help=f"of {', '.join(JUDGES)}; all without")
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--out", type=Path, required=True, help="folder for the judges and their figures")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    for task in args.tasks or JUDGES:
        start = time.process_time()
        judge, figures = train_judge(task, args.data)
        judge.save(args.out / f"{task}.json")
        figures.update(ngrams=len(judge.index), bytes=(args.out / f"{task}.json").stat().st_size,
                       cpu=round(time.process_time() - start, 1))
        line = json.dumps({"judge": task, **{k: round(v, 4) for k, v in figures.items()}})
        print(line, flush=True)
        with open(args.out / "figures.jsonl", "a") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
