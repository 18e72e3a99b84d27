"""A server of our own for tests and benchmarks: `pgdlm serve` on a free port, and what it says about itself.

PGDLM is the program, else build/pgdlm. The models are the repository's.
"""
import contextlib
import json
import os
import re
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PGDLM = os.path.abspath(os.environ.get("PGDLM", ROOT / "build" / "pgdlm"))
ENVIRONMENT = {**os.environ, "PGDLM_MODELS": str(ROOT / "models")}


def fetch(url, body=None):
    """The text that `url` answers, to a POST if there is a body."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return reply.read().decode()


def live_runs(url):
    """The ids of the requests that the server at `url` works on."""
    return [run["id"] for run in json.loads(fetch(url + "/runs"))["live"]]


def eventually(condition, seconds=10):
    """Whether `condition` comes true in time: what the server does after a reply cannot be waited for otherwise."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Server:
    """Runs in a folder of its own, which goes with it. `url` is where it listens, `said` all it wrote so far."""

    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([PGDLM, "serve", "--port", "0", *map(str, options)], stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, text=True, cwd=self.folder.name, env=ENVIRONMENT)
        self.said = []
        self.listening = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)  # a full pipe would stop the server
        self.reader.start()
        if not self.listening.wait(60):
            self.close()
        if not self.url:
            raise RuntimeError("no server: " + "".join(self.said))

    def read(self):
        for line in self.process.stderr:
            self.said.append(line)
            if self.url:
                self.listening.set()
        self.listening.set()  # it ended

    @property
    def url(self):
        found = re.search(r"listening on (http://\S+)", "".join(self.said[:50]))
        return found and found[1].rstrip("/")

    def close(self):
        """Ends it as its users do; how it ended."""
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()
        self.folder.cleanup()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
