// What the samplers promise besides their laws: selection, budgets, thresholds, cancelling, degenerate ends, FK's
// arithmetic. On the abstract world of the kit with Philox draws.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/philox.h"
#include "kit/broken.h"
#include "kit/table_world.h"
#include "smc/population.h"
#include "smc/samplers.h"

namespace pgdlm {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Recorder : EventSink {
  std::vector<Event> events;
  void emit(const Event& event) override { events.push_back(event); }
  template <class T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const Event& event : events)
      if (const T* e = std::get_if<T>(&event)) found.push_back(*e);
    return found;
  }
};

struct Bench {
  kit::Table table{.steps = 4};
  PhiloxSource source;
  Recorder recorder;
  std::function<void(kit::TableWorld&)> prepare = [](kit::TableWorld&) {};

  Outcome run(Plan plan, std::uint64_t seed = 1) {
    kit::TableWorld world(table, source);
    prepare(world);
    recorder.events.clear();
    return run_inline(run_sampler(Run{world, source, recorder, Key{seed}}, plan, kit::table_schedule(table)));
  }
};

Plan plan_of(Method method, int k = 4) {
  Plan plan = preset(Preset::exact, method).plan;
  plan.particles = k;
  plan.beta = 0.5;
  return plan;
}

TEST(Samplers, ArgmaxLastReturnsTheBestOfTheLastSet) {
  Bench bench;
  Plan plan = plan_of(Method::smc, 8);
  plan.selection = Selection::argmax_last;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome = bench.run(plan, seed);
    for (const Particle& p : outcome.cloud.particles) EXPECT_LE(p.value, outcome.reward);
  }
}

TEST(Samplers, ArgmaxAllNeverFallsBelowAnySweep) {
  Bench bench;
  Plan plan = plan_of(Method::particle_gibbs, 2);
  plan.selection = Selection::argmax_all;
  plan.start = Start::sampled;
  plan.iterations = 6;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome outcome = bench.run(plan, seed);
    for (const Weighed& w : bench.recorder.all<Weighed>())
      if (w.step == bench.table.steps)
        for (double value : w.values) EXPECT_LE(value, outcome.reward);
  }
}

TEST(Samplers, SmcStartCountsAsTheFirstIteration) {
  Bench bench;
  Plan plan = plan_of(Method::particle_gibbs);
  plan.iterations = 3;
  EXPECT_EQ(bench.run(plan).sweeps, 3);
  plan.start = Start::greedy;
  EXPECT_EQ(bench.run(plan).sweeps, 4);
}

TEST(Samplers, AdaptiveStopsAtTheThreshold) {
  Bench bench;
  bench.table.rewards = {0.0, 1.0};
  Plan plan = plan_of(Method::particle_gibbs_adaptive);
  plan.iterations = 50;
  plan.threshold = 1.0;
  const Outcome outcome = bench.run(plan);
  EXPECT_EQ(outcome.status, Status::done);
  EXPECT_EQ(outcome.reward, 1.0);
  EXPECT_LT(outcome.sweeps, 51);
  plan.threshold = -5;  // the greedy start is good enough
  EXPECT_EQ(bench.run(plan).sweeps, 1);
}

TEST(Samplers, BudgetOfParticlesEndsTheRun) {
  Bench bench;
  Plan plan = plan_of(Method::particle_gibbs_adaptive, 4);
  plan.iterations = 50;
  plan.max_particles = 1 + 3 * 4;  // the greedy start and three sweeps
  const Outcome outcome = bench.run(plan);
  EXPECT_EQ(outcome.status, Status::budget_spent);
  EXPECT_EQ(outcome.sweeps, 4);
}

TEST(Samplers, EveryResamplingRuleIsObeyed) {
  Bench bench;
  Plan plan = plan_of(Method::smc, 4);
  plan.ess_floor = std::nullopt;
  plan.max_events = 100;
  bench.run(plan);
  EXPECT_EQ(bench.recorder.all<Resampled>().size(), 3U);  // never after the last weighing (law 4)
  plan.max_events = 2;
  bench.run(plan);
  EXPECT_EQ(bench.recorder.all<Resampled>().size(), 2U);
  plan.ess_floor = 0.0;
  bench.run(plan);
  EXPECT_TRUE(bench.recorder.all<Resampled>().empty());
  plan = preset(Preset::paper, Method::particle_gibbs).plan;
  plan.iterations = 1;
  plan.particles = 2;
  bench.run(plan);
  EXPECT_EQ(bench.recorder.all<Resampled>().size(), 4U + 4U);  // as printed: the last one too
}

TEST(Samplers, EqualWeightsAreNotResampledInExactMode) {
  Bench bench;
  bench.table.guesses = {{0.3}, {0.3}};
  Plan plan = plan_of(Method::smc, 4);
  plan.ess_floor = 1.0;
  bench.run(plan);
  EXPECT_TRUE(bench.recorder.all<Resampled>().empty());
}

TEST(Samplers, AllForbiddenIsDegenerateNotAnError) {
  Bench bench;
  bench.table.rewards = {-kInf, -kInf};
  for (Method method : {Method::greedy, Method::best_of_n, Method::smc, Method::particle_gibbs}) {
    const Outcome outcome = bench.run(plan_of(method));
    EXPECT_EQ(outcome.status, Status::degenerate);
    EXPECT_EQ(outcome.reward, -kInf);
  }
}

TEST(Samplers, WeightsThatOverflowAreAnErrorThatNamesBeta) {
  Bench bench;
  Plan plan = plan_of(Method::smc);
  plan.beta = 1e-320;
  try {
    bench.run(plan);
    FAIL() << "an infinite weight went through";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("beta"), std::string::npos);
  }
}

TEST(Samplers, ForbiddenReferenceIsLeftBehind) {
  Bench bench;
  bench.table.rewards = {-kInf, 0.5};
  bench.table.kernel = {{0.9, 0.1}, {0.5, 0.5}};
  Plan plan = plan_of(Method::particle_gibbs, 8);
  plan.start = Start::greedy;  // state 0 all the way: forbidden
  plan.iterations = 10;
  const Outcome outcome = bench.run(plan);
  EXPECT_EQ(outcome.status, Status::done);
  EXPECT_EQ(outcome.reward, 0.5);
}

TEST(Samplers, NotANumberIsAnErrorInExactArithmeticAndAZeroUnderFk) {
  Bench bench;
  bench.table.rewards = {std::nan(""), 0.5};
  EXPECT_THROW(bench.run(plan_of(Method::smc, 8)), Error);
  Plan fk = preset(Preset::fk, Method::smc).plan;
  fk.particles = 8;
  EXPECT_EQ(bench.run(fk).reward, 0.5);
}

TEST(Samplers, SameKeySameRun) {
  Bench bench;
  const Plan plan = plan_of(Method::particle_gibbs, 4);
  const Outcome a = bench.run(plan, 3), b = bench.run(plan, 3);
  EXPECT_EQ(a.leaf, b.leaf);
  EXPECT_EQ(a.cloud.log_z, b.cloud.log_z);
}

// ---- FK-Steering's arithmetic by hand: lambda = 1/beta ----

Population weighed_like_fk(const Plan& plan, std::vector<double> values, bool last) {
  PhiloxSource source;
  Population pop(plan, {NodeId{0}, 0.0}, false, *source.open(Key{}));
  std::vector<Child> born;
  for (double value : values) born.push_back({NodeId{0}, value});
  pop.settle(born, std::nullopt);
  pop.reweigh(last);
  return pop;
}

Plan fk_plan(Potential potential, int k) {
  Plan plan = preset(Preset::fk, Method::smc).plan;
  plan.potential = potential;
  plan.particles = k;
  plan.beta = 0.1;
  return plan;
}

TEST(Fk, ClampsAtTenBillionAndZeroesNaN) {
  const Plan plan = fk_plan(Potential::diff, 3);
  const Population pop = weighed_like_fk(plan, {2.4, 5.0, std::nan("")}, false);
  EXPECT_DOUBLE_EQ(pop.particles()[0].log_weight, std::log(1e10));  // 2.4 · 10 > ln 1e10 = 23.03
  EXPECT_DOUBLE_EQ(pop.particles()[1].log_weight, std::log(1e10));
  EXPECT_EQ(pop.particles()[2].log_weight, -kInf);
}

TEST(Fk, AllZeroBecomesUniform) {
  const Plan plan = fk_plan(Potential::diff, 2);
  const Population pop = weighed_like_fk(plan, {-kInf, std::nan("")}, false);
  EXPECT_EQ(pop.particles()[0].log_weight, 0.0);
  EXPECT_EQ(pop.particles()[1].log_weight, 0.0);
}

TEST(Fk, SkippedResamplingsNeverLeaveNothingToDrawFrom) {
  Plan plan = fk_plan(Potential::diff, 2);
  Population pop = weighed_like_fk(plan, {-1e9, 0.0}, false);
  pop.settle({{NodeId{0}, 0.0}, {NodeId{0}, -1e9}}, std::nullopt);
  pop.reweigh(false);  // first the one, then the other had weight 0
  EXPECT_EQ(pop.weights().ess(), 2.0);
}

TEST(Fk, PotentialsCarryWhatFkCarries) {
  for (auto [potential, carried, log_g] : {std::tuple{Potential::diff, 0.2, (0.2 - 0.5) * 10},
                                           {Potential::max, 0.5, 5.0},
                                           {Potential::add, 0.7, 7.0},
                                           {Potential::rt, 0.2, 2.0}}) {
    const Plan plan = fk_plan(potential, 1);
    Population pop = weighed_like_fk(plan, {0.5}, false);
    const double before = pop.particles()[0].log_weight;
    pop.settle({{NodeId{0}, 0.2}}, std::nullopt);
    pop.reweigh(false);
    EXPECT_NEAR(pop.particles()[0].carried, carried, 1e-12);
    EXPECT_NEAR(pop.particles()[0].log_weight - before, log_g, 1e-5);  // float32
  }
}

TEST(Fk, LastWeightIsDividedByThePastOnes) {
  const Plan plan = fk_plan(Potential::rt, 1);
  Population pop = weighed_like_fk(plan, {0.5}, false);
  pop.settle({{NodeId{0}, 0.2}}, std::nullopt);
  pop.reweigh(true);
  EXPECT_NEAR(pop.particles()[0].log_weight, 2.0, 1e-5);  // exp(λ·0.2) in all
}

// ---- plans ----

std::string message_of(const Plan& plan) {
  try {
    check_plan(plan);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_request);
    return e.what();
  }
  return "";
}

TEST(Plan, BadFieldsAreNamed) {
  Plan plan = plan_of(Method::smc);
  EXPECT_EQ(message_of(plan), "");
  plan.particles = 0;
  EXPECT_EQ(message_of(plan), "particles is 0, allowed: at least 1");
  plan = plan_of(Method::particle_gibbs, 1);
  EXPECT_NE(message_of(plan).find("particles is 1"), std::string::npos);
  plan = plan_of(Method::smc);
  plan.beta = -0.5;
  EXPECT_NE(message_of(plan).find("beta is -0.5"), std::string::npos);
  plan.beta = std::nan("");
  EXPECT_NE(message_of(plan).find("beta"), std::string::npos);
  plan = plan_of(Method::particle_gibbs);
  plan.max_particles = 3;
  EXPECT_EQ(message_of(plan), "budget is 3, allowed: at least 4, what the first sweep takes");
  plan.start = Start::greedy;
  EXPECT_EQ(message_of(plan), "");
  plan = plan_of(Method::particle_gibbs);
  plan.iterations = 0;
  EXPECT_NE(message_of(plan).find("iterations is 0"), std::string::npos);
  plan = plan_of(Method::particle_gibbs);
  plan.scheme = &kit::kUnconditional;
  EXPECT_NE(message_of(plan).find("no proven conditional law"), std::string::npos);
  plan.method = Method::smc;  // without a reference it may be used
  EXPECT_EQ(message_of(plan), "");
  plan = preset(Preset::fk, Method::particle_gibbs).plan;
  plan.ancestor_sampling = true;
  EXPECT_NE(message_of(plan).find("ancestor-sampling"), std::string::npos);
}

TEST(Plan, PresetsSayWhatTheyMean) {
  const Settings exact = preset(Preset::exact, Method::particle_gibbs);
  EXPECT_EQ(exact.plan.selection, Selection::draw);
  EXPECT_EQ(exact.plan.start, Start::smc);
  EXPECT_EQ(preset(Preset::exact, Method::particle_gibbs_adaptive).plan.start, Start::greedy);
  const Settings paper = preset(Preset::paper, Method::particle_gibbs);
  EXPECT_EQ(paper.plan.scheme, find_scheme("multinomial"));
  EXPECT_EQ(paper.plan.selection, Selection::paper);
  EXPECT_FALSE(paper.plan.ess_floor.has_value());
  const Settings fk = preset(Preset::fk, Method::smc);
  EXPECT_EQ(fk.cadence.every, 20);
  EXPECT_TRUE(fk.valuing.lag && fk.plan.resample_last && !fk.valuing.beta_inside);
}

}  // namespace
}  // namespace pgdlm
