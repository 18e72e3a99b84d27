"""LangChain, which sends more than it was told: nulls, penalties of 0, a list of one prompt, 256 tokens."""
import os
import unittest

from langchain_openai import ChatOpenAI, OpenAI

PLACE = {"base_url": os.environ["PGDLM_URL"] + "/v1", "api_key": "any", "max_retries": 0}
QUESTION = "A store has 138 coins. Half of them are sold on Monday. On Tuesday 12 more are sold. The rest is sold for 5 dollars " \
           "each. How much money is that?"


class Chat(unittest.TestCase):
    def setUp(self):
        self.model = ChatOpenAI(model="llada-nano-math", max_tokens=64, temperature=0, **PLACE)

    def test_invoke(self):
        reply = self.model.invoke(QUESTION)
        self.assertTrue(reply.content.endswith("#### 285"), reply.content)
        self.assertEqual(reply.response_metadata["finish_reason"], "stop")
        self.assertGreater(reply.usage_metadata["output_tokens"], 0)

    def test_stream(self):
        parts = [chunk.content for chunk in self.model.stream(QUESTION)]
        self.assertGreater(len(parts), 3)
        self.assertEqual("".join(parts), self.model.invoke(QUESTION).content)

    def test_a_reward_through_extra_body(self):
        model = self.model.bind(temperature=0.5, extra_body={"its": {"reward": "prm", "particles": 4, "method": "smc"}})
        self.assertIn("####", model.invoke(QUESTION).content)


class Completions(unittest.TestCase):
    def setUp(self):
        self.model = OpenAI(model="mdlm-nano", **PLACE)

    def test_its_defaults_are_understood(self):
        self.assertTrue(self.model.invoke("The movie").strip())

    def test_a_batch_is_one_request_of_two_prompts(self):
        texts = self.model.bind(max_tokens=16).batch(["The movie", "I think"])
        self.assertEqual(len(set(texts)), 2)

    def test_stream(self):
        self.assertTrue("".join(self.model.bind(max_tokens=16).stream("The movie")).strip())


if __name__ == "__main__":
    unittest.main()
