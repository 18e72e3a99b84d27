"""Solutions of word problems: the exact point at which one leaves every right path, and faults put into right ones.

The label of a step is whether the solution *up to and including it* is right. Once a step is wrong all later ones are
wrong too, even if their own arithmetic holds. That is what a reward on prefixes needs, P(solution so far is right): a
particle that has gone wrong must not win back its weight by a later line that happens to be true, and the score of the
last line is that of the whole answer.

    python solutions.py --count 5       # prints spoiled solutions and their labels
"""

import argparse
import random
import re
from collections import Counter

from math_chat import EOT, MASK
from math_problems import equation, final_answer, generate, training_templates
from math_stories import LARGEST, OPERATIONS

# ---- the exact checker ----------------------------------------------------------------------------------------------

STEP_FIELDS = [re.compile(p) for p in (r"[A-Za-z]+", r": ", r"\d+", r" ", r"[-+*/]", r" ", r"\d+", r" = ", r"\d+",
                                         r"$")]
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
    """The same solution with operands of + and * swapped and neighbouring steps exchanged where that is allowed."""
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
        pieces[i] = rng.choice((" +", " -", " =", ":", " 7", " 120", "####", " the", "left", MASK, EOT, ",", " ???"))
    elif kind == 4:
        pieces = pieces[:i]  # the line breaks off
    elif kind == 5:
        pieces.append(rng.choice((" + 3", " = 12", " apples", ".", " 5", ":", " ####")))
    elif kind == 6:
        lines = lines + [rng.choice((lines[0], lines[-1], "left: 5 + 5 = 10", "", "The end."))]
    else:
        other = rng.choice(("", lines[-1], "Then we add them.", lines[at].lower().replace(" ", "")))
        return "\n".join(lines[:at] + [other] + lines[at + 1:])
    return "\n".join(lines[:at] + ["".join(pieces)] + lines[at + 1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=5)
    rng = random.Random(0)
    for _ in range(parser.parse_args().count):
        p = generate(rng, training_templates())
        text = spoil(rng, p.question, p.answer)
        print(f"{p.question}\n{p.answer}\n-> {step_labels(p.question, p.answer, text)}\n{text}\n")


if __name__ == "__main__":
    main()
