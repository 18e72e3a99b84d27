#!/usr/bin/env python3
"""Against llama-diffusion-cli: k samples of 128 tokens from random LLaDAs, in seconds of wall time.

It has no batches, so k samples are k runs, each with its own seed; ours is one run. It is built from the very commit
our ggml comes from, with the options its users get by default. Both load the model anew; the weights are in the page
cache. The law is the same: LLaDA's low-confidence decoding in blocks of 32, 64 steps, temperature 1, full vocabulary.

Theirs writes 127 tokens after a prompt of one, ours 128. Both samples of a pair run one after the other, so that a busy
minute hits both. Usage: bench/peers.py, or make bench-peers
"""

import argparse
import itertools
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
REPEATS = {"10M": 3, "110M": 1}  # theirs takes a quarter of an hour for all of 110M

OURS = ("{binary} generate -m {model} -p ' t' -n 128 --diffusion-steps 64 --diffusion-block-length 32 --temp 1 --method bon "
        "-k {samples} --seed {seed} --threads {threads}")


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
        run(["cmake", "--build", build, "--target", "llama-diffusion-cli", "--parallel", os.cpu_count()])
    return binary


def make_model(tool: Path, path: Path, shape: dict, kind: str) -> None:
    if not path.exists():
        run([tool, path, "--type", kind, *(x for k, v in shape.items() for x in (f"--{k.replace('_', '-')}", v))])


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
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "pgdlm")
    parser.add_argument("--theirs", type=Path, help="a llama-diffusion-cli that is built already")
    parser.add_argument("--types", nargs="+", default=["f32", "f16"], help="of the weights")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--samples", nargs="+", type=int, default=[1, 4, 16])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, help=f"median (lowest, highest) are shown; default {REPEATS}")
    arguments = parser.parse_args()

    arguments.work.mkdir(parents=True, exist_ok=True)
    binary = arguments.theirs or build_theirs(arguments.work)
    if os.getloadavg()[0] > 0.5:
        print(f"warning: the load is {os.getloadavg()[0]:.1f}; ggml's threads spin, so figures mean little\n")
    print(f"{LENGTH} tokens, {STEPS} steps, blocks of {BLOCK}, {arguments.threads} threads; seconds, median (lowest, "
          f"highest)\n\n| model | weights | samples | llama-diffusion-cli | pgdlm | ratio |\n"
          "|---|---|---|---|---|---|")
    for name, kind, k in itertools.product(arguments.models, arguments.types, arguments.samples):
        model = arguments.work / f"llada-{name}-{kind}.gguf"
        make_model(arguments.tool, model, MODELS[name], kind)
        pairs = []
        for seed in range(1000, 1000 * ((arguments.repeats or REPEATS[name]) + 1), 1000):
            other = seconds([theirs(binary, model, seed + i, arguments.threads) for i in range(k)])
            own = OURS.format(binary=arguments.binary, model=model, samples=k, seed=seed, threads=arguments.threads)
            pairs.append((other, seconds([shlex.split(own)])))
        columns = [[a for a, _ in pairs], [b for _, b in pairs], [a / b for a, b in pairs]]
        print(f"| {name} | {kind} | {k} | " + " | ".join(
            f"{statistics.median(c):.2f} ({min(c):.2f}, {max(c):.2f})" for c in columns) + " |", flush=True)


if __name__ == "__main__":
    main()
