// Laws of the samplers on an abstract world: every preset, scheme, start and resampling rule leaves its target
// invariant and estimates the evidence without bias, to rounding; every broken variant is caught.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kit/broken.h"
#include "kit/enumerate.h"
#include "kit/lab.h"

namespace pgdlm::kit {
namespace {

constexpr double kExact = 1e-12;
constexpr double kBroken = 1e-4;  // a broken rule must show at least this much

// Three steps for k = 2; for k = 3 two steps keep the enumeration small. State 1 has noisy guesses.
const Table kThreeSteps{.steps = 3};
const Table kTwoSteps{.steps = 2};
const Table& table_for(int k) { return k == 2 ? kThreeSteps : kTwoSteps; }

Plan exact_plan(int k) {
  Plan plan = preset(Preset::exact, Method::particle_gibbs).plan;
  plan.particles = k;
  plan.beta = 1;
  return plan;
}

enum class Rule { preset, always, ess, never };
Plan with_rule(Plan plan, Rule rule) {
  if (rule == Rule::always) plan.ess_floor = std::nullopt, plan.max_events = 1000;
  if (rule == Rule::ess) plan.ess_floor = 0.95, plan.max_events = 1000;
  if (rule == Rule::never) plan.ess_floor = 0.0;
  return plan;
}

void expect_invariant(const Finding& finding) {
  EXPECT_LE(finding.tv, kExact);
  EXPECT_LE(std::abs(finding.evidence_error), kExact);
  EXPECT_LE(finding.leaves, 1'100'000);
}

struct Case {
  std::string scheme;
  int k;
  Rule rule;
};

class Schemes : public testing::TestWithParam<Case> {
 protected:
  Plan plan() const {
    Plan plan = with_rule(exact_plan(GetParam().k), GetParam().rule);
    plan.scheme = find_scheme(GetParam().scheme);
    return plan;
  }
  Lab lab() const { return table_lab(table_for(GetParam().k)); }
};

TEST_P(Schemes, ExactLeavesTheTarget) { expect_invariant(invariance(lab(), plan())); }

TEST_P(Schemes, PaperLeavesTheTargetOfHalfBeta) {
  Plan paper = plan();
  paper.selection = Selection::paper;
  expect_invariant(invariance(lab(), paper, 2));
}

TEST_P(Schemes, UniformPickAfterResamplingIsExactToo) {
  Plan lazy = plan();
  lazy.resample_last = true;
  expect_invariant(invariance(lab(), lazy));
}

TEST_P(Schemes, AncestorSamplingLeavesTheTarget) {
  Plan refreshed = plan();
  refreshed.ancestor_sampling = true;
  expect_invariant(invariance(lab(), refreshed));
}

TEST_P(Schemes, EvidenceIsUnbiasedWithoutReference) {
  Plan smc = plan();
  smc.method = Method::smc;
  EXPECT_LE(std::abs(evidence_bias(lab(), smc)), kExact);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (std::string_view scheme : scheme_names())
    for (int k : {2, 3})
      for (Rule rule : {Rule::preset, Rule::always, Rule::ess, Rule::never})
        cases.push_back({std::string(scheme), k, rule});
  return cases;
}
std::string case_name(const testing::TestParamInfo<Case>& info) {
  const char* rules[] = {"preset", "always", "ess", "never"};
  return info.param.scheme + "_k" + std::to_string(info.param.k) + "_" + rules[static_cast<int>(info.param.rule)];
}
INSTANTIATE_TEST_SUITE_P(Laws, Schemes, testing::ValuesIn(all_cases()), case_name);

class Potentials : public testing::TestWithParam<Potential> {};

TEST_P(Potentials, EveryPotentialLeavesTheTarget) {
  Plan plan = with_rule(exact_plan(2), Rule::always);
  plan.potential = GetParam();
  expect_invariant(invariance(table_lab(kThreeSteps), plan));
  plan.ancestor_sampling = true;
  expect_invariant(invariance(table_lab(kThreeSteps), plan));
}
INSTANTIATE_TEST_SUITE_P(Laws, Potentials,
                         testing::Values(Potential::diff, Potential::max, Potential::add, Potential::rt));

// What a whole run returns is its start followed by the kernel, whatever the start.
class Starts : public testing::TestWithParam<std::string> {};

void expect_start_then_kernel(const Table& table, Plan plan) {
  const Lab lab = table_lab(table);
  const auto kernel = kernel_of(table, plan);
  for (Start start : {Start::sampled, Start::greedy, Start::smc}) {
    Plan only_start = plan;
    only_start.method = start == Start::smc ? Method::smc : start == Start::greedy ? Method::greedy : Method::smc;
    if (start == Start::sampled) only_start.particles = 1;

    Plan whole = plan;
    whole.start = start;
    whole.iterations = start == Start::smc ? 2 : 1;
    for (Method method : {Method::particle_gibbs, Method::particle_gibbs_adaptive}) {
      whole.method = method;
      EXPECT_LE(total_variation(output_law(lab, whole), after(kernel, output_law(lab, only_start))), kExact);
    }
  }
}
TEST_P(Starts, AWholeRunIsItsStartThenTheKernel) {
  // For k = 3 a table with fewer branches: state 1 is never left, and guesses have no noise.
  const Table sparse{.steps = 2, .kernel = {{0.7, 0.3}, {0.0, 1.0}}, .guesses = {{0.35}, {0.8}}};
  for (int k : {2, 3}) {
    Plan plan = with_rule(exact_plan(k), Rule::always);
    plan.scheme = find_scheme(GetParam());
    expect_start_then_kernel(k == 2 ? kTwoSteps : sparse, plan);
  }
}
INSTANTIATE_TEST_SUITE_P(Laws, Starts, testing::Values("multinomial", "stratified", "systematic", "residual"),
                         [](const auto& info) { return info.param; });

TEST(Samplers, BestOfNEvidenceIsUnbiased) {
  for (int k : {2, 3}) {
    Plan plan = preset(Preset::exact, Method::best_of_n).plan;
    plan.particles = k;
    plan.beta = 1;
    EXPECT_LE(std::abs(evidence_bias(table_lab(kTwoSteps), plan)), kExact);
  }
}

TEST(Samplers, PaperPresetAsOfferedTargetsHalfBeta) {
  for (int k : {2, 3}) {
    Plan plan = preset(Preset::paper, Method::particle_gibbs).plan;
    plan.particles = k;
    plan.beta = 1;
    expect_invariant(invariance(table_lab(table_for(k)), plan, 2));
  }
}

// ---- the two that run first when something is wrong ----

TEST(FirstLaws, OneParticleGibbsReturnsItsReferenceForever) {
  Plan plan = with_rule(exact_plan(2), Rule::always);
  plan.particles = 1;
  const auto kernel = kernel_of(kThreeSteps, plan);
  for (const auto& [start, law] : kernel) EXPECT_EQ(law, (Law{{start, 1.0}}));
}

TEST(FirstLaws, ConstantRewardGivesEqualWeightsAndExactEvidence) {
  constexpr double c = 0.75;
  const Table constant{.steps = 3, .guesses = {{c}, {c}}, .rewards = {c, c}};
  Plan plan = with_rule(exact_plan(3), Rule::always);
  plan.method = Method::smc;
  const Lab lab = table_lab(constant);
  enumerate(
      [&](Source& source) {
        struct : EventSink {
          void emit(const Event& event) override {
            if (const auto* w = std::get_if<Weighed>(&event)) EXPECT_EQ(w->ess, 3.0);
          }
        } equal;
        const auto world = lab.open(source);
        return run_inline(run_sampler(pgdlm::Run{*world, source, equal, Key{}}, plan, lab.schedule)).cloud.log_z;
      },
      [&](double log_z, double) { EXPECT_DOUBLE_EQ(std::exp(log_z), std::exp(c)); }, {.max_leaves = 2'000'000});
}

// ---- teeth ----

Finding broken_scheme(const Scheme& scheme) {
  Plan plan = with_rule(exact_plan(3), Rule::always);
  plan.scheme = &scheme;
  return invariance(table_lab(kTwoSteps), plan);
}

TEST(Teeth, SortedMultinomialWithOverwrittenSlotIsCaught) { EXPECT_GE(broken_scheme(kSortedMultinomial).tv, kBroken); }
TEST(Teeth, SystematicWithPinnedReferenceIsCaught) { EXPECT_GE(broken_scheme(kPinnedSystematic).tv, kBroken); }
TEST(Teeth, OrderedSchemeWithFixedFirstSlotIsCaught) { EXPECT_GE(broken_scheme(kFixedFirstSlot).tv, 1e-6); }

TEST(Teeth, DoubleCountedFinalWeightsAreCaught) {
  Plan plan = with_rule(exact_plan(2), Rule::always);
  plan.selection = Selection::paper;
  EXPECT_GE(invariance(table_lab(kThreeSteps), plan, 1).tv, kBroken);
}

TEST(Teeth, ReestimatedParentValueIsCaught) {
  const Plan plan = with_rule(exact_plan(2), Rule::always);
  // The broken world reports its own, wrong rewards; p* is that of the honest one.
  const Lab honest = table_lab(kThreeSteps), broken = table_lab(kThreeSteps, TableWorld::Habit::reestimates_parents);
  std::map<std::vector<int>, double> target, reached;
  for (const auto& [trail, p] : base_of(honest, plan).target(1)) target[trail.states] += p;
  for (const auto& [trail, p] : base_of(broken, plan).target(1)) reached[trail.states] += p;
  EXPECT_LE(invariance(broken, plan).tv, kExact);  // it is an exact sampler, of something else
  EXPECT_GE(total_variation(target, reached), kBroken);
}

TEST(Teeth, AncestorWeightsWithoutThePotentialAreCaught) {
  Plan plan = with_rule(exact_plan(2), Rule::always);
  plan.ancestor_sampling = true;
  EXPECT_GE(invariance(table_lab(kThreeSteps, TableWorld::Habit::forgets_potential), plan).tv, kBroken);
}

TEST(Teeth, SchemeWithoutConditionalLawIsRefused) {
  Plan plan = exact_plan(2);
  plan.scheme = &kUnconditional;
  EXPECT_THROW(check_plan(plan), Error);
}

}  // namespace
}  // namespace pgdlm::kit
