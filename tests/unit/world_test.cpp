// The World of a request: what is asked and what is run, to the last forward; values; resuming; ancestor grafts.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/philox.h"
#include "diffusion/diffusion_world.h"
#include "diffusion/inline_compute.h"
#include "diffusion/schedule.h"
#include "kit/toy_denoiser.h"
#include "pgdlm/processes.h"
#include "smc/samplers.h"

namespace pgdlm {
namespace {

struct Recorder : EventSink {
  std::vector<Edited> edited;
  std::vector<Weighed> weighed;
  void emit(const Event& event) override {
    if (const auto* e = std::get_if<Edited>(&event)) edited.push_back(*e);
    if (const auto* w = std::get_if<Weighed>(&event)) weighed.push_back(*w);
  }
};

struct Scene {
  kit::ToyDenoiser denoiser{{.tokens = 3}};
  kit::ToyReward reward;
  Request request;
  bool memo = true;
  Recorder recorder;

  Scene(std::shared_ptr<const Backward> process, int length, int steps, Method method = Method::smc) {
    request.canvas.tokens.assign(length, 3);
    request.process = std::move(process);
    request.steps = steps;
    request.settings = preset(Preset::exact, method);
    request.trace = true;
  }

  struct Result {
    Outcome outcome;
    Cost cost;
    std::vector<Token> tokens;
  };
  Result run(std::uint64_t seed = 1) {
    recorder = {};
    const Frame frame = make_frame(request.canvas, denoiser);
    PhiloxSource source;
    InlineCompute compute(denoiser, &reward, frame, memo);
    DiffusionWorld world(request, frame, compute, source, recorder);
    const Schedule schedule = make_schedule(*request.process, frame, request.steps, request.settings);
    Outcome outcome =
        run_inline(run_sampler(pgdlm::Run{world, source, recorder, Key{seed}}, request.settings.plan, schedule));
    return {outcome, compute.cost(), world.tree().read(outcome.leaf).tokens};
  }

  // Steps at which a free particle changed: for MDLM exactly those that need a prediction.
  std::int64_t changes() const {
    std::int64_t count = 0;
    for (const Edited& e : recorder.edited) {
      std::set<int> steps;
      for (const TimedEdit& edit : e.edits) steps.insert(edit.step);
      count += static_cast<std::int64_t>(steps.size());
    }
    return count;
  }
};

TEST(Counts, MdlmRunsOneForwardPerChangeNotPerStep) {
  Scene scene(make_mdlm(), 50, 1024, Method::best_of_n);
  scene.request.settings.plan.particles = 1;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto result = scene.run(seed);
    EXPECT_EQ(result.cost.forwards_asked, scene.changes());
    EXPECT_EQ(result.cost.forwards_run, scene.changes());
    EXPECT_LE(result.cost.forwards_run, 50);
    EXPECT_GE(result.cost.forwards_run, 40);  // the expected number is 48.8
    EXPECT_EQ(result.cost.rewards_run, 1);
  }
}

TEST(Counts, ValuingAStateAndSteppingFromItShareOneForward) {
  Scene scene(make_mdlm(), 50, 1024);
  scene.request.settings.plan.particles = 1;
  const auto result = scene.run();
  EXPECT_LE(result.cost.forwards_run, 50);
  // Each change asks once to step; each unfinished state, the first canvas included, once more to be valued.
  EXPECT_EQ(result.cost.forwards_asked, 2 * scene.changes());
  EXPECT_EQ(result.cost.forwards_run, scene.changes());
  EXPECT_LE(result.cost.rewards_run, scene.changes() + 1);
}

TEST(Counts, EqualParticlesCostOne) {
  Scene scene(make_mdlm(), 6, 1, Method::best_of_n);
  scene.request.settings.plan.particles = 16;
  const auto result = scene.run();
  EXPECT_EQ(result.cost.forwards_asked, 16);
  EXPECT_EQ(result.cost.forwards_run, 1);
  EXPECT_EQ(result.cost.rewards_asked, 16);
  EXPECT_LE(result.cost.rewards_run, 16);
}

TEST(Counts, PhiCostsNoForwards) {
  Scene one(make_mdlm(), 8, 16), four(make_mdlm(), 8, 16);
  for (Scene* scene : {&one, &four}) {
    scene->request.settings.plan.particles = 1;
    scene->request.settings.valuing.estimator = Estimator::random;
    scene->memo = false;
  }
  four.request.settings.valuing.phi = 4;
  const auto a = one.run(), b = four.run();
  EXPECT_EQ(a.cost.forwards_run, b.cost.forwards_run);
  EXPECT_GT(b.cost.rewards_run, a.cost.rewards_run);
}

TEST(Counts, TheReferenceCostsNothing) {
  Scene scene(make_mdlm(), 12, 32, Method::particle_gibbs);
  scene.request.settings.plan.particles = 2;
  scene.request.settings.plan.start = Start::sampled;
  scene.request.settings.plan.iterations = 3;
  const auto result = scene.run();
  // One start and three sweeps with one free particle each: nothing else was walked, forwarded or scored.
  std::int64_t valued = 0, unfinished = 0;
  for (const Edited& e : scene.recorder.edited) {
    valued += e.fresh;
    unfinished += e.fresh && e.step + 1 < 32;
    for (const Weighed& w : scene.recorder.weighed)
      if (w.sweep == e.sweep && w.step == e.step + 1) EXPECT_NE(w.reference, e.slot);
  }
  EXPECT_EQ(result.cost.rewards_asked, valued);
  EXPECT_LE(result.cost.forwards_asked, scene.changes() + unfinished);
  EXPECT_GE(result.cost.forwards_asked, scene.changes());
}

TEST(Counts, MemoChangesNothingButTheCost) {
  for (const auto& process : {make_mdlm(), make_remdm({.eta = 0.2}), make_llada({.block_length = 4})}) {
    Scene with(process, 12, 12, Method::particle_gibbs), without(process, 12, 12, Method::particle_gibbs);
    without.memo = false;
    const auto a = with.run(7), b = without.run(7);
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_EQ(a.outcome.cloud.log_z, b.outcome.cloud.log_z);
    EXPECT_EQ(a.cost.forwards_asked, b.cost.forwards_asked);
    EXPECT_EQ(b.cost.forwards_run, b.cost.forwards_asked);
    EXPECT_EQ(b.cost.rewards_run, b.cost.rewards_asked);
    EXPECT_LT(a.cost.forwards_run, b.cost.forwards_run);
  }
}

TEST(World, TheLastValueIsTheRewardOfTheText) {
  for (bool lag : {false, true}) {
    Scene scene(make_mdlm(), 5, 40);  // many steps, few tokens: the last stage is often quiet
    scene.request.settings.valuing.lag = lag;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto result = scene.run(seed);
      EXPECT_EQ(result.outcome.reward, scene.reward.of(result.tokens));
    }
  }
}

TEST(World, PromptAndInfillingStayPinned) {
  Scene scene(make_remdm({.eta = 0.5}), 6, 20, Method::particle_gibbs);
  scene.request.canvas.tokens = {2, 1, 3, 3, 0, 3};
  scene.request.canvas.prompt = 2;
  const auto result = scene.run();
  EXPECT_EQ(result.tokens[0], 2);
  EXPECT_EQ(result.tokens[1], 1);
  EXPECT_EQ(result.tokens[4], 0);
  for (Token token : result.tokens) EXPECT_NE(token, 3);
}

TEST(World, EqualPathsResumeFromTheirTrace) {
  Scene scene(make_remdm({.eta = 0.2}), 10, 20, Method::particle_gibbs);
  const auto whole = scene.run(5);
  const std::vector<Edited> all = scene.recorder.edited;
  const Edited& middle = all[all.size() / 2];
  scene.request.recorded = {all, middle.sweep, middle.step};
  const auto resumed = scene.run(5);
  EXPECT_EQ(resumed.tokens, whole.tokens);
  EXPECT_EQ(resumed.outcome.cloud.log_z, whole.outcome.cloud.log_z);
  EXPECT_EQ(scene.recorder.edited.size(), all.size());
  EXPECT_LT(resumed.cost.forwards_run, whole.cost.forwards_run);
}

TEST(World, BlockCadenceWeighsAtBlockEnds) {
  Scene scene(make_llada({.block_length = 4}), 12, 12);
  scene.request.settings.cadence.every = 0;
  scene.run();
  ASSERT_EQ(scene.recorder.weighed.size(), 3U);
  EXPECT_EQ(scene.recorder.weighed[0].step, 4);
  EXPECT_EQ(scene.recorder.weighed[2].step, 12);
}

TEST(World, PrefixRewardsSeeFinishedPrefixesOnly) {
  struct Prefixes : Reward {
    std::vector<std::size_t> lengths;
    bool accepts_prefixes() const override { return true; }
    std::vector<double> score(std::span<const Candidate> candidates) override {
      std::vector<double> scores;
      for (const Candidate& c : candidates) {
        for (Token token : c.tokens) EXPECT_NE(token, 3);
        EXPECT_EQ(c.complete, c.tokens.size() == 9);
        EXPECT_EQ(c.prompt, 1);
        scores.push_back(static_cast<double>(c.tokens.size()));
      }
      return scores;
    }
  } prefixes;
  Scene scene(make_llada({.block_length = 4}), 9, 8);
  scene.request.canvas.tokens[0] = 1;
  scene.request.canvas.prompt = 1;
  scene.request.settings.cadence.every = 0;
  scene.request.settings.valuing.estimator = Estimator::prefix;
  const Frame frame = make_frame(scene.request.canvas, scene.denoiser);
  PhiloxSource source;
  InlineCompute compute(scene.denoiser, &prefixes, frame);
  DiffusionWorld world(scene.request, frame, compute, source, scene.recorder);
  run_inline(run_sampler(pgdlm::Run{world, source, scene.recorder, Key{}}, scene.request.settings.plan,
                         make_schedule(*scene.request.process, frame, 8, scene.request.settings)));
  EXPECT_EQ(scene.recorder.weighed[0].values[0], 5.0);
  EXPECT_EQ(scene.recorder.weighed[1].values[0], 9.0);
}

TEST(World, GreedyPathIsTheSameForEverySeed) {
  for (const auto& process : {make_mdlm(), make_remdm({.eta = 0.2}), make_llada({.block_length = 4})}) {
    Scene scene(process, 8, 8, Method::greedy);
    EXPECT_EQ(scene.run(1).tokens, scene.run(2).tokens);
  }
}

TEST(World, NaNRewardIsAnErrorThatNamesTheReward) {
  Scene scene(make_mdlm(), 1, 1, Method::best_of_n);
  struct NaN : Reward {
    std::vector<double> score(std::span<const Candidate> c) override { return std::vector<double>(c.size(), NAN); }
  } nan;
  const Frame frame = make_frame(scene.request.canvas, scene.denoiser);
  PhiloxSource source;
  InlineCompute compute(scene.denoiser, &nan, frame);
  DiffusionWorld world(scene.request, frame, compute, source, scene.recorder);
  try {
    run_inline(
        run_sampler(pgdlm::Run{world, source, scene.recorder, Key{}}, scene.request.settings.plan, {{0, 1, true}}));
    FAIL() << "NaN went through";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_request);
    EXPECT_NE(std::string(e.what()).find("reward is nan"), std::string::npos);
  }
}

TEST(World, MemoryFollowsEditsNotSteps) {
  const auto bytes = [](int steps) {
    Scene scene(make_mdlm(), 64, steps, Method::smc);
    scene.request.trace = false;
    scene.request.settings.plan.particles = 8;
    const Frame frame = make_frame(scene.request.canvas, scene.denoiser);
    PhiloxSource source;
    InlineCompute compute(scene.denoiser, &scene.reward, frame);
    DiffusionWorld world(scene.request, frame, compute, source, scene.recorder);
    run_inline(run_sampler(pgdlm::Run{world, source, scene.recorder, Key{}}, scene.request.settings.plan,
                           make_schedule(*scene.request.process, frame, steps, scene.request.settings)));
    return world.tree().bytes();
  };
  EXPECT_LT(bytes(4096), 2 * bytes(128));
}

}  // namespace
}  // namespace pgdlm
