#!/usr/bin/env python3
"""The server under load, over loopback: what company, a heavy neighbour and idle readers cost.

Figures are the median (lowest, highest) of repeats; what is compared takes turns, so that a busy minute hits both. The time
of the program is that within its engine (`cost.seconds`), without the loading of the model; the server has loaded its own
when it listens. Ends with exit code 1 where a goal is missed. PGDLM is the program, else build/pgdlm.
Usage: bench/serve.py, or make bench-serve
"""
import argparse
import contextlib
import http.client
import itertools
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "clients"))
from server import ENVIRONMENT, PGDLM, ROOT, Server, eventually, live_runs  # noqa: E402

THROUGHPUT_GOAL = 0.9  # of the program's, for the same texts in one batch
NEIGHBOUR_GOAL = 4.0  # times the latency alone, while 64 particles run
READERS_GOAL = 1.5  # times the latency without them
READER_KB_GOAL = 64  # of memory for each idle reader
FIRST_GOAL = 0.5  # of the whole time until the first words
OTHERS_LIMIT = 0.3  # cores; where other processes had more, latencies are theirs and no goal counts as met

TOGETHER, CLIENTS, EACH, READERS = 64, 4, 6, 500
SMALL = {"model": "mdlm-nano", "prompt": "The movie", "max_tokens": 28}
HEAVY = {**SMALL, "max_tokens": 64, "stream": True,  # a minute, and no word of it before its end
         "its": {"method": "smc", "particles": 64, "reward": "sentiment:positive"}}
SEEDS = itertools.count(1)  # none twice: the engine remembers what it has computed
QUESTIONS = (json.loads(line)["question"] for line in (ROOT / "models" / "tasks" / "math.jsonl").open())


class Client:
    """One connection that stays open."""

    def __init__(self, url):
        place = urlsplit(url)
        self.connection = http.client.HTTPConnection(place.hostname, place.port, timeout=600)
        self.connection.connect()

    def open(self, path, body):
        self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        if reply.status != 200:
            raise RuntimeError(f"{reply.status} {reply.read().decode()}")
        return reply

    def complete(self, body):
        return json.loads(self.open("/v1/completions", body).read())

    def close(self):
        self.connection.close()


def spread(values, digits=2):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}, {max(values):.{digits}f})"


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def table(title, columns, rows):
    print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


# --- company: many small requests at once against one batch of the program


def program_batch(seed):
    """Seconds within the engine, without the loading of the model, and the texts. Every sample's cost is that of the batch."""
    command = [PGDLM, "generate", SMALL["prompt"], "-m", SMALL["model"], "-n", SMALL["max_tokens"], "--seed", seed,
               "--n-samples", TOGETHER, "--json"]
    output = subprocess.run(list(map(str, command)), check=True, capture_output=True, env=ENVIRONMENT).stdout
    samples = json.loads(output)["samples"]
    return max(sample["cost"]["seconds"] for sample in samples), [sample["text"] for sample in samples]


def server_batch(url, first):
    """Seconds until the last of the replies came, and the texts with their prompt."""
    begin = threading.Barrier(TOGETHER + 1)

    def ask(seed):
        with contextlib.closing(Client(url)) as client:
            begin.wait()
            return SMALL["prompt"] + client.complete({**SMALL, "seed": seed})["choices"][0]["text"]

    with ThreadPoolExecutor(TOGETHER) as pool:
        asked = [pool.submit(ask, seed) for seed in range(first, first + TOGETHER)]
        begin.wait()
        start = time.perf_counter()
        texts = [one.result() for one in asked]
        return time.perf_counter() - start, texts


def throughput(repeats):
    """Each time with a new server, which remembers as little as the program does."""
    program, served, ratios, same = [], [], [], 0
    for _ in range(repeats):
        first = [next(SEEDS) for _ in range(TOGETHER)][0]
        alone, texts = program_batch(first)
        with Server() as server:
            together, replies = server_batch(server.url, first)
        program.append(TOGETHER / alone)
        served.append(TOGETHER / together)
        ratios.append(alone / together)
        same += sum(a == b for a, b in zip(texts, replies))
    table(f"{TOGETHER} requests at once against one batch of `pgdlm generate --n-samples {TOGETHER}`: "
          f"{SMALL['max_tokens']} tokens, texts per second",
          ["program", "server", f"ratio (goal {THROUGHPUT_GOAL})", "equal texts"],
          [[spread(program, 1), spread(served, 1), spread(ratios), f"{same} of {TOGETHER * repeats}"]])
    return statistics.median(ratios) >= THROUGHPUT_GOAL


# --- a heavy neighbour, and idle readers


def processor_seconds(server):
    """What all processes have used since the machine started, and what of it the server and this program have."""
    user, nice, system, _, _, *rest = map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9])
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + sum(rest)) / ticks, (int(fields[11]) + int(fields[12])) / ticks + time.process_time()


def latencies(server):
    """Seconds of small requests, one after the other from each of a few clients, and how many cores others had meanwhile."""
    start, (all_before, ours_before) = time.perf_counter(), processor_seconds(server)
    found = small_requests(server.url)
    all_after, ours_after = processor_seconds(server)
    others = (all_after - all_before - ours_after + ours_before) / (time.perf_counter() - start)
    return found, max(0.0, others)


def small_requests(url):

    def ask(_):
        found = []
        with contextlib.closing(Client(url)) as client:
            for _ in range(EACH):
                start = time.perf_counter()
                client.complete({**SMALL, "seed": next(SEEDS)})
                found.append(time.perf_counter() - start)
        return found

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [seconds for found in pool.map(ask, range(CLIENTS)) for seconds in found]


@contextlib.contextmanager
def running(url, body):
    """A run that works as long as the block does, by its id. The closed connection cancels it."""
    with contextlib.closing(Client(url)) as client:
        run = client.open("/v1/completions", {**body, "seed": next(SEEDS)}).headers["X-Request-Id"]
        if not eventually(lambda: run in live_runs(url)):
            raise RuntimeError("the heavy request did not begin")
        yield run
    eventually(lambda: run not in live_runs(url))


def times(found, alone):
    """How many times slower each repeat was."""
    return [statistics.median(part) / statistics.median(base) for (part, _), (base, _) in zip(found, alone)]


LATENCY_COLUMNS = ["p50", "p95", "cores others had"]


def latency_row(found):
    every = [seconds for part, _ in found for seconds in part]
    return [spread([statistics.median(part) for part, _ in found], 3), f"{percentile(every, 0.95):.3f}",
            spread([others for _, others in found])]


def undisturbed(*found):
    """Whether latencies can be judged. If not, that is said."""
    most = max(others for part in found for _, others in part)
    if most > OTHERS_LIMIT:
        print(f"\nnot judged: other processes had up to {most:.1f} cores, allowed: {OTHERS_LIMIT}")
    return most <= OTHERS_LIMIT


def fairness(server, repeats):
    alone, beside = [], []
    for _ in range(repeats):
        alone.append(latencies(server))
        with running(server.url, HEAVY) as run:
            beside.append(latencies(server))
            if run not in live_runs(server.url):
                raise RuntimeError("the heavy request ended before the small ones did")
    table(f"Latency of small requests, {CLIENTS} clients, seconds", ["", *LATENCY_COLUMNS, f"times alone (goal {NEIGHBOUR_GOAL})"],
          [["alone", *latency_row(alone), ""], ["beside one of 64 particles", *latency_row(beside), spread(times(beside, alone))]])
    return undisturbed(alone, beside) and statistics.median(times(beside, alone)) <= NEIGHBOUR_GOAL


@contextlib.contextmanager
def reward_that_waits():
    """The address of a reward whose answer, an error, comes when the event is set: a run that needs it costs nothing until then."""
    release = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            release.wait()
            self.send_error(500)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as reward:
        threading.Thread(target=reward.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{reward.server_port}/", release
        release.set()
        reward.shutdown()


def close_all(opened):
    for connection, _ in opened:
        connection.close()


def server_state(process):
    """Its memory in KB and its number of threads."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]), int(fields["Threads"])


def readers_of(url, run):
    """Connections that wait for what a run will say."""
    place = urlsplit(url)
    opened = []
    for _ in range(READERS):
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=120)
        connection.request("GET", f"/runs/{run}/events")
        opened.append((connection, connection.getresponse()))
    return opened


def readers(repeats):
    """Many who read the events of a run that waits and so says nothing; small requests without them and beside them."""
    without, beside, growth, threads = [], [], [], []
    with Server("--allow-exec", "--reward-patience", "600") as server, reward_that_waits() as (address, release):
        small_requests(server.url)  # takes the memory that they need
        with running(server.url, {**HEAVY, "reconnect_seconds": 300, "its": {"reward": address, "particles": 2}}) as run:
            for repeat in range(repeats):
                without.append(latencies(server))
                before = server_state(server.process)
                opened = readers_of(server.url, run)
                after = server_state(server.process)  # now: later the small requests have taken memory, too
                beside.append(latencies(server))
                growth.append((after[0] - before[0]) / READERS)
                threads.append((before[1], after[1]))
                if repeat < repeats - 1:
                    close_all(opened)
            release.set()
            ends = sum(b"[DONE]" in reply.read() for _, reply in opened)
            close_all(opened)
    table(f"{READERS} idle connections that read the events of a run, beside small requests of {CLIENTS} clients",
          ["", *LATENCY_COLUMNS, f"times without (goal {READERS_GOAL})", "threads", f"KB each (goal {READER_KB_GOAL})",
           "read to the end"],
          [["no readers", *latency_row(without), "", spread([count for count, _ in threads], 0), "", ""],
           [f"{READERS} readers", *latency_row(beside), spread(times(beside, without)), spread([count for _, count in threads], 0),
            spread(growth, 1), f"{ends} of {READERS}"]])
    slower = statistics.median(times(beside, without))
    costless = all(count == later for count, later in threads) and max(growth) <= READER_KB_GOAL
    return undisturbed(without, beside) and slower <= READERS_GOAL and costless and ends == READERS


# --- the first words


def first_and_whole(client, extra):
    """Seconds until the first words of a streamed chat and until its end."""
    messages = [{"role": "user", "content": next(QUESTIONS)}]
    start = time.perf_counter()
    first = None
    reply = client.open("/v1/chat/completions", {"model": "llada-nano-math", "max_tokens": 64, "stream": True, "messages": messages,
                                                 **extra})
    for line in reply:
        if line.startswith(b"data: {") and first is None:
            choices = json.loads(line[6:])["choices"]
            if choices and choices[0]["delta"].get("content"):
                first = time.perf_counter() - start
    return first, time.perf_counter() - start


def first_words(url, repeats):
    rows, shares = [], []
    for name, extra in (("one sample", {}), ("4 particles, prm", {"its": {"method": "smc", "particles": 4, "reward": "prm"}})):
        with contextlib.closing(Client(url)) as client:
            first_and_whole(client, extra)  # loads the model
            pairs = [first_and_whole(client, extra) for _ in range(4 * repeats)]
        shares.append([first / whole for first, whole in pairs])
        rows.append([name, spread([first for first, _ in pairs], 3), spread([whole for _, whole in pairs], 3), spread(shares[-1])])
    table("A streamed chat in blocks of 8 of 64 tokens: seconds until the first words and until the end",
          ["", "first", "whole", f"share (goal {FIRST_GOAL} for one sample)"], rows)
    return statistics.median(shares[0]) <= FIRST_GOAL


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=["throughput", "fairness", "readers", "first"])
    arguments = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        print(f"warning: the load is {os.getloadavg()[0]:.1f}; others share the cores")
    with Server() as server:
        parts = {"throughput": lambda: throughput(arguments.repeats),
                 "fairness": lambda: fairness(server, arguments.repeats),
                 "readers": lambda: readers(arguments.repeats),
                 "first": lambda: first_words(server.url, arguments.repeats)}
        missed = [name for name in arguments.only or parts if not parts[name]()]
    print("\n" + (f"goals missed, or not judged: {', '.join(missed)}" if missed else "all goals are met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
