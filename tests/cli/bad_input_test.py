"""Bad input: exit code 2, a message that names the field and what is allowed, and nothing written."""
import os
import unittest

from program import ProgramTest

# arguments of generate, words that the message must hold
MISTAKES = [
    (["--particles", "0"], ["particles", "0", "at least 1"]),
    (["--method", "pg", "-k", "1"], ["particles", "1", "at least 2"]),
    (["--method", "pg-adapt", "-k", "1"], ["particles", "1", "at least 2"]),
    (["-k", "eight"], ["particles", "'eight'", "an integer"]),
    (["--iterations", "0"], ["iterations", "0", "at least 1"]),
    (["--beta", "-1"], ["beta", "-1", "> 0"]),
    (["--beta", "0"], ["beta", "> 0"]),
    (["--beta", "nan"], ["beta", "'nan'", "a number"]),
    (["--method", "best"], ["method", "'best'", "greedy, bon, smc, pg, pg-adapt"]),
    (["--preset", "x"], ["preset", "'x'", "exact, paper, fk"]),
    (["--scheme", "x"], ["scheme", "'x'", "multinomial, stratified, systematic, residual"]),
    (["--start", "x"], ["start", "'x'", "sampled, greedy, smc"]),
    (["--selection", "x"], ["selection", "'x'", "draw, paper, argmax-last, argmax-all"]),
    (["--potential", "x"], ["potential", "'x'", "diff, max, add, rt"]),
    (["--estimator", "x"], ["estimator", "'x'", "random, beam"]),
    (["--process", "x"], ["process", "'x'", "mdlm, remdm, llada, dream"]),
    (["--process", "remdm", "--remdm-schedule", "x"], ["remdm-schedule", "'x'", "cap, rescale, conf, loop, forward-backward"]),
    (["--process", "remdm", "--eta", "2"], ["eta", "2", "0 to 1"]),
    (["--process", "dream", "--diffusion-algorithm", "5"], ["diffusion-algorithm", "'5'", "origin, entropy, margin"]),
    (["--process", "llada", "--diffusion-algorithm", "entropy"], ["diffusion-algorithm", "low_confidence, random"]),
    (["--process", "llada", "--diffusion-block-length", "7"], ["diffusion-block-length", "7", "24"]),
    (["--process", "llada", "--diffusion-block-length", "8", "--diffusion-steps", "10"], ["diffusion-steps", "10", "3"]),
    (["--diffusion-steps", "0"], ["diffusion-steps", "0", "at least 1"]),
    (["--diffusion-cfg-scale", "-1"], ["diffusion-cfg-scale", "0 (off) or more"]),
    (["--temp", "-1"], ["temp", "-1", "0 or more"]),
    (["--top-p", "0"], ["top-p", "0", "at most 1"]),
    (["--phi", "0"], ["phi", "0", "at least 1"]),
    (["--tau", "0"], ["tau", "0", "at least 1"]),
    (["--resample-every", "0"], ["resample-every", "'0'", "block"]),
    (["--ess-threshold", "1.5"], ["ess-threshold", "'1.5'", "always, never"]),
    (["--budget", "0"], ["budget", "0", "at least 8"]),
    (["--max-forwards", "0"], ["max-forwards", "0", "at least 1"]),
    (["--max-seconds", "0"], ["max-seconds", "> 0"]),
    (["--process", "dream", "--diffusion-alg-temp", "1", "--ancestor-sampling"], ["ancestor-sampling"]),
    (["--seed", "-1"], ["seed", "'-1'", "an integer"]),
    (["-n", "0"], ["n-predict", "0", "at least 1"]),
    (["-n", "600"], ["prompt", "600", "512"]),
    (["--reward", "happy"], ["reward", "'happy'", "none, positive, negative, cola:unacceptable|acceptable, prm, sentiment:"]),
    (["--reward", "length:9..2"], ["reward", "length:9..2", "A..B"]),
    (["--reward", "positive +"], ["reward", "'positive + positive +'", "too early"]),
    (["--reward", "regex:/(/"], ["reward", "regex:/(/"]),
    (["--model", "gpt"], ["model", "'gpt'", "toy"]),
    (["--infill", "the movie was ."], ["infill", "[MASK:N]"]),
    (["--infill", "the [MASK:0] ."], ["infill", "[MASK:N]"]),
    (["--infill", "the [MASK:3 ."], ["infill", "[MASK:N]"]),
    (["--infill", "the [MASK:3] .", "-n", "3"], ["infill", "n-predict"]),
    (["--infill", "the [MASK:3] banana ."], ["infill", "'banana'"]),
    (["--n-samples", "0"], ["n-samples", "0", "at least 1"]),
    (["--n-samples", "2"], ["trace", "n-samples"]),
    (["--threads", "-1"], ["threads", "-1", "0 or more"]),
    (["--file", "prompt.txt"], ["file", "prompt"]),
    (["--partcles", "8"], ["--partcles", "did you mean --particles?"]),
    (["--beta"], ["--beta", "needs a value"]),
    (["--prompt", "It was"], ["--prompt", "more than once"]),
    (["again"], ["'again'", "quotes"]),
]


class BadInput(ProgramTest):
    def test_every_mistake_is_named_and_writes_nothing(self):
        for args, words in MISTAKES:
            with self.subTest(args=args):
                self.refused(words, "generate", "The movie", "--reward", "positive", "--trace", "run.jsonl", *args)
                self.assertEqual(os.listdir(self.folder), [])

    def test_prompts(self):
        self.refused(["prompt", "'banana'", "knows"], "generate", "The banana")
        self.refused(["prompt", "700", "512"], "generate", "movie " * 700)
        self.refused(["file", "none.txt"], "generate", "-f", "none.txt")

    def test_commands(self):
        self.refused(["allowed: generate, replay, models, convert, forward, tokenize, bench, score, perplexity, judge, eval, study, report, runs, serve, devices, version"])
        self.refused(["'generat'", "did you mean generate?"], "generat", "The movie")
        self.refused(["'--beta'", "allowed: generate"], "--beta", "1")
        self.refused(["FILE"], "replay")
        self.refused(["none.jsonl"], "replay", "none.jsonl")

    def test_files(self):
        self.refused(["trace", "no/such/folder"], "generate", "The movie", "--trace", "no/such/folder/run.jsonl")
        self.refused(["none.jsonl"], "generate", "--resume", "none.jsonl")
        self.ok("generate", "The movie", "--trace", "run.jsonl")
        self.refused(["resume", "--beta"], "generate", "--resume", "run.jsonl", "--beta", "1")
        self.refused(["resume", "--prompt"], "generate", "The movie", "--resume", "run.jsonl")
        with open(self.path("run.jsonl")) as file:
            lines = file.readlines()
        for broken, words in ((lines[1:], ["bad.jsonl:1"]),
                              (["{}\n"] + lines[1:], ["bad.jsonl"]),
                              ([lines[0].replace('"beta"', '"betta"')] + lines[1:], ["'betta'", "version"]),
                              ([lines[0].replace('"process":"mdlm"', '"process":"x"')] + lines[1:], ["process", "'x'", "mdlm"]),
                              ([], ["run_started"])):
            with open(self.path("bad.jsonl"), "w") as file:
                file.writelines(broken)
            self.refused(words, "generate", "--resume", "bad.jsonl")
            self.refused(words, "replay", "bad.jsonl")
            with open(self.path("bad.jsonl")) as file:
                self.assertEqual(file.readlines(), broken)


if __name__ == "__main__":
    unittest.main()
