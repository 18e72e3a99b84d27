"""Real files through the program: convert, info, tokenize, forward, generate, and what it says when they are not sound."""
import array
import json
import os
import re
import resource
import signal
import struct
import subprocess
import unittest
import unittest.mock

from program import PGDLM, ProgramTest, without_cost

HF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "hf")
DENOISERS = ["mdlm", "llada", "dream", "bert-fill-mask", "roberta-fill-mask"]


def read_npy(path):
    """Shape and values of a float32 array, without NumPy."""
    with open(path, "rb") as file:
        assert file.read(8) == b"\x93NUMPY\x01\x00"
        header = file.read(struct.unpack("<H", file.read(2))[0]).decode()
        assert "'<f4'" in header and "False" in header, header
        shape = tuple(int(n) for n in re.search(r"\((.*?)\)", header)[1].split(",") if n.strip())
        values = array.array("f", file.read())
    assert len(values) == shape[0] * shape[1]
    return shape, values


class Models(ProgramTest):
    def model(self, family, *options):
        path = self.path(family + ".gguf")
        self.ok("convert", os.path.join(HF, family), path, *options)
        return path

    def test_info_says_what_a_file_is(self):
        for family, words in (("llada", ["llada, a denoiser", "mask token     298", "process        llada", "chat format LLaDA"]),
                              ("dream", ["dream, a denoiser", "logits shifted by one", "ChatML"]),
                              ("roberta-classifier", ["bert, a classifier", "labels"]),
                              ("qwen2-prm", ["qwen2, a process reward", "step token"])):
            shown = self.ok("models", "info", self.model(family, "--type", "f32")).stdout
            for word in words:
                self.assertIn(word, shown)

    def test_models_have_names_on_shelves(self):
        shelf = self.path("shelf")
        os.mkdir(shelf)
        self.ok("convert", os.path.join(HF, "llada"), os.path.join(shelf, "small.gguf"))
        with open(os.path.join(shelf, "broken.gguf"), "w") as file:
            file.write("nothing")
        os.mkdir(os.path.join(shelf, "folder.gguf"))
        with unittest.mock.patch.dict(os.environ, {"PGDLM_MODELS": f"{self.path('nowhere')}:{shelf}"}):
            listed = self.ok("models").stdout
            self.assertIn("small\n      llada, a denoiser, 0.", listed)
            self.assertIn("not a GGUF file", listed)
            self.assertNotIn("folder", listed)
            self.assertIn("llada, a denoiser", self.ok("models", "info", "small").stdout)
            self.ok("tokenize", "small", "text")
            self.ok("generate", "-m", "small", "-p", "text", "-n", "4")
            self.refused(["model is 'smal', allowed: toy", "small", "PGDLM_MODELS"], "generate", "-m", "smal", "x")

    def test_the_default_model(self):
        asked = ["generate", "The movie", "-n", "2", "--diffusion-steps", "2", "--json"]
        model = lambda name: json.loads(self.run_pgdlm(*asked, env={"PGDLM_MODEL": name}).stdout)["model"]  # noqa: E731
        self.assertEqual([model(""), model("toy")], ["mdlm-nano", "toy"])
        self.assertIn("model is 'none', allowed: toy", self.run_pgdlm(*asked, env={"PGDLM_MODEL": "none"}).stderr)

    def test_forward_writes_a_file_per_row(self):
        model = self.model("llada")
        self.ok("forward", model, "--ids", "1,2,3", "--ids", "4", "--out", "logits")
        (rows, vocab), together = read_npy(self.path("logits.0.npy"))
        self.assertEqual((rows, vocab), (3, 320))
        self.assertEqual(read_npy(self.path("logits.1.npy"))[0], (1, 320))
        self.ok("forward", model, "--ids", "1,2,3", "--out", "alone", "--threads", "1")
        self.assertEqual(read_npy(self.path("alone.0.npy"))[1], together)
        classifier = self.model("roberta-classifier")
        self.ok("forward", classifier, "--ids", "0,5,2", "--out", "labels")
        self.assertEqual(read_npy(self.path("labels.0.npy"))[0][0], 1)

    def test_options_may_stand_before_the_file(self):
        model = self.model("llada")
        self.ok("forward", "--ids", "1,2", "--ids", "3", model, "--out", "rows")
        self.assertEqual(read_npy(self.path("rows.1.npy"))[0], (1, 320))
        shown = self.ok("bench", "forward", "--batch", "1,2", "--length", "4", "--repeats", "1", model).stdout
        self.assertEqual(len(shown.splitlines()), 4)
        self.refused(["batch", "'x'", "integers"], "bench", "forward", "--batch", "1,x", model)
        self.assertIn("mask token     5", self.ok("models", "info", "--mask-token", "5", model).stdout)

    def test_help_shows_an_example(self):
        for command in (["convert"], ["forward"], ["tokenize"], ["models"], ["models", "info"], ["bench"], ["bench", "forward"]):
            self.assertIn("Examples:\n  pgdlm " + command[0], self.ok(*command, "--help").stdout)

    def test_tokenize_gives_what_forward_takes(self):
        model = self.model("llada")
        ids = self.ok("tokenize", model, "the film", "--ids").stdout.strip()
        self.assertRegex(ids, r"^\d+(,\d+)*$")
        self.ok("forward", model, "--ids", ids, "--out", "logits")
        self.assertEqual(len(self.ok("tokenize", model, "the film").stdout.splitlines()), len(ids.split(",")))

    def test_every_denoiser_generates_under_every_process(self):
        for family in DENOISERS:
            model = self.model(family)
            for process in ("mdlm", "remdm", "llada", "dream"):
                arguments = ["ab", "-m", model, "-n", "6", "--process", process, "--method", "bon", "-k", "3", "--seed", "5"]
                first = self.generate(*arguments)
                self.assertEqual(len(first["candidates"]), 3)
                self.assertEqual(without_cost(first), without_cost(self.generate(*arguments, "--no-memo", "--threads", "1")))

    def test_traces_of_a_model_replay_and_resume(self):
        model = self.model("llada")
        whole = self.ok("generate", "ab", "-m", model, "-n", "6", "--trace", "run.jsonl").stdout
        self.assertIn(whole.strip(), self.ok("replay", "run.jsonl").stdout)
        with open(self.path("run.jsonl")) as file:
            lines = file.readlines()
        with open(self.path("run.jsonl"), "w") as file:
            file.writelines(lines[:2])
        self.assertEqual(self.ok("generate", "--resume", "run.jsonl").stdout, whole)

    def test_chat_and_infill(self):
        model = self.model("llada")
        question = "what a question"
        self.assertIn(question, self.ok("generate", "--no-chat", question, "-m", model, "-n", "4").stdout)
        for chat in ([], ["--chat"]):  # it has a chat format, so it is spoken to; the reply alone is printed
            self.assertNotIn(question, self.ok("generate", *chat, question, "-m", model, "-n", "4").stdout)
        self.refused(["chat"], "generate", "--chat", "ab", "-m", self.model("mdlm"), "-n", "4")
        self.ok("generate", "-m", model, "--infill", "a[MASK:3]b")

    def test_steered_by_a_classifier(self):
        reward = self.model("roberta-classifier") + ":LABEL_0"
        steer = ["ab", "-m", self.model("mdlm"), "--reward", reward, "-n", "6", "-k", "3", "--iterations", "2", "-t", "1"]
        answer = self.generate(*steer)
        with open(self.path("text.jsonl"), "w") as file:
            file.write(json.dumps({"text": answer["text"]}))
        scored = json.loads(self.ok("score", "--reward", reward, "--json", "--jsonl", "text.jsonl").stdout)
        self.assertAlmostEqual(answer["reward"], scored["score"], places=5)
        self.assertEqual(scored["score"], scored["labels"]["LABEL_0"])
        self.assertEqual(self.generate(*steer), {**answer, "cost": unittest.mock.ANY})
        self.refused(["no label 'LABEL_9'", "LABEL_0, LABEL_1"], "generate", "ab", "-m", self.model("mdlm"), "--reward",
                     self.model("roberta-classifier") + ":LABEL_9")
        self.refused(["reward is 'joy'", "MODEL:LABEL"], "generate", "ab", "-m", self.model("mdlm"), "--reward", "joy")

    def test_score(self):
        reward = self.model("roberta-classifier")
        with open(self.path("texts.jsonl"), "w") as file:
            file.write('{"text": "a b"}\n\n{"text": "c", "prompt": "why?"}\n')
        plain = self.ok("score", "--reward", reward, "a b").stdout
        lines = self.ok("score", "--reward", reward, "--jsonl", "texts.jsonl").stdout.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertEqual(lines[0], plain.strip())
        with open(self.path("broken.jsonl"), "w") as file:
            file.write('{"text": "a b"}\n{"text": 3}\n')
        self.refused(["broken.jsonl: line 2", "'text'"], "score", "--reward", reward, "--jsonl", "broken.jsonl")
        self.refused(["none.jsonl"], "score", "--reward", reward, "--jsonl", "none.jsonl")
        self.refused(["jsonl", "prompt"], "score", "--reward", reward, "--jsonl", "texts.jsonl", "-p", "why?")
        self.refused(["reward is missing"], "score", "a b")
        self.refused(["reward is 'positive'"], "score", "--reward", "positive", "a b")
        self.refused(["no text"], "score", "--reward", reward)

    def test_mistakes(self):
        model = self.model("llada")
        prm = self.model("qwen2-prm")
        self.refused(["none.gguf"], "models", "info", "none.gguf")
        self.refused(["ids", "'x'"], "forward", model, "--ids", "1,x", "--out", "logits")
        self.refused(["320", "0 to 319"], "forward", model, "--ids", "320", "--out", "logits")
        self.refused(["out"], "forward", model, "--ids", "1")
        self.refused(["no/such"], "forward", model, "--ids", "1", "--out", "no/such/folder")
        self.refused(["process reward", "denoiser"], "generate", "-m", prm, "ab")
        self.refused(["tokens", "64"], "generate", "-m", model, "ab", "-n", "100")
        self.refused(["device", "'abacus'", "CPU"], "generate", "-m", model, "ab", "--device", "abacus")
        self.refused(["rpc", "nobody"], "generate", "-m", model, "ab", "--rpc", "127.0.0.1:1")
        self.refused(["type", "'q9'", "q8_0"], "convert", os.path.join(HF, "llada"), "out.gguf", "--type", "q9")
        self.refused(["config.json"], "convert", self.folder, "out.gguf")
        with open(self.path("notes.txt"), "w") as file:
            file.write("not to be lost")
        self.refused(["not a GGUF file", "overwritten"], "convert", os.path.join(HF, "llada"), "notes.txt")
        with open(model, "rb") as file:
            whole = file.read()
        with open(self.path("cut.gguf"), "wb") as file:
            file.write(whole[:len(whole) // 2])
        self.refused(["cut.gguf"], "generate", "-m", "cut.gguf", "ab", code=1)
        self.assertFalse(os.path.exists(self.path("out.gguf")))

    def test_a_full_disk_leaves_no_file(self):
        result = subprocess.run([PGDLM, "convert", os.path.join(HF, "llada"), "out.gguf"], cwd=self.folder, text=True,
                                capture_output=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
        self.assertEqual(result.returncode, 1)
        self.assertIn("out.gguf", result.stderr)
        self.assertIn("File too large", result.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_an_interrupted_conversion_leaves_no_file(self):
        process = subprocess.Popen([PGDLM, "convert", os.path.join(HF, "llada"), "out.gguf"], cwd=self.folder,
                                   stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertIn(process.returncode, (0, 130, -signal.SIGINT))  # it may have been done already
        self.assertIn(os.listdir(self.folder), ([], ["out.gguf"]))


if __name__ == "__main__":
    unittest.main()
