"""Accuracy of an exported llada-nano-math on the frozen test set: greedy, and the best of n samples by oracle.

    python eval_llada_math.py --model runs/llada-nano-math/best --test data/math_test.jsonl --samples 32
"""

import argparse
import json
from pathlib import Path

import torch
from tokenizers import Tokenizer

from common import choose_precision
from llada import block_decode, load_hf
from math_problems import check_steps, final_answer, well_formed
from math_tokenizer import chat
from train_llada_math import LENGTH, special_ids


def solve(model, tokenizer, special, problems, **decoding) -> list[str]:
    """Answers in the order of the problems; similar lengths are decoded together."""
    answers = [""] * len(problems)
    order = sorted(range(len(problems)), key=lambda i: len(problems[i]["question"]))
    for at in range(0, len(order), 64):
        group = order[at:at + 64]
        prompts = [e.ids for e in tokenizer.encode_batch([chat(problems[i]["question"]) for i in group])]
        for i, tokens in zip(group, block_decode(model, prompts, special, length=LENGTH, **decoding)):
            answers[i] = tokenizer.decode(tokens, skip_special_tokens=False)
    return answers


def report(name: str, problems: list[dict], passed: list[bool]) -> None:
    groups = {"all": problems, **{part: [p for p in problems if p["part"] == part] for part in ("seen", "unseen")}}
    good = {id(p) for p, ok in zip(problems, passed) if ok}
    figures = ", ".join(f"{key} {sum(id(p) in good for p in group) / max(1, len(group)):.3f}" for key, group in groups.items())
    by_steps = ", ".join(f"{n}: {sum(id(p) in good for p in group) / len(group):.2f}" for n in range(2, 7)
                         if (group := [p for p in problems if p["steps"] == n]))
    print(f"{name:28s} {figures}   by steps {by_steps}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="folder with config.json, tokenizer.json, weights")
    parser.add_argument("--test", type=Path, required=True, help="JSON lines with question and answer")
    parser.add_argument("--limit", type=int, default=500, help="use only the first problems")
    parser.add_argument("--samples", type=int, default=0, help="also draw this many answers per problem")
    parser.add_argument("--temperature", type=float, default=1.0, help="of those samples")
    parser.add_argument("--block", type=int, default=8)
    parser.add_argument("--show", type=int, default=0, help="print this many solved and failed problems")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    bf16 = choose_precision("auto", args.threads) == "bf16"
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    special, model = special_ids(tokenizer), load_hf(args.model)
    problems = [json.loads(line) for line in args.test.read_text().splitlines()][:args.limit]
    decoding = dict(block=args.block, steps_per_block=args.block)

    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        answers = solve(model, tokenizer, special, problems, **decoding)
        right = [final_answer(a) == final_answer(p["answer"]) for a, p in zip(answers, problems)]
        report("greedy", problems, right)
        report("greedy, every step right", problems, [all(check_steps(p["answer"], a)) for a, p in zip(answers, problems)])
        report("greedy, well formed", problems, [well_formed(a) for a in answers])
        for wanted, title in ((True, "SOLVED"), (False, "FAILED")):
            for p, a in [(p, a) for p, a, ok in zip(problems, answers, right) if ok == wanted][:args.show]:
                print(f"--- {title} [{p['template']}] {p['question']}\n{a}\n(reference: {p['answer']!r})")
        ever, generator = [False] * len(problems), torch.Generator().manual_seed(0)
        for n in range(1, args.samples + 1):
            drawn = solve(model, tokenizer, special, problems, temperature=args.temperature, generator=generator, **decoding)
            ever = [e or final_answer(a) == final_answer(p["answer"]) for e, a, p in zip(ever, drawn, problems)]
            if n & (n - 1) == 0:
                report(f"oracle best of {n}", problems, ever)


if __name__ == "__main__":
    main()
