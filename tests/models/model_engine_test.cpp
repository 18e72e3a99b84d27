// The whole engine on a network, on every device: any process, steered; many requests on one model are each what they
// would be alone, and what they cost is counted.
#include "engine/harness.h"
#include "models/each_device.h"

namespace pgdlm {
namespace {

class ManyFives final : public Reward {
  std::vector<double> score(std::span<const Candidate> candidates) override {
    std::vector<double> scores;
    for (const Candidate& c : candidates)
      scores.push_back(static_cast<double>(std::ranges::count_if(c.tokens, [](Token t) { return t % 5 == 0; })));
    return scores;
  }
};

Request steered(Token mask, std::size_t length, std::shared_ptr<const Backward> process, std::uint64_t seed) {
  Request request{.canvas = {.tokens = {5, 6}, .prompt = 2}, .steps = 6, .process = std::move(process)};
  request.canvas.tokens.resize(length, mask);
  request.reward = std::make_shared<ManyFives>();
  request.settings = preset(Preset::exact, Method::particle_gibbs);
  request.settings.plan.particles = 4;
  request.settings.plan.iterations = 2;
  request.seed = seed;
  return request;
}

using EngineOn = EachDevice;

TEST_P(EngineOn, EveryProcessRuns) {
  const auto denoiser = make_denoiser(model());
  const std::vector<std::shared_ptr<const Backward>> processes = {
      make_mdlm({}), make_remdm({}), make_llada({.block_length = 2, .temperature = 0.8}), make_dream({})};
  for (const auto& process : processes) {
    std::vector<std::vector<Token>> answers;
    for (const bool memo : {true, false}) {
      Engine engine(denoiser, {.threads = memo ? 2 : 1, .memo = memo});
      answers.push_back(engine.generate(steered(denoiser->mask(), 6, process, 0)).tokens);
      EXPECT_EQ(std::ranges::count(answers.back(), denoiser->mask()), 0);
    }
    EXPECT_EQ(answers[0], answers[1]);
  }
}

TEST_P(EngineOn, ManyRequestsAreEachAsIfAlone) {
  const auto model = this->model({.max_tokens = 40});  // several forwards and several heads to a batch
  const auto denoiser = make_denoiser(model);
  std::vector<Request> requests;
  for (const std::size_t length : {6, 9, 6, 17})
    requests.push_back(steered(denoiser->mask(), length, length == 9 ? make_llada({.block_length = 7}) : make_mdlm({}),
                               requests.size()));
  std::vector<testkit::Submission> alone(requests.size()), together(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Engine engine(denoiser, {.memo = false});
    alone[i].submit(engine, requests[i]);
    engine.run_until_idle();
    ASSERT_TRUE(alone[i].succeeded()) << alone[i].failure();
    EXPECT_EQ(alone[i].answer.cost.forwards_run, alone[i].answer.cost.forwards_asked);
  }
  Engine engine(denoiser, {});
  for (std::size_t i = 0; i < requests.size(); ++i) together[i].submit(engine, requests[i]);
  engine.run_until_idle();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ASSERT_TRUE(together[i].succeeded()) << together[i].failure();
    EXPECT_EQ(together[i].stream.text, alone[i].stream.text);
    EXPECT_EQ(together[i].answer.tokens, alone[i].answer.tokens);
    EXPECT_EQ(together[i].answer.reward, alone[i].answer.reward);
    EXPECT_EQ(together[i].answer.cost.forwards_asked, alone[i].answer.cost.forwards_asked);
    EXPECT_LT(together[i].answer.cost.forwards_run, together[i].answer.cost.forwards_asked);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EngineOn, everywhere("mdlm", "llada", "dream", "bert-fill-mask", "roberta-fill-mask"),
                         device_test_name);

}  // namespace
}  // namespace pgdlm
