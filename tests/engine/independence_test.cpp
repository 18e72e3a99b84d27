// Batch independence: a request's events and answer are the same bytes alone or in company, with one thread or two,
// whatever the batch size, and with or without the memo.
#include <gtest/gtest.h>

#include "diffusion/guidance.h"
#include "harness.h"

namespace pgdlm::testkit {
namespace {

struct Setting {
  std::string name;
  EngineOptions options;
  int company = 0;  // other requests at the same time
};

// A mixed crowd: other lengths, methods, processes, rewards; some of it with the same states as the one we watch.
Request stranger(int i) {
  static const Method methods[] = {Method::particle_gibbs, Method::smc, Method::best_of_n, Method::greedy,
                                   Method::particle_gibbs_adaptive};
  Request request = toy_request(static_cast<std::uint64_t>(100 + i), methods[i % 5]);
  request.canvas.tokens.resize(static_cast<std::size_t>(12 + 9 * (i % 4)), kMask);
  if (i % 3 == 1) request.process = make_remdm();
  if (i % 3 == 2) request.reward = nullptr;
  return request;
}

struct Result {
  std::string events;
  Answer answer;
};

Result run(const Request& request, const Setting& setting, bool time_dependent) {
  Engine engine(toy_denoiser(time_dependent), setting.options);
  std::vector<std::unique_ptr<Submission>> crowd;
  const auto add_company = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      crowd.push_back(std::make_unique<Submission>());
      crowd.back()->submit(engine, stranger(i));
    }
  };
  Submission watched;
  add_company(0, setting.company / 2);
  watched.submit(engine, request);
  add_company(setting.company / 2, setting.company);
  engine.run_until_idle();
  for (const auto& other : crowd) EXPECT_TRUE(other->succeeded()) << other->failure();
  EXPECT_TRUE(watched.succeeded()) << watched.failure();
  return {watched.stream.text, watched.answer};
}

void expect_equal(const Answer& a, const Answer& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.reward, b.reward);
  EXPECT_EQ(a.log_z, b.log_z);
  EXPECT_EQ(a.sweeps, b.sweeps);
  EXPECT_EQ(a.cost.forwards_asked, b.cost.forwards_asked);
  EXPECT_EQ(a.cost.rewards_asked, b.cost.rewards_asked);
  ASSERT_EQ(a.candidates.size(), b.candidates.size());
  for (std::size_t i = 0; i < a.candidates.size(); ++i) {
    EXPECT_EQ(a.candidates[i].tokens, b.candidates[i].tokens);
    EXPECT_EQ(a.candidates[i].reward, b.candidates[i].reward);
    EXPECT_EQ(a.candidates[i].log_weight, b.candidates[i].log_weight);
  }
}

struct Case {
  std::string name;
  Request request;
  bool time_dependent = false;
};

std::vector<Case> cases() {
  std::vector<Case> all = {{"gibbs", toy_request(1)},
                           {"adaptive", toy_request(2, Method::particle_gibbs_adaptive)},
                           {"smc", toy_request(3, Method::smc)},
                           {"best_of_n", toy_request(4, Method::best_of_n)},
                           {"greedy", toy_request(5, Method::greedy)},
                           {"time_dependent", toy_request(6), true},
                           {"random_phi_tau", toy_request(7)},
                           {"remdm_conf", toy_request(8)},
                           {"llada_blocks", toy_request(9)},
                           {"paper", toy_request(10)},
                           {"fk", toy_request(11)},
                           {"ancestors", toy_request(12)},
                           {"forbidden_texts", toy_request(13)}};
  all[6].request.settings.valuing = {.estimator = Estimator::random, .phi = 3, .tau = 2};
  all[7].request.process = make_remdm({.schedule = RemdmSchedule::conf});
  all[8].request.process = make_llada({.block_length = 5});
  all[8].request.steps = 10;
  all[8].request.settings.cadence.every = 0;
  for (const auto& [index, chosen] : {std::pair{9, Preset::paper}, std::pair{10, Preset::fk}}) {
    Request& request = all[static_cast<std::size_t>(index)].request;
    request.settings = preset(chosen, Method::particle_gibbs);
    request.settings.plan.particles = 4;
    request.settings.cadence.every = 2;
  }
  all[11].request.settings.plan.ancestor_sampling = true;
  all[12].request.reward = std::make_shared<kit::ToyReward>(kit::ToyRewardOptions{.forbidden_one_in = 2});
  return all;
}

class Independence : public testing::TestWithParam<Case> {};

TEST_P(Independence, SameBytesEverywhere) {
  const Setting alone{"alone, one thread", {.threads = 1}};
  const std::vector<Setting> others = {
      {"two threads", {.threads = 2}},
      {"memo off", {.threads = 1, .memo = false}},
      {"memo off, two threads", {.threads = 2, .memo = false}},
      {"memo that holds nothing", {.threads = 2, .memo_bytes = 0}},
      {"memo that holds little", {.threads = 1, .memo_bytes = 4000}},
      {"batches of one", {.threads = 1, .max_batch = 1}},
      {"batches of three, two threads", {.threads = 2, .max_batch = 3}},
      {"among 32 others", {.threads = 1}, 32},
      {"among 32 others, two threads", {.threads = 2}, 32},
      {"among 32 others, memo off, two threads, small batches", {.threads = 2, .memo = false, .max_batch = 5}, 32}};
  const Case& param = GetParam();
  const Result reference = run(param.request, alone, param.time_dependent);
  EXPECT_NE(reference.events.find("\"run_finished\""), std::string::npos);
  for (const Setting& setting : others) {
    SCOPED_TRACE(setting.name);
    const Result result = run(param.request, setting, param.time_dependent);
    EXPECT_EQ(result.events, reference.events);
    expect_equal(result.answer, reference.answer);
  }
}

INSTANTIATE_TEST_SUITE_P(Engine, Independence, testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

// With so many logits, predictions are read on several threads at the same time.
TEST(LargeVocabulary, SameBytesWithAnyThreads) {
  const int many = 20000;
  const auto bytes = [many](int threads, bool memo) {
    const auto denoiser = std::make_shared<kit::ToyDenoiser>(kit::ToyDenoiserOptions{.tokens = many});
    Engine engine(make_guided(denoiser, 0.5), {.threads = threads, .memo = memo});
    Submission watched;
    Request request = toy_request(1, Method::smc);
    request.canvas.tokens.assign(12, many);
    request.canvas.prompt = 0;
    request.process = make_llada({.block_length = 6});
    request.settings.valuing = {.estimator = Estimator::random, .phi = 2};
    watched.submit(engine, request);
    engine.run_until_idle();
    EXPECT_TRUE(watched.succeeded()) << watched.failure();
    return watched.stream.text;
  };
  const std::string alone = bytes(1, true);
  EXPECT_NE(alone.find("\"run_finished\""), std::string::npos);
  for (const int threads : {2, 5})
    for (const bool memo : {true, false}) EXPECT_EQ(bytes(threads, memo), alone) << threads << " threads";
}

TEST(Seeds, DifferentSeedsDiffer) {
  EXPECT_NE(run(toy_request(1), {"", {.threads = 1}}, false).events,
            run(toy_request(2), {"", {.threads = 1}}, false).events);
}

}  // namespace
}  // namespace pgdlm::testkit
