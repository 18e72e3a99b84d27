"""Completions, and what else there is to ask for, without streams."""
import json
import math
import subprocess
import unittest

from server import PGDLM, ServerTest

STEERED = {"prompt": "the movie", "max_tokens": 8, "seed": 3, "diffusion": {"steps": 32},
           "its": {"reward": "positive", "method": "smc", "particles": 4}}


class Completions(ServerTest):
    def test_a_text_has_usage_timings_and_a_seed(self):
        reply = self.complete({"prompt": "the movie", "max_tokens": 8, "seed": 7})
        self.assertEqual((reply["object"], reply["model"], reply["seed"]), ("text_completion", "toy", 7))
        self.assertEqual(reply["usage"]["prompt_tokens"], 2)
        self.assertEqual(reply["usage"]["total_tokens"], 2 + reply["usage"]["completion_tokens"])
        self.assertGreater(reply["timings"]["forwards_asked"], 0)
        self.assertIn(reply["choices"][0]["finish_reason"], ("stop", "length"))
        self.assertNotIn("metadata", reply)

    def test_it_says_what_the_command_line_says(self):
        ours = self.complete({**STEERED, "return_response_only": False})
        args = ["-m", "toy", "-n", "8", "--seed", "3", "--diffusion-steps", "32", "--reward", "positive", "--method", "smc",
                "-k", "4", "--json"]
        theirs = json.loads(subprocess.run([PGDLM, "generate", "the movie", *args], capture_output=True, check=True).stdout)
        self.assertEqual("the movie " + ours["choices"][0]["text"].lower(), theirs["text"].lower())
        self.assertEqual(ours["metadata"]["rewards"], [c["reward"] for c in theirs["candidates"]])
        self.assertEqual(ours["metadata"]["log_z"], theirs["log_z"])

    def test_metadata_tells_all_candidates(self):
        metadata = self.complete({**STEERED, "return_response_only": False})["metadata"]
        self.assertEqual([len(metadata[key]) for key in ("responses", "rewards", "log_weights")], [4, 4, 4])
        self.assertAlmostEqual(sum(math.exp(w) for w in metadata["log_weights"]), 1)
        self.assertEqual(metadata["rewards"][metadata["selected_index"]], max(metadata["rewards"]))
        self.assertEqual((metadata["method"], metadata["iterations_used"], len(metadata["ess"])), ("smc", 1, 1))
        self.assertGreaterEqual(metadata["forwards_asked"], metadata["forwards_run"])
        self.assertEqual(metadata["config"]["particles"], 4)

    def test_chat_joins_messages_for_a_base_model(self):
        reply = self.complete({"messages": [{"role": "user", "content": [{"type": "text", "text": "the movie"}]}],
                               "max_completion_tokens": 8}, "/v1/chat/completions")
        self.assertEqual(reply["object"], "chat.completion")
        self.assertEqual(reply["choices"][0]["message"]["role"], "assistant")
        self.assertEqual(reply["usage"]["prompt_tokens"], 2)

    def test_n_gives_draws_with_the_seeds_that_follow(self):
        several = self.complete({**STEERED, "n": 3, "return_response_only": False})
        self.assertEqual([choice["index"] for choice in several["choices"]], [0, 1, 2])
        self.assertEqual([m["seed"] for m in several["metadata"]], [3, 4, 5])
        self.assertEqual({m["selection"] for m in several["metadata"]}, {"draw"})
        second = self.complete({**STEERED, "seed": 4, "its": {**STEERED["its"], "selection": "draw"}})
        self.assertEqual(second["choices"][0]["text"], several["choices"][1]["text"])

    def test_without_a_seed_each_request_has_its_own(self):
        seeds = {self.complete({"prompt": "i", "max_tokens": 4})["seed"] for _ in range(4)}
        self.assertEqual(len(seeds), 4)

    def test_several_prompts_and_token_prompts(self):
        texts = self.complete({"prompt": ["the movie", "the plot"], "max_tokens": 6, "seed": 1, "echo": True})["choices"]
        self.assertTrue(texts[0]["text"].startswith("the movie") and texts[1]["text"].startswith("the plot"), texts)
        tokens = self.server.post("/tokenize", {"content": "the movie"}).json()["tokens"]
        words = self.complete({"prompt": "the movie", "max_tokens": 6, "seed": 1})["choices"][0]["text"]
        self.assertEqual(self.complete({"prompt": tokens, "max_tokens": 6, "seed": 1})["choices"][0]["text"], words)
        self.assertEqual(self.complete({"prompt": [tokens], "max_tokens": 6, "seed": 1})["choices"][0]["text"], words)

    def test_stop_ends_the_text_before_it(self):
        whole = self.complete({"prompt": "the movie", "max_tokens": 12, "seed": 2})["choices"][0]["text"]
        word = whole.split()[2]
        cut = self.complete({"prompt": "the movie", "max_tokens": 12, "seed": 2, "stop": [word, "zzz"]})["choices"][0]
        self.assertEqual(cut["text"], whole[:whole.index(word)])
        self.assertEqual(cut["finish_reason"], "stop")

    def test_usage_counts_what_is_returned(self):
        reply = self.complete({"prompt": "the movie", "max_tokens": 12, "seed": 2})
        word = reply["choices"][0]["text"].split()[1]
        cut = self.complete({"prompt": "the movie", "max_tokens": 12, "seed": 2, "stop": " " + word})
        self.assertEqual(cut["usage"]["completion_tokens"], 1)

    def test_suffix_and_infill(self):
        reply = self.complete({"prompt": "the movie", "suffix": "great .", "max_tokens": 1, "seed": 1})
        self.assertEqual(len(reply["choices"][0]["text"].split()), 1)
        filled = self.complete({"prompt": "", "diffusion": {"infill": "the [MASK:2] was [MASK] ."}})["choices"][0]["text"]
        self.assertIn("was", filled)

    def test_budget_means_particles(self):
        def particles(body, headers=None):
            reply = self.complete({**STEERED, "its": {"reward": "positive"}, "return_response_only": False, **body},
                                  headers=headers)
            return reply["metadata"]["method"], reply["metadata"]["config"]["particles"], reply["metadata"]["particles_used"]
        self.assertEqual(particles({"budget": 6}), ("smc", 6, 6))
        self.assertEqual(particles({"budget": 6, "its": {"reward": "positive", "method": "best-of-n"}}), ("bon", 6, 6))
        self.assertEqual(particles({"budget": 16, "its": {"reward": "positive", "algorithm": "particle-gibbs"}}), ("pg", 4, 16))
        self.assertEqual(particles({"budget": 6}, {"X-ITS-Budget": "3", "X-ITS-Algorithm": "best-of-n"}), ("bon", 3, 3))
        self.assertEqual(particles({"best_of": 5}), ("bon", 5, 5))
        self.assertLessEqual(
            particles({"budget": 12, "its": {"reward": "positive", "algorithm": "pg-adapt", "threshold": 99, "particles": 4}})[2], 12)

    def test_aliases(self):
        config = self.complete({**STEERED, "return_response_only": False, "its": {
            "algorithm": "particle-gibbs-adaptive", "reward": [{"type": "positive", "weight": 2}, {"type": "length:3..5"}],
            "stop_reward": 9, "select": "sample", "resampling": "residual", "max_nfe": 500, "particles": 2,
            "iterations": 2}})["metadata"]["config"]
        self.assertEqual([config[key] for key in ("method", "threshold", "selection", "scheme", "max_forwards")],
                         ["pg-adapt", 9, "draw", "residual", 500])
        self.assertEqual(config["reward"], "2*positive + 1*length:3..5")

    def test_vote(self):
        reply = self.complete({**STEERED, "budget": 8, "its": {"algorithm": "self-consistency"}, "return_response_only": False})
        texts = reply["metadata"]["responses"]
        most = max(texts.count(text) for text in texts)
        self.assertEqual(texts.count(reply["choices"][0]["text"]), most)
        self.assertEqual(reply["metadata"]["selection"], "vote")

    def test_what_clients_send_by_the_way_is_harmless(self):
        reply = self.complete({"prompt": ["the movie"], "frequency_penalty": 0, "logprobs": None, "max_tokens": 256, "n": 1,
                               "presence_penalty": 0, "seed": None, "temperature": 1, "top_p": 1, "stop": [], "tools": [],
                               "logit_bias": {}, "user": "me", "store": True, "metadata": {"a": "b"}, "extra_body": {"n": 1},
                               "parallel_tool_calls": False, "response_format": {"type": "text"}})
        self.assertNotIn("warnings", reply)

    def test_what_has_no_effect_is_told(self):
        reply = self.complete({"prompt": "the movie", "max_tokens": 4, "min_p": 0.1, "tempersture": 1, "eta": 3,
                               "diffusion": {"eta": 0.5}})
        self.assertEqual(len(reply["warnings"]), 4, reply["warnings"])

    def test_too_many_tokens_are_cut(self):
        reply = self.complete({"prompt": "the movie", "max_tokens": 5000})
        self.assertIn("fit", reply["warnings"][0])

    def test_forbidden_and_impossible(self):
        for status, words, body, param in (
                (404, ["nope", "toy"], {"model": "nope"}, "model"),
                (400, ["prompt"], {"prompt": 3}, "prompt"),
                (400, ["n is", "128"], {"n": 1000}, "n"),
                (400, ["max_tokens"], {"max_tokens": -1}, "max_tokens"),
                (400, ["particles", "256"], {"its": {"reward": "positive", "particles": 1000}}, "its.particles"),
                (400, ["particles"], {"its": {"particles": "many"}}, "its.particles"),
                (400, ["its.partciles", "particles"], {"its": {"partciles": 3}}, "its.partciles"),
                (400, ["diffusion.stepps"], {"diffusion": {"stepps": 3}}, "diffusion.stepps"),
                (400, ["its is", "object"], {"its": 3}, "its"),
                (400, ["method"], {"its": {"method": "magic"}}, "its.method"),
                (400, ["steps"], {"diffusion": {"steps": 10**9}}, "diffusion.steps"),
                (400, ["log prob"], {"logprobs": 3}, "logprobs"),
                (400, ["tools"], {"tools": [{"type": "function"}]}, "tools"),
                (400, ["nosuch"], {"its": {"reward": "nosuch"}}, "its.reward"),
                (403, ["program"], {"its": {"reward": "exec:touch never"}}, "its.reward"),
                (403, ["program"], {"its": {"reward": "http://127.0.0.1:1/x"}}, "its.reward"),
                (403, ["file"], {"its": {"reward": "/etc/passwd"}}, "its.reward"),
                (403, ["file"], {"its": {"reward": "positive + ../x.gguf"}}, "its.reward"),
                (400, ["temperature"], {"temperature": 0, "its": {"reward": "positive", "particles": 4}}, "temperature"),
                (400, ["stream_mode"], {"stream": True, "stream_mode": "x"}, "stream_mode"),
                (400, ["iterations"], {"budget": 4, "its": {"method": "pg", "iterations": 0}}, "its.iterations"),
                (400, ["particles"], {"budget": 4, "its": {"method": "pg", "particles": 0}}, "its.particles"),
                (400, ["infill"], {"suffix": "great .", "max_tokens": None, "diffusion": {"infill": "[MASK:3]"}}, "suffix"),
                (400, ["infill"], {"max_tokens": None, "diffusion": {"infill": "[MASK:1048576]" * 3}}, None),
                (400, ["tokens"], {"prompt": [1] * 600, "max_tokens": None, "diffusion": {"infill": "[MASK:3]"}}, "prompt"),
                (400, ["token 5000"], {"prompt": [5000]}, "prompt"),
                (400, ["reward"], {"its": {"reward": "contains:" + "a" * 5000}}, "its.reward"),
                (400, ["trace"], {"trace": True}, "trace")):
            with self.subTest(body=body):
                self.refused(status, words, {"prompt": "the movie", "max_tokens": 4, **body}, param=param)
        self.refused(400, ["messages"], {"prompt": "x"}, "/v1/chat/completions", param="messages")
        self.refused(400, ["role"], {"messages": [{"role": "tool", "content": "x"}]}, "/v1/chat/completions")
        self.refused(400, ["Budget", "3x"], {"prompt": "i"}, headers={"X-ITS-Budget": "3x"})
        self.refused(400, ["Algorithm"], {"prompt": "i"}, headers={"X-ITS-Algorithm": b"\xff"})

    def test_unknown_words_of_the_toy_are_the_clients_mistake(self):
        self.refused(400, ["zebra"], {"prompt": "the zebra"})

    def test_degenerate_is_told(self):
        reply = self.complete({**STEERED, "its": {"reward": "must:contains:zebra", "particles": 2, "method": "smc"}})
        self.assertIn("-inf", reply["warnings"][0])


class Rest(ServerTest):
    def test_models(self):
        models = self.server.get("/v1/models").json()
        self.assertEqual(models["data"][0]["id"], "toy")
        self.assertIn("llada-nano-math", [model["id"] for model in models["data"]])
        self.assertNotIn("sentiment-nano", [model["id"] for model in models["data"]])
        self.assertEqual(self.server.get("/v1/models/toy").json()["id"], "toy")
        self.assertEqual(self.server.get("/v1/models/none").status, 404)

    def test_props(self):
        props = self.server.get("/props").json()
        self.assertEqual(props["model"], "toy")
        self.assertIn({"name": "sentiment-nano", "labels": ["negative", "neutral", "positive"]}, props["rewards"])
        self.assertEqual(props["methods"], ["greedy", "bon", "smc", "pg", "pg-adapt"])
        self.assertEqual(props["limits"]["particles"], 256)

    def test_score(self):
        reply = self.server.post("/v1/score", {"reward": "sentiment:positive", "texts": ["It was great.", "It was awful."]}).json()
        self.assertGreater(reply["data"][0]["score"], reply["data"][1]["score"])
        self.assertEqual(set(reply["data"][0]["labels"]), {"negative", "neutral", "positive"})
        steps = self.server.post("/v1/score", {"reward": "prm", "prompt": "Tom has 3 apples and buys 4. How many?",
                                               "texts": ["apples: 3 + 4 = 7\n#### 7", "apples: 3 + 4 = 9\n#### 9"]}).json()
        self.assertEqual([len(item["steps"]) for item in steps["data"]], [2, 2])
        pair = self.server.post("/v1/score", {"model": "contains:b", "text_1": "q", "text_2": ["a", "b"]}).json()
        self.assertEqual([item["score"] for item in pair["data"]], [0, 1])

    def test_rerank(self):
        body = {"model": "sentiment:positive", "query": "", "documents": ["It was awful.", "It was great.", {"text": "Hm."}],
                "top_n": 2, "return_documents": True}
        for path in ("/v1/rerank", "/rerank", "/reranking"):
            results = self.server.post(path, body).json()["results"]
            self.assertEqual(len(results), 2)
            self.assertEqual((results[0]["index"], results[0]["document"]["text"]), (1, "It was great."))
            self.assertGreater(results[0]["relevance_score"], results[1]["relevance_score"])

    def test_tokens_there_and_back(self):
        reply = self.server.post("/tokenize", {"model": "mdlm-nano", "content": "The movie", "with_pieces": True}).json()
        self.assertEqual("".join(token["piece"] for token in reply["tokens"]), "The movie")
        ids = [token["id"] for token in reply["tokens"]]
        self.assertEqual(self.server.post("/detokenize", {"model": "mdlm-nano", "tokens": ids}).json()["content"], "The movie")
        self.assertEqual(self.server.post("/detokenize", {"model": "mdlm-nano", "tokens": [10**9]}).status, 400)

    def test_bad_scores(self):
        for path, body in (("/v1/score", {}), ("/v1/score", {"reward": "prm"}), ("/v1/score", {"reward": "prm", "texts": [3]}),
                           ("/v1/score", {"reward": "exec:ls", "texts": ["a"]}), ("/v1/rerank", {"reward": "prm", "documents": []}),
                           ("/v1/rerank", {"reward": "prm", "documents": ["a"], "top_n": 0}), ("/tokenize", {"content": 3}),
                           ("/detokenize", {}), ("/v1/chat/completions/control", {"id": 3}),
                           ("/v1/chat/completions/control", {"id": "x", "action": "finish"})):
            with self.subTest(path=path, body=body):
                reply = self.server.post(path, body)
                self.assertIn(reply.status, (400, 403, 404))
                self.assertIn("message", reply.json()["error"])

    def test_openapi_is_true(self):
        document = self.server.get("/openapi.json").json()
        for path, operations in document["paths"].items():
            for method in operations:
                status = self.server.ask(method.upper(), path.replace("{id}", "x").replace("{name}", "x"), "{}").status
                self.assertNotEqual(status, 405, path)
                if "{" not in path and path != "/runs/report":  # there may be none
                    self.assertNotEqual(status, 404, path)
        fields = document["paths"]["/v1/completions"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
        for name in fields["its"]["properties"]:
            reply = self.server.post("/v1/completions", {"prompt": "i", "max_tokens": 1, "its": {name: []}})
            self.assertNotIn("unknown", reply.body.decode(), name)
        for name in fields["diffusion"]["properties"]:
            reply = self.server.post("/v1/completions", {"prompt": "i", "max_tokens": 1, "diffusion": {name: []}})
            self.assertNotIn("unknown", reply.body.decode(), name)

    def test_paths_and_methods(self):
        self.assertEqual(self.server.get("/nothing").status, 404)
        self.assertEqual(self.server.get("/v1/completions").status, 405)
        self.assertEqual(self.server.post("/v1/models", {}).status, 405)
        head = self.server.ask("HEAD", "/health")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertIn(b"<", self.server.get("/").body)
        self.assertIn("default-src 'self'", self.server.get("/").headers["Content-Security-Policy"])

    def test_runs_lists_traces_and_plays_them(self):
        names = [trace["name"] for trace in self.server.get("/runs").json()["traces"]]
        for name in names:
            trace = self.server.get(f"/runs/traces/{name}").json()
            self.assertEqual(trace["events"][0]["type"], "run_started")
            self.assertIn(str(trace["mask"]), trace["pieces"])
        self.assertEqual(self.server.get("/runs/traces/..%2f..%2fetc%2fpasswd").status, 404)


class Keys(ServerTest):
    options = ["--api-key", "sesame", "--allow-origin", "http://good.example"]

    def test_the_key_is_asked_for(self):
        self.assertEqual(self.server.get("/health").status, 200)
        self.assertEqual(self.server.get("/").status, 200)
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "sesame"}, {"Authorization": "Bearer sesam"},
                        {"Authorization": "Bearer "}):
            reply = self.server.get("/v1/models", headers)
            self.assertEqual((reply.status, reply.json()["error"]["code"]), (401, "invalid_api_key"))
        self.assertEqual(self.server.get("/v1/models", {"Authorization": "Bearer sesame"}).status, 200)

    def test_origins(self):
        key = {"Authorization": "Bearer sesame"}
        good = self.server.get("/v1/models", {**key, "Origin": "http://good.example"})
        self.assertEqual((good.status, good.headers["Access-Control-Allow-Origin"]), (200, "http://good.example"))
        self.assertEqual(self.server.get("/v1/models", {**key, "Origin": "http://bad.example"}).status, 403)
        self.assertEqual(self.server.ask("OPTIONS", "/v1/models", None, {"Origin": "http://good.example"}).status, 204)


class Loopback(ServerTest):
    def test_other_sites_may_not_use_it(self):
        self.assertEqual(self.server.get("/v1/models", {"Origin": "http://evil.example"}).status, 403)
        for host in ("evil.example", "127.evil.example", "127.0.0.1.evil.example:80"):
            self.assertEqual(self.server.get("/v1/models", {"Host": host, "Origin": "http://" + host}).status, 403)
        own = f"http://{self.server.host}:{self.server.port}"
        self.assertEqual(self.server.get("/v1/models", {"Origin": own}).status, 200)


class Defaults(ServerTest):
    """What a request does not say, the server was started with."""
    options = ["--reward", "positive", "--method", "smc", "-k", "3", "--limit-particles", "8", "--limit-tokens", "6"]

    def test_header_over_body_over_server(self):
        def method(its=None, headers=None):
            body = {"prompt": "the movie", "return_response_only": False, "its": its or {}}
            return self.complete(body, headers=headers)["metadata"]["method"]
        self.assertEqual(method(), "smc")
        self.assertEqual(method({"method": "bon"}), "bon")
        self.assertEqual(method({"method": "bon"}, {"X-ITS-Algorithm": "particle-gibbs"}), "pg")

    def test_temperature_zero_does_not_undo_it(self):
        reply = self.complete({"prompt": "the movie", "temperature": 0, "return_response_only": False})
        self.assertEqual(len(reply["metadata"]["rewards"]), 3)
        self.assertIn("temperature", reply["warnings"][0])

    def test_limits(self):
        self.refused(400, ["8"], {"prompt": "i", "its": {"particles": 9}}, param="its.particles")
        self.assertLessEqual(self.complete({"prompt": "i", "max_tokens": 50})["usage"]["completion_tokens"], 6)


if __name__ == "__main__":
    unittest.main()
