"""pgdlm eval: a task file through the model, every text kept as soon as it is there. pgdlm runs: what was kept."""
import csv
import json
import os
import random
import signal
import sqlite3
import subprocess
import unittest

from program import PGDLM, SMALL, ProgramTest

TASK = [{"prompt": "The movie"}, {"prompt": "a film", "answer": 3}, {"question": "the plot was", "answer": "#### 12"}]
ASKED = ["eval", "task.jsonl", "--reward", "positive", "--samples", "20", *SMALL, "--store", "runs.db"]


class Task(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("task.jsonl", "".join(json.dumps(line) + "\n" for line in TASK))

    def stored(self):
        """The results in the order of the plan, or none if there is no store yet."""
        try:
            with sqlite3.connect(f"file:{self.path('runs.db')}?mode=ro", uri=True) as store:
                return store.execute("SELECT number, result FROM results ORDER BY number").fetchall()
        except sqlite3.OperationalError:
            return []

    def test_figures(self):
        report = json.loads(self.ok(*ASKED, "--json").stdout)
        self.assertEqual((report["texts"], report["questions"]), (60, 3))
        self.assertEqual(report["accuracy"]["mean"], 0)  # the toy knows no numbers
        self.assertEqual(report["particles_used"], {"mean": 8, "error": 0, "deviation": None})
        self.assertLess(report["forwards_needed"]["mean"], report["forwards_asked"]["mean"])
        table = self.ok(*ASKED).stdout
        self.assertIn("60 of 3 questions", table)
        self.assertIn("accuracy", table)

    def test_a_text_is_what_generate_gives(self):
        self.ok(*ASKED)
        text = json.loads(self.stored()[25][1])["text"]  # question 1, sample 5
        self.assertEqual(self.generate("a film", "--reward", "positive", *SMALL, "--seed", "25")["text"], text)

    def test_killed_at_any_moment_it_goes_on(self):
        rng = random.Random(1)
        whole = self.ok(*ASKED, "--json").stdout
        expected = self.stored()
        os.remove(self.path("runs.db"))
        done = 0
        while done < 60:
            wanted = min(60, done + rng.randint(1, 12))
            with subprocess.Popen([PGDLM, *ASKED], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
                while run.poll() is None and len(self.stored()) < wanted:
                    pass
                run.send_signal(signal.SIGKILL)
            done = len(self.stored())
            self.assertGreaterEqual(done, wanted)
        self.assertEqual(self.stored(), expected)
        self.assertEqual(self.ok(*ASKED, "--json").stdout, whole)

    def test_ctrl_c_says_how_to_go_on(self):
        message = self.interrupted([*ASKED, "--samples", "2000"], self.stored)
        self.assertIn("the same command goes on", message)

    def test_runs_are_listed_compared_and_written_out(self):
        for method in ("smc", "bon"):
            self.ok(*ASKED, "--method", method)
        listed = self.ok("runs", "--store", "runs.db").stdout.splitlines()
        self.assertEqual(len(listed), 2)
        self.assertIn("60 of 60", listed[0])
        self.assertIn("--method bon", listed[1])
        lines = self.ok("runs", "export", "1", "--format", "jsonl", "--store", "runs.db").stdout.splitlines()
        objects = [json.loads(line) for line in lines]
        rows = list(csv.DictReader(self.ok("runs", "export", "1", "--store", "runs.db").stdout.splitlines()))
        self.assertEqual(len(rows), 60)
        self.assertEqual([row["text"] for row in rows], [o["text"] for o in objects])
        self.assertEqual([o["right"] for o in objects], [None] * 20 + [False] * 40)
        difference = self.ok("runs", "compare", "1", "2", "--store", "runs.db").stdout
        self.assertRegex(difference, r"reward +[+-][0-9.]+ \+- [0-9.]+")
        self.refused(["no run '7'"], "runs", "export", "7", "--store", "runs.db")
        self.refused(["1 runs are given, expected 2"], "runs", "compare", "1", "--store", "runs.db")
        self.refused(["no file 'none.db'"], "runs", "--store", "none.db")
        self.refused(["format is 'xml'"], "runs", "export", "1", "--format", "xml", "--store", "runs.db")

    def test_a_broken_store_is_no_crash(self):
        self.ok(*ASKED)
        for change in ("plan = 'x'", "plan = '{}'", "plan = json_set(plan, '$.samples', 0)",
                       "plan = json_set(plan, '$.questions', json('[]'))", "plan = json_set(plan, '$.options', json('{}'))"):
            with sqlite3.connect(self.path("runs.db")) as store:
                store.execute("CREATE TEMP TABLE kept AS SELECT plan FROM runs")
                store.execute("UPDATE runs SET " + change)
                store.commit()
                self.assertIn("run 1", self.ok("runs", "--store", "runs.db").stdout)
                self.refused(["run 1"], "runs", "export", "1", "--store", "runs.db")
                self.refused(["run 1"], "runs", "compare", "1", "1", "--store", "runs.db")
                store.execute("UPDATE runs SET plan = (SELECT plan FROM kept)")
                store.execute("DROP TABLE kept")
        with sqlite3.connect(self.path("runs.db")) as store:
            store.execute("UPDATE results SET result = '{}' WHERE number = 3")
        self.refused(["stored result"], "runs", "export", "1", "--format", "jsonl", "--store", "runs.db", printed=True)
        self.refused(["stored result"], "runs", "compare", "1", "1", "--store", "runs.db", printed=True)

    def test_repeats_have_other_seeds(self):
        once = json.loads(self.ok(*ASKED, "--json").stdout)
        thrice = json.loads(self.ok(*ASKED, "--repeats", "3", "--json").stdout)
        self.assertEqual(thrice["texts"], 3 * once["texts"])
        self.assertIsNone(once["reward"]["deviation"])
        self.assertGreater(thrice["reward"]["deviation"], 0)
        self.assertIn("sd ", self.ok(*ASKED, "--repeats", "3").stdout)
        self.refused(["repeats", "'0'", "at least 1"], *ASKED, "--repeats", "0")

    def test_a_question_that_does_not_fit_is_named_at_once(self):
        self.write("long.jsonl", '{"prompt": "the movie"}\n{"prompt": "the banana"}\n')
        self.refused(["task long.jsonl, question 2", "'banana'"], "eval", "long.jsonl", "--store", "none.db")
        self.assertFalse(os.path.exists(self.path("none.db")))

    def test_mistakes(self):
        self.refused(["TASK is missing"], "eval")
        self.refused(["task is 'nothing'", "control, math"], "eval", "nothing")
        self.refused(["samples is '0'"], "eval", "task.jsonl", "--samples", "0")
        self.refused(["more than 10000000 texts"], *ASKED, "--samples", "2000000000")
        self.refused(["max-seconds"], *ASKED, "--max-seconds", "3")
        self.refused(["store is ''"], *ASKED[:-1], "")
        self.refused(["not a run store"], *ASKED[:-1], "task.jsonl")
        self.assertFalse(os.path.exists(self.path("task.jsonl.lock")))
        self.refused(["reward is", "UTF-8"], *ASKED, "--reward", b"contains:\xff")
        self.refused(["unknown option --prompt"], "eval", "task.jsonl", "--prompt", "a")
        self.refused(["unknown option --formt", "did you mean --format?"], "runs", "export", "1", "--formt")
        self.refused(["unknown option --x", "see pgdlm runs export --help"], "runs", "export", "1", "--x")
        self.assertIn("note: --eta has no effect", self.ok(*ASKED, "--eta", "0.1").stderr)
        self.write("broken.jsonl", '{"prompt": "the movie"}\n{"prompt": }\n')
        self.refused(["broken.jsonl: line 2"], "eval", "broken.jsonl")
        self.write("text.db", "x" * 5000)
        self.refused(["text.db", "not a run store"], *ASKED[:-1], "text.db")
        failed = self.run_pgdlm(*ASKED, "--reward", "exec:exit 1")
        self.assertEqual(failed.returncode, 2)
        self.assertIn("exec:exit 1", failed.stderr)
        self.assertFalse(os.path.exists(self.path("text.db-wal")))

    def test_list_and_help(self):
        self.assertIn("math ", self.ok("eval", "--list").stdout)
        self.assertIn("pgdlm eval math", self.ok("eval", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
