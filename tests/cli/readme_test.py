"""The commands that README.md and --help show do what they say, at a smaller size."""
import os
import re
import shlex
import unittest

from program import ProgramTest, run_program

README = os.path.join(os.path.dirname(__file__), "..", "..", "README.md")
TEXT = ["-n", "8", "--diffusion-steps", "8", "-k", "2"]
SMALLER = {"generate": TEXT, "eval": ["--limit", "1", "--samples", "1", "--repeats", "1", "-k", "2"],
           "perplexity": ["--draws", "1"], "study": ["--dry-run"], "replay": ["--delay", "0"]}
OUTSIDE = re.compile(r"\.gguf|http:|~/|prompts?\.txt|comments|held_out|gsm8k|texts\.txt|\$\(|run3|runs export|runs compare|report|-f -|pgdlm serve")


def commands(text):
    """Each command of a line, without its comment and what stands around it."""
    for line in text.splitlines():
        if not line.startswith("  "):
            continue
        line = re.split(r"  +[#a-z]", line.strip().removeprefix("$ ").strip())[0]
        for command in re.split(r" && | \| ", line):
            if re.match(r"(build/)?pgdlm [a-z]", command) and command.count('"') % 2 == 0 and not OUTSIDE.search(command):
                yield shlex.split(command)[1:]


class Readme(ProgramTest):
    def check(self, text, least):
        seen = list(commands(text))
        self.assertGreater(len(seen), least)
        for command in seen:
            smaller = [] if {"--help", "--list", "--resume"} & set(command) else SMALLER.get(command[0], [])
            if "--infill" in command:
                smaller = smaller[2:]
            if command[:2] == ["eval", "control"]:
                smaller = [*smaller, *TEXT]
            with self.subTest(command=command):
                result = self.run_pgdlm(*command, *smaller, env={"PGDLM_MODEL": ""})
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_readme(self):
        with open(README) as file:
            self.check(file.read(), 12)

    def test_help(self):
        for verb in ("generate", "replay", "score", "perplexity", "judge", "eval", "study"):
            self.check(run_program(verb, "--help").stdout.partition("Examples:")[2], 0)


if __name__ == "__main__":
    unittest.main()
