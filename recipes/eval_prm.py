"""How well prm-nano judges fresh samples of llada-nano-math: AUC, first error, calibration, best of n, bad format.

The samples are drawn by `prm_data.py sample --exact --test data/math_test.jsonl`, so no training has seen the questions,
and three in ten are of templates that no training has seen. The model is a Hugging Face folder, or a GGUF file that the
engine (`--pgdlm`) runs.

    python eval_prm.py --model runs/prm-nano/best --samples runs/prm-nano/fresh.jsonl
    python eval_prm.py --model prm-nano.gguf --pgdlm ../build/pgdlm --samples runs/prm-nano/fresh.jsonl
"""

import argparse
import random
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from math_problems import final_answer
from prm_data import bad_format, first_fault, read_lines, step_labels
from qwen2 import load_hf
from train_prm import Pages, auc, score


def engine_score(binary: str, model: Path, pages: Pages, cases: list[tuple[str, list[str]]], rows=256) -> list:
    """As train_prm.score, by `pgdlm forward`."""
    flat = [pages.prompt(q) + pages.solution(t)[0] for q, texts in cases for t in texts]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(flat), rows):
            group = flat[at:at + rows]
            wanted = [part for ids in group for part in ("--ids", ",".join(map(str, ids)))]
            subprocess.run([binary, "forward", str(model), *wanted, "--threads", "1", "--out", f"{folder}/p"],
                           check=True, stdout=subprocess.DEVNULL)
            found += [np.load(f"{folder}/p.{i}.npy").ravel().tolist() for i in range(len(group))]
    found = iter(found)
    return [[next(found) for _ in texts] for _, texts in cases]


def best_of(n: int, solutions: list[list[tuple]]) -> dict[str, float]:
    """Share of questions answered right when one of the first n solutions is picked; solutions: (scores, answer, right)."""
    picks = {"single": 0, "majority": 0, "prm last": 0, "prm min": 0, "prm product": 0, "oracle": 0}
    for group in solutions:
        group = group[:n]
        votes = Counter(answer for _, answer, _ in group)
        top = max(votes.values())
        tied = [right for _, answer, right in group if votes[answer] == top]
        picks["single"] += np.mean([right for *_, right in group])
        picks["majority"] += np.mean(tied)
        picks["prm last"] += max(group, key=lambda s: s[0][-1])[2]
        picks["prm min"] += max(group, key=lambda s: min(s[0]))[2]
        picks["prm product"] += max(group, key=lambda s: np.prod(s[0]))[2]
        picks["oracle"] += any(right for *_, right in group)
    return {name: value / len(solutions) for name, value in picks.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="Hugging Face folder or GGUF file")
    parser.add_argument("--pgdlm", help="the program that runs the GGUF file")
    parser.add_argument("--tokenizer", type=Path, help="folder with tokenizer.json, for a GGUF file")
    parser.add_argument("--samples", type=Path, required=True, help="JSON lines of prm_data.py")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    pages = Pages(Tokenizer.from_file(str((args.tokenizer or args.model) / "tokenizer.json")))

    groups = {}
    for line in read_lines(args.samples):
        groups.setdefault(line["question"], (line, []))[1].append(line["text"])
    groups = list(groups.values())
    spoiled, rng = [], random.Random(0)
    for line, _ in groups:
        text = bad_format(rng, line["answer"].split("\n"))
        if first_fault(line["question"], line["answer"], text) is not None:
            spoiled.append((line, text))
    cases = [(line["question"], texts) for line, texts in groups] + [(line["question"], [text]) for line, text in spoiled]
    if args.pgdlm:
        scores = engine_score(args.pgdlm, args.model, pages, cases)
    else:
        scores = score(load_hf(args.model), pages, cases, bf16=False)

    steps, solutions = [], []  # a step: (score, label, position, up to the first error, is the final line, part)
    located = {True: [], False: []}
    for (line, texts), rows in zip(groups, scores):
        solutions.append([])
        for text, p in zip(texts, rows):
            labels = step_labels(line["question"], line["answer"], text)
            final = text.split("\n")[-1].startswith("####")
            for i, (value, label) in enumerate(zip(p, labels)):
                steps.append((value, label, i + 1, i <= sum(labels), final and i == len(labels) - 1, line["part"]))
            alarm = next((i for i, value in enumerate(p) if value < 0.5), len(p))
            located[all(labels)].append(alarm == sum(labels))
            solutions[-1].append((p, final_answer(text), final_answer(text) == final_answer(line["answer"])))
    columns = [np.array(column) for column in zip(*steps)]
    value, label, position, to_first, is_final, part = columns

    def report(name: str, rows: np.ndarray) -> None:
        print(f"{name:34s} AUC {auc(value[rows], label[rows]):.4f}   lines {int(rows.sum()):6d}, right {label[rows].mean():.3f}")

    models, heats = ({line[key] for line in read_lines(args.samples)} for key in ("model", "temperature"))
    print(f"{len(groups)} questions, {sum(map(len, solutions))} solutions of llada-nano-math {models}, temperatures {heats}")
    report("all lines", np.ones(len(value), bool))
    report("up to the first wrong line", to_first)
    report("final lines", is_final)
    for name in ("seen", "unseen"):
        report(f"{name} templates", part == name)
        report(f"{name} templates, to first wrong", (part == name) & to_first)
    for i in range(1, int(position.max()) + 1):
        if (position == i).sum() >= 50:
            report(f"line {i}", position == i)
            report(f"line {i}, nothing wrong before", (position == i) & to_first)

    wrong, right = np.mean(located[False]), np.mean(located[True])
    print(f"first error at threshold 0.5: found exactly in {wrong:.3f} of wrong solutions, none claimed in {right:.3f} of "
          f"right ones, F1 {2 * wrong * right / max(1e-9, wrong + right):.3f}")
    print("calibration: score, lines, mean score, share right")
    error = 0.0
    for b in range(10):
        rows = np.minimum((value * 10).astype(int), 9) == b
        if rows.any():
            error += rows.mean() * abs(value[rows].mean() - label[rows].mean())
            print(f"  {b / 10:.1f}-{(b + 1) / 10:.1f} {int(rows.sum()):7d}   {value[rows].mean():.3f}   {label[rows].mean():.3f}")
    print(f"  expected calibration error {error:.4f}, Brier score {np.mean((value - label) ** 2):.4f}")
    n = 1
    while n <= min(map(len, solutions)):
        print(f"best of {n:2d}: " + ", ".join(f"{name} {share:.3f}" for name, share in best_of(n, solutions).items()))
        n *= 2
    malformed = []
    for (line, text), (p,) in zip(spoiled, scores[len(groups):]):
        labels = step_labels(line["question"], line["answer"], text)
        malformed.append(p[min(sum(labels), len(p) - 1)])
    print(f"bad format in right solutions: score below 0.5 at the damaged line in {np.mean(np.array(malformed) < 0.5):.3f} "
          f"of {len(malformed)}, mean {np.mean(malformed):.3f}")


if __name__ == "__main__":
    main()
