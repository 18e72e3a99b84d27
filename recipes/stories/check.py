"""Does every template keep the rules? Run it after adding stories.

    python -m stories.check --tokenizer RUNS/llada-nano-math/tokenizer.json

Each template writes problems whose solutions pass the exact checker, whose steps are eight tokens, which fit the model,
and which are not in the frozen sets. Words that are several pieces are listed; they should stay rare.
"""

import argparse
import random
import re
from collections import Counter

from tokenizers import Tokenizer

from math_problems import (MAX_STEPS, check_steps, equation, far_set, generate, held_out_templates, test_set,
                           training_templates, well_formed)
from math_stories import LARGEST, OPERATIONS, Reject, Story
from math_tokenizer import chat

ANSWER, CONTEXT, STEP_TOKENS = 64, 256, 8


def problems_of(tell, rng: random.Random, count: int):
    """(question, answer) pairs of one template, whatever their number of steps up to the largest allowed."""
    for _ in range(count):
        while True:
            story = Story(rng)
            try:
                tell(story)
            except Reject:
                continue
            if 2 <= len(story.steps) <= MAX_STEPS:
                break
        story.finish(story)
        yield " ".join(story.sentences), "\n".join(story.steps) + f"\n#### {story.last}"


def faults(question: str, answer: str, tokenizer: Tokenizer) -> list[str]:
    found = []
    prompt, tokens = tokenizer.encode(chat(question)).ids, tokenizer.encode(answer).ids
    steps = answer.split("\n")[:-1]
    if not well_formed(answer) or not all(check_steps(answer, answer)):
        found.append("malformed")
    for line in steps:
        a, op, b, c = equation(line)
        if OPERATIONS[op](a, b) != c:
            found.append(f"wrong step {line}")
        if len(tokenizer.encode(line + "\n").ids) != STEP_TOKENS:
            found.append(f"not {STEP_TOKENS} tokens: {line}")
    if len(tokens) + 1 > ANSWER or len(prompt) + ANSWER > CONTEXT:
        found.append(f"too long: {len(prompt)} + {len(tokens)}")
    if max(map(int, re.findall(r"\d+", question))) > LARGEST or re.search(r"(?<! )\b\d", question):
        found.append("a number is no token")
    if "?" not in question or re.search(r"  |[{}]|\b(\w+) \1\b", question):
        found.append("odd text")
    return found


def pieces(tokenizer: Tokenizer, question: str):
    """(word, number of tokens), the first word without a space in front as in the prompt."""
    for i, word in enumerate(re.findall(r"[A-Za-z]+", question)):
        yield word, len(tokenizer.encode(word if i == 0 else " " + word).ids)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--count", type=int, default=200, help="problems of each template")
    parser.add_argument("--draws", type=int, default=20_000, help="problems for estimating how many there are")
    parser.add_argument("--show", action="store_true", help="print one problem of each template")
    args = parser.parse_args()

    tokenizer = Tokenizer.from_file(args.tokenizer)
    frozen = {problem.question for problem, _ in test_set() + far_set()}
    templates, bad, repeated, longest = training_templates(), 0, 0, 0
    words, split = 0, Counter()
    lengths = Counter()
    for name, tell in templates:
        for i, (question, answer) in enumerate(problems_of(tell, random.Random(name), args.count)):
            if args.show and i == 0:
                print(f"[{name}] {question}\n{answer}\n")
            for fault in faults(question, answer, tokenizer):
                bad += 1
                print(f"{name}: {fault}: {question}")
            repeated += question in frozen
            longest = max(longest, len(tokenizer.encode(chat(question)).ids))
            lengths[answer.count("\n")] += 1
            for word, count in pieces(tokenizer, question):
                words += 1
                if count > 1:
                    split[word] += 1
    print(f"{len(templates)} training templates, {len(held_out_templates() + held_out_templates(far=True))} held out; {bad} faults; "
          f"{repeated} questions of the test set among {len(templates) * args.count}")
    print(f"longest prompt {longest} tokens; steps {dict(sorted(lengths.items()))}")
    print(f"words of several pieces: {100 * sum(split.values()) / words:.2f} %  {split.most_common(25)}")

    # Birthdays: n draws of N equally likely problems repeat about n^2 / 2N times; unequal ones repeat more often.
    rng = random.Random(0)
    drawn = Counter(generate(rng, templates).question for _ in range(args.draws))
    pairs = sum(n * (n - 1) // 2 for n in drawn.values())
    print(f"{len(drawn)} distinct among {args.draws} drawn; at least about {args.draws ** 2 // (2 * max(1, pairs)):.1e} problems; "
          f"{sum(question in frozen for question in drawn)} of them in the test set")
    raise SystemExit(1 if bad or repeated else 0)


if __name__ == "__main__":
    main()
