"""Happy paths of `pgdlm generate`: its fields, its repeatability, its choices."""
import json
import os
import pty
import subprocess
import unittest

from program import PGDLM, SMALL, ProgramTest, without_cost

NUMBER = (int, float)
STEERED = ["The movie", "--reward", "positive", *SMALL]
CHOICES = {
    "--method": ["greedy", "bon", "smc", "pg", "pg-adapt"],
    "--preset": ["exact", "paper", "fk"],
    "--scheme": ["multinomial", "stratified", "systematic", "residual"],
    "--start": ["sampled", "greedy", "smc"],
    "--selection": ["draw", "paper", "argmax-last", "argmax-all"],
    "--potential": ["diff", "max", "add", "rt"],
    "--estimator": ["random", "beam"],
    "--resample-every": ["1", "4", "block"],
    "--ess-threshold": ["0.3", "always", "never"],
    "--process": ["mdlm", "remdm", "llada", "dream"],
}


class Generate(ProgramTest):
    def test_json_has_the_promised_fields(self):
        answer = self.generate(*STEERED, "--preset", "exact", "--seed", "3")
        self.assertTrue(answer["text"].startswith("The movie "))
        self.assertIsInstance(answer["reward"], NUMBER)
        self.assertIsInstance(answer["log_z"], NUMBER)
        self.assertEqual(answer["seed"], 3)
        self.assertEqual(answer["selection"], "draw")
        self.assertEqual(answer["status"], "done")
        self.assertEqual((answer["method"], answer["preset"], answer["particles"]), ("pg", "exact", 4))
        self.assertEqual(len(answer["candidates"]), 4)
        for candidate in answer["candidates"]:
            self.assertEqual(set(candidate), {"text", "reward", "log_weight"})
        self.assertIn(answer["text"], [c["text"] for c in answer["candidates"]])
        cost = answer["cost"]
        self.assertEqual(set(cost), {"forwards_asked", "forwards_run", "rewards_asked", "rewards_run", "seconds"})
        self.assertLess(0, cost["forwards_run"])
        self.assertLessEqual(cost["forwards_run"], cost["forwards_asked"])
        self.assertLessEqual(cost["rewards_run"], cost["rewards_asked"])

    def test_a_prompt_from_a_file(self):
        self.write("prompt.txt", "the movie\r\n")
        texts = [self.ok("generate", *SMALL, *prompt).stdout for prompt in (["-f", "prompt.txt"], ["-p", "the movie"])]
        self.assertEqual(*texts)
        self.refused(["file '.' cannot be read: Is a directory"], "generate", "-f", ".")
        self.refused(["file 'none' cannot be read: No such file"], "generate", "-f", "none")
        with open(self.path("bytes.txt"), "wb") as file:
            file.write(b"the \xff")
        self.refused(["file 'bytes.txt' is no text: expected UTF-8"], "generate", "-f", "bytes.txt")

    def test_a_full_disk_is_told(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([PGDLM, "generate", *STEERED], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output cannot be written: No space left on device", result.stderr)

    def test_plain_output_is_the_text_alone(self):
        result = self.ok("generate", *STEERED)
        self.assertEqual(result.stdout, self.generate(*STEERED)["text"] + "\n")
        for word in ["reward", "done", "the best reward of all sweeps", "forwards asked", "rewards asked"]:
            self.assertIn(word, result.stderr)
        self.assertNotIn("\r", result.stderr)  # no progress line in a pipe

    def test_same_seed_same_answer(self):
        first = self.generate(*STEERED, "--seed", "5")
        again = self.generate(*STEERED, "--seed", "5")
        other = self.generate(*STEERED, "--seed", "6")
        self.assertEqual(without_cost(first), without_cost(again))
        self.assertNotEqual(first["candidates"], other["candidates"])

    def test_memo_and_threads_change_only_the_cost(self):
        with_memo = self.generate(*STEERED)
        without = self.generate(*STEERED, "--no-memo")
        self.assertEqual(without_cost(with_memo), without_cost(without))
        self.assertEqual(with_memo["cost"]["forwards_asked"], without["cost"]["forwards_asked"])
        self.assertLess(with_memo["cost"]["forwards_run"], without["cost"]["forwards_run"])
        self.assertEqual(without_cost(with_memo), without_cost(self.generate(*STEERED, "--threads", "1")))

    def test_watching_changes_nothing(self):
        """On a terminal the canvas is drawn and wiped; the text and the trace are those of a run nobody watches."""
        ours, theirs = pty.openpty()
        command = [PGDLM, "generate", *STEERED, "--diffusion-visual", "--trace", "watched.jsonl"]
        watched = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, cwd=self.folder, text=True, timeout=120)
        os.close(theirs)
        seen = os.read(ours, 1 << 20).decode()
        os.close(ours)
        self.assertIn("sweep 1", seen)
        self.assertIn("\x1b[J", seen)
        plain = self.ok("generate", *STEERED, "--trace", "plain.jsonl")
        self.assertEqual(watched.stdout, plain.stdout)
        lines = [[line for line in open(self.path(name)) if '"spent"' not in line] for name in ("watched.jsonl", "plain.jsonl")]
        self.assertEqual(*lines)

    def test_what_follows_the_end_costs_nothing(self):
        blocks = ["The movie", "--process", "llada", "-n", "24", "--diffusion-block-length", "4", "--method", "bon", "-k", "4",
                  "--reward", "positive", "--seed", "3"]
        stops, goes_on = self.generate(*blocks), self.generate(*blocks, "--no-stop-at-eos")
        self.assertEqual(stops["text"], goes_on["text"])
        self.assertLess(stops["cost"]["forwards_asked"], goes_on["cost"]["forwards_asked"])

    def test_samples_are_what_their_seeds_give_alone(self):
        answer = self.generate(*STEERED, "--seed", "10", "--n-samples", "4")
        self.assertEqual([s["seed"] for s in answer["samples"]], [10, 11, 12, 13])
        self.assertEqual({**without_cost(answer), "samples": 0}, {**without_cost(answer["samples"][0]), "samples": 0})
        alone = self.generate(*STEERED, "--seed", "12")
        self.assertEqual(without_cost(alone), without_cost(answer["samples"][2]))
        texts = self.ok("generate", *STEERED, "--seed", "10", "--n-samples", "4").stdout.splitlines()
        self.assertEqual(texts, [s["text"] for s in answer["samples"]])

    def test_steering_works(self):
        def mean(*args):
            samples = self.generate("The movie", "--n-samples", "20", *args)["samples"]
            return sum(s["reward"] for s in samples) / len(samples)
        plain = mean("--reward", "positive", "--method", "bon", "-k", "1")
        self.assertGreater(mean("--reward", "positive"), plain + 0.5)
        self.assertGreater(mean("--reward", "negative"), mean("--reward", "negative", "--method", "bon", "-k", "1"))

    def test_every_choice_runs(self):
        for option, names in CHOICES.items():
            for name in names:
                with self.subTest(option=option, name=name):
                    steps = "8" if name in ("llada", "dream") else "32"
                    answer = self.generate(*STEERED, option, name, "--diffusion-steps", steps)
                    self.assertEqual(answer["status"], "done")

    def test_every_process_option_runs(self):
        for line in ["remdm --remdm-schedule cap --eta 0.1", "remdm --remdm-schedule rescale", "remdm --remdm-schedule conf",
                     "remdm --remdm-schedule loop --eta 0.02 --remdm-t-on 0.6 --remdm-t-off 0.1 --remdm-alpha-on 0.9",
                     "remdm --remdm-schedule forward-backward --nucleus usual --top-p 0.8",
                     "mdlm --temp 0.7 --top-k 5", "mdlm --diffusion-cfg-scale 1", "mdlm --ancestor-sampling",
                     "mdlm --resample-last", "mdlm --phi 2 --tau 2", "mdlm --max-events 1",
                     "llada --diffusion-block-length 4 --resample-every block", "llada --diffusion-algorithm random",
                     "dream --diffusion-algorithm entropy --diffusion-alg-temp 0.5 --diffusion-eps 0.01"]:
            with self.subTest(line=line):
                args = ["The movie", "--reward", "positive", "-n", "8", "-k", "4", "--process", *line.split()]
                self.assertEqual(self.generate(*args)["status"], "done")

    def test_llama_diffusion_numbers_are_names(self):
        for number, name in enumerate(["origin", "entropy", "margin", "random", "confidence"]):
            args = [*STEERED, "--diffusion-steps", "8", "--process", "dream", "--temp", "1", "--diffusion-algorithm"]
            self.assertEqual(without_cost(self.generate(*args, str(number))), without_cost(self.generate(*args, name)))

    def test_the_paper_says_what_it_targets(self):
        for args in (["--preset", "paper"], ["--selection", "paper"]):
            answer = self.generate(*STEERED, *args)
            self.assertEqual(answer["selection"], "paper")
            self.assertIn("targets beta/2", answer["selection_means"])
            self.assertIn("targets beta/2", self.ok("generate", *STEERED, *args).stderr)
        self.assertEqual(self.generate(*STEERED, "--preset", "paper", "--selection", "draw")["selection"], "draw")

    def test_infill_keeps_what_is_given(self):
        answer = self.generate("--infill", "the [MASK:3] was [MASK] .", "--reward", "positive")
        words = answer["text"].lower().replace(".", " .").split()
        self.assertEqual((words[0], words[4]), ("the", "was"))

    def test_prompt_from_a_file_or_an_option(self):
        with open(self.path("prompt.txt"), "w") as file:
            file.write("the movie\n")
        expected = without_cost(self.generate("The movie", *SMALL))
        self.assertEqual(without_cost(self.generate("-f", "prompt.txt", *SMALL)), expected)
        self.assertEqual(without_cost(self.generate("-p", "THE  movie", *SMALL)), expected)

    def test_a_program_as_a_reward(self):
        with open(self.path("score.py"), "w") as file:
            file.write("import json, sys\nfor line in sys.stdin:\n    texts = json.loads(line)['texts']\n"
                       "    print(json.dumps({'scores': [-len(t['reply']) / 100 for t in texts]}), flush=True)\n")
        answer = self.generate("The movie", "--reward", "exec:python3 -S score.py", "--method", "smc", *SMALL[:6])
        self.assertAlmostEqual(answer["reward"], -len(answer["text"].removeprefix("The movie").strip()) / 100, delta=0.011)
        failed = self.run_pgdlm("generate", "The movie", "--reward", "exec:exit 1", *SMALL)
        self.assertEqual(failed.returncode, 2)
        self.assertIn("exec:exit 1 ended without an answer", failed.stderr)

    def test_a_trace_runs_no_program_unasked(self):
        with open(self.path("score.sh"), "w") as file:
            file.write("while read line; do n=$(echo \"$line\" | grep -o '\"text\":' | wc -l); touch ran\n"
                       "  echo \"{\\\"scores\\\": [$(yes 0 | head -$n | paste -sd,)]}\"; done\n")
        self.ok("generate", "The movie", "--reward", "exec:sh score.sh", "--trace", "run.jsonl", *SMALL)
        with open(self.path("run.jsonl")) as file:
            lines = file.readlines()
        with open(self.path("run.jsonl"), "w") as file:
            file.writelines(lines[:len(lines) // 2])
        os.remove(self.path("ran"))
        refused = self.run_pgdlm("generate", "--resume", "run.jsonl")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--allow-exec", refused.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))
        self.ok("generate", "--resume", "run.jsonl", "--allow-exec")

    def test_degenerate_is_an_answer(self):
        # Nothing but `gem` in one place would do, and the chain all but never puts it there.
        answer = self.generate("--infill", "the plot was rather [MASK:1] .", "--reward", "must:contains:gem", "-k", "4")
        self.assertEqual(answer["status"], "degenerate")
        self.assertIsNone(answer["reward"])
        self.assertTrue(answer["text"].startswith("The plot was rather"))
        self.assertTrue(all(c["reward"] is None for c in answer["candidates"]))

    def test_limits(self):
        args = ["The movie", "--reward", "positive", *SMALL, "--iterations", "50"]
        for limit in (["--budget", "8"], ["--max-forwards", "60"], ["--max-seconds", "1e-9"]):
            answer = self.generate(*args, *limit)
            self.assertEqual(answer["status"], "budget_spent")
            self.assertLess(answer["sweeps"], 50)
        adaptive = self.generate(*args, "--method", "pg-adapt", "--threshold", "-0.7")
        self.assertGreaterEqual(adaptive["reward"], -0.7)
        self.assertLess(adaptive["sweeps"], 50)

    def test_options_without_effect_are_noted(self):
        self.assertIn("note: --eta has no effect", self.ok("generate", *STEERED, "--eta", "0.1").stderr)
        self.assertNotIn("note:", self.ok("generate", *STEERED).stderr)

    def test_help_models_version(self):
        self.assertIn("did you", self.run_pgdlm("generat").stderr)
        text = self.ok("generate", "--help").stdout
        for option in CHOICES:
            self.assertIn(option, text)
        self.assertIn("toy", self.ok("models").stdout)
        self.assertEqual(self.ok("version").stdout, self.ok("--version").stdout)


if __name__ == "__main__":
    unittest.main()
