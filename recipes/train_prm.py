"""Train prm-nano, a process reward for the solutions of llada-nano-math.

A row of a batch is one question with several solutions that do not see each other: the question is read once, which
halves the work, and right and wrong solutions of the same story meet in one update. Three losses are added: the verdict
at the mark after each step, which is what the file is for; the same verdict at every token before, because "wrong from
here on" teaches more than "wrong somewhere"; and the next token of a right solution, because judging a calculation
needs being able to do it. Judging a step is mostly understanding the story, so many stories with few solutions each
teach more than few with many. A quarter of the updates are *drills*: single equations without a story, of which a
batch holds many more.

    python train_prm.py --llada runs/llada-nano-math/best --samples runs/prm-nano/samples.jsonl --out runs/prm-nano

Run the same command again to resume. Questions of the sample file whose hash says so are held out; the best weights so
far (moving average, by step AUC on those) are kept in OUT/best as a Hugging Face folder.
"""

import argparse
import hashlib
import json
import random
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import math_tokenizer as mt
from common import (Average, Log, choose_precision, learning_rate, load_checkpoint, muon_and_adam, save_checkpoint,
                    take_step)
from figures import auc, mean
from llada import load_hf as load_llada
from math_problems import STEP, hardest, training_templates
from math_stories import LARGEST, OPERATIONS
from prm_data import read_lines, unavailable
from qwen2 import CONFIG, ProcessReward, begin_with_llada, save_hf
from solutions import fields, first_fault, near, reorder, spoil, step_labels

SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."
IM_START, IM_END, MARK = "<|im_start|>", "<|im_end|>", "<extra_0>"
OPENING = "assistant\n"


def build_tokenizer(llada: Path) -> str:
    """llada-nano-math's tokenizer with the template's words as whole pieces, and three markers more."""
    spec = json.loads((llada / "tokenizer.json").read_text())
    old = Tokenizer.from_str(json.dumps(spec))
    vocabulary, merges = spec["model"]["vocab"], spec["model"]["merges"]
    for word, _ in old.pre_tokenizer.pre_tokenize_str("system") + old.pre_tokenizer.pre_tokenize_str(SYSTEM):
        pieces = old.model.tokenize(word)
        whole = pieces[0].value
        for piece in pieces[1:]:  # last in order, so that no word of the stories is cut differently
            if [whole, piece.value] not in merges:
                merges.append([whole, piece.value])
            whole += piece.value
            vocabulary.setdefault(whole, len(vocabulary))
    spec["added_tokens"] = [{**spec["added_tokens"][0], "id": len(vocabulary) + i, "content": marker}
                            for i, marker in enumerate([*mt.SPECIAL, IM_START, IM_END, MARK])]
    return json.dumps(spec, ensure_ascii=False, indent=1)


class Pages:
    """Questions and solutions as tokens, packed into batches."""

    def __init__(self, tokenizer: Tokenizer):
        tokenizer.encode_special_tokens = True  # whatever question and steps say is text
        self.tokenizer = tokenizer
        self.special = {"im_start": tokenizer.token_to_id(IM_START), "im_end": tokenizer.token_to_id(IM_END),
                        "mark": tokenizer.token_to_id(MARK), "end": tokenizer.token_to_id(mt.EOS)}
        self.system = self.encode(f"system\n{SYSTEM}")
        self.newline = self.encode("\n")

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text).ids

    def prompt(self, question: str) -> list[int]:
        """The page up to the word `assistant`."""
        start, end = self.special["im_start"], self.special["im_end"]
        return [start, *self.system, end, *self.newline, start, *self.encode(f"user\n{question}"), end, *self.newline, start]

    def solution(self, text: str, fault: int | None = None, merge=lambda: False):
        """(ids, labels, is_mark, targets): from `assistant` to the last mark.

        Labels are -1 where there is nothing to judge, targets (the next token) where there is nothing to learn: here.

        merge: whether to leave out the next mark, so that two lines make one step (a block may hold several).
        """
        ids, labels, marks, at = [], [], [], 0
        steps = [""]
        for number, line in enumerate(text.split("\n")):
            if number and merge():
                steps[-1] += "\n" + line
            elif number:
                steps.append(line)
            else:
                steps[0] = line
        for number, step in enumerate(steps):
            before = 0 if number else len(OPENING)
            encoded = self.tokenizer.encode(step if number else OPENING + step)
            for token, (_, end) in zip(encoded.ids, encoded.offsets):
                ids.append(token)
                labels.append(-1 if end <= before else int(fault is None or at + end - before <= fault))
                marks.append(False)
            at += len(step) + 1
            ids.append(self.special["mark"])
            labels.append(int(fault is None or at <= fault))
            marks.append(True)
        return ids, labels, marks, [-1] * len(ids)

    def pack(self, rows: list[tuple[list[int], list[tuple]]]) -> dict:
        """rows: (prompt, solutions). A solution sees the prompt and what it has said itself."""
        width = max(len(prompt) + sum(len(s[0]) for s in solutions) for prompt, solutions in rows)
        shape = (len(rows), width)
        ids, positions = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        branch, labels, targets = (np.full(shape, -1, np.int64) for _ in range(3))
        marks = np.zeros(shape, bool)
        for row, (prompt, solutions) in enumerate(rows):
            at = len(prompt)
            ids[row, :at], positions[row, :at], branch[row, :at] = prompt, np.arange(at), 0
            for number, (tokens, verdicts, is_mark, following) in enumerate(solutions, 1):
                here = slice(at, at + len(tokens))
                ids[row, here], labels[row, here], marks[row, here] = tokens, verdicts, is_mark
                positions[row, here] = np.arange(len(prompt), len(prompt) + len(tokens))
                branch[row, here], targets[row, here] = number, following
                at += len(tokens)
        batch = {name: torch.from_numpy(value) for name, value in (
            ("ids", ids), ("positions", positions), ("branch", branch), ("labels", labels), ("marks", marks),
            ("targets", targets))}
        b, p = batch["branch"], batch["positions"]
        batch["visible"] = (((b == 0).unsqueeze(1) | (b.unsqueeze(1) == b.unsqueeze(2)))
                            & (p.unsqueeze(1) <= p.unsqueeze(2)))
        return batch


LABELS = ("total", "left", "dollars", "money", "apples", "more", "each", "pages")


def result(a: str, op: str, b: str) -> str | None:
    value = OPERATIONS[op](int(a), int(b))
    return str(value) if value is not None and 0 < value <= LARGEST else None


def miscalculated(line: str) -> bool:
    a, op, b, c = fields(line)
    return result(a, op, b) not in (None, c)


def held_out(question: str) -> bool:
    return hashlib.sha1(question.encode()).digest()[0] < 13  # one in twenty


class Data:
    """What update number u sees depends on (seed, u) and the sample file alone."""

    def __init__(self, pages: Pages, samples: list[dict], branches: int):
        self.pages, self.branches = pages, branches
        self.templates, self.avoid = training_templates(), unavailable()
        groups = {}
        for line in samples:
            if line["question"] not in self.avoid:
                groups.setdefault(line["question"], (line["answer"], []))[1].append(line["text"])
        self.groups = [(q, a, texts) for q, (a, texts) in groups.items() if not held_out(q)]
        self.slips = [s for q, a, texts in self.groups for t in texts if (s := self.slip(q, a, t))]
        self.development = [(q, a, texts) for q, (a, texts) in groups.items() if held_out(q)]

    @staticmethod
    def slip(question: str, answer: str, text: str) -> tuple | None:
        """The step of a sampled solution that is wrong in its result only, if that is the first fault."""
        labels = step_labels(question, answer, text)
        line = text.split("\n")[sum(labels)] if 0 in labels else ""
        step = STEP.match(line)
        return (step[1], step[2], step[3], step[4]) if step and miscalculated(line) else None

    def drill(self, rng: random.Random, rows: int, branches: int, sample_share: float) -> dict:
        """Equations as a story has them (or of any numbers), half of them with a wrong result."""
        pool = []
        while len(pool) < rows * branches:
            if rng.random() < 0.3:
                pool.append((str(rng.randint(1, LARGEST)), rng.choice("+-*/"), str(rng.randint(1, LARGEST)), ""))
                pool = pool if result(*pool[-1][:3]) else pool[:-1]
            elif self.slips and rng.random() < 0.5 * sample_share:
                pool.append(rng.choice(self.slips))
            else:
                steps = hardest(rng, self.templates, rng.choice((1, 4))).answer.split("\n")[:-1]
                pool += [(*fields(line)[:3], "") for line in steps]
        cases = []
        for a, op, b, wrong in pool[:rows * branches]:
            head, c = f"{rng.choice(LABELS)}: {a} {op} {b} =", result(a, op, b)
            said = c if rng.random() < 0.5 else wrong or near(rng, c)
            solution = self.pages.solution(f"{head} {said}", None if said == c else len(head))
            solution[3][-3] = self.pages.encode(f" {c}")[0]  # what should follow the equals sign
            cases.append(solution)
        return self.pages.pack([([self.pages.special["im_start"]], cases[i::rows]) for i in range(rows)])

    def draw(self, rng: random.Random, rows: int, sample_share: float) -> dict:
        """Questions of about the same length: one of four buckets of a larger draw."""
        found = []
        while len(found) < 4 * rows:
            if self.groups and rng.random() < sample_share:
                found.append(rng.choice(self.groups))
            else:
                problem = hardest(rng, self.templates, rng.choice((1, 1, 4)))
                if problem.question not in self.avoid and not held_out(problem.question):
                    found.append((problem.question, problem.answer, []))
        found.sort(key=lambda case: len(case[0]))
        bucket = rng.randrange(4) * rows
        rows_of = []
        for question, answer, texts in found[bucket:bucket + rows]:
            prompt = self.pages.prompt(question)
            room = CONFIG["max_position_embeddings"] - len(prompt)  # a hot sample may go on and on
            rows_of.append((prompt, [tuple(part[:room] for part in solution)
                                     for solution in self.solutions(rng, question, answer, texts)]))
        return self.pages.pack(rows_of)

    def solutions(self, rng: random.Random, question: str, answer: str, texts: list[str]) -> list[tuple]:
        """The first one is right; the others are samples and spoiled ones."""
        chosen = [reorder(rng, question, answer)] + rng.sample(texts, min(len(texts), self.branches - 2))
        while len(chosen) < self.branches:
            chosen.append(spoil(rng, question, answer))
        solutions = []
        for number, text in enumerate(chosen):
            fault = first_fault(question, answer, text)
            # What follows a fault is wrong anyway; but that must be learnt, too, or a later line makes it forgotten.
            if fault is not None and rng.random() < 0.3:
                end = text.find("\n", fault)
                text = text[:end] if end >= 0 else text
            merging = number and rng.random() < 0.1
            solutions.append(self.pages.solution(text, fault, lambda: merging and rng.random() < 0.5))
        ids, labels, marks, _ = solutions[0]
        solutions[0] = ids, labels, marks, [-1] + ids[2:] + [-1]
        return solutions


@torch.no_grad()
def score(model: ProcessReward, pages: Pages, cases: list[tuple[str, list[str]]], bf16: bool, rows=8) -> list[list[list[float]]]:
    """For every question and every one of its texts the probability after each line."""
    results = [None] * len(cases)
    order = sorted(range(len(cases)), key=lambda i: len(cases[i][0]))
    for at in range(0, len(order), rows):
        group = order[at:at + rows]
        batch = pages.pack([(pages.prompt(cases[i][0]), [pages.solution(t) for t in cases[i][1]]) for i in group])
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            hidden = model(batch["ids"], batch["positions"], batch["visible"])
        p = model.score(hidden.float()).softmax(-1)[..., 1]
        for row, i in enumerate(group):
            results[i] = [p[row][batch["marks"][row] & (batch["branch"][row] == number)].tolist()
                          for number in range(1, len(cases[i][1]) + 1)]
    return results


def evaluate(model, pages, cases, bf16) -> dict:
    """Step AUC over all lines, and over the lines up to the first wrong one (harder: no obvious repeats of a fault)."""
    scores, labels, first = [], [], []
    for (question, answer, texts), rows in zip(cases, score(model, pages, [(q, t) for q, _, t in cases], bf16)):
        for text, p in zip(texts, rows):
            right = step_labels(question, answer, text)
            scores += p
            labels += right
            first += [i <= sum(right) for i in range(len(right))]
    early = [(p, label) for p, label, is_early in zip(scores, labels, first) if is_early]
    return {"auc": round(auc(scores, labels), 4), "auc_to_first": round(auc(*zip(*early)), 4),
            "steps": len(labels), "right": round(mean(labels), 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--llada", type=Path, required=True, help="folder of llada-nano-math: tokenizer and first weights")
    parser.add_argument("--samples", type=Path, required=True, help="JSON lines of prm_data.py")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoint, log and exported weights")
    parser.add_argument("--updates", type=int, default=7500)
    parser.add_argument("--samples-from", type=float, default=0.1, help="part of training that sees no samples")
    parser.add_argument("--rows", type=int, default=24, help="questions per update")
    parser.add_argument("--drills", type=float, default=0.1, help="share of updates without stories")
    parser.add_argument("--branches", type=int, default=3, help="solutions per question")
    parser.add_argument("--lr", type=float, default=1.5e-3)
    parser.add_argument("--warmup", type=int, default=100)
    parser.add_argument("--scratch", action="store_true", help="do not start from llada-nano-math's weights")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("auto", "f32", "bf16"), default="auto")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--checkpoint-every", type=int, default=100)
    parser.add_argument("--evaluate-every", type=int, default=100)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    bf16 = choose_precision(args.precision, args.threads) == "bf16"
    tokenizer_path = args.out / "tokenizer.json"
    if not tokenizer_path.exists():
        tokenizer_path.write_text(build_tokenizer(args.llada))
    pages = Pages(Tokenizer.from_file(str(tokenizer_path)))
    tokenizer, special = pages.tokenizer, pages.special
    data = Data(pages, read_lines(args.samples), args.branches)

    model = ProcessReward({**CONFIG, "vocab_size": -(-tokenizer.get_vocab_size() // 64) * 64})
    if not args.scratch:
        old = Tokenizer.from_file(str(args.llada / "tokenizer.json"))
        same = {tokenizer.token_to_id(piece): i for piece, i in old.get_vocab().items()}
        same |= {special["im_start"]: old.token_to_id(mt.HEADER_START), special["im_end"]: old.token_to_id(mt.EOT),
                 special["mark"]: old.token_to_id(mt.MASK)}
        begin_with_llada(model, load_llada(args.llada), same)
    optimizers = muon_and_adam(model, ".layers.", args.lr, bf16)
    average = Average(model, decay=0.998)

    checkpoint = args.out / "checkpoint.pt"
    state = load_checkpoint(checkpoint, model, average, optimizers)
    start, best = state.get("update", 0), -1.0
    if state.get("development") == len(data.development):  # else the sample file has grown, and figures do not compare
        best = state["best"]

    network = torch.compile(model, dynamic=True) if args.compile else model
    log = Log(args.out / "log.jsonl")
    log.write(event="start", update=start, parameters=sum(p.numel() for n, p in model.named_parameters() if not n.startswith("lm_head")),
              bf16=bf16, sample_questions=len(data.groups), development_questions=len(data.development),
              **{k: str(v) for k, v in vars(args).items()})
    sums, seen_tokens, steps = np.zeros((2, 4)), 0, 0
    for update in range(start, args.updates):
        rng = random.Random(f"{args.seed}:{update}")
        share = 0.6 if update >= args.samples_from * args.updates else 0.0
        kind = int(rng.random() < args.drills)
        batch = data.drill(rng, 4 * args.rows, 10, share) if kind else data.draw(rng, args.rows, share)
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            hidden = network(batch["ids"], batch["positions"], batch["visible"])
            follows = batch["targets"] >= 0
            words = model.lm_head(hidden[follows])
        language = F.cross_entropy(words.float(), batch["targets"][follows])
        judged = batch["labels"] >= 0
        losses = F.cross_entropy(model.score(hidden[judged].float()), batch["labels"][judged], reduction="none")
        is_mark = batch["marks"][judged]
        verdict, early = losses[is_mark].mean(), losses[~is_mark].mean()
        loss = verdict + 0.5 * early + 0.5 * language

        lr = learning_rate(update, args.lr, args.warmup, args.updates, decay_share=0.4)
        take_step(loss, model, optimizers, lr)
        average.update(model, update)

        sums[kind] += [1, verdict.item(), early.item(), language.item()]
        seen_tokens += batch["ids"].numel()
        steps += int(is_mark.sum())
        done = update + 1
        if done % 50 == 0:
            means = (sums[:, 1:] / np.maximum(1, sums[:, :1])).round(4).tolist()
            log.write(update=done, lr=round(lr, 6), tokens=seen_tokens, steps=steps, **{
                f"{kind}_{name}": value for kind, row in zip(("story", "drill"), means)
                for name, value in zip(("verdict", "early", "language"), row)})
            sums[:] = 0
        if data.development and (done % args.evaluate_every == 0 or done == args.updates):
            average.swap(model)
            scores = evaluate(model, pages, data.development, bf16)
            if scores["auc"] > best:
                best = scores["auc"]
                save_hf(model, args.out / "best", tokenizer_path.read_text(), special)
            average.swap(model)
            log.write(update=done, event="development", best=best, **scores)
        if done % args.checkpoint_every == 0 or done == args.updates:
            save_checkpoint(checkpoint, model=model.state_dict(), average=average.weights, update=done, best=best,
                            development=len(data.development),
                            optimizers=[optimizer.state_dict() for optimizer in optimizers])


if __name__ == "__main__":
    main()
