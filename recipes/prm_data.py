"""What prm-nano learns from: solutions, right and wrong, and the exact point at which a solution leaves every right path.

The label of a step is whether the solution *up to and including it* is right. Once a step is wrong all later ones are
wrong too, even if their own arithmetic holds. That is what a reward on prefixes needs, P(solution so far is right): a
particle that has gone wrong must not win back its weight by a later line that happens to be true, and the score of the
last line is that of the whole answer.

Solutions come from three sources. The generator's own (`math_problems.py`), sometimes in another valid order. The same
with a fault put in (`spoil`): wrong operand, operator or result, a distractor, a skipped or repeated step, an early
end, bad format. And samples of llada-nano-math at several temperatures, which this file draws:

    python prm_data.py sample --model runs/llada-nano-math/best --out runs/prm-nano/samples.jsonl
    python prm_data.py sample --model runs/llada-nano-math/best --out runs/prm-nano/fresh.jsonl --exact \
        --test data/math_test.jsonl --temperatures 1 1 1 1 1 1 1 1

Run the same command again to resume.
"""

import argparse
import hashlib
import json
import random
import re
import time
from collections import Counter
from pathlib import Path

import torch
from tokenizers import Tokenizer

import math_tokenizer as mt
from common import choose_precision
from llada import LLaDA, block_decode, load_hf, rotate
from math_problems import equation, final_answer, generate, make_set, test_set, training_templates
from math_stories import LARGEST, OPERATIONS
from train_llada_math import LENGTH, special_ids

# ---- the exact checker ----------------------------------------------------------------------------------------------

STEP_FIELDS = [re.compile(p) for p in (r"[A-Za-z]+", r": ", r"\d+", r" ", r"[-+*/]", r" ", r"\d+", r" = ", r"\d+", r"$")]
FINAL_FIELDS = [re.compile(p) for p in (r"####", r" ", r"\d+", r"$")]
A, OP, B, C = 2, 4, 6, 8  # the fields of a step that mean something
FINAL_NUMBER = 2


def first_fault(question: str, reference: str, text: str) -> int | None:
    """The offset of the first character that is on no right path, or None. A missing one counts at the line's end.

    A line is on a right path if it is well formed and one of the reference's equations (operands of + and * in either
    order) that has not been used up, and if those of its operands that only an earlier step of the reference can
    supply have been computed: so skipping a step is a fault, and so is repeating one. The order of steps is free, and
    labels are not checked. The final line must give the reference's number after its last equation, and nothing
    may follow it. A solution in other steps that reaches the right number counts as wrong.
    """
    given = set(re.findall(r"\d+", question))
    lines, open_steps, results = reference.split("\n")[:-1], Counter(), set()
    for line in lines:
        a, op, b, c = fields(line)
        open_steps[a, op, b, c, frozenset(v for v in (a, b) if v in results and v not in given)] += 1
        results.add(c)
    computed, used, ended, at = set(), set(), False, 0
    for line in text.split("\n"):
        if ended:
            return at
        if line.startswith("#"):
            good = final_answer(reference) if equation(lines[-1]) in used else None
            end = walk(line, FINAL_FIELDS, [{FINAL_NUMBER: good}])
            ended = True
        else:
            ready = [step for step in open_steps if step[4] <= computed]
            paths = [{A: a, OP: op, B: b, C: c} for a, op, b, c, _ in ready]
            paths += [{A: b, OP: op, B: a, C: c} for a, op, b, c, _ in ready if op in "+*"]
            end = walk(line, STEP_FIELDS, paths)
        if end is not None:
            return at + end
        if not ended:
            a, op, b, c = fields(line)
            for step in ready:
                if equation("x: {} {} {} = {}".format(*step[:4])) == equation(line):
                    open_steps[step] -= 1
                    break
            open_steps = +open_steps
            computed.add(c)
            used.add(equation(line))
        at += len(line) + 1
    return None


def fields(line: str) -> tuple[str, str, str, str]:
    return re.match(r"\w+: (\d+) (.) (\d+) = (\d+)$", line).groups()


def walk(line: str, form: list, paths: list[dict]) -> int | None:
    """Where the line stops matching the form's fields or, in the fields that mean something, every path."""
    at = 0
    for number, field in enumerate(form):
        match = field.match(line, at)
        if not match:
            return at
        if paths and number in paths[0] or not paths and number == A:
            paths = [p for p in paths if p[number] == match[0]]
            if not paths:
                return at
        at = match.end()
    return None


def step_labels(question: str, reference: str, text: str) -> list[int]:
    """For every line 1 if the solution is right up to its end, else 0."""
    fault, at, labels = first_fault(question, reference, text), 0, []
    for line in text.split("\n"):
        at += len(line) + 1  # the line end stands for the mark after the step
        labels.append(int(fault is None or at <= fault))
    return labels


# ---- faults to learn from -------------------------------------------------------------------------------------------

def reorder(rng: random.Random, question: str, reference: str) -> str:
    """The same solution with operands of + and * swapped and neighbouring steps exchanged where the checker allows it."""
    lines = reference.split("\n")
    for i, line in enumerate(lines[:-1]):
        a, op, b, c = fields(line)
        if op in "+*" and rng.random() < 0.3:
            lines[i] = f"{line.split(':')[0]}: {b} {op} {a} = {c}"
    if len(lines) > 2 and rng.random() < 0.2:
        i = rng.randrange(len(lines) - 2)
        other = lines[:i] + [lines[i + 1], lines[i]] + lines[i + 2:]
        if first_fault(question, reference, "\n".join(other)) is None:
            lines = other
    return "\n".join(lines)


def spoil(rng: random.Random, question: str, reference: str) -> str:
    """The solution with one fault; what follows is carried on with the wrong number most of the time."""
    lines = reference.split("\n")
    steps = [(line.split(":")[0], *fields(line)) for line in lines[:-1]]
    at = rng.randrange(len(steps))
    kind = rng.choices(("operand", "operator", "result", "skip", "repeat", "early", "final", "format"),
                       (20, 10, 40, 6, 2, 5, 6, 11))[0]  # the generator mostly gets results wrong
    if kind == "final":
        old = final_answer(reference)
        pool = [n for s in steps for n in s[1:5:2] if n != old] + re.findall(r"\d+", question) + [near(rng, old)]
        return "\n".join(lines[:-1] + [f"#### {rng.choice(pool)}"])
    if kind == "format":
        return bad_format(rng, lines)
    if kind == "skip":
        steps.pop(at)
    elif kind == "repeat":
        steps.insert(rng.randint(at, len(steps)), steps[at])
    elif kind == "early":
        steps = steps[:at]
    else:
        label, a, op, b, c = steps[at]
        was = c
        if kind == "operand":
            new = other_number(rng, question, steps, a, b)
            a, b = (new, b) if rng.random() < 0.5 else (a, new)
            if rng.random() < 0.08:
                a, b = b, a
        elif kind == "operator":
            op = rng.choice([o for o in "+-*/" if o != op])
        value = OPERATIONS[op](int(a), int(b))
        computable = value is not None and 0 <= value <= LARGEST
        c = str(value) if computable and kind != "result" and rng.random() < 0.9 else near(rng, was)
        steps[at] = label, a, op, b, c
        if rng.random() < 0.8:
            carry_on(steps, at, was, c)
    last = steps[-1][4] if steps else rng.choice(re.findall(r"\d+", question))
    return "\n".join([f"{s[0]}: {s[1]} {s[2]} {s[3]} = {s[4]}" for s in steps] + [f"#### {last}"])


def carry_on(steps: list, at: int, was: str, now: str) -> None:
    """Use a wrong result in the later steps, as someone would who has not noticed."""
    changed = {was: now}
    for i in range(at + 1, len(steps)):
        label, a, op, b, c = steps[i]
        a, b = changed.get(a, a), changed.get(b, b)
        value = OPERATIONS[op](int(a), int(b))
        if (a, b) != (steps[i][1], steps[i][3]) and value is not None and 0 <= value <= LARGEST:
            changed[c], c = str(value), str(value)
        steps[i] = label, a, op, b, c


def other_number(rng: random.Random, question: str, steps: list, a: str, b: str) -> str:
    """A wrong operand: another number of the story (distractors among them), another result, or one close by."""
    pool = re.findall(r"\d+", question) + [s[4] for s in steps]
    pool = [n for n in pool if n not in (a, b)]
    return rng.choice(pool) if pool and rng.random() < 0.8 else near(rng, rng.choice((a, b)))


def near(rng: random.Random, number: str) -> str:
    value = int(number)
    while True:
        new = value + rng.choice((-1, 1)) * rng.choice((1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 10, 20, 100, rng.randint(1, 60)))
        if 0 <= new <= LARGEST and new != value:
            return str(new)


def bad_format(rng: random.Random, lines: list[str]) -> str:
    """Damage one line, or the frame of the whole answer."""
    at = rng.randrange(len(lines))
    pieces = re.findall(r"\s?[^\s:]+|:", lines[at])
    kind, i = rng.randrange(8), rng.randrange(len(pieces))
    if kind == 0:
        pieces.pop(i)
    elif kind == 1:
        pieces.insert(i, pieces[i])
    elif kind == 2:
        j = rng.randrange(len(pieces))
        pieces[i], pieces[j] = pieces[j], pieces[i]
    elif kind == 3:
        pieces[i] = rng.choice((" +", " -", " =", ":", " 7", " 120", "####", " the", "left", mt.MASK, mt.EOT, ",", " ???"))
    elif kind == 4:
        pieces = pieces[:i]  # the line breaks off
    elif kind == 5:
        pieces.append(rng.choice((" + 3", " = 12", " apples", ".", " 5", ":", " ####")))
    elif kind == 6:
        lines = lines + [rng.choice((lines[0], lines[-1], "left: 5 + 5 = 10", "", "The end."))]
    else:
        return "\n".join(lines[:at] + [rng.choice(("", lines[-1], "Then we add them.", lines[at].lower().replace(" ", "")))]
                         + lines[at + 1:])
    return "\n".join(lines[:at] + ["".join(pieces)] + lines[at + 1:])


# ---- samples of the generator ---------------------------------------------------------------------------------------

@torch.no_grad()
def cached_decode(model: LLaDA, prompts: list[list[int]], special: dict, temperature: torch.Tensor, generator, *,
                  length=LENGTH, block=8, steps=8) -> list[list[int]]:
    """`block_decode` for bulk: several times as fast, not quite the same law.

    The canvas ends behind the current block (training showed such canvases, too), and within a block keys and values of
    everything before it are kept from the block's first step. A temperature for each row; 0 is greedy.
    """
    net, mask, stop = model.model["transformer"], special["mask"], special["eot"]
    rows = [list(p) for p in prompts]
    alive = list(range(len(prompts)))
    for _ in range(0, length, block):
        heat = temperature[alive].unsqueeze(1).unsqueeze(2)
        starts = torch.tensor([len(rows[i]) for i in alive])
        width = int(starts.max())
        # The text ends at `width` in every row, so that the block stands in the same columns: filling goes to the front.
        ids = torch.full((len(alive), width + block), mask)
        for at, i in enumerate(alive):
            ids[at, width - len(rows[i]):width] = torch.tensor(rows[i])
        columns = torch.arange(width + block)
        positions = (columns - (width - starts).unsqueeze(1)).clamp(min=0)
        visible = (columns >= (width - starts).unsqueeze(1))[:, None, None, :]
        kept = None
        for step in range(steps):
            at = 0 if kept is None else width
            hidden, kept = run(net, ids[:, at:], model.cos[positions[:, at:]].unsqueeze(1),
                               model.sin[positions[:, at:]].unsqueeze(1), visible, kept, width)
            logits = net["ff_out"](net["ln_f"](hidden[:, -block:])).float()
            logits[..., mask] = -float("inf")
            p = logits.softmax(-1)
            hot = (logits / heat.clamp(min=1e-4)).softmax(-1)
            drawn = torch.multinomial(hot.flatten(0, 1), 1, generator=generator).view(len(alive), block)
            drawn = torch.where(heat.squeeze(2) > 0, drawn, p.argmax(-1))
            canvas = ids[:, width:]
            sure = p.gather(2, drawn.unsqueeze(2)).squeeze(2).masked_fill(canvas != mask, -1.0)
            chosen = sure.topk(block // steps + (step < block % steps), dim=1).indices
            canvas.scatter_(1, chosen, drawn.gather(1, chosen))
        for at, i in enumerate(alive):
            rows[i] += ids[at, width:].tolist()
        alive = [i for i in alive if stop not in rows[i][len(prompts[i]):]]
        if not alive:
            break
    answers = [row[len(p):] for row, p in zip(rows, prompts)]
    return [a[:a.index(stop)] if stop in a else a for a in answers]


def run(net, ids, cos, sin, visible, kept, width):
    """The blocks over `ids`, which follow what `kept` holds of the first `width` columns; (hidden, what to keep)."""
    x, new = net["wte"](ids), []
    for number, layer in enumerate(net["blocks"]):
        batch, count, d = x.shape
        y = layer.attn_norm(x)
        q, k, v = (proj(y).view(batch, count, layer.heads, -1).transpose(1, 2)
                   for proj in (layer.q_proj, layer.k_proj, layer.v_proj))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if kept is None:
            new.append((k[:, :, :width], v[:, :, :width]))
        else:
            k, v = (torch.cat(pair, dim=2) for pair in zip(kept[number], (k, v)))
        scores = (q @ k.transpose(2, 3) * q.shape[-1] ** -0.5).masked_fill(~visible, -1e4)
        x = x + layer.attn_out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, count, d))
        y = layer.ff_norm(x)
        x = x + layer.ff_out(torch.nn.functional.silu(layer.ff_proj(y)) * layer.up_proj(y))
    return x, kept or new


def unavailable() -> set[str]:
    """Questions that no training may see: the test set and the development set of llada-nano-math."""
    return {p.question for p, _ in test_set()} | {p.question for p, _ in make_set(777, 192, unseen_share=0)}


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def sample(args) -> None:
    """Groups of answers to the same question, one for each temperature. Chunk c depends on (seed, c) alone."""
    torch.set_num_threads(args.threads)
    bf16 = choose_precision(args.precision, args.threads) == "bf16"
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    special = special_ids(tokenizer)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    done = len({line["chunk"] for line in read_lines(args.out)})
    frozen = read_lines(args.test)[:args.limit] if args.test else None
    avoid, templates, start = unavailable(), training_templates(), time.time()
    chunks = -(-len(frozen) // args.questions) if frozen else args.chunks
    for chunk in range(done, chunks):
        if chunk == done or not args.test:  # the generator may have become better; its version is noted
            weights = hashlib.sha1((args.model / "model.safetensors").read_bytes()).hexdigest()[:8]
            model = load_hf(args.model)
        rng = random.Random(f"{args.seed}:{chunk}")
        if frozen:
            problems = frozen[chunk * args.questions:(chunk + 1) * args.questions]
        else:
            found = [generate(rng, templates) for _ in range(args.questions)]
            problems = [{"question": p.question, "answer": p.answer, "template": p.template, "part": "seen"}
                        for p in found if p.question not in avoid]
        cases = [(p, t) for p in problems for t in args.temperatures]
        # Similar lengths together; the order of lines stays that of the questions.
        order = sorted(range(len(cases)), key=lambda i: len(cases[i][0]["question"]))
        texts, generator = [""] * len(cases), torch.Generator().manual_seed(args.seed * 100_003 + chunk)
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            for at in range(0, len(order), args.batch):
                group = order[at:at + args.batch]
                prompts = [tokenizer.encode(mt.chat(cases[i][0]["question"])).ids for i in group]
                heats = torch.tensor([cases[i][1] for i in group])
                if args.exact:
                    if len(set(args.temperatures)) > 1:
                        raise SystemExit("--exact takes one temperature, given once or several times")
                    drawn = block_decode(model, prompts, special, length=LENGTH, temperature=args.temperatures[0],
                                         generator=generator)
                else:
                    drawn = cached_decode(model, prompts, special, heats, generator, steps=args.steps)
                for i, tokens in zip(group, drawn):
                    texts[i] = tokenizer.decode(tokens, skip_special_tokens=False)
        with open(args.out, "a") as out:  # one write, so that a chunk is there or not
            out.write("".join(json.dumps({"chunk": chunk, "model": weights, "temperature": t, **p, "text": text}) + "\n"
                              for (p, t), text in zip(cases, texts)))
        right = sum(final_answer(text) == final_answer(p["answer"]) for (p, _), text in zip(cases, texts))
        print(json.dumps({"chunk": chunk, "model": weights, "solutions": len(cases), "right": right,
                          "seconds": round(time.time() - start, 1), "cpu": round(time.process_time(), 1)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    s = commands.add_parser("sample", help="draw solutions from llada-nano-math")
    s.add_argument("--model", type=Path, required=True)
    s.add_argument("--out", type=Path, required=True, help="JSON lines")
    s.add_argument("--chunks", type=int, default=40)
    s.add_argument("--questions", type=int, default=256, help="per chunk")
    s.add_argument("--temperatures", type=float, nargs="+", default=[0, 0.7, 1.0, 1.5], help="one solution for each")
    s.add_argument("--steps", type=int, default=8, help="denoising steps per block of eight")
    s.add_argument("--exact", action="store_true", help="decode exactly as evaluation does (slow)")
    s.add_argument("--test", type=Path, help="take the questions of this file instead of new ones")
    s.add_argument("--limit", type=int, default=500, help="use only the first questions of that file")
    s.add_argument("--batch", type=int, default=64)
    s.add_argument("--seed", type=int, default=11)
    s.add_argument("--threads", type=int, default=1)
    s.add_argument("--precision", choices=("auto", "f32", "bf16"), default="auto")
    show = commands.add_parser("show", help="print spoiled solutions and their labels")
    show.add_argument("--count", type=int, default=5)
    args = parser.parse_args()
    if args.command == "sample":
        sample(args)
        return
    rng = random.Random(0)
    for _ in range(args.count):
        p = generate(rng, training_templates())
        text = spoil(rng, p.question, p.answer)
        print(f"{p.question}\n{p.answer}\n-> {step_labels(p.question, p.answer, text)}\n{text}\n")


if __name__ == "__main__":
    main()
