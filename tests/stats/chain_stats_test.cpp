// What is too large to enumerate: long chains on canvases of three positions and three tokens, with Philox draws. The
// texts of many runs are compared with p*, computed exactly from the enumerated law of the process alone.
#include <gtest/gtest.h>

#include <cmath>

#include "base/philox.h"
#include "kit/chi_square.h"
#include "kit/diffusion_lab.h"
#include "kit/enumerate.h"
#include "pgdlm/processes.h"

namespace pgdlm::kit {
namespace {

using Text = std::vector<int>;

struct Silent : EventSink {
  void emit(const Event&) override {}
};

Text text_of(const Trail& trail, int length) { return {trail.states.end() - length, trail.states.end()}; }

// p(x0) exp(r/β) / Z over texts, and Z.
struct TextTarget {
  std::map<Text, double> law;
  double z = 0;
};
TextTarget target_of(DiffusionLab& lab, int length) {
  const Base base = base_of(lab.lab(), lab.plan());
  TextTarget target{.z = base.evidence(1)};
  for (const auto& [trail, p] : base.target(1)) target.law[text_of(trail, length)] += p;
  return target;
}

Settings settings(Method method, int k) {
  Settings s = preset(Preset::exact, method);
  s.plan.particles = k;
  s.plan.beta = 0.7;
  return s;
}

struct Case {
  const char* name;
  std::shared_ptr<const Backward> process;
  int steps;
};

constexpr int kLength = 3, kRuns = 4000;

class Chains : public testing::TestWithParam<Case> {
 protected:
  DiffusionSetup setup(Method method, int k) const {
    return {.process = GetParam().process,
            .length = kLength,
            .tokens = 3,
            .steps = GetParam().steps,
            .settings = settings(method, k)};
  }
};

struct Ending {
  Text text;
  double log_z = 0;
};

Ending run_once(DiffusionLab& lab, int seed) {
  PhiloxSource source;
  Silent silent;
  const Lab room = lab.lab();
  const auto world = room.open(source);
  const Outcome outcome = run_inline(run_sampler(
      pgdlm::Run{*world, source, silent, Key{static_cast<std::uint64_t>(seed)}}, lab.plan(), room.schedule));
  return {text_of(room.trail(*world, outcome.leaf), kLength), outcome.cloud.log_z};
}

TEST_P(Chains, ManySweepsEndInTheTarget) {
  DiffusionSetup s = setup(Method::particle_gibbs, 6);
  s.settings.plan.iterations = 12;
  s.settings.plan.start = Start::sampled;  // far from the target: the chain has to do the work
  s.settings.plan.ess_floor = 0.8;
  DiffusionLab lab(s);
  const TextTarget target = target_of(lab, kLength);

  std::map<Text, std::int64_t> seen;
  for (int run = 0; run < kRuns; ++run) ++seen[run_once(lab, run).text];
  std::vector<std::int64_t> counts;
  std::vector<double> probabilities;
  for (const auto& [text, p] : target.law) {
    counts.push_back(seen[text]);
    probabilities.push_back(p);
  }
  const ChiSquare result = chi_square(counts, probabilities);
  EXPECT_GT(result.p_value, 1e-6) << "chi-square " << result.statistic << " with " << result.freedom;
}

// Within six standard errors: p < 2e-9.
TEST_P(Chains, EvidenceAveragesToZ) {
  DiffusionSetup s = setup(Method::smc, 5);
  s.settings.valuing = {.estimator = Estimator::random, .phi = 2};
  DiffusionSetup plain = s;
  plain.settings.valuing = {};
  DiffusionLab lab(s), exact(plain);
  const double z = target_of(exact, kLength).z;
  double sum = 0, squares = 0;
  for (int run = 0; run < kRuns; ++run) {
    const double ratio = std::exp(run_once(lab, run).log_z) / z;
    sum += ratio;
    squares += ratio * ratio;
  }
  const double mean = sum / kRuns, sd = std::sqrt(squares / kRuns - mean * mean);
  EXPECT_GT(sd, 0);
  EXPECT_NEAR(mean, 1, 6 * sd / std::sqrt(kRuns));
}

INSTANTIATE_TEST_SUITE_P(
    Stats, Chains,
    testing::Values(
        Case{"mdlm", make_mdlm(), 4},
        Case{"remdm_rescale", make_remdm({.schedule = RemdmSchedule::rescale, .eta = 0.5, .filter = {}}), 3},
        Case{"llada", make_llada({.block_length = 3}), 3},
        Case{"dream_entropy", make_dream({.order = DreamOrder::entropy, .filter = {.temperature = 0.9}}), 2}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace pgdlm::kit
