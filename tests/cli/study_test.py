"""pgdlm study: many ways of asking, through any number of deaths. pgdlm report: the page."""
import csv
import glob
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import unittest
from html.parser import HTMLParser

from program import PGDLM, ProgramTest

STUDY = {
    "title": "Methods on the toy", "task": "task.jsonl", "samples": 4, "repeats": 2, "perplexity": 2,
    "options": {"model": "toy", "n_predict": 8},
    "panels": [{"name": mood, "options": {"reward": mood}, "judge": f"sentiment:{mood}"} for mood in ("positive", "negative")],
    "series": [{"name": "greedy", "options": {"method": "greedy"}},
               {"name": "best of n", "options": {"method": "bon"}, "vary": {"particles": [2, 8]}},
               {"name": "PG", "options": {"method": "pg", "iterations": 2}, "at": [2, 8], "vary": {"particles": [2, 4]}}],
    "figures": [{"x": "particles_used", "y": "reward"}, {"kind": "sweeps", "y": "ess"}, {"kind": "times"},
                {"kind": "texts"}],
    "claims": [{"says": "PG beats best of n", "more": "PG", "than": "best of n", "of": "reward"}],
}
MODELS = os.path.join(os.path.dirname(__file__), "..", "..", "models")
ASKED = ["study", "toy.json", "--store", "runs.db"]


class Balanced(HTMLParser):
    """Every tag that is opened is closed, in order."""
    def __init__(self):
        super().__init__()
        self.open, self.faults, self.outside = [], [], []

    def handle_starttag(self, tag, attributes):
        self.outside += [value for name, value in attributes if name in ("src", "href") and not value.startswith("#")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


class Study(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("task.jsonl", "".join(json.dumps({"prompt": p}) + "\n" for p in ("the movie", "a film", "the plot")))
        self.write("toy.json", json.dumps(STUDY))

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def stored(self):
        """Every result under the name and the plan of its run."""
        try:
            with sqlite3.connect(f"file:{self.path('runs.db')}?mode=ro", uri=True) as store:
                return store.execute("SELECT name, plan, number, result FROM results JOIN runs ON run = id "
                                     "ORDER BY name, plan, number").fetchall()
        except sqlite3.OperationalError:
            return []

    def test_killed_at_fifty_moments_it_ends_the_same(self):
        tables = self.ok(*ASKED).stdout
        self.ok("report", "--store", "runs.db", "--csv", "whole.csv", "--csv-texts", "whole_texts.csv")
        expected = self.stored()
        os.remove(self.path("runs.db"))
        rng = random.Random(1)
        kills = 0
        while kills < 50:
            known = len(self.stored())
            # Some before anything is done, some in the middle of measuring; the last ones find nothing left to do.
            wanted = min(len(expected), known + rng.choice([0, 0, 1, 2, 5, len(expected) // 25]))
            with subprocess.Popen([PGDLM, *ASKED], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
                for _ in range(rng.randint(0, 40)):
                    os.sched_yield()
                while run.poll() is None and len(self.stored()) < wanted:
                    pass
                run.send_signal(signal.SIGKILL)
            kills += 1
        self.assertEqual(self.ok(*ASKED).stdout, tables)
        self.assertEqual(self.stored(), expected)
        self.ok("report", "--store", "runs.db", "--csv", "killed.csv", "--csv-texts", "killed_texts.csv")
        self.assertEqual(self.read("killed.csv"), self.read("whole.csv"))
        self.assertEqual(self.read("killed_texts.csv"), self.read("whole_texts.csv"))

    def test_ctrl_c_says_how_to_go_on(self):
        message = self.interrupted([*ASKED, "--samples", "500"], self.stored)
        self.assertIn("the same command goes on", message)

    def test_the_page_holds_all_it_shows(self):
        self.ok(*ASKED)
        self.assertIn("report.html: 1 study", self.ok("report", "--store", "runs.db").stdout)
        page = self.read("report.html")
        balanced = Balanced()
        balanced.feed(page)
        self.assertEqual((balanced.open, balanced.faults, balanced.outside), ([], [], []))
        self.assertEqual(page.count("<svg"), 3)  # the texts are a table
        for words in ("Methods on the toy", "PG beats best of n", "particles_used"):
            self.assertIn(words, page)
        self.assertNotRegex(page, r"\bnan\b|\binf\b")

    def test_traces_are_linked_and_play(self):
        self.ok(*ASKED, "--traces", "traces")
        self.ok("report", "--store", "runs.db", "--traces", "traces")
        links = re.findall(r'href="(traces/[^"]*)"', self.read("report.html"))
        self.assertEqual(len(links), 10)
        self.assertIn("chose slot", self.ok("replay", links[-1], "--delay", "0").stdout)

    def test_tables_and_claims(self):
        tables = self.ok(*ASKED).stdout
        self.assertRegex(tables, r"reward\n +positive +negative\nmethod +1 +2 +8 +1 +2 +8\n")
        self.assertRegex(tables, r"\nPG +– +-?\d")
        self.assertRegex(tables, r"PG beats best of n +positive: 8 +[+-]\d")
        self.assertIn("all together", tables)
        self.assertEqual(len(re.findall("holds|does not hold|unresolved", tables)), 5)

    def test_files_for_other_programs(self):
        self.ok(*ASKED)
        self.ok("report", "--store", "runs.db", "--csv", "cells.csv", "--csv-texts", "texts.csv", "--figures", "figures")
        self.assertEqual(sorted(os.listdir(self.path("figures"))), ["toy-1.svg", "toy-2.svg", "toy-3.svg"])
        cells, texts = (list(csv.DictReader(self.read(name).splitlines())) for name in ("cells.csv", "texts.csv"))
        self.assertEqual(len(texts), 10 * 3 * 4 * 2)  # cells, questions, samples, repeats
        for cell in cells:
            if cell["figure"] in ("reward", "forwards_needed"):
                place = [cell[key] for key in ("panel", "series", "at")]
                values = [float(text[cell["figure"]]) for text in texts
                          if [text[key] for key in ("panel", "series", "at")] == place]
                self.assertAlmostEqual(sum(values) / len(values), float(cell["value"]))

    def test_studies_do_not_depend_on_defaults(self):
        """What the program does without being told may change; a study stays what it is."""
        for file in glob.glob(os.path.join(MODELS, "studies", "*.json")):
            with open(file) as text:
                study = json.load(text)
            for panel in study.get("panels", [{}]):
                for series in study["series"]:
                    said = {**study["options"], **panel.get("options", {}), **series.get("options", {})}
                    settled = {"preset", "selection"} & set(said) or said["method"] in ("bon", "greedy")
                    self.assertTrue(settled, (file, panel.get("name"), series["name"]))

    def test_the_larger_of_two_is_shown(self):
        self.ok(*ASKED)
        self.ok(*ASKED, "--limit", "2")
        self.ok("report", "--store", "runs.db")
        self.assertIn("<code>pgdlm study toy.json</code>", self.read("report.html"))
        self.assertIn("3 questions", self.read("report.html"))

    def test_the_plan_before_the_work(self):
        plan = self.ok(*ASKED, "--dry-run", "--repeats", "3").stdout
        self.assertIn("in all 360 texts", plan)  # 10 cells, 3 questions, 4 samples, 3 times
        self.assertFalse(os.path.exists(self.path("runs.db")))

    def test_runs_are_listed(self):
        self.ok(*ASKED)
        listed = self.ok("runs", "--store", "runs.db").stdout
        self.assertIn("study toy, its evaluations", listed)
        self.assertIn("measure of texts: judge sentiment:positive perplexity", listed)

    def test_each_size_has_its_own_tables(self):
        small = self.ok(*ASKED, "--limit", "2").stdout
        whole = self.ok(*ASKED).stdout
        self.assertNotEqual(small, whole)
        self.assertEqual(self.ok(*ASKED, "--limit", "2").stdout, small)

    def test_cells_may_ask_for_the_same_texts(self):
        """Two panels that differ in what is measured; and the order of options in the file matters, also when it is read back."""
        panels = [{"name": f"{mood}?", "options": {"reward": "positive"}, "judge": f"sentiment:{mood}"}
                  for mood in ("positive", "negative")]
        series = [{"name": "PG", "options": {"method": "pg"}, "vary": {"particles": [2, 4], "iterations": [3, 2]}}]
        self.write("toy.json", json.dumps({**STUDY, "panels": panels, "series": series, "claims": [],
                                           "figures": [{"y": "judge"}]}))
        tables = self.ok(*ASKED).stdout
        self.assertRegex(tables, r"method +2 +4 +2 +4\n")
        rates = [float(x) for x in re.findall(r"(\d+\.\d) ±", tables)]
        for agrees, denies in zip(rates[:2], rates[2:]):
            self.assertAlmostEqual(agrees + denies, 100, delta=0.11)

    def test_a_file_runs_no_program_unasked(self):
        self.write("toy.json", json.dumps({**STUDY, "panels": [{"name": "a", "options": {"reward": "exec:touch gone"}}]}))
        self.refused(["runs a program", "--allow-exec"], *ASKED)
        self.assertFalse(os.path.exists(self.path("gone")))

    def test_mistakes(self):
        self.refused(["study is 'nothing'", "--list"], "study", "nothing")
        self.refused(["STUDY is missing"], "study")
        self.refused(["'none.json' cannot be read"], "study", "none.json")
        self.refused(["limit is '-1'"], *ASKED, "--limit", "-1")
        self.refused(["there is no file 'runs.db'"], "report", "--store", "runs.db")
        self.write("toy.json", json.dumps({**STUDY, "task": "other.jsonl"}))
        self.refused(["other.jsonl"], *ASKED)
        self.write("toy.json", json.dumps({**STUDY, "panels": [{"name": "a", "judge": "sentiment:great"}]}))
        self.refused(["judge is 'sentiment:great', allowed labels: negative, positive"], *ASKED)
        self.write("toy.json", json.dumps({**STUDY, "figures": [{"y": "speed"}]}))
        self.refused(["figures[0]: figure is 'speed', allowed: accuracy"], *ASKED)
        self.write("toy.json", '{"title": "x",\n "task": }')
        self.refused(["study toy", "line 2"], *ASKED)
        self.write("toy.json", json.dumps({**STUDY, "series": STUDY["series"] * 2}))
        self.refused(["series: there are two of the name 'greedy'"], *ASKED)
        self.write("toy.json", json.dumps(STUDY))
        self.ok(*ASKED)
        self.refused(["there is no finished study 'math'", "allowed: toy"], "report", "math", "--store", "runs.db")
        self.refused(["cannot be written"], "report", "--store", "runs.db", "--out", "no/where.html")


if __name__ == "__main__":
    unittest.main()
