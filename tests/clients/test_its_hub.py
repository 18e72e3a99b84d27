"""its_hub, whose service ours looks like: its algorithms over our endpoint, and its requests and replies against ours."""
import asyncio
import json
import os
import unittest

from its_hub import BestOfN, OpenAICompatibleLanguageModel, SelfConsistency
from its_hub.api import AbstractOutcomeRewardModel, ITSRequestConfig
from its_hub.core.gateway import ITSGateway
from its_hub.integration.iaas.models import ChatCompletionRequest, ChatCompletionResponse

from server import fetch

URL = os.environ["PGDLM_URL"]
MODEL = "llada-nano-math"
QUESTION = "A store has 138 coins. Half of them are sold on Monday. On Tuesday 12 more are sold. The rest is sold for 5 dollars " \
           "each. How much money is that?"


def number(text):
    """What its self-consistency votes on."""
    return text.rpartition("####")[2].strip()


class ServedReward(AbstractOutcomeRewardModel):
    """Our process reward, which judges for their algorithm over POST /v1/score."""

    def score(self, messages, **_):
        texts = [conversation[-1].content for conversation in messages]
        reply = json.loads(fetch(URL + "/v1/score", {"reward": "prm", "prompt": QUESTION, "texts": texts}))
        return [item["score"] for item in reply["data"]]

    async def ascore(self, messages, orchestrator=None, **_):
        return self.score(messages)


class Algorithms(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.model = OpenAICompatibleLanguageModel(URL + "/v1", "any", MODEL, temperature=1.5, max_completion_tokens=64)
        self.addAsyncCleanup(self.model.close)

    async def test_self_consistency(self):
        result = await SelfConsistency(number).ainfer(self.model, QUESTION, 8, return_response_only=False)
        texts = [response["content"] for response in result.responses]
        self.assertEqual((len(texts), result.usage.num_calls), (8, 8))
        self.assertGreater(len(set(texts)), 1, "eight requests without a seed gave one text")
        self.assertGreater(result.usage.completion_tokens, 8)
        self.assertEqual(result.response_counts[number(result.the_one["content"])], max(result.response_counts.values()))

    async def test_best_of_n_by_our_reward(self):
        result = await BestOfN(ServedReward()).ainfer(self.model, QUESTION, 6, return_response_only=False)
        self.assertEqual(len(result.scores), 6)
        self.assertEqual(result.scores[result.selected_index], max(result.scores))
        self.assertGreater(len(set(result.scores)), 1)

    async def test_its_gateway(self):
        gateway = ITSGateway(SelfConsistency(number))
        self.addAsyncCleanup(gateway.ashutdown)
        reply = await gateway.arun_chat_completion(ITSRequestConfig(4, URL + "/v1", MODEL), [{"role": "user", "content": QUESTION}])
        self.assertEqual(reply["usage"]["num_calls"], 4)
        self.assertTrue(reply["message"]["content"].endswith("#### 285"), reply["message"])  # our default: no noise


class Service(unittest.TestCase):
    """Its clients, which know no field but its own, meet our server in place of its."""

    def ask(self, **fields):
        request = ChatCompletionRequest(model=MODEL, messages=[{"role": "user", "content": QUESTION}], max_tokens=64, **fields)
        return ChatCompletionResponse.model_validate_json(
            fetch(URL + "/v1/chat/completions", request.model_dump()))

    def test_a_budget(self):
        reply = self.ask(budget=4, return_response_only=False)
        self.assertEqual(len(reply.metadata["responses"]), 4)
        self.assertEqual(reply.metadata["responses"][reply.metadata["selected_index"]], reply.choices[0].message["content"])
        self.assertGreater(reply.usage.completion_tokens, 0)

    def test_defaults(self):
        reply = self.ask()
        self.assertIsNone(reply.metadata)
        self.assertTrue(reply.choices[0].message["content"].endswith("#### 285"))


if __name__ == "__main__":
    unittest.main()
