"""Grade-school word problems with 2 to 6 arithmetic steps, and an exact checker for their solutions.

A problem looks like a line of GSM8K:

    question  Tom has 12 apples. He buys 3 bags with 4 apples in each bag. How many apples does he have now?
    answer    bags: 3 * 4 = 12
              apples: 12 + 12 = 24
              #### 24

Every step is one line, `label: a op b = c`, and every number has a space before it. With the tokenizer of
math_tokenizer.py a step is then exactly eight tokens, so that a decoding block of eight holds one thought.

The stories live in stories/. Some of them are never used in training: three in ten of the frozen test set's templates,
and of its problems; the field `part` says which ("seen" or "unseen" template). Training tells many more stories than
the test set knows, and words them in more ways. But of many tellings the test set keeps the one with the largest
numbers, because training makes adding small ones too easy.

    python math_problems.py sample --count 5 --seed 1
    python math_problems.py test-set --out ../models/tasks/math.jsonl
    python math_problems.py far-set --out ../models/tasks/math-far.jsonl
    python -m stories.check --tokenizer tokenizer.json
"""

import argparse
import itertools
import json
import random
import re
from dataclasses import dataclass

import stories  # noqa: F401 (fills TEMPLATES)
from math_stories import LARGEST, TEMPLATES, Reject, Story
from stories.wording import reword

TEST_SEED, TEST_COUNT, UNSEEN_COUNT = 20_500, 500, 150
FAR_SEED, FAR_COUNT = 20_501, 160
# What the frozen sets draw from: the stories that have the most steps or are the hardest to follow. The sets depend on
# this list and its order, so stories added later stay out of it.
TESTED = (
    "collection", "collection_shared", "times_as_many", "boxes", "savings", "reading", "garden", "ages", "sold_in_parts",
    "party", "library", "album", "two_savers", "things", "purse", "places", "seats", "shopping")
UNSEEN = (  # never told in training; the held-out stories that are not in this list make the far set
    "chain_of_friends", "train_rows", "flower_groups", "books_and_days", "market_baskets", "rest_on_sunday", "two_rides",
    "half_and_more")
MAX_STEPS = 6
# Left alone most stories have two or three steps; a least number drawn from these makes longer ones common enough.
LEAST_STEPS = (2, 2, 3, 4, 4, 5)
TELLINGS = 24  # for each problem of the frozen sets


@dataclass(frozen=True)
class Problem:
    template: str
    question: str
    answer: str
    steps: int

    @property
    def result(self) -> str:
        return final_answer(self.answer)

    @property
    def results(self) -> list[int]:
        """Of the single steps."""
        return [int(n) for n in re.findall(r"= (\d+)", self.answer)]


def generate(rng: random.Random, templates: list, least=LEAST_STEPS, max_steps=MAX_STEPS) -> Problem:
    """Draw a template and its numbers until the story makes sense and has a wanted number of steps."""
    min_steps = min(max_steps, rng.choice(least))
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


def hardest(rng: random.Random, templates: list, tellings: int, least=LEAST_STEPS) -> Problem:
    """Of several problems the one with the largest results: large numbers are harder to add, and long solutions have
    more of them."""
    return max((generate(rng, templates, least) for _ in range(tellings)), key=lambda p: sum(p.results))


def seen_templates() -> list:
    """The frozen stories that training tells as well, in their plain wording."""
    return [(name, TEMPLATES[name][0]) for name in TESTED]


def held_out_templates(far=False) -> list:
    return [(name, tell) for name, (tell, held_out) in TEMPLATES.items() if held_out and far == (name not in UNSEEN)]


def make_set(rng: random.Random, templates: list, count: int) -> list[Problem]:
    """Problems without repeated questions; every template has its turn."""
    chosen = {}
    for template in itertools.islice(itertools.cycle(templates), count):
        while (problem := hardest(rng, [template], TELLINGS, least=(2,))).question in chosen:
            pass
        chosen[problem.question] = problem
    return list(chosen.values())


def test_set() -> list[tuple[Problem, str]]:
    """The frozen problems with their part, mixed."""
    rng = random.Random(TEST_SEED)
    problems = [(p, "seen") for p in make_set(rng, seen_templates(), TEST_COUNT - UNSEEN_COUNT)]
    problems += [(p, "unseen") for p in make_set(rng, held_out_templates(), UNSEEN_COUNT)]
    rng.shuffle(problems)
    return problems


def far_set() -> list[tuple[Problem, str]]:
    return [(p, "far") for p in make_set(random.Random(FAR_SEED), held_out_templates(far=True), FAR_COUNT)]


def development_set(count: int) -> list[Problem]:
    """Like the seen part of the test set."""
    return make_set(random.Random(777), seen_templates(), count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sample = commands.add_parser("sample", help="print a few training problems")
    sample.add_argument("--count", type=int, default=5)
    sample.add_argument("--seed", type=int, default=0)
    sample.add_argument("--held-out", action="store_true", help="from the templates that training never sees")
    for name, what in (("test-set", "the frozen test set"), ("far-set", "the frozen far set")):
        commands.add_parser(name, help=f"write {what}").add_argument("--out", required=True)
    args = parser.parse_args()

    if args.command == "sample":
        rng = random.Random(args.seed)
        pool = held_out_templates() if args.held_out else training_templates()
        for _ in range(args.count):
            problem = generate(rng, pool)
            print(f"[{problem.template}, {problem.steps} steps]\n{problem.question}\n{problem.answer}\n")
    else:
        with open(args.out, "w") as out:
            for problem, part in test_set() if args.command == "test-set" else far_set():
                out.write(json.dumps({"question": problem.question, "answer": problem.answer, "part": part,
                                      "template": problem.template, "steps": problem.steps}) + "\n")


if __name__ == "__main__":
    main()
