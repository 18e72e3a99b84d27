#!/usr/bin/env python3
"""Measure the default models through the engine; `make eval-models` calls this. Needs plain Python, zstd and pgdlm.

    recipes/eval_models.py                                    # all of models/; progress on stderr, tables on stdout
    recipes/eval_models.py sentiment-nano judges --jobs 1     # some
    recipes/eval_models.py --update                           # also writes the tables into models/README.md

Held-out texts are those that training keeps away from (corpus.py, classifier_data.py, judge_data.py); the problems are
models/tasks/math.jsonl and, far from what training tells, math-far.jsonl. Answers of llada-nano-math are kept (see engine.py), so a second run is much shorter.
"""

import argparse
import json
import os
import random
import re
import time
from collections import Counter
from pathlib import Path

import classifier_data
import corpus
from engine import Engine, say
from figures import (Figure, auc, bootstrap, calibration, calibration_error, classifier_figures, judge_figures, mean,
                     share)
from judge_data import JUDGES
from math_problems import check_steps, final_answer, well_formed
from solutions import bad_format, first_fault, step_labels

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- figures:begin (make eval-models) -->", "<!-- figures:end -->"
SAMPLES, PRM_SAMPLES = 32, 8  # answers per problem that the oracle and the process reward choose from
QUICK_PROBLEMS, QUICK_SAMPLES = 50, 8
Figures = dict[str, Figure]

# What the models must reach: at least, at most.
TARGETS = {
    ("mdlm-nano", "bits per character, imdb3000"): (None, 1.55),
    ("llada-nano-math", "greedy accuracy"): (0.55, 0.75),
    ("llada-nano-math", "greedy, well formed"): (0.99, None),
    ("llada-nano-math", f"oracle, best of {SAMPLES}"): (0.9, None),
    ("prm-nano", "step AUC"): (0.92, None),
    ("sentiment-nano", "sst2 dev accuracy"): (0.89, None),
    ("toxicity-nano", "balanced accuracy"): (0.92, None),
    ("cola-nano", "in domain dev mcc"): (0.42, None),
    ("cola-nano", "corpus pairs"): (0.95, None),  # telling a sentence from its spoiled form; alone is harder
}


class Setting:
    """What the measurements share."""

    def __init__(self, engine: Engine, data: Path, quick: bool):
        self.engine, self.data, self.quick = engine, data, quick
        self.problems, self.far = (read_problems(name)[:QUICK_PROBLEMS if quick else None] for name in ("math", "math-far"))
        self.samples = QUICK_SAMPLES if quick else SAMPLES

    def sampled(self) -> list[list[str]]:
        return self.engine.answers("llada-nano-math", self.problems, self.samples)


def read_problems(name: str) -> list[dict]:
    lines = (ROOT / "models" / "tasks" / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


# ---- mdlm-nano ----

def measure_mdlm(setting: Setting) -> tuple[Figures, str]:
    """The bound on held-out texts, each alone with its length given. Too long ones are left out, as in training."""
    texts = {name: corpus.held_out(setting.data, name) for name in corpus.HELD_OUT}
    measure = lambda name: setting.engine.perplexity("mdlm-nano", texts[name])  # noqa: E731
    said = dict(setting.engine.each("mdlm-nano, corpora", measure, list(texts)))
    return {f"bits per character, {name}": Figure(said[name]["bits_per_character"], len(said[name]["texts"]),
                                                  said[name]["bits_per_character_error"], percent=False)
            for name in texts}, ""


# ---- llada-nano-math ----

def right(problem: dict, answer: str) -> bool:
    return final_answer(answer) == final_answer(problem["answer"])


def by_part(name: str, problems: list[dict], passed: list[bool]) -> Figures:
    out = {name: share(passed)}
    for part in ("seen", "unseen"):
        out[f"{name}, {part} templates"] = share([ok for p, ok in zip(problems, passed) if p["part"] == part])
    return out


def measure_llada(setting: Setting) -> tuple[Figures, str]:
    problems = setting.problems
    greedy, far = ([answers[0] for answers in setting.engine.answers("llada-nano-math", part, samples=0)]
                   for part in (problems, setting.far))
    solved = [right(p, a) for p, a in zip(problems, greedy)]
    out = by_part("greedy accuracy", problems, solved)
    for steps in sorted({p["steps"] for p in problems}):
        out[f"greedy accuracy, {steps} steps"] = share([ok for p, ok in zip(problems, solved) if p["steps"] == steps])
    out |= by_part("greedy, every step right", problems,
                   [all(check_steps(p["answer"], a)) for p, a in zip(problems, greedy)])
    out["greedy, well formed"] = share([well_formed(a) for a in greedy])
    out["greedy accuracy, far templates"] = share([right(p, a) for p, a in zip(setting.far, far)])
    drawn = setting.sampled()
    out["single sample"] = share([mean([right(p, a) for a in answers]) for p, answers in zip(problems, drawn)])
    n = 1
    while n <= setting.samples:
        out |= by_part(f"oracle, best of {n}", problems,
                       [any(right(p, a) for a in answers[:n]) for p, answers in zip(problems, drawn)])
        n *= 2
    return out, ""


# ---- prm-nano ----

class Solution:
    """A sampled answer with its scores. The engine skips blank lines, so they have no label here either."""

    def __init__(self, problem: dict, text: str, scores: list[float]):
        labels = step_labels(problem["question"], problem["answer"], text)
        lines = text.split("\n")
        self.labels = [label for line, label in zip(lines, labels) if line.strip()]
        self.scores, self.part, self.answer = scores, problem["part"], final_answer(text)
        self.right = right(problem, text)
        self.whole = all(labels)
        self.final = lines[-1].startswith("####")
        if len(self.labels) != len(self.scores):
            raise SystemExit(f"eval-models: {len(self.scores)} scores for {len(self.labels)} lines of {text!r}; does "
                             "the file of prm-nano know that a step is a line (step_separator)? Convert it again")

    @property
    def first_wrong(self) -> int:
        """The number of right lines; the next one, if there is one, is the first wrong one."""
        return sum(self.labels)

    @property
    def alarm(self) -> int:
        return next((i for i, p in enumerate(self.scores) if p < 0.5), len(self.scores))


def prm_scores(engine: Engine, cases: list[tuple[dict, str]]) -> list[list[float]]:
    """The probability after each line. Equal cases are scored once."""
    distinct = dict.fromkeys((p["question"], text) for p, text in cases if text.strip())
    said = engine.score("prm-nano", [{"prompt": question, "text": text} for question, text in distinct])
    found = dict(zip(distinct, (row["steps"] for row in said)))
    return [found.get((p["question"], text), []) for p, text in cases]


def step_auc(groups: list[list[Solution]], keep) -> Figure:
    """Over the lines that `keep` accepts; the error is over questions, whose solutions are alike."""
    lines = [[(score, label) for s in group for i, (score, label) in enumerate(zip(s.scores, s.labels)) if keep(s, i)]
             for group in groups]
    lines = [group for group in lines if group]

    def value(chosen: list) -> float:
        return auc(*zip(*(line for group in chosen for line in group)))
    return Figure(value(lines), sum(map(len, lines)), bootstrap(lines, value), percent=False)


def step_figures(groups: list[list[Solution]]) -> Figures:
    to_first = lambda s, i: i <= s.first_wrong  # noqa: E731
    out = {"step AUC": step_auc(groups, lambda s, i: True),
           "step AUC, up to the first wrong line": step_auc(groups, to_first),
           "step AUC, final lines": step_auc(groups, lambda s, i: s.final and i == len(s.labels) - 1)}
    for part in ("seen", "unseen"):
        out[f"step AUC, {part} templates"] = step_auc(groups, lambda s, i: s.part == part)
        out[f"step AUC, {part} templates, up to the first wrong line"] = step_auc(
            groups, lambda s, i: s.part == part and to_first(s, i))
    return out


def within_questions(groups: list[list[Solution]]) -> Figures:
    """How often a right answer's last score is above that of a wrong one to the same question.

    This is what steering needs; the AUC over all lines also rewards knowing which questions are hard.
    """
    won = [[(a.scores[-1] > b.scores[-1]) + 0.5 * (a.scores[-1] == b.scores[-1]) for a in group for b in group
            if a.right and not b.right and a.scores and b.scores] for group in groups]
    won = [pairs for pairs in won if pairs]
    value = lambda chosen: mean([x for pairs in chosen for x in pairs])  # noqa: E731
    return {"right above wrong, same question": Figure(value(won), sum(map(len, won)), bootstrap(won, value))}


def first_error_figures(solutions: list[Solution]) -> Figures:
    """ProcessBench's F1 at threshold 0.5: the harmonic mean of two accuracies."""
    wrong = share([s.alarm == s.first_wrong for s in solutions if not s.whole])
    clean = share([s.alarm == s.first_wrong for s in solutions if s.whole])
    f1 = 2 * wrong.value * clean.value / max(1e-9, wrong.value + clean.value)
    return {"first error found, wrong solutions": wrong, "no error claimed, right solutions": clean,
            "first error F1": Figure(f1, len(solutions), percent=False)}


def choices(groups: list[list[Solution]]) -> Figures:
    """Share of questions answered right when one of the solutions is picked."""
    def majority(group: list[Solution]) -> float:
        votes = Counter(s.answer for s in group)
        return mean([s.right for s in group if votes[s.answer] == max(votes.values())])

    def picked(worth) -> list[float]:
        return [max(group, key=lambda s: worth(s.scores or [0.0])).right for group in groups]

    def product(scores: list[float]) -> float:
        total = 1.0
        for score in scores:
            total *= score
        return total
    n = len(groups[0])
    return {f"best of {n}, single": share([mean([s.right for s in group]) for group in groups]),
            f"best of {n}, majority": share([majority(group) for group in groups]),
            f"best of {n}, prm last": share(picked(lambda scores: scores[-1])),
            f"best of {n}, prm min": share(picked(min)),
            f"best of {n}, prm product": share(picked(product)),
            f"best of {n}, oracle": share([any(s.right for s in group) for group in groups])}


def damaged(problems: list[dict]) -> list[tuple[dict, str]]:
    """Right solutions with a fault of form."""
    rng = random.Random(0)
    cases = [(p, bad_format(rng, p["answer"].split("\n"))) for p in problems]
    return [(p, text) for p, text in cases if first_fault(p["question"], p["answer"], text) is not None and text.strip()]


def measure_prm(setting: Setting) -> tuple[Figures, str]:
    """On fresh samples of llada-nano-math: its first answers at temperature 1 to the test problems."""
    problems = setting.problems
    drawn = [answers[:PRM_SAMPLES] for answers in setting.sampled()]
    sampled = [(p, text) for p, texts in zip(problems, drawn) for text in texts]
    spoiled = damaged(problems)
    scores = prm_scores(setting.engine, sampled + spoiled)
    judged = [Solution(p, text, row) for (p, text), row in zip(sampled + spoiled, scores)]
    solutions, malformed = judged[:len(sampled)], judged[len(sampled):]
    groups = [solutions[at:at + PRM_SAMPLES] for at in range(0, len(solutions), PRM_SAMPLES)]
    lines = [(score, label) for s in solutions for score, label in zip(s.scores, s.labels)]
    table = calibration(*zip(*lines))
    out = step_figures(groups) | within_questions(groups) | first_error_figures(solutions) | choices(groups)
    out["expected calibration error"] = Figure(calibration_error(table), len(lines), percent=False)
    out["Brier score"] = Figure(mean([(p - label) ** 2 for p, label in lines]), len(lines), percent=False)
    out["bad format scored below 0.5"] = share(
        [s.scores[min(s.first_wrong, len(s.scores) - 1)] < 0.5 for s in malformed])
    rows = [f"| {b.low:.1f} to {b.low + 0.1:.1f} | {b.count} | {b.score:.3f} | {b.right:.3f} |" for b in table]
    return out, "\n".join(["Calibration of prm-nano, all lines of its samples:", "",
                           "| score | lines | mean score | share right |", "|---|---|---|---|", *rows])


# ---- classifiers and judges ----

def measure_classifier(task: str, setting: Setting) -> tuple[Figures, str]:
    held_out = classifier_data.HELD_OUT[task](setting.data)
    flat = [{"text": e.text} for examples in held_out.values() for e in examples]
    rows = iter(setting.engine.score(f"{task}-nano", flat))
    logits = {name: [[row["labels"][label] for label in classifier_data.LABELS[task]] for _, row in zip(examples, rows)]
              for name, examples in held_out.items()}
    return spaced(classifier_figures(task, held_out, logits)), ""


def measure_judge(task: str, setting: Setting) -> tuple[Figures, str]:
    held_out = JUDGES[task].held_out(setting.data)
    log_odds = {name: setting.engine.judge(task, [e.text for e in examples]) for name, examples in held_out.items()}
    return spaced(judge_figures(task, held_out, log_odds)), ""


def spaced(figures: Figures) -> Figures:
    return {name.replace("_", " "): figure for name, figure in figures.items()}


MEASURES = {"mdlm-nano": measure_mdlm, "llada-nano-math": measure_llada, "prm-nano": measure_prm,
            **{f"{task}-nano": lambda setting, task=task: measure_classifier(task, setting)
               for task in classifier_data.HELD_OUT},
            **{f"judges/{task}": lambda setting, task=task: measure_judge(task, setting) for task in JUDGES}}


# ---- the tables ----

def target(model: str, name: str, figure: Figure) -> str:
    """The two last columns: what is asked for, and whether it is reached."""
    if (model, name) not in TARGETS:
        return "| |"
    low, high = TARGETS[model, name]
    shown = lambda bound: f"{bound:.0%}".replace("%", " %") if figure.percent else f"{bound}"  # noqa: E731
    wanted = (f"{shown(low)} to {shown(high)}" if low and high else f">= {shown(low)}" if low else f"<= {shown(high)}")
    met = (low is None or figure.value >= low) and (high is None or figure.value <= high)
    return f"{wanted} | {'yes' if met else '**no**'} |"


def tables(results: dict[str, tuple[Figures, str]], setting: Setting) -> str:
    version = setting.engine.run("version").split("\n")[0].strip()
    note = (f"Through the engine ({version}). ± is one standard error, over texts, pairs or questions. Samples of "
            "llada-nano-math are drawn at temperature 1 in random order; prm-nano judges the first "
            f"{min(PRM_SAMPLES, setting.samples)} of each problem.")
    if setting.quick:
        note += (f" **A quick look**: only the first {QUICK_PROBLEMS} problems, {QUICK_SAMPLES} samples of each.")
    lines = [note, "", "| model | figure | value | of | target | met |", "|---|---|---|---|---|---|"]
    for model, (figures, _) in results.items():
        lines += [f"| {model} | {name} | {figure} | {figure.count} | {target(model, name, figure)}"
                  for name, figure in figures.items()]
    for _, more in results.values():
        lines += ["", more] if more else []
    files = ", ".join(f"{model} `{setting.engine.sha256(model)[:12]}`" for model in results)
    return "\n".join([*lines, "", f"Files measured (sha256): {files}."])


def update(page: Path, text: str) -> None:
    old = page.read_text() if page.exists() else ""
    new, found = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: f"{BEGIN}\n{text}\n{END}", old,
                         flags=re.DOTALL)
    if found != 1:
        raise SystemExit(f"eval-models: {page} must hold the lines '{BEGIN}' and '{END}' once")
    page.write_text(new)


def chosen(names: list[str]) -> list[str]:
    """Models by name; `judges` is all three."""
    out = []
    for name in names or MEASURES:
        found = [m for m in MEASURES if name in (m, m.split("/")[0])]
        if not found:
            raise SystemExit(f"eval-models: model is '{name}', allowed: {', '.join(MEASURES)}, judges")
        out += found
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", help=f"of {', '.join(MEASURES)}, judges; all without")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data folder")
    parser.add_argument("--pgdlm", type=Path, default=ROOT / "build" / "pgdlm", help="the program")
    parser.add_argument("--folder", type=Path, default=Path(os.environ.get("PGDLM_MODELS") or ROOT / "models"),
                        help="where the files are ($PGDLM_MODELS, else models/)")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "pgdlm",
                        help="where answers are kept; they go by the model file, not by the program: delete "
                             "eval-models-*.jsonl there after a change of decoding")
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time, a thread each")
    parser.add_argument("--quick", action="store_true",
                        help=f"the first {QUICK_PROBLEMS} problems and {QUICK_SAMPLES} samples only")
    parser.add_argument("--update", action="store_true", help="write the tables into models/README.md")
    args = parser.parse_args()
    names = chosen(args.models)
    if args.update and (args.quick or args.models):
        raise SystemExit("eval-models: --update is for all models and all problems")
    if not args.pgdlm.is_file():
        raise SystemExit(f"eval-models: there is no program {args.pgdlm}; build it with `make`, or give --pgdlm")
    if not (args.data / "corpus").is_dir():
        raise SystemExit(f"eval-models: {args.data} is not the data folder (corpus/, sentiment/, ...); give --data, "
                         "or DATA= to make")
    engine = Engine(args.pgdlm.resolve(), args.folder.resolve(), args.cache, args.jobs)
    setting = Setting(engine, args.data, args.quick)
    for name in {*names, *(["llada-nano-math"] if "prm-nano" in names else [])}:
        engine.file(name)  # what is missing is said before the work begins
    results, begin = {}, time.time()
    for name in names:
        start = time.time()
        say(f"{name} ...")
        results[name] = MEASURES[name](setting)
        say(f"{name}: {len(results[name][0])} figures, {time.time() - start:.0f} s")
    text = tables(results, setting)
    print(text)
    if args.update:
        update(ROOT / "models" / "README.md", text)
    say(f"done in {time.time() - begin:.0f} s")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("eval-models: interrupted; run it again to go on") from None
