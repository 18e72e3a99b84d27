"""Figures from scores, the same for training's own evaluation and for the engine's. Plain Python."""

import random
from typing import Callable, NamedTuple, Sequence


class Figure(NamedTuple):
    value: float
    count: int  # of texts, pairs or questions it rests on
    error: float | None = None  # standard error
    percent: bool = True  # how it is shown

    def __str__(self) -> str:
        digits, scale, unit = (1, 100, " %") if self.percent else (3, 1, "")
        error = f" ± {self.error * scale:.{digits}f}" if self.error is not None else ""
        return f"{self.value * scale:.{digits}f}{error}{unit}"


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def share(right: Sequence[float]) -> Figure:
    """How many of these are right (1 or 0, or a part where several tie)."""
    p = mean(right)
    return Figure(p, len(right), (mean([(r - p) ** 2 for r in right]) / len(right)) ** 0.5 if right else None)


def balanced(predicted: Sequence[int], labels: Sequence[int]) -> Figure:
    """The mean of the classes' recalls."""
    recalls = [share([p == label for p, l in zip(predicted, labels) if l == label]) for label in sorted(set(labels))]
    error = sum(r.error ** 2 for r in recalls) ** 0.5 / len(recalls)
    return Figure(mean([r.value for r in recalls]), len(labels), error)


def matthews(predicted: Sequence[int], labels: Sequence[int]) -> Figure:
    """Correlation of two columns of zeros and ones."""
    def correlation(pairs: list[tuple[int, int]]) -> float:
        a, b = mean([p for p, _ in pairs]), mean([l for _, l in pairs])
        both = mean([p * l for p, l in pairs])
        return (both - a * b) / max(1e-9, (a * (1 - a) * b * (1 - b)) ** 0.5)
    pairs = list(zip(predicted, labels))
    return Figure(correlation(pairs), len(pairs), bootstrap(pairs, correlation), percent=False)


def auc(scores: Sequence[float], labels: Sequence[int]) -> float:
    """The probability that a right one scores higher than a wrong one; ties count half."""
    cases = sorted(zip(scores, labels))
    right = sum(map(bool, labels))
    if right in (0, len(cases)):
        return float("nan")
    ranks, at = 0.0, 0
    while at < len(cases):
        end = at
        while end < len(cases) and cases[end][0] == cases[at][0]:
            end += 1
        ranks += (at + 1 + end) / 2 * sum(bool(label) for _, label in cases[at:end])
        at = end
    return (ranks - right * (right + 1) / 2) / (right * (len(cases) - right))


def bootstrap(units: list, statistic: Callable[[list], float], draws: int = 100) -> float:
    """The standard error of a statistic: its spread over resamples of the units, which must be independent."""
    rng = random.Random(0)
    values = [statistic(rng.choices(units, k=len(units))) for _ in range(draws)]
    values = [v for v in values if v == v]  # of a few units, a resample may have only one label
    center = mean(values)
    return mean([(v - center) ** 2 for v in values]) ** 0.5


class Bin(NamedTuple):
    low: float
    count: int
    score: float  # mean
    right: float  # share


def calibration(scores: Sequence[float], labels: Sequence[int], bins: int = 10) -> list[Bin]:
    """Mean score and share of right ones, by score."""
    found = [[] for _ in range(bins)]
    for score, label in zip(scores, labels):
        found[min(int(score * bins), bins - 1)].append((score, label))
    return [Bin(i / bins, len(part), mean([s for s, _ in part]), mean([l for _, l in part]))
            for i, part in enumerate(found) if part]


def calibration_error(table: list[Bin]) -> float:
    """Expected calibration error: how far scores are from shares, on average."""
    return sum(b.count * abs(b.score - b.right) for b in table) / sum(b.count for b in table)


# ---- the classifiers ----

def argmax(row: Sequence[float]) -> int:
    return max(range(len(row)), key=row.__getitem__)


def pairs_right(scores: Sequence[float]) -> list[bool]:
    """For good and bad by turns: whether the good one scores higher."""
    return [good > bad for good, bad in zip(scores[::2], scores[1::2])]


def classifier_figures(task: str, held_out: dict, logits: dict[str, Sequence[Sequence[float]]]) -> dict[str, Figure]:
    """held_out: sets of classifier_data.Example; logits: of the same texts, one row each."""
    labels = {name: [e.label for e in examples] for name, examples in held_out.items()}
    predicted = {name: [argmax(row) for row in rows] for name, rows in logits.items()}
    return {"sentiment": sentiment_figures, "toxicity": toxicity_figures, "cola": cola_figures}[task](
        held_out, labels, predicted, logits)


def sentiment_figures(held_out, labels, predicted, logits) -> dict[str, Figure]:
    out = {}
    for name in ("sst2_dev", "sst2_dev_natural", "sst2_test"):  # neutral never occurs: negative against positive
        out[f"{name}_accuracy"] = share([2 * (row[2] > row[0]) == l for row, l in zip(logits[name], labels[name])])
    out["sst2_dev_called_neutral"] = share([p == 1 for p in predicted["sst2_dev"]])
    for name in ("tweets", "goemotions"):
        out[f"{name}_balanced_accuracy"] = balanced(predicted[name], labels[name])
    return out


def toxicity_figures(held_out, labels, predicted, logits) -> dict[str, Figure]:
    out = {f"{name}_balanced_accuracy": balanced(predicted[name], labels[name]) for name in held_out}
    said, true = ([x for name in held_out for x in column[name]] for column in (predicted, labels))
    out["balanced_accuracy"] = balanced(said, true)
    for label, name in enumerate(("neutral", "toxic")):
        out[f"recall_{name}"] = share([s == label for s, t in zip(said, true) if t == label])
    return out


def cola_figures(held_out, labels, predicted, logits) -> dict[str, Figure]:
    out = {f"{name}_mcc": matthews(predicted[name], labels[name]) for name in ("in_domain_dev", "out_of_domain_dev")}
    right = [p == l for p, l in zip(predicted["corpus"], labels["corpus"])]
    out["corpus_accuracy"] = share(right)
    for group in ("clean", "shuffled", "dropped"):
        out[f"corpus_{group}"] = share([r for r, e in zip(right, held_out["corpus"]) if e.group == group])
    pairs = {name: pairs_right([row[1] - row[0] for row in logits[name]]) for name in ("corpus", "blimp")}
    out["corpus_pairs"], out["blimp_pairs"] = share(pairs["corpus"]), share(pairs["blimp"])
    paradigms = [e.group for e in held_out["blimp"][::2]]
    for paradigm in sorted(set(paradigms)):
        out[f"blimp_{paradigm}"] = share([r for r, p in zip(pairs["blimp"], paradigms) if p == paradigm])
    return out


# ---- the judges ----

def judge_figures(task: str, held_out: dict, log_odds: dict[str, Sequence[float]]) -> dict[str, Figure]:
    """held_out: sets of classifier_data.Example; log_odds: of the second label."""
    labels = {name: [e.label for e in examples] for name, examples in held_out.items()}
    predicted = {name: [int(x > 0) for x in scores] for name, scores in log_odds.items()}
    whole = ("corpus",) if task == "acceptability" else held_out
    out = {f"{name}_balanced_accuracy": balanced(predicted[name], labels[name]) for name in whole}
    if task == "acceptability":
        for name in ("corpus", "jfleg_test", "blimp"):
            out[f"{name}_pairs"] = share(pairs_right(log_odds[name]))
        for name in ("in_domain_dev", "out_of_domain_dev"):
            out[f"{name}_mcc"] = matthews(predicted[name], labels[name])
    return out
