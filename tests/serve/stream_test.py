"""Streams: deltas, frames, the engine's events; breaking off, coming back, finishing early; requests side by side."""
import concurrent.futures
import json
import os
import unittest

from server import SLOW, ServerTest, Stream, text_of

PLAIN = {"prompt": "the movie", "max_tokens": 24, "seed": 5, "stream": True}
BLOCKS = {**PLAIN, "diffusion": {"process": "llada", "block_length": 4}}


class Streams(ServerTest):
    def stream(self, body, path="/v1/completions"):
        return list(Stream(self.server, path, body))

    def test_deltas_add_up_to_the_text(self):
        for body in (PLAIN, BLOCKS, {**PLAIN, "n": 3}, {**PLAIN, "stop": ["it", "was"]}, {**PLAIN, "echo": True},
                     {**PLAIN, "its": {"reward": "positive", "particles": 4}},
                     {**BLOCKS, "its": {"reward": "positive", "method": "pg", "particles": 3}},
                     {**PLAIN, "diffusion": {"process": "remdm"}}):
            with self.subTest(body=body):
                whole = self.complete({**body, "stream": False})
                events = self.stream(body)
                self.assertEqual(text_of(events), whole["choices"][0]["text"])
                reasons = [c["finish_reason"] for _, _, data in events for c in data["choices"] if c["finish_reason"]]
                self.assertEqual(sorted(reasons), sorted(choice["finish_reason"] for choice in whole["choices"]))
                self.assertEqual([number for number, _, _ in events], list(range(len(events))))

    def test_chat_has_a_role_and_a_last_chunk_with_usage(self):
        events = self.stream({"messages": [{"role": "user", "content": "the movie"}], "stream": True, "max_tokens": 8,
                              "stream_options": {"include_usage": True}}, "/v1/chat/completions")
        self.assertEqual(events[0][2]["choices"][0]["delta"], {"role": "assistant", "content": ""})
        last = events[-1][2]
        self.assertEqual(last["choices"], [])
        self.assertEqual(last["usage"]["prompt_tokens"], 2)
        self.assertIn("timings", last)
        self.assertEqual(events[-2][2]["choices"][0]["delta"], {})
        self.assertEqual({data["object"] for _, _, data in events}, {"chat.completion.chunk"})

    def test_blocks_arrive_one_by_one_before_half_of_the_forwards(self):
        """The model is asked to stop after a few forwards of many: what was committed has been sent."""
        body = {**PLAIN, "max_tokens": 400, "diffusion": {"process": "llada", "block_length": 4, "steps": 400}}
        stream = Stream(self.server, "/v1/completions", body)
        events = iter(stream)
        first = next(events)
        self.server.post("/v1/chat/completions/control", {"id": stream.id, "action": "finish"})
        rest = list(events)
        self.assertTrue(first[2]["choices"][0]["text"])
        spent = rest[-1][2]["timings"]["forwards_asked"]
        self.assertLess(spent, 200, "of 400: the first delta came before half of them had run")

    def test_frames(self):
        body = {**PLAIN, "its": {"reward": "positive", "particles": 4, "method": "smc"}, "diffusion": {"steps": 32}}
        denoise = [data["frame"] for _, name, data in self.stream({**body, "stream_mode": "denoise"}) if name == "diffusion_frame"]
        best = [data["frame"] for _, name, data in self.stream({**body, "stream_mode": "best"}) if name == "diffusion_frame"]
        self.assertGreater(len(denoise), len(best))
        self.assertGreater(len(best), 2)
        masks = [frame["canvas"].count(None) for frame in best]
        self.assertEqual((masks[-1], best[-1]["step"], best[-1]["steps"]), (0, 32, 32))
        self.assertGreater(masks[0], 0)
        self.assertEqual([name for _, name, _ in self.stream(body) if name], [])

    def test_sweeps_may_differ_in_size(self):
        for its in ({"preset": "paper"}, {"start": "greedy", "resample_last": True}, {"start": "sampled", "ess_threshold": "always"}):
            for mode in ("best", "denoise"):
                with self.subTest(its=its, mode=mode):
                    body = {**PLAIN, "max_tokens": 8, "stream_mode": mode, "diffusion": {"steps": 8},
                            "its": {"method": "pg", "reward": "positive", "particles": 4, "iterations": 3, **its}}
                    self.assertEqual(text_of(self.stream(body)), self.complete({**body, "stream": False})["choices"][0]["text"])

    def test_events_are_those_of_a_trace(self):
        body = {**PLAIN, "its": {"reward": "positive", "particles": 3, "method": "pg", "iterations": 2},
                "diffusion": {"steps": 16}, "stream_events": True}
        events = self.stream(body)
        told = [data["event"] for _, name, data in events if name == "pgdlm" and data["event"]["type"] != "drafted"]
        self.assertEqual([event["seq"] for event in told], list(range(len(told))))
        self.assertEqual((told[0]["type"], told[-1]["type"]), ("run_started", "run_finished"))
        pieces = {}
        for _, name, data in events:
            if name == "pieces":
                pieces.update(data["pieces"])
                mask = data["mask"]
            elif name == "pgdlm" and data["event"]["type"] == "edited":
                for edit in data["event"]["edits"]:
                    self.assertIn(str(edit[2]), pieces)
        self.assertIn(mask, told[0]["canvas"])

    def test_a_client_that_leaves_cancels(self):
        for body in ({**SLOW, "stream": True}, SLOW):
            with self.subTest(stream="stream" in body):
                before = self.server.metric("cancelled_total")
                connection = self.server.connect()
                connection.request("POST", "/v1/completions", json.dumps(body))
                self.until(lambda: self.server.metric("requests_running") == 1)
                connection.sock.close()
                connection.close()
                self.until(lambda: self.server.metric("requests_running") == 0)
                self.assertEqual(self.server.metric("cancelled_total"), before + 1)

    def test_coming_back(self):
        body = {**BLOCKS, "max_tokens": 200, "stream_events": True, "reconnect_seconds": 60,
                "diffusion": {"process": "llada", "block_length": 20}, "its": {"reward": "positive", "particles": 4, "method": "smc"}}
        whole = self.complete({**body, "stream": False, "stream_events": False})["choices"][0]["text"]
        broken = Stream(self.server, "/v1/completions", body)
        seen = []
        for event in broken:
            seen.append(event)
            if len(seen) == 12:
                break
        broken.close()
        last = seen[-1][0]
        rest = list(Stream(self.server, f"/runs/{broken.id}/events?after={last}"))
        self.assertTrue(all(number > last for number, _, _ in rest))
        self.assertEqual(text_of(seen + rest), whole)
        told = [data["event"] for _, name, data in seen + rest if name == "pgdlm" and data["event"]["type"] != "drafted"]
        self.assertEqual([event["seq"] for event in told], list(range(len(told))))
        again = list(Stream(self.server, f"/runs/{broken.id}/events"))
        self.assertEqual(text_of(again), whole, "it is kept for a while after its end")

    def test_nothing_to_come_back_to(self):
        self.assertEqual(self.server.get("/runs/cmpl-0/events").status, 404)
        stream = Stream(self.server, "/v1/completions", PLAIN)
        list(stream)
        self.assertEqual(self.server.get(f"/runs/{stream.id}/events").status, 404)

    def test_finish_answers_with_the_best_so_far(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waiting = pool.submit(self.complete, {**SLOW, "return_response_only": False})
            self.until(lambda: self.server.metric("requests_running") == 1)
            run = next(run for run in self.server.get("/runs").json()["live"] if run["state"] == "running")
            self.assertEqual(run["method"], "pg")
            self.assertTrue(self.server.post("/v1/chat/completions/control", {"id": run["id"], "action": "finish"}).json()["accepted"])
            reply = waiting.result()
        self.assertEqual(reply["metadata"]["status"], "cancelled")
        self.assertIn("best so far", reply["warnings"][0])


class Together(ServerTest):
    def test_batches_mix_rows_of_different_requests(self):
        bodies = [{"prompt": "the movie", "max_tokens": 60, "seed": seed} for seed in range(8)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            together = list(pool.map(self.complete, bodies))
        self.assertGreater(self.server.metric("mixed_batches_total"), 0)
        self.assertGreater(self.server.metric("mixed_batch_rows_total"), self.server.metric("mixed_batches_total"))
        alone = [self.complete(body) for body in bodies]
        self.assertEqual([reply["choices"][0]["text"] for reply in together], [reply["choices"][0]["text"] for reply in alone])

    def test_a_network_is_deterministic_under_load_if_asked(self):
        """Shapes of their own: the very same rewards, to the last bit, alone and among others."""
        body = {"model": "mdlm-nano", "prompt": "The movie", "max_tokens": 12, "seed": 3, "deterministic": True,
                "return_response_only": False, "diffusion": {"steps": 24},
                "its": {"reward": "sentiment:positive", "particles": 3, "method": "smc"}}
        noise = [{**body, "deterministic": False, "seed": 100 + seed} for seed in range(5)]
        alone = self.complete(body)["metadata"]
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            loaded = list(pool.map(self.complete, [*noise, body]))[-1]["metadata"]
        for key in ("responses", "rewards", "log_weights", "ess", "log_z"):
            self.assertEqual(alone[key], loaded[key], key)


class Queue(ServerTest):
    options = ["--parallel", "1", "--queue", "2"]

    def test_a_full_queue_says_when_to_come_back(self):
        streams = [Stream(self.server, "/v1/completions", {**SLOW, "stream": True})]
        self.until(lambda: self.server.metric("requests_running") == 1)
        for _ in range(2):
            streams.append(Stream(self.server, "/v1/completions", {**SLOW, "stream": True}))
        self.until(lambda: self.server.metric("requests_waiting") == 2)
        reply = self.server.post("/v1/completions", {"prompt": "i"})
        self.assertEqual((reply.status, reply.json()["error"]["code"]), (429, "queue_full"))
        self.assertGreater(int(reply.headers["Retry-After"]), 0)
        states = sorted(run["state"] for run in self.server.get("/runs").json()["live"])
        self.assertEqual(states, ["running", "waiting", "waiting"])
        for stream in streams:
            stream.close()
        self.until(lambda: self.server.metric("requests_running") + self.server.metric("requests_waiting") == 0)
        self.assertTrue(self.complete({"prompt": "i", "max_tokens": 4})["choices"])


class Limits(ServerTest):
    options = ["--limit-forwards", "300"]

    def test_forwards_end_a_run_with_the_best_it_has(self):
        reply = self.complete({**SLOW, "max_tokens": 8, "diffusion": {"steps": 8}, "return_response_only": False})
        self.assertEqual(reply["metadata"]["status"], "budget_spent")
        self.assertLess(reply["metadata"]["forwards_asked"], 320)


class Failing(ServerTest):
    """The operator's reward is a program that answers twice and then dies for good."""
    script = "import sys, json, os\n" \
             "for line in sys.stdin:\n" \
             "    if os.path.exists('down'): sys.exit(1)\n" \
             "    print(json.dumps({'scores': [1.0] * len(json.loads(line)['texts'])}), flush=True)\n"
    options = ["--reward", "exec:python3 reward.py"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(os.path.join(cls.server.folder.name, "reward.py"), "w") as file:
            file.write(cls.script)

    def test_a_reward_that_fails_leaves_one_plain_text(self):
        body = {"prompt": "the movie", "max_tokens": 8, "return_response_only": False}
        self.assertNotIn("warnings", self.complete(body))
        with open(os.path.join(self.server.folder.name, "down"), "w"):
            pass
        reply = self.complete(body)
        self.assertIn("steering failed", reply["warnings"][0])
        self.assertEqual(len(reply["metadata"]["responses"]), 1)
        events = list(Stream(self.server, "/v1/completions", {**body, "stream": True}))
        self.assertIn("steering failed", events[-1][2]["warnings"][0])
        self.assertTrue(text_of(events))
        self.refused(502, ["exec"], {**body, "its": {"strict": True}}, param="its.reward")
        self.assertEqual(self.server.get("/health").status, 200)


if __name__ == "__main__":
    unittest.main()
