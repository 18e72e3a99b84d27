"""Runs the program for the tests of this folder. PGDLM says where it is."""
import json
import os
import signal
import subprocess
import tempfile
import unittest

PGDLM = os.environ.get("PGDLM", os.path.join(os.path.dirname(__file__), "..", "..", "build", "pgdlm"))
os.environ["PGDLM_MODEL"] = "toy"  # unless a test says otherwise
SMALL = ["-n", "8", "--diffusion-steps", "32", "-k", "4", "--iterations", "2"]  # quick, and it still resamples


def run_program(*args, cwd=None, env=None):
    return subprocess.run([PGDLM, *args], capture_output=True, text=True, cwd=cwd, timeout=120,
                          env={**os.environ, **(env or {})})


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_pgdlm(self, *args, env=None):
        return run_program(*args, cwd=self.folder, env=env)

    def ok(self, *args):
        result = self.run_pgdlm(*args)
        self.assertEqual(result.returncode, 0, f"{args}: {result.stderr}")
        return result

    def write(self, name, text):
        """A file in the folder that the program runs in."""
        with open(self.path(name), "w") as file:
            file.write(text)

    def refused(self, words, *args, code=2, printed=False):
        """A run that ends with `code` and a message in which all of `words` occur."""
        result = self.run_pgdlm(*args)
        self.assertEqual(result.returncode, code, f"{args}: {result.stderr}")
        self.assertTrue(printed or result.stdout == "", result.stdout)
        self.assertTrue(result.stderr.startswith("pgdlm: error: ") or "\npgdlm: error: " in result.stderr, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def interrupted(self, command, begun):
        """Ctrl-C as soon as `begun()` is true; what it said."""
        with subprocess.Popen([PGDLM, *command], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as run:
            while run.poll() is None and not begun():
                pass
            run.send_signal(signal.SIGINT)
            message = run.stderr.read()
        self.assertEqual(run.returncode, 130)
        return message

    def generate(self, *args):
        """A valid run with --json: the object it printed."""
        return json.loads(self.ok("generate", *args, "--json").stdout)


def without_cost(answer):
    """What must not depend on how it was computed."""
    answer = {key: value for key, value in answer.items() if key != "cost"}
    if "samples" in answer:
        answer["samples"] = [without_cost(sample) for sample in answer["samples"]]
    return answer
