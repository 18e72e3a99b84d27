"""Grade-school word problems with 2 to 6 arithmetic steps, and an exact checker for their solutions.

A problem looks like a line of GSM8K:

    question  Tom has 12 apples. He buys 3 bags with 4 apples in each bag. How many apples does he have now?
    answer    bags: 3 * 4 = 12
              apples: 12 + 12 = 24
              #### 24

Every step is one line, `label: a op b = c`, and every number has a space before it. With the tokenizer of
math_tokenizer.py a step is then exactly eight tokens, so that a decoding block of eight holds one thought.

The stories live in stories/. Some of them are never used in training; the frozen test set draws 30 % of its problems
from those, and the field `part` says which ("seen" or "unseen" template). Training tells many more stories than the
test set knows, and words them in more ways.

    python math_problems.py sample --count 5 --seed 1
    python math_problems.py test-set --out data/math_test.jsonl
    python -m stories.check --tokenizer tokenizer.json
"""

import argparse
import json
import random
import re
from dataclasses import dataclass

import stories  # noqa: F401 (fills TEMPLATES)
from math_stories import LARGEST, TEMPLATES, Reject, Story
from stories.wording import reword

TEST_SEED, TEST_COUNT, UNSEEN_SHARE = 20_500, 500, 0.3
# What the frozen sets draw from. They depend on this list and its order, so stories added later stay out of it.
TESTED = (
    "collection", "collection_shared", "more_or_fewer", "times_as_many", "half_as_many", "boxes", "shopping",
    "savings", "reading", "garden", "bakery", "wages", "trip", "classroom", "farm", "homework", "ages",
    "sold_in_parts", "laps", "party", "bus", "library", "stall", "pizza", "hens", "points", "tank", "album",
    "tickets", "two_savers", "colors", "teams", "work_per_day")
MIN_STEPS, MAX_STEPS = 2, 6


@dataclass(frozen=True)
class Problem:
    template: str
    question: str
    answer: str
    steps: int

    @property
    def result(self) -> str:
        return final_answer(self.answer)


def generate(rng: random.Random, templates: list, min_steps=MIN_STEPS, max_steps=MAX_STEPS) -> Problem:
    """Draw a template and its numbers until the story makes sense and has a wanted number of steps.

    Left alone most stories have two or three steps; sometimes asking for more makes longer ones common enough.
    """
    min_steps = min(max_steps, max(min_steps, rng.choice((2, 2, 3, 4, 4, 5))))
    while True:
        name, tell = rng.choice(templates)
        story = Story(rng)
        try:
            tell(story)
        except Reject:
            continue
        if min_steps <= len(story.steps) <= max_steps:
            story.finish(story)
            answer = "\n".join(story.steps) + f"\n#### {story.last}"
            return Problem(name, " ".join(story.sentences), answer, len(story.steps))


STEP = re.compile(r"^[A-Za-z]+: (\d+) ([-+*/]) (\d+) = (\d+)$")
FINAL = re.compile(r"^#### (\d+)$")


def final_answer(text: str) -> str | None:
    """The number after the last `####`, as GSM8K scores it."""
    found = re.findall(r"#### (\d+)", text)
    return found[-1] if found else None


def well_formed(text: str) -> bool:
    """One to eight steps and then the final line, nothing else. Says nothing about whether they are right."""
    *steps, final = text.split("\n")
    return bool(1 <= len(steps) <= 8 and all(STEP.match(line) for line in steps) and FINAL.match(final))


def check_steps(reference: str, text: str) -> list[bool]:
    """For every line: does it follow the reference solution? These are the labels of the process reward model.

    A step is right if its equation (operands in either order for + and *) is one of the reference's: the arithmetic
    holds, both operands are the ones the story means, and the step is needed. The final line must repeat the
    reference's number. A step built on a wrong result is wrong as well, because its operand is.
    """
    right = {equation(line) for line in reference.split("\n")[:-1]}
    wanted = final_answer(reference)
    return [final_answer(line) == wanted if FINAL.match(line) else equation(line) in right for line in text.split("\n")]


def equation(line: str) -> tuple | None:
    match = STEP.match(line)
    if not match:
        return None
    a, op, b, c = int(match[1]), match[2], int(match[3]), int(match[4])
    if op in "+*":
        a, b = min(a, b), max(a, b)
    return a, op, b, c


def training_templates() -> list:
    """All stories that are not held out, in varied wording."""
    return [(name, reworded(tell)) for name, (tell, held_out) in TEMPLATES.items() if not held_out
            for _ in range(tell.weight)]


def reworded(tell):
    def tell_otherwise(story: Story) -> None:
        tell(story)
        story.finish = reword
    return tell_otherwise


def tested_templates() -> list:
    """The frozen stories that training tells as well, in their plain wording."""
    return [(name, TEMPLATES[name][0]) for name in TESTED]


def held_out_templates() -> list:
    return [(name, tell) for name, (tell, held_out) in TEMPLATES.items() if held_out]


def make_set(seed: int, count: int, unseen_share: float) -> list[tuple[Problem, str]]:
    """A reproducible set without repeated questions; (problem, part) pairs in a mixed order."""
    rng = random.Random(seed)
    unseen = round(count * unseen_share)
    parts = ["unseen"] * unseen + ["seen"] * (count - unseen)
    rng.shuffle(parts)
    pools = {"seen": tested_templates(), "unseen": held_out_templates()}
    chosen, questions = [], set()
    for part in parts:
        while (problem := generate(rng, pools[part])).question in questions:
            pass
        questions.add(problem.question)
        chosen.append((problem, part))
    return chosen


def test_set() -> list[tuple[Problem, str]]:
    return make_set(TEST_SEED, TEST_COUNT, UNSEEN_SHARE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sample = commands.add_parser("sample", help="print a few training problems")
    sample.add_argument("--count", type=int, default=5)
    sample.add_argument("--seed", type=int, default=0)
    sample.add_argument("--held-out", action="store_true", help="from the templates that training never sees")
    frozen = commands.add_parser("test-set", help="write the frozen test set")
    frozen.add_argument("--out", required=True)
    args = parser.parse_args()

    if args.command == "sample":
        rng = random.Random(args.seed)
        pool = held_out_templates() if args.held_out else training_templates()
        for _ in range(args.count):
            problem = generate(rng, pool)
            print(f"[{problem.template}, {problem.steps} steps]\n{problem.question}\n{problem.answer}\n")
    else:
        with open(args.out, "w") as out:
            for problem, part in test_set():
                out.write(json.dumps({"question": problem.question, "answer": problem.answer, "part": part,
                                      "template": problem.template, "steps": problem.steps}) + "\n")


if __name__ == "__main__":
    main()
