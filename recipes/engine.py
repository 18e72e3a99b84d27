"""The program pgdlm as the evaluation sees it: texts go in, scores and answers come out. Plain Python.

Answers of llada-nano-math take long, so they are kept in a file that is named after the model file's sha256: an
interrupted evaluation goes on where it was, and another model starts anew.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Callable, Iterator


def say(text: str) -> None:
    print(f"eval-models: {text}", file=sys.stderr, flush=True)


class Progress:
    """Says how far something long is, every twenty seconds and at its end."""

    def __init__(self, what: str, total: int):
        self.what, self.total, self.start, self.last = what, total, time.time(), time.time()

    def show(self, done: int) -> None:
        if done == self.total or time.time() > self.last + 20:
            self.last = time.time()
            say(f"{self.what}: {done} of {self.total}, {time.time() - self.start:.0f} s")


class Engine:
    """Runs `jobs` programs at a time with a thread each: on a busy machine, threads of one wait for each other."""

    def __init__(self, program: Path, models: Path, cache: Path, jobs: int):
        self.program, self.models, self.cache, self.jobs = program, models, cache, jobs

    def each(self, what: str, work: Callable, items: list) -> Iterator[tuple]:
        """(item, work(item)), in the order in which they are done."""
        progress, pool = Progress(what, len(items)), ThreadPoolExecutor(self.jobs)
        try:
            running = {pool.submit(work, item): item for item in items}
            for done, future in enumerate(as_completed(running), 1):
                yield running[future], future.result()
                progress.show(done)
        finally:
            pool.shutdown(cancel_futures=True)

    def file(self, name: str) -> Path:
        """The file of a model, or of a judge (`judges/NAME`)."""
        path = self.models / (f"{name}.json" if name.startswith("judges/") else f"{name}.gguf")
        if not path.is_file():
            raise SystemExit(f"eval-models: there is no {path}; name the models to measure, or give their folder "
                             "with --folder (default: $PGDLM_MODELS, else models/)")
        return path

    def sha256(self, name: str) -> str:
        return hashlib.sha256(self.file(name).read_bytes()).hexdigest()

    def run(self, *arguments) -> str:
        command = [str(part) for part in (self.program, *arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"eval-models: {' '.join(command)[:300]}\n{done.stderr.strip()}")
        return done.stdout

    def on_texts(self, texts: list[str], *arguments) -> dict:
        """A command that reads texts from a file, one per line, and answers with one object."""
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("".join(text + "\n" for text in texts))
            file.flush()
            said = json.loads(self.run(*arguments, "-f", file.name, "--json"))
        if len(said["texts"]) + said.get("left_out", 0) != len(texts):
            raise SystemExit(f"eval-models: {arguments[0]} gave {len(said['texts'])} figures for {len(texts)} texts")
        return said

    def perplexity(self, model: str, texts: list[str]) -> dict:
        return self.on_texts(texts, "perplexity", "-m", self.file(model), "-t", 1)

    def judge(self, name: str, texts: list[str]) -> list[float]:
        """The log-odds of the second label."""
        return [text["log_odds"] for text in self.on_texts(texts, "judge", self.file(f"judges/{name}"))["texts"]]

    def score(self, model: str, passages: list[dict]) -> list[dict]:
        """Passages: {"text", "prompt"}. What comes back has `labels`, or `steps`."""
        def part(at: int) -> list[dict]:
            with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
                file.write("".join(json.dumps(p) + "\n" for p in passages[at:at + 500]))
                file.flush()
                said = self.run("score", "--reward", self.file(model), "--jsonl", file.name, "--json", "-t", 1)
            return [json.loads(line) for line in said.splitlines()]

        parts = dict(self.each(f"{model}, {len(passages)} texts, parts", part, list(range(0, len(passages), 500))))
        found = [row for at in sorted(parts) for row in parts[at]]
        if len(found) != len(passages):
            raise SystemExit(f"eval-models: score gave {len(found)} figures for {len(passages)} texts")
        return found

    def answers(self, model: str, problems: list[dict], samples: int) -> list[list[str]]:
        """Of each problem the greedy answer (samples = 0), or so many independent ones at temperature 1, revealed in
        random order (revealing the most confident positions first makes them alike).

        Problem i has seed i, and the first samples of many are the same as fewer. Once an answer has ended, the rest
        of its canvas is not computed: it would not be looked at.
        """
        kept = Kept(self.cache / f"eval-models-{self.sha256(model)}.jsonl")
        kind, wanted = ("sampled", samples) if samples else ("greedy", 1)
        missing = [i for i, p in enumerate(problems) if len(kept.find(kind, i, p["question"])) < wanted]
        if len(missing) < len(problems):
            say(f"{model}, {kind}: {len(problems) - len(missing)} of {len(problems)} problems are in {kept.path}")
        options = ("--method", "bon", "-k", samples, "--temp", 1, "--diffusion-algorithm", "random") if samples else ()

        def draw(i: int) -> list[str]:
            said = json.loads(self.run("generate", "-m", self.file(model), "--chat", problems[i]["question"], "--json",
                                       "-t", 1, "--seed", i, "--stop-at-eos", *options))
            return [candidate["text"] for candidate in said["candidates"]]

        for i, texts in self.each(f"{model}, {kind}, {wanted} per problem, problems", draw, missing):
            kept.add(kind, i, problems[i]["question"], texts)
        return [kept.find(kind, i, p["question"])[:wanted] for i, p in enumerate(problems)]


class Kept:
    """Answers on disk, a JSON line for each problem. A line that was cut off by a crash does not count."""

    def __init__(self, path: Path):
        self.path, self.found = path, {}
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text() if path.exists() else ""
        for line in text.splitlines():
            try:
                said = json.loads(line)
            except ValueError:
                continue
            self.found[said["kind"], said["seed"], said["question"]] = said["answers"]
        self.file = open(path, "a", buffering=1)
        if text and not text.endswith("\n"):
            self.file.write("\n")

    def find(self, kind: str, seed: int, question: str) -> list[str]:
        return self.found.get((kind, seed, question), [])

    def add(self, kind: str, seed: int, question: str, answers: list[str]) -> None:
        self.found[kind, seed, question] = answers
        self.file.write(json.dumps({"kind": kind, "seed": seed, "question": question, "answers": answers}) + "\n")
