"""Accuracy of llada-nano-math on the frozen test set, through the engine: greedy, and the best of n samples by oracle.

    python eval_llada_math.py --pgdlm ../build/pgdlm --model llada-nano-math --samples 32 --show 5
"""

import argparse
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from math_problems import check_steps, final_answer, well_formed

TEST = Path(__file__).parent / "data" / "math_test.jsonl"


def generate(program: Path, model: str, problem: dict, *options) -> list[str]:
    """The answers to one problem."""
    command = [program, "generate", "-m", model, "--chat", problem["question"], "--json", "--threads", "1", *options]
    said = json.loads(subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout)
    return [candidate["text"] for candidate in said["candidates"]] or [said["text"]]


def report(name: str, problems: list[dict], passed: list[bool]) -> None:
    groups = {"all": problems, **{part: [p for p in problems if p["part"] == part] for part in ("seen", "unseen")}}
    good = {id(p) for p, ok in zip(problems, passed) if ok}
    figures = ", ".join(f"{key} {sum(id(p) in good for p in group) / max(1, len(group)):.3f}" for key, group in groups.items())
    by_steps = ", ".join(f"{n}: {sum(id(p) in good for p in group) / len(group):.2f}" for n in range(2, 7)
                         if (group := [p for p in problems if p["steps"] == n]))
    print(f"{name:28s} {figures}   by steps {by_steps}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pgdlm", type=Path, required=True, help="the program")
    parser.add_argument("--model", required=True, help="a GGUF file, or its name on a shelf")
    parser.add_argument("--limit", type=int, default=500, help="use only the first problems")
    parser.add_argument("--samples", type=int, default=0, help="also draw this many answers per problem")
    parser.add_argument("--temperature", type=float, default=1.0, help="of those samples")
    parser.add_argument("--show", type=int, default=0, help="print this many solved and failed problems")
    parser.add_argument("--jobs", type=int, default=2, help="problems at a time, a thread each")
    args = parser.parse_args()
    problems = [json.loads(line) for line in TEST.read_text().splitlines()][:args.limit]
    right = lambda answer, problem: final_answer(answer) == final_answer(problem["answer"])

    with ThreadPoolExecutor(args.jobs) as pool:
        answers = list(pool.map(lambda p: generate(args.pgdlm, args.model, p)[0], problems))
        solved = [right(a, p) for a, p in zip(answers, problems)]
        report("greedy", problems, solved)
        report("greedy, every step right", problems, [all(check_steps(p["answer"], a)) for a, p in zip(answers, problems)])
        report("greedy, well formed", problems, [well_formed(a) for a in answers])
        for wanted, title in ((True, "SOLVED"), (False, "FAILED")):
            for p, a in [(p, a) for p, a, ok in zip(problems, answers, solved) if ok == wanted][:args.show]:
                print(f"--- {title} [{p['template']}] {p['question']}\n{a}\n(reference: {p['answer']!r})")
        if args.samples == 0:
            return
        options = ("--method", "bon", "-k", args.samples, "--temp", args.temperature)
        drawn = list(pool.map(lambda p: generate(args.pgdlm, args.model, p, *options), problems))
    for n in (2 ** i for i in range(args.samples.bit_length())):
        report(f"oracle best of {n}", problems, [any(right(a, p) for a in d[:n]) for d, p in zip(drawn, problems)])


if __name__ == "__main__":
    main()
