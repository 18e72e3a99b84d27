"""Measure a classifier on the held-out sets: a Hugging Face folder through PyTorch, or a GGUF file through the C++ engine.

    python eval_classifier.py sentiment --data DATA --model RUNS/sentiment-nano/final
    python eval_classifier.py sentiment --data DATA --model sentiment-nano.gguf --pgdlm ../build/pgdlm

The figures are made by `figures` from the logits alone, so both ways are measured alike.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

import bert
from classifier_data import TASKS, Example

LONGEST = 128  # tokens; what is longer is cut, in training and here


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
def torch_logits(model: bert.Classifier, encoded: list[list[int]]) -> np.ndarray:
    """Logits [rows, labels]; texts of one length go together."""
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
    out = np.zeros((len(encoded), len(model.labels)), np.float32)
    for at in range(0, len(order), 64):
        part = order[at:at + 64]
        out[part] = model(*fill([encoded[i] for i in part])).numpy()
    return out


def engine_logits(program: Path, file: Path, encoded: list[list[int]]) -> np.ndarray:
    """The same by `pgdlm forward`, a thousand texts per call."""
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(encoded), 1000):
            part = encoded[at:at + 1000]
            command = [str(program), "forward", str(file), "--threads", "1", "--out", f"{folder}/logits"]
            for row in part:
                command += ["--ids", ",".join(map(str, row))]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            out += [np.load(f"{folder}/logits.{i}.npy")[0] for i in range(len(part))]
    return np.array(out)


def matthews(predicted: np.ndarray, labels: np.ndarray) -> float:
    a, b = predicted - predicted.mean(), labels - labels.mean()
    return float((a * b).mean() / max(1e-9, a.std() * b.std()))


def balanced(predicted: np.ndarray, labels: np.ndarray) -> float:
    """The mean of the classes' recalls."""
    return float(np.mean([(predicted[labels == label] == label).mean() for label in np.unique(labels)]))


def pairs_right(logits: np.ndarray) -> np.ndarray:
    """For good and bad by turns: whether the good one is found more acceptable."""
    margin = logits[:, 1] - logits[:, 0]
    return (margin[::2] > margin[1::2]).astype(float)


def figures(task: str, held_out: dict[str, list[Example]], logits: dict[str, np.ndarray]) -> dict[str, float]:
    labels = {name: np.array([e.label for e in examples]) for name, examples in held_out.items()}
    predicted = {name: x.argmax(1) for name, x in logits.items()}
    groups = {name: np.array([e.group for e in examples]) for name, examples in held_out.items()}
    out = {}
    if task == "sentiment":
        for name in ("sst2_dev", "sst2_dev_natural", "sst2_test"):  # neutral never occurs: negative against positive
            binary = 2 * (logits[name][:, 2] > logits[name][:, 0])
            out[f"{name}_accuracy"] = (binary == labels[name]).mean()
        out["sst2_dev_called_neutral"] = (predicted["sst2_dev"] == 1).mean()
        for name in ("tweets", "goemotions"):
            out[f"{name}_balanced_accuracy"] = balanced(predicted[name], labels[name])
    elif task == "toxicity":
        for name in held_out:
            out[f"{name}_balanced_accuracy"] = balanced(predicted[name], labels[name])
        everything = [np.concatenate([x[name] for name in held_out]) for x in (predicted, labels)]
        out["balanced_accuracy"] = balanced(*everything)
        out["recall_neutral"], out["recall_toxic"] = (
            (everything[0][everything[1] == label] == label).mean() for label in (0, 1))
    else:
        for name in ("in_domain_dev", "out_of_domain_dev"):
            out[f"{name}_mcc"] = matthews(predicted[name], labels[name])
        right = predicted["corpus"] == labels["corpus"]
        out["corpus_accuracy"] = right.mean()
        for group in ("clean", "shuffled", "dropped"):
            out[f"corpus_{group}"] = right[groups["corpus"] == group].mean()
        out["corpus_pairs"] = pairs_right(logits["corpus"]).mean()
        blimp, paradigms = pairs_right(logits["blimp"]), groups["blimp"][::2]
        out["blimp_pairs"] = blimp.mean()
        out.update({f"blimp_{p}": blimp[paradigms == p].mean() for p in np.unique(paradigms)})
    return {name: round(float(value), 4) for name, value in out.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--model", type=Path, required=True, help="a folder of train_classifier.py, or a GGUF file of one")
    parser.add_argument("--pgdlm", type=Path, help="the program; needed for a GGUF file")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    held_out = TASKS[args.task](args.data).held_out
    tokenizer = load_tokenizer(bert.minilm_folder())
    encoded = {name: [e.ids for e in tokenizer.encode_batch([x.text for x in examples])]
               for name, examples in held_out.items()}
    if args.model.is_dir():
        model = bert.load_classifier(args.model).eval()
        logits = {name: torch_logits(model, rows) for name, rows in encoded.items()}
    else:
        logits = {name: engine_logits(args.pgdlm, args.model, rows) for name, rows in encoded.items()}
    print(json.dumps(figures(args.task, held_out, logits), indent=1))


if __name__ == "__main__":
    main()
