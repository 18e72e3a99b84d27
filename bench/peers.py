#!/usr/bin/env python3
"""Against llama-diffusion-cli: k samples of 128 tokens from random LLaDAs, in seconds of wall time.

It has no batches, so k samples are k runs, each with its own seed; ours is one run. It is built from the very commit
our ggml comes from, with the options its users get by default. Both load the model anew; the weights are in the page
cache. The law is the same: LLaDA's low-confidence decoding in blocks of 32, 64 steps, temperature 1, full vocabulary.

    bench/peers.py                                        # theirs alone
    bench/peers.py --ours 'build/pgdlm generate ... {model} {samples} {seed} {threads}'
"""

import argparse
import os
import shlex
import statistics
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LENGTH, STEPS, BLOCK = 128, 64, 32
MODELS = {  # about 10 and 110 million parameters
    "10M": dict(layers=6, embedding=256, heads=8, feed_forward=768, vocab=8192),
    "110M": dict(layers=12, embedding=640, heads=10, feed_forward=2048, vocab=32000),
}


def run(command, **options):
    subprocess.run([str(c) for c in command], check=True, **options)


def build_theirs(work: Path) -> Path:
    source, build = work / "llama.cpp", work / "llama.cpp-build"
    binary = build / "bin" / "llama-diffusion-cli"
    if not binary.exists():
        checkout = next((ROOT / ".cache").glob("ggml-*/.git"))  # the whole commit is in there
        if not source.exists():
            run(["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--shared", checkout, source])
        run(["cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Release"], stdout=subprocess.DEVNULL)
        run(["cmake", "--build", build, "--target", "llama-diffusion-cli", "--parallel"])
    return binary


def make_model(tool: Path, path: Path, shape: dict) -> None:
    if not path.exists():
        run([tool, path, *(x for k, v in shape.items() for x in (f"--{k.replace('_', '-')}", v))])


def theirs(binary: Path, model: Path, seed: int, threads: int) -> list:
    # The total length is -ub, and the prompt is one token of it. Without a terminal it reads no further input.
    return [binary, "-m", model, "-p", " t", "-c", LENGTH, "-b", LENGTH, "-ub", LENGTH, "-t", threads, "--seed", seed,
            "--temp", 1, "--top-k", 0, "--top-p", 1, "--diffusion-steps", STEPS, "--diffusion-block-length", BLOCK,
            "--diffusion-eps", 0, "--diffusion-algorithm", 4]


def seconds(commands) -> float:
    start = time.perf_counter()
    for command in commands:
        run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "peers", help="builds and models stay here")
    parser.add_argument("--tool", type=Path, default=ROOT / "build" / "tests" / "random_gguf")
    parser.add_argument("--ours", help="our command, with {model}, {samples}, {seed}, {threads}")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--samples", nargs="+", type=int, default=[1, 4, 16])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, default=3, help="the median is shown")
    arguments = parser.parse_args()

    arguments.work.mkdir(parents=True, exist_ok=True)
    binary = build_theirs(arguments.work)
    if os.getloadavg()[0] > 0.5:
        print(f"warning: the load is {os.getloadavg()[0]:.1f}; ggml's threads spin, so figures mean little\n")
    print(f"{LENGTH} tokens, {STEPS} steps, blocks of {BLOCK}, {arguments.threads} threads; seconds, median of "
          f"{arguments.repeats}\n\n| model | samples | llama-diffusion-cli | pgdlm | ratio |\n|---|---|---|---|---|")
    for name in arguments.models:
        model = arguments.work / f"llada-{name}.gguf"
        make_model(arguments.tool, model, MODELS[name])
        for k in arguments.samples:
            def median(commands):
                return statistics.median(seconds(commands(1000 * r)) for r in range(1, arguments.repeats + 1))
            other = median(lambda seed: [theirs(binary, model, seed + i, arguments.threads) for i in range(k)])
            own = None
            if arguments.ours:
                own = median(lambda seed: [shlex.split(arguments.ours.format(model=model, samples=k, seed=seed,
                                                                             threads=arguments.threads))])
            print(f"| {name} | {k} | {other:.2f} | " + (f"{own:.2f} | {other / own:.1f} |" if own else "| |"), flush=True)


if __name__ == "__main__":
    main()
