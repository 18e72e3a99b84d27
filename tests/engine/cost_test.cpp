// Law 7: asked and run are different numbers, and both are exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/reward_ids.h"
#include "harness.h"

namespace pgdlm::testkit {
namespace {

struct Figures {
  Answer answer;
  std::int64_t states = 0, texts = 0;  // that really reached the plugins
};

Figures run(const Request& request, EngineOptions options = {}) {
  const auto denoiser = toy_denoiser();
  const auto reward = std::make_shared<kit::ToyReward>();
  Request counted = request;
  counted.reward = reward;
  Engine engine(denoiser, options);
  Figures figures;
  figures.answer = engine.generate(counted);
  figures.states = denoiser->states_run();
  figures.texts = reward->texts_run();
  return figures;
}

TEST(Cost, RunIsWhatReachedThePlugins) {
  for (const bool memo : {true, false}) {
    const Figures f = run(toy_request(1), {.memo = memo});
    EXPECT_EQ(f.answer.cost.forwards_run, f.states);
    EXPECT_EQ(f.answer.cost.tokens_run, f.states * 12);
    EXPECT_EQ(f.answer.cost.rewards_run, f.texts);
    EXPECT_GT(f.states, 0);
    EXPECT_GE(f.answer.cost.seconds, 0);
  }
}

TEST(Cost, WithoutMemoAllThatIsAskedIsRun) {
  const Cost off = run(toy_request(1), {.memo = false}).answer.cost;
  const Cost on = run(toy_request(1), {.memo = true}).answer.cost;
  EXPECT_EQ(off.forwards_run, off.forwards_asked);
  EXPECT_EQ(off.rewards_run, off.rewards_asked);
  EXPECT_EQ(on.forwards_asked, off.forwards_asked);
  EXPECT_EQ(on.rewards_asked, off.rewards_asked);
  EXPECT_LT(on.forwards_run, on.forwards_asked);
  EXPECT_LT(on.rewards_run, on.rewards_asked);
  for (const Cost& cost : {on, off}) {
    EXPECT_EQ(cost.forwards_needed, on.forwards_run);
    EXPECT_EQ(cost.rewards_needed, on.rewards_run);
  }
}

TEST(Cost, EqualParticlesCostOneForward) {
  Request request = toy_request(1, Method::smc);
  request.settings.plan.particles = 7;
  request.steps = 1;  // all seven start from the same canvas and end after one step
  const Figures f = run(request);
  EXPECT_EQ(f.answer.cost.forwards_asked, 7);
  EXPECT_EQ(f.answer.cost.forwards_run, 1);
  std::set<std::vector<Token>> distinct;
  for (const ScoredText& text : f.answer.candidates) distinct.insert(text.tokens);
  EXPECT_EQ(f.answer.cost.rewards_asked, 7);
  EXPECT_EQ(f.answer.cost.rewards_run, static_cast<std::int64_t>(distinct.size()));
}

// T = 1024 steps over L = 50 positions: only steps that reveal something ask, so at most L forwards per trajectory.
TEST(Cost, QuietStepsCostNothing) {
  Request request = toy_request(3, Method::best_of_n);
  request.canvas = {.tokens = canvas(50)};
  request.steps = 1024;
  request.settings.plan.particles = 1;
  const Cost one = run(request).answer.cost;
  EXPECT_LE(one.forwards_run, 50);
  EXPECT_GE(one.forwards_run, 40) << "48.8 are expected";
  EXPECT_EQ(one.forwards_asked, one.forwards_run) << "a free trajectory never comes back to a state";
  EXPECT_EQ(one.rewards_asked, 1);

  request.settings.plan.particles = 8;
  const Cost eight = run(request).answer.cost;
  EXPECT_LE(eight.forwards_run, 8 * 49 + 1) << "the empty canvas is shared";
  EXPECT_EQ(eight.rewards_asked, 8);
}

// Weights are looked at once per sweep: k rewards for the SMC start, k-1 for each sweep with a reference.
TEST(Cost, ReferenceCostsNoReward) {
  Request request = toy_request(4);
  request.settings.cadence.every = request.steps;
  const Cost cost = run(request).answer.cost;
  const int k = request.settings.plan.particles, m = request.settings.plan.iterations;
  EXPECT_EQ(cost.rewards_asked, k + (m - 1) * (k - 1));
}

// One step per sweep: a sweep asks for one forward per free particle, and all of them are the same one.
TEST(Cost, ReferenceCostsNoForward) {
  Request request = toy_request(4);
  request.steps = 1;
  const Cost cost = run(request).answer.cost;
  const int k = request.settings.plan.particles, m = request.settings.plan.iterations;
  EXPECT_EQ(cost.forwards_asked, k + (m - 1) * (k - 1));
  EXPECT_EQ(cost.forwards_run, 1);
}

// The same request again: everything is known already, across requests.
TEST(Cost, RequestsShareWhatIsKnown) {
  const auto denoiser = toy_denoiser();
  const auto reward = std::make_shared<kit::ToyReward>();
  Engine engine(denoiser, {});
  Request request = toy_request(1);
  request.reward = reward;
  const Cost first = engine.generate(request).cost;
  const Cost second = engine.generate(request).cost;
  EXPECT_GT(first.forwards_run, 0);
  EXPECT_EQ(second.forwards_run, 0);
  EXPECT_EQ(second.tokens_run, 0);
  EXPECT_EQ(second.rewards_run, 0);
  EXPECT_EQ(second.forwards_asked, first.forwards_asked);
  EXPECT_EQ(denoiser->states_run(), first.forwards_run);
}

TEST(Cost, ConcurrentTwinsRunOnceTogether) {
  for (const int threads : {1, 2}) {
    const auto denoiser = toy_denoiser();
    const auto reward = std::make_shared<kit::ToyReward>();
    Engine engine(denoiser, {.threads = threads});
    std::vector<std::unique_ptr<Submission>> twins;
    for (int i = 0; i < 8; ++i) {
      Request request = toy_request(1);
      request.reward = reward;
      twins.push_back(std::make_unique<Submission>());
      twins.back()->submit(engine, request);
    }
    engine.run_until_idle();
    Cost alone = run(toy_request(1)).answer.cost;
    std::int64_t forwards = 0, rewards = 0;
    for (const auto& twin : twins) {
      ASSERT_TRUE(twin->succeeded()) << twin->failure();
      forwards += twin->answer.cost.forwards_run;
      rewards += twin->answer.cost.rewards_run;
      EXPECT_EQ(twin->answer.cost.forwards_needed, alone.forwards_run) << "whatever the company";
      EXPECT_EQ(twin->answer.cost.rewards_needed, alone.rewards_run);
    }
    EXPECT_EQ(forwards, alone.forwards_run);
    EXPECT_EQ(rewards, alone.rewards_run);
    EXPECT_EQ(denoiser->states_run(), forwards);
  }
}

// Different rewards never share a score, even if one is born where the other died.
TEST(Cost, RewardsAreNotMistakenForEachOther) {
  Engine engine(toy_denoiser(), {});
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Request request = toy_request(1, Method::best_of_n);
    const auto reward = std::make_shared<kit::ToyReward>(kit::ToyRewardOptions{.seed = seed});
    request.reward = reward;
    const Answer answer = engine.generate(request);
    for (const ScoredText& text : answer.candidates) EXPECT_EQ(text.reward, reward->of(text.tokens));
    EXPECT_GT(answer.cost.rewards_run, 0);
  }
}

// Pointers that own nothing: the object behind the first may be gone although the pointer lives.
TEST(Cost, RewardIdsFollowLivesNotAddresses) {
  RewardIds ids;
  kit::ToyReward reward;
  const auto borrow = [&reward] { return std::shared_ptr<Reward>(&reward, [](Reward*) {}); };
  const std::shared_ptr<Reward> first = borrow(), second = borrow();
  EXPECT_EQ(ids.of(first), ids.of(first));
  EXPECT_NE(ids.of(first), ids.of(second));
}

// A denoiser that asks its network twice, as guidance does.
class TwiceDenoiser final : public Denoiser {
 public:
  std::vector<PredictionPtr> predict(std::span<const StateView> states) override { return inner_->predict(states); }
  int vocab() const override { return inner_->vocab(); }
  Token mask() const override { return inner_->mask(); }
  int forwards_per_state() const override { return 2; }

 private:
  std::shared_ptr<kit::ToyDenoiser> inner_ = toy_denoiser();
};

TEST(Cost, GuidanceCountsTwice) {
  const Cost once = run(toy_request(1)).answer.cost;
  Engine engine(std::make_shared<TwiceDenoiser>(), {});
  const Cost twice = engine.generate(toy_request(1)).cost;
  EXPECT_EQ(twice.forwards_asked, 2 * once.forwards_asked);
  EXPECT_EQ(twice.forwards_run, 2 * once.forwards_run);
  EXPECT_EQ(twice.tokens_run, once.tokens_run);
}

TEST(Cost, SpentEventHoldsTheAnswersCost) {
  Engine engine(toy_denoiser(), {});
  Stream stream;
  const Answer answer = engine.generate(toy_request(1), stream);
  const auto spent = stream.all<Spent>();
  ASSERT_EQ(spent.size(), 1U);
  EXPECT_EQ(spent[0].cost.forwards_asked, answer.cost.forwards_asked);
  EXPECT_EQ(spent[0].cost.forwards_run, answer.cost.forwards_run);
  EXPECT_EQ(spent[0].cost.rewards_asked, answer.cost.rewards_asked);
  EXPECT_EQ(spent[0].cost.rewards_run, answer.cost.rewards_run);
}

}  // namespace
}  // namespace pgdlm::testkit
