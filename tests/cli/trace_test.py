"""Traces: written, replayed, resumed after a crash and after Ctrl-C."""
import json
import os
import signal
import subprocess
import time
import unittest

from program import PGDLM, SMALL, ProgramTest, without_cost

STEERED = ["The movie", "--reward", "positive", *SMALL]


class Traces(ProgramTest):
    def trace(self, name, *args):
        return self.generate(*STEERED, "--trace", name, *args)

    def lines(self, name):
        with open(self.path(name)) as file:
            return file.readlines()

    def events(self, name):
        """All but the cost, which a resumed run does not have to pay again."""
        return [line for line in self.lines(name) if json.loads(line)["type"] != "spent"]

    def test_a_trace_is_complete_and_changes_nothing(self):
        answer = self.trace("run.jsonl")
        self.assertEqual(without_cost(answer), without_cost(self.generate(*STEERED)))
        lines = [json.loads(line) for line in self.lines("run.jsonl")]
        self.assertEqual([line["seq"] for line in lines], list(range(len(lines))))
        self.assertEqual([lines[0]["type"], lines[-1]["type"]], ["run_started", "run_finished"])
        config = lines[0]["config"]
        self.assertEqual((config["prompt"], config["model"], config["method"], config["particles"], config["beta"]),
                         ("The movie", "toy", "pg", 4, 0.1))
        self.assertEqual({line["type"] for line in lines[1:-1]} - {"resampled"}, {"weighed", "edited", "selected", "spent"})

    def test_replay_ends_with_the_answer(self):
        for args in ([], ["--preset", "paper"], ["--preset", "fk"], ["--method", "greedy"], ["--method", "bon"],
                     ["--selection", "argmax-last"], ["--selection", "argmax-all"], ["--ancestor-sampling"],
                     ["--start", "sampled"], ["--process", "remdm", "--eta", "0.2"], ["--resample-every", "8"]):
            with self.subTest(args=args):
                for seed in ("0", "1", "2"):
                    answer = self.trace("run.jsonl", *args, "--seed", seed)
                    played = self.ok("replay", "run.jsonl").stdout.splitlines()
                    self.assertEqual(played[-1], answer["text"])
                    self.assertEqual(played[-2], f"done, reward {answer['reward']:.4f}")
                    self.assertTrue(any(line.startswith("sweep 0") and "ess" in line for line in played))

    def test_resuming_a_cut_trace_repeats_the_run(self):
        for args in ([], ["--preset", "paper"], ["--process", "remdm", "--eta", "0.2"], ["--ancestor-sampling"]):
            whole = self.trace("whole.jsonl", *args)
            lines = self.lines("whole.jsonl")
            for share in (0.001, 0.2, 0.5, 0.8, 1):
                with self.subTest(args=args, share=share):
                    kept = max(1, int(share * len(lines)))
                    with open(self.path("cut.jsonl"), "w") as file:
                        file.writelines(lines[:kept])
                        file.write("" if share == 1 else lines[kept][:9])  # a crash in the middle of a line
                    resumed = self.generate("--resume", "cut.jsonl")
                    self.assertEqual(without_cost(resumed), without_cost(whole))
                    self.assertEqual(self.events("cut.jsonl"), self.events("whole.jsonl"))
                    if share == 1 and not args:
                        self.assertEqual(resumed["cost"]["forwards_run"], 0)
        self.assertEqual(sorted(os.listdir(self.folder)), ["cut.jsonl", "whole.jsonl"])

    def interrupt(self, trace, *args):
        """Starts a run, sends SIGINT once it has begun its work, and returns its exit code and output."""
        process = subprocess.Popen([PGDLM, "generate", *args], stdout=subprocess.PIPE, text=True, cwd=self.folder)
        limit = time.time() + 60
        while time.time() < limit and (not os.path.exists(self.path(trace)) or os.path.getsize(self.path(trace)) < 50_000):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output

    def test_ctrl_c_returns_the_best_so_far_and_resumes(self):
        args = [*STEERED, "--iterations", "400", "--json"]
        code, output = self.interrupt("run.jsonl", *args, "--trace", "run.jsonl")
        self.assertEqual(code, 130)
        answer = json.loads(output)
        self.assertEqual(answer["status"], "cancelled")
        self.assertTrue(answer["text"].startswith("The movie"))
        self.assertLess(answer["sweeps"], 400)
        self.assertIn("cancelled", self.ok("replay", "run.jsonl").stdout)
        resumed = self.generate("--resume", "run.jsonl")
        self.assertEqual(without_cost(resumed), without_cost(self.generate(*STEERED, "--iterations", "400")))

    def test_an_interrupted_resume_loses_nothing(self):
        whole = self.trace("run.jsonl", "--iterations", "60")
        lines = self.lines("run.jsonl")
        known = lines[: len(lines) // 2]
        for delay in (0.01, 0.03, 0.1, 0.3):
            with open(self.path("run.jsonl"), "w") as file:
                file.writelines(known)
            process = subprocess.Popen([PGDLM, "generate", "--resume", "run.jsonl"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, cwd=self.folder)
            time.sleep(delay)
            process.kill()
            process.wait()
            self.assertEqual(self.lines("run.jsonl")[: len(known)], known)
            self.assertEqual(without_cost(self.generate("--resume", "run.jsonl")), without_cost(whole))

    def test_a_cut_trace_replays_as_far_as_it_goes(self):
        self.trace("run.jsonl")
        lines = self.lines("run.jsonl")
        with open(self.path("cut.jsonl"), "w") as file:
            file.writelines(lines[: len(lines) // 2])
        self.assertIn("pgdlm generate --resume cut.jsonl", self.ok("replay", "cut.jsonl").stdout)


if __name__ == "__main__":
    unittest.main()
