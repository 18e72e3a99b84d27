"""perplexity and judge: figures of texts that are given as arguments, in files and through pipes."""
import json
import os
import subprocess
import unittest
import unittest.mock

from program import PGDLM, ProgramTest

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
TINY = os.path.join(DATA, "judge", "tiny.json")
TEXTS = ["The movie was great.", "I hated every minute.", "It is a dull mess and the plot was weak."]


class Eval(ProgramTest):
    def piped(self, text, *args):
        result = subprocess.run([PGDLM, *args], input=text, capture_output=True, text=True, cwd=self.folder, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def write(self, name, text):
        with open(self.path(name), "w", newline="") as file:
            file.write(text)
        return name

    def test_texts_come_as_arguments_files_or_through_a_pipe(self):
        lines = "\n".join(TEXTS) + "\n"
        file = self.write("texts.txt", lines)
        for command in (["perplexity", "--json"], ["judge", TINY, "--json"]):
            given = self.ok(*command, *TEXTS).stdout
            self.assertEqual([t["text"] for t in json.loads(given)["texts"]], TEXTS)
            self.assertEqual(self.ok(*command, "-f", file).stdout, given)
            self.assertEqual(self.piped(lines, *command, "-f", "-").stdout, given)
            crlf = self.piped("\r\n\r\n".join(TEXTS), *command, "-f", "-")
            self.assertEqual(crlf.stdout, given)
            self.assertIn("2 of 5 texts left out: empty", crlf.stderr)

    def test_perplexity_prints_figures_that_agree(self):
        found = json.loads(self.ok("perplexity", *TEXTS, "--json").stdout)
        texts = found["texts"]
        self.assertEqual([t["characters"] for t in texts], [len(t) for t in TEXTS])
        self.assertEqual([t["tokens"] for t in texts], [6, 6, 12])  # words and the end
        nats = sum(t["nats"] for t in texts)
        self.assertAlmostEqual(found["nats_per_token"], nats / 24)
        self.assertAlmostEqual(found["bits_per_character"], nats / 0.6931471805599453 / sum(map(len, TEXTS)))
        self.assertAlmostEqual(found["perplexity"], 2.718281828459045 ** (nats / 24))
        self.assertGreater(found["nats_per_token_error"], 0)
        shown = self.ok("perplexity", *TEXTS).stdout
        self.assertIn(f"bits per character   {found['bits_per_character']:.4f} +- {found['bits_per_character_error']:.4f}\n", shown)
        self.assertIn("texts                3\n", shown)
        alone = json.loads(self.ok("perplexity", TEXTS[0], "--draws", "1", "--json").stdout)
        self.assertIsNone(alone["nats_per_token_error"])
        self.assertIsNone(alone["texts"][0]["nats_error"])

    def test_perplexity_is_a_function_of_its_seed(self):
        first = self.ok("perplexity", *TEXTS, "--json").stdout
        self.assertEqual(self.ok("perplexity", *TEXTS, "--json", "--max-tokens", "1").stdout, first)
        self.assertNotEqual(self.ok("perplexity", *TEXTS, "--json", "--seed", "1").stdout, first)

    def test_perplexity_of_a_file(self):
        for family in ("mdlm", "llada", "bert-fill-mask"):
            model = self.path(family + ".gguf")
            self.ok("convert", os.path.join(DATA, "hf", family), model)
            found = json.loads(self.ok("perplexity", "-m", model, "the film", "\u00fcber", "--json").stdout)
            self.assertEqual([t["characters"] for t in found["texts"]], [8, 4])
            self.assertGreater(found["nats_per_token"], 0)

    def test_texts_that_do_not_fit_are_left_out(self):
        long = "movie " * 600
        result = self.ok("perplexity", TEXTS[0], long, "--json")
        self.assertIn("1 of 2 texts left out: they do not fit the canvas of 512 tokens", result.stderr)
        found = json.loads(result.stdout)
        self.assertEqual((found["left_out"], len(found["texts"])), (1, 1))
        self.refused(["none of 1 texts fits", "512"], "perplexity", long)

    def test_rewards_may_be_given_one_by_one(self):
        added = self.ok("score", "--reward", "contains:film", "--reward", "-0.5*length:5..9", "a film", "a").stdout
        self.assertEqual(added.split(), ["2.5", "2"])
        self.assertEqual(self.ok("score", "--reward", "contains:film - 0.5*length:5..9", "a film", "a").stdout, added)

    def test_a_server_that_is_not_there(self):
        self.refused(["http://127.0.0.1:1/x", "cannot be asked"], "score", "--reward", "http://127.0.0.1:1/x", "a")
        self.refused(["reward-patience is '0'"], "score", "--reward", "exec:cat", "--reward-patience", "0", "a")

    def test_judge_prints_a_line_per_text(self):
        lines = self.ok("judge", TINY, "A great film, I loved it.", "A dull, boring film: bad.", "[bad, bad]").stdout.splitlines()
        self.assertEqual([line.split("\t")[0] for line in lines], ["good", "bad", "bad"])
        for line in lines:
            self.assertRegex(line, r"^(good|bad)\t(0\.[5-9]\d{3}|1\.0000)$")
        found = json.loads(self.ok("judge", TINY, "A great film, I loved it.", "--json").stdout)
        self.assertEqual(found["labels"], ["bad", "good"])
        self.assertAlmostEqual(found["texts"][0]["log_odds"], 0.7237, places=2)

    def test_judges_have_names_on_shelves(self):
        os.makedirs(self.path("shelf/judges"))
        os.symlink(TINY, self.path("shelf/judges/taste.json"))
        self.write("shelf/judges/broken.json", "{}")
        with unittest.mock.patch.dict(os.environ, {"PGDLM_MODELS": self.path("shelf")}):
            self.assertRegex(self.ok("judge", "--list").stdout, r"broken +.*kind is missing\n(.*\n)*taste +bad or good\n")
            self.assertEqual(self.ok("judge", "taste", *TEXTS).stdout, self.ok("judge", TINY, *TEXTS).stdout)
            self.refused(["judge is 'tast', allowed: ", "taste", "PGDLM_MODELS"], "judge", "tast", "x")
            self.refused(["broken.json: kind is missing"], "judge", "broken", "x", code=1)

    def test_mistakes(self):
        self.write("empty.txt", "\n\n")
        for command in (["perplexity"], ["judge", TINY]):
            self.refused(["there is no text", "-f FILE"], *command)
            self.refused(["there is no text"], *command, "")
            self.refused(["there is no text in file 'empty.txt'"], *command, "-f", "empty.txt")
            self.refused(["file 'none.txt' cannot be read"], *command, "-f", "none.txt")
            self.refused(["file '.' cannot be read"], *command, "-f", ".")
            self.refused(["file and TEXT"], *command, "-f", "empty.txt", "x")
            self.refused(["unknown option --jsn", "did you mean --json?"], *command, "x", "--jsn")
        self.refused(["NAME is missing", "--list"], "judge")
        self.refused(["judge './none.json' cannot be read"], "judge", "./none.json", "x")
        self.refused(["empty.txt", "not valid JSON"], "judge", "./empty.txt", "x", code=1)
        self.refused(["draws", "'0'", "1 to 100000"], "perplexity", "x", "--draws", "0")
        self.refused(["threads", "'-1'", "0 or more"], "perplexity", "x", "--threads", "-1")
        self.refused(["text 2", "'banana'"], "perplexity", "the movie", "the banana")
        self.refused(["model", "'gpt'", "toy"], "perplexity", "x", "-m", "gpt")

    def test_help_shows_an_example(self):
        for command in ("perplexity", "judge"):
            self.assertIn("Examples:\n  pgdlm " + command, self.ok(command, "--help").stdout)


if __name__ == "__main__":
    unittest.main()
