"""lm-evaluation-harness asks the server for a part of our math set; item by item it gets what `pgdlm eval` gets."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from server import ENVIRONMENT, PGDLM, ROOT

HERE = Path(__file__).resolve().parent
URL = os.environ["PGDLM_URL"]
ITEMS = 20


def checked(command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600, **options)
    if result.returncode:
        raise AssertionError(f"{command}: {result.stdout}{result.stderr}")
    return result.stdout


def harness(kind, path, folder, *options, **settings):
    """Replies and marks, in the order of the task, and the score that it prints."""
    model = {"model": "llada-nano-math", "base_url": URL + path, "max_retries": 1, **settings}
    checked([Path(sys.executable).with_name("lm_eval"), "--model", kind, "--tasks", "pgdlm_math", "--limit", ITEMS,
             "--model_args", ",".join(f"{key}={value}" for key, value in model.items()), "--include_path", HERE / "tasks",
             "--log_samples", "--output_path", folder, *options], cwd=ROOT)
    lines = next(Path(folder).rglob("samples_*.jsonl")).read_text().splitlines()
    samples = sorted(map(json.loads, lines), key=lambda sample: sample["doc_id"])
    score = json.loads(next(Path(folder).rglob("results_*.json")).read_text())["results"]["pgdlm_math"]["exact_match,last-number"]
    return [(sample["resps"][0][0], bool(sample["exact_match"])) for sample in samples], score


def our_own(folder):
    """The same of the program, without a server between."""
    store = ["--store", Path(folder) / "runs.db"]
    score = json.loads(checked([PGDLM, "eval", "math", "-m", "llada-nano-math", "--method", "greedy", "-n", "64", "--limit", ITEMS,
                                "--json", *store], env=ENVIRONMENT))["accuracy"]["mean"]
    lines = checked([PGDLM, "runs", "export", "1", "--format", "jsonl", *store], env=ENVIRONMENT).splitlines()
    return [(item["reply"], item["right"]) for item in sorted(map(json.loads, lines), key=lambda item: item["number"])], score


class LmEval(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.ours, cls.our_score = our_own(cls.folder)

    def agrees(self, items, score):
        self.assertEqual(len(items), ITEMS)
        self.assertEqual(items, self.ours)
        self.assertAlmostEqual(score, self.our_score)
        self.assertGreater(score, 0.5)

    def test_chats_agree_item_by_item(self):
        self.agrees(*harness("local-chat-completions", "/v1/chat/completions", Path(self.folder) / "chat", "--apply_chat_template",
                             num_concurrent=4))

    def test_completions_are_answered(self):
        """Without the chat format the model says little, so only that all replies are there is known."""
        items, _ = harness("local-completions", "/v1/completions", Path(self.folder) / "completions", "--batch_size", 4,
                           tokenizer_backend="None", tokenized_requests=False)
        self.assertEqual(len(items), ITEMS)
        self.assertTrue(all(isinstance(reply, str) for reply, _ in items))


if __name__ == "__main__":
    unittest.main()
