"""The official `openai` package of Python, as its users call it, against the server at PGDLM_URL."""
import asyncio
import os
import re
import unittest

import openai

from server import Server, eventually, fetch, live_runs

URL = os.environ["PGDLM_URL"]
TEXTS, SUMS = "mdlm-nano", "llada-nano-math"
QUESTION = [{"role": "user", "content": "Mia saves 9 dollars every week and Helen saves 14 dollars every week. They do this for "
                                        "12 weeks. How many dollars do Mia and Helen have in all?"}]
SMALL = {"model": TEXTS, "prompt": "The movie", "max_tokens": 16}
LONG = {**SMALL, "max_tokens": 64,  # half a minute, if nobody stops it
        "extra_body": {"its": {"method": "smc", "particles": 64, "reward": "sentiment:positive"}}}


def client(kind=openai.OpenAI, url=URL, **options):
    """Without retries: a second try would hide what the first one met."""
    return kind(base_url=url + "/v1", **{"api_key": "any", "max_retries": 0, "timeout": 120, **options})


def steered(**its):
    """A body with metadata in its reply."""
    return {"its": {"reward": "sentiment:positive", **its}, "return_response_only": False}


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.client = client()
        self.addCleanup(self.client.close)

    def complete(self, **options):
        return self.client.completions.create(**{**SMALL, "seed": 1, **options})

    def ask(self, **options):
        return self.client.chat.completions.create(**{"model": SUMS, "messages": QUESTION, "max_tokens": 64, **options})


class Replies(ClientTest):
    def test_a_completion(self):
        reply = self.complete()
        self.assertEqual((reply.object, reply.model, len(reply.choices)), ("text_completion", TEXTS, 1))
        self.assertGreater(len(reply.choices[0].text.split()), 3)
        self.assertEqual(reply.choices[0].index, 0)
        self.assertIn(reply.choices[0].finish_reason, ("stop", "length"))
        self.assertTrue(reply.id)
        self.assertGreater(reply.created, 1_700_000_000)

    def test_a_chat(self):
        reply = self.ask()
        self.assertEqual((reply.object, reply.model, len(reply.choices)), ("chat.completion", SUMS, 1))
        self.assertEqual(reply.choices[0].message.role, "assistant")
        self.assertTrue(reply.choices[0].message.content.endswith("#### 276"), reply.choices[0].message.content)
        self.assertEqual(reply.choices[0].finish_reason, "stop")

    def test_content_may_come_in_parts(self):
        parts = [{"role": "user", "content": [{"type": "text", "text": QUESTION[0]["content"]}]}]
        self.assertEqual(self.ask(messages=parts).choices[0].message.content, self.ask().choices[0].message.content)

    def test_usage_adds_up(self):
        for usage in (self.complete().usage, self.ask().usage):
            self.assertGreater(usage.prompt_tokens, 0)
            self.assertGreater(usage.completion_tokens, 0)
            self.assertEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)

    def test_max_tokens_bounds_the_text(self):
        self.assertLessEqual(self.complete(max_tokens=4).usage.completion_tokens, 4)
        old = self.ask(max_tokens=8)
        new = self.ask(max_tokens=openai.omit, max_completion_tokens=8)  # the name that came later
        self.assertEqual(old.choices[0].message.content, new.choices[0].message.content)
        self.assertEqual(old.choices[0].finish_reason, "length")
        self.assertEqual(old.usage.completion_tokens, 8)

    def test_nothing_but_a_prompt_is_needed(self):
        self.assertTrue(self.client.completions.create(model=TEXTS, prompt="The movie").choices[0].text)
        self.assertTrue(self.client.chat.completions.create(model=SUMS, messages=QUESTION).choices[0].message.content)

    def test_a_seed_reproduces_a_text(self):
        self.assertEqual(self.complete().choices[0].text, self.complete().choices[0].text)
        self.assertEqual(len({self.complete(seed=seed).choices[0].text for seed in range(3)}), 3)

    def test_without_a_seed_texts_differ_and_the_reply_says_how_to_repeat_them(self):
        replies = [self.complete(seed=openai.omit) for _ in range(3)]
        self.assertEqual(len({reply.choices[0].text for reply in replies}), 3)
        again = self.complete(seed=replies[0].seed)
        self.assertEqual(again.choices[0].text, replies[0].choices[0].text)

    def test_n_texts(self):
        reply = self.complete(n=3)
        self.assertEqual([choice.index for choice in reply.choices], [0, 1, 2])
        self.assertEqual(len({choice.text for choice in reply.choices}), 3)
        chat = self.ask(n=2, temperature=0.5)
        self.assertEqual([choice.index for choice in chat.choices], [0, 1])

    def test_a_list_of_prompts(self):
        prompts = ["The movie", "I think"]
        reply = self.complete(prompt=prompts, n=2, extra_body={"return_response_only": False})
        self.assertEqual([choice.index for choice in reply.choices], [0, 1, 2, 3])
        self.assertEqual(len(reply.metadata), 4)
        self.assertEqual(len({choice.text for choice in reply.choices}), 4)

    def test_the_text_ends_before_a_stop(self):
        whole = self.complete(max_tokens=24).choices[0].text
        word = whole.split()[3]
        for stop in (word, ["never said", word]):
            reply = self.complete(max_tokens=24, stop=stop)
            self.assertEqual(reply.choices[0].text, whole[:whole.index(word)])
            self.assertEqual(reply.choices[0].finish_reason, "stop")
        self.assertEqual(self.complete(max_tokens=24, stop=[]).choices[0].text, whole)

    def test_fields_without_a_meaning_here_do_no_harm(self):
        plain = self.ask().choices[0].message.content
        reply = self.ask(user="me", tools=[], logprobs=False, frequency_penalty=0, presence_penalty=0, logit_bias={}, stop=None,
                         response_format={"type": "text"}, store=False, metadata={"run": "7"}, stream=False)
        self.assertEqual(reply.choices[0].message.content, plain)
        texts = self.complete(best_of=None, echo=False, logprobs=None, suffix=None, user="me")
        self.assertEqual(texts.choices[0].text, self.complete().choices[0].text)

    def test_models(self):
        models = list(self.client.models.list())
        self.assertLessEqual({TEXTS, SUMS, "toy"}, {model.id for model in models})
        self.assertEqual({(model.object, model.owned_by) for model in models}, {("model", "pgdlm")})
        chat = {model.id: model.meta["chat"] for model in models}
        self.assertEqual((chat[TEXTS], chat[SUMS]), (False, True))

    def test_eight_at_once_are_what_they_are_alone(self):
        body = {**SMALL, "extra_body": {"deterministic": True}}

        async def together():
            async with client(openai.AsyncOpenAI) as many:
                return await asyncio.gather(*(many.completions.create(**body, seed=seed) for seed in range(8)))

        texts = [reply.choices[0].text for reply in asyncio.run(together())]
        self.assertEqual(len(set(texts)), 8)
        self.assertEqual(texts, [self.complete(**body, seed=seed).choices[0].text for seed in range(8)])


class Streams(ClientTest):
    def test_the_parts_of_a_completion_are_the_whole(self):
        whole = self.complete().choices[0]
        chunks = list(self.complete(stream=True))
        self.assertEqual("".join(chunk.choices[0].text for chunk in chunks), whole.text)
        self.assertEqual(chunks[-1].choices[0].finish_reason, whole.finish_reason)
        self.assertEqual({chunk.choices[0].finish_reason for chunk in chunks[:-1]} - {None}, set())
        self.assertEqual({chunk.object for chunk in chunks}, {"text_completion"})
        self.assertEqual(len({chunk.id for chunk in chunks}), 1)

    def test_the_parts_of_a_chat_are_the_whole(self):
        whole = self.ask().choices[0]
        chunks = list(self.ask(stream=True))
        self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks), whole.message.content)
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual(chunks[-1].choices[0].finish_reason, "stop")
        self.assertEqual({chunk.object for chunk in chunks}, {"chat.completion.chunk"})
        self.assertEqual({chunk.usage for chunk in chunks}, {None})
        self.assertGreater(len(chunks), 3)  # LLaDA's blocks come one by one

    def test_usage_comes_last_where_it_is_asked_for(self):
        for whole, chunks in ((self.complete(), list(self.complete(stream=True, stream_options={"include_usage": True}))),
                              (self.ask(), list(self.ask(stream=True, stream_options={"include_usage": True})))):
            self.assertEqual(chunks[-1].choices, [])
            self.assertEqual(chunks[-1].usage, whole.usage)
            self.assertEqual({chunk.usage for chunk in chunks[:-1]}, {None})

    def test_the_helper_of_the_package(self):
        with self.client.chat.completions.stream(model=SUMS, messages=QUESTION, max_tokens=64) as stream:
            content = [event.delta for event in stream if event.type == "content.delta"]
            final = stream.get_final_completion()
        self.assertEqual("".join(content), final.choices[0].message.content)
        self.assertEqual(final.choices[0].message.content, self.ask().choices[0].message.content)

    def test_n_streams_in_one(self):
        whole = self.complete(n=2)
        texts = ["", ""]
        for chunk in self.complete(n=2, stream=True):
            for choice in chunk.choices:
                texts[choice.index] += choice.text
        self.assertEqual(texts, [choice.text for choice in whole.choices])

    def test_frames_look_like_chunks_without_choices(self):
        """So that a client which does not know them can pass over them."""
        chunks = list(self.ask(stream=True, extra_body={"stream_mode": "denoise"}))
        frames = [chunk.frame for chunk in chunks if not chunk.choices]
        self.assertGreater(len(frames), 5)
        self.assertLessEqual({"index", "sweep", "step", "steps", "slot", "text", "canvas", "value"}, set(frames[0]))
        self.assertIn(None, frames[0]["canvas"])
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        self.assertEqual(text, self.ask().choices[0].message.content)

    def test_async(self):
        async def read():
            async with client(openai.AsyncOpenAI) as other:
                stream = await other.completions.create(**SMALL, seed=1, stream=True)
                return "".join([chunk.choices[0].text async for chunk in stream])

        self.assertEqual(asyncio.run(read()), self.complete().choices[0].text)


class Steering(ClientTest):
    def test_metadata_says_what_was_tried(self):
        reply = self.complete(extra_body=steered(method="smc", particles=4))
        found = reply.metadata
        self.assertEqual((found["method"], len(found["responses"]), len(found["rewards"]), len(found["log_weights"])),
                         ("smc", 4, 4, 4))
        self.assertEqual(found["rewards"][found["selected_index"]], max(found["rewards"]))
        self.assertEqual(found["reward"], max(found["rewards"]))
        self.assertEqual(found["responses"][found["selected_index"]], reply.choices[0].text)
        self.assertEqual((found["iterations_used"], len(found["ess"]), found["status"]), (1, 1, "done"))
        self.assertGreaterEqual(found["forwards_asked"], found["forwards_run"])

    def test_no_metadata_unless_asked_for(self):
        self.assertIsNone(self.complete().model_extra.get("metadata"))

    def test_a_budget_counts_particles(self):
        reply = self.complete(extra_body={**steered(), "budget": 3})
        self.assertEqual(len(reply.metadata["responses"]), 3)
        gibbs = self.complete(extra_body={**steered(method="pg", iterations=2), "budget": 6})
        self.assertEqual((gibbs.metadata["method"], gibbs.metadata["iterations_used"]), ("pg", 2))
        self.assertEqual(len(gibbs.metadata["responses"]), 3)

    def test_a_header_wins_over_the_body(self):
        headers = {"X-ITS-Algorithm": "best-of-n", "X-ITS-Budget": "3"}
        reply = self.complete(extra_headers=headers, extra_body={**steered(method="smc", particles=5), "budget": 6})
        self.assertEqual((reply.metadata["method"], len(reply.metadata["responses"])), ("bon", 3))

    def test_other_names_of_its_hub(self):
        its = {"algorithm": "particle-gibbs", "particles": 2, "iterations": 2, "select": "argmax",
               "reward": [{"type": "sentiment:positive", "weight": 1}]}
        reply = self.complete(extra_body={"its": its, "return_response_only": False})
        self.assertEqual(reply.metadata["method"], "pg")

    def test_steps_are_the_diffusion_s(self):
        few = self.complete(extra_body={"diffusion": {"steps": 4}})
        self.assertLessEqual(few.timings["forwards_asked"], 4)
        self.assertGreater(self.complete().timings["forwards_asked"], 4)

    def test_gaps_are_filled(self):
        reply = self.client.completions.create(model=TEXTS, prompt="", seed=1, extra_body={
            "diffusion": {"infill": "The movie was [MASK:3] and I loved it."}})
        self.assertRegex(reply.choices[0].text, r"^The movie was .+ and I loved it\.$")

    def test_a_reward_that_fails_gives_a_plain_text_and_a_warning(self):
        away = {"reward": "http://127.0.0.1:9/none", "particles": 2}
        with Server("--allow-exec", "--reward-patience", "1") as server, client(url=server.url) as asking:
            reply = asking.completions.create(**SMALL, extra_body={"its": away})
            self.assertTrue(reply.choices[0].text)
            self.assertIn("reward", reply.warnings[0])
            with self.assertRaises(openai.InternalServerError) as caught:
                asking.completions.create(**SMALL, extra_body={"its": {**away, "strict": True}})
            self.assertEqual((caught.exception.status_code, caught.exception.param), (502, "its.reward"))

    def test_strangers_cannot_make_the_server_ask_others(self):
        for reward in ("http://127.0.0.1:9/none", "exec:cat"):
            with self.assertRaises(openai.PermissionDeniedError):
                self.complete(extra_body=steered(reward=reward))


class Ends(ClientTest):
    """Requests that end before they are done."""

    def begin(self):
        """A long stream that the server has begun to work on, and its id."""
        stream = self.client.completions.create(**LONG, stream=True)
        self.addCleanup(stream.close)
        run = stream.response.headers["x-request-id"]
        self.assertTrue(eventually(lambda: run in live_runs(URL)), "the run is not in /runs")
        return stream, run

    def test_a_closed_stream_cancels_its_run(self):
        stream, run = self.begin()
        stream.close()
        self.assertTrue(eventually(lambda: run not in live_runs(URL)), "the run goes on")

    def test_a_client_that_is_tired_of_waiting_cancels_its_run(self):
        def cancelled():
            return int(re.search(r"^pgdlm_cancelled_total (\d+)", fetch(URL + "/metrics"), re.M)[1])

        before, running = cancelled(), set(live_runs(URL))
        with self.assertRaises(openai.APITimeoutError):
            self.client.with_options(timeout=1).completions.create(**LONG)
        self.assertTrue(eventually(lambda: cancelled() == before + 1), "no run was cancelled")
        self.assertLessEqual(set(live_runs(URL)), running)

    def test_a_run_can_be_asked_to_finish(self):
        stream, run = self.begin()
        self.client.post("/chat/completions/control", body={"id": run, "action": "finish"}, cast_to=object)
        chunks = list(stream)
        self.assertIn(chunks[-1].choices[0].finish_reason, ("stop", "length"))
        self.assertTrue(eventually(lambda: run not in live_runs(URL)))

    def test_metrics_are_there(self):
        self.complete()
        self.assertRegex(fetch(URL + "/metrics"), r"(?m)^\w+(\{.*\})? [1-9]")


class Mistakes(ClientTest):
    def refused(self, param, **options):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.complete(**options)
        self.assertEqual(caught.exception.param, param, caught.exception.message)
        self.assertEqual(caught.exception.type, "invalid_request_error")
        return caught.exception.message

    def test_the_error_names_the_field(self):
        self.assertIn("many", self.refused("max_tokens", max_tokens="many"))
        self.refused("max_tokens", max_tokens=-1)
        self.refused("n", n=0)
        self.refused("temperature", temperature="hot")
        self.refused("stop", stop=[1])
        self.refused("prompt", prompt={"text": "x"})
        self.refused("budget", extra_body={"budget": 0})
        self.refused("its", extra_body={"its": "smc"})
        self.assertIn("smc", self.refused("its.method", extra_body={"its": {"method": "magic"}}))
        self.refused("its.particles", extra_body={"its": {"particles": 0}})
        self.refused("its.reward", extra_body={"its": {"reward": "nosuchreward"}})
        self.refused("diffusion.steps", extra_body={"diffusion": {"steps": 0}})

    def test_chats_need_messages(self):
        for messages in ([], [{"content": "hi"}], ["hi"], [{"role": "user", "content": 1}]):
            with self.assertRaises(openai.BadRequestError) as caught:
                self.ask(messages=messages)
            self.assertTrue(caught.exception.param.startswith("messages"), caught.exception.param)

    def test_likelihoods_are_refused_rather_than_made_up(self):
        self.refused("logprobs", echo=True, logprobs=1, max_tokens=1)

    def test_an_unknown_model(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            self.complete(model="gpt-4o")
        self.assertEqual((caught.exception.param, caught.exception.code), ("model", "model_not_found"))
        self.assertIn(TEXTS, caught.exception.message)

    def test_an_unknown_path(self):
        with self.assertRaises(openai.NotFoundError):
            self.client.responses.create(model=TEXTS, input="hi")

    def test_mistakes_are_told_before_a_stream_begins(self):
        self.refused("max_tokens", max_tokens="many", stream=True)


class Keys(unittest.TestCase):
    def test_only_who_has_the_key_is_answered(self):
        with Server("--api-key", "secret") as server:
            with client(url=server.url) as stranger, self.assertRaises(openai.AuthenticationError):
                stranger.completions.create(**SMALL)
            with client(url=server.url, api_key="secret") as friend:
                self.assertTrue(friend.completions.create(**SMALL).choices[0].text)


if __name__ == "__main__":
    unittest.main()
