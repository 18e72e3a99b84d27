"""configs/paper: every study of the paper can be planned once the weights are there. Tiny networks of the same
architectures stand in for them, under their names."""
import json
import os
import shutil
import tempfile
import unittest

from program import ProgramTest, run_program

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
CONFIGS = os.path.join(ROOT, "configs", "paper")
TINY = os.path.join(ROOT, "tests", "data", "hf")
NAMES = {  # a folder of tests/data/hf for each name that the files use
    "llada-8b-instruct": "llada", "llada-8b-base": "llada", "mdlm-owt": "mdlm", "qwen2.5-math-prm-7b": "qwen2-prm",
    "roberta-base-cola": "roberta-classifier", "twitter-roberta-base-sentiment": "roberta-classifier",
    "roberta-toxicity-classifier": "roberta-classifier",
}
CHANGES = {  # as long a canvas and the same labels as the real ones have
    "llada": {"max_sequence_length": 4096}, "mdlm": {"model_length": 1024},
    "roberta-toxicity-classifier": {"id2label": {"0": "neutral", "1": "toxic", "2": "other"}},
}


def read_config(name):
    with open(os.path.join(CONFIGS, name)) as file:
        return json.load(file)


class Paper(ProgramTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        os.mkdir(os.path.join(folder.name, "tasks"))
        with open(os.path.join(folder.name, "tasks", "gsm8k.jsonl"), "w") as task:
            task.write('{"question": "What is 1 + 1?", "answer": "#### 2"}\n' * 5)
        for name, tiny in NAMES.items():
            source = os.path.join(folder.name, name)
            shutil.copytree(os.path.join(TINY, tiny), source)
            with open(os.path.join(source, "config.json")) as file:
                config = json.load(file)
            config.update(CHANGES.get(name, CHANGES.get(tiny, {})))
            with open(os.path.join(source, "config.json"), "w") as file:
                json.dump(config, file)
            run_program("convert", source, os.path.join(folder.name, name + ".gguf"))
        cls.shelves = folder.name + ":" + os.path.join(ROOT, "models")

    def plan(self, name):
        result = self.run_pgdlm("study", os.path.join(CONFIGS, name), "--dry-run", env={"PGDLM_MODELS": self.shelves})
        self.assertEqual(result.returncode, 0, f"{name}: {result.stderr}")
        return result.stdout

    def test_every_file_can_be_planned(self):
        names = sorted(os.listdir(CONFIGS))
        self.assertGreaterEqual(len(names), 9)
        for name in names:
            with self.subTest(name):
                self.assertRegex(self.plan(name), r"in all \d+ texts, about \d+ forwards")

    def test_the_sizes_are_the_papers(self):
        self.assertEqual(read_config("gsm8k.json")["options"]["n_predict"], 512)
        plan = self.plan("gsm8k.json")
        self.assertRegex(plan, r"greedy +1 +5 +1280\n")               # 5 questions, T = 256
        self.assertRegex(plan, r"SMC, paper +32 +5 +40960\n")         # k = 32
        self.assertRegex(plan, r"PG fixed, paper +32 +5 +37120\n")    # a start, and 4 sweeps of the 7 others
        control = self.plan("control-mdlm.json")
        self.assertIn("in all 99900 texts", control)                  # 111 cells of 15 prompts, 20 samples, 3 seeds
        self.assertRegex(self.plan("tk-llada.json"), r"T = 32 +1024 +300 ")


if __name__ == "__main__":
    unittest.main()
