// Lineages by hand: four particles, twelve steps, resampled after 3 and 6, the reference in slot 3.
#include "eval/diagnostics.h"

#include <gtest/gtest.h>

namespace pgdlm {
namespace {

Weighed weighed(int step, int reference) {
  return {.step = step,
          .log_weights = std::vector<double>(4, 0.0),
          .ess = 0.25 * step,
          .log_z = -1,
          .reference = reference};
}

struct Diagnosed : testing::Test {
  SweepFacts select(int slot) {
    sink.emit(weighed(12, 3));
    sink.emit(Selected{.slot = slot, .reward = 0.5});
    return sink.sweeps().back();
  }
  DiagnosticsSink sink;
};

TEST_F(Diagnosed, WithoutResamplingEveryParticleIsItsOwnAncestor) {
  const SweepFacts other = select(1);
  EXPECT_EQ(other.renewed, 1);
  EXPECT_EQ(other.ancestors, (std::array{4, 4, 4, 4}));
  EXPECT_EQ(other.ess, 3);
  EXPECT_EQ(other.reward, 0.5);
  EXPECT_EQ(select(3).renewed, 0);  // the reference itself
}

TEST_F(Diagnosed, APathLeavesTheReferenceWhereItBranchedOff) {
  sink.emit(weighed(3, 3));
  sink.emit(Resampled{.step = 3, .parents = {0, 3, 1, 3}, .reference = 3});  // slot 1 is a copy of the reference
  sink.emit(weighed(6, 3));
  sink.emit(Resampled{.step = 6, .parents = {1, 1, 2, 3}, .reference = 3});
  const SweepFacts facts = select(0);  // 0 <- 1 <- 3, the reference until step 3
  EXPECT_EQ(facts.renewed, 0.75);
  EXPECT_EQ(facts.ancestors, (std::array{2, 3, 4, 4}));  // at 0: slots 3 and 1; at 3: 1, 2, 3; from 6 on all
  EXPECT_EQ(sink.sweeps().size(), 1U);
}

TEST_F(Diagnosed, ALastResamplingCopiesFinishedTexts) {
  sink.emit(weighed(12, 3));
  sink.emit(Resampled{.step = 12, .parents = {3, 3, 3, 3}, .reference = 3});
  sink.emit(Selected{.slot = 0});
  EXPECT_EQ(sink.sweeps().back().renewed, 0);
  EXPECT_EQ(sink.sweeps().back().ancestors, (std::array{4, 4, 4, 4}));
}

TEST_F(Diagnosed, WithoutAReferenceAllIsNew) {
  sink.emit(weighed(12, -1));
  sink.emit(Selected{.slot = 0});
  EXPECT_EQ(sink.sweeps().back().renewed, 1);
}

}  // namespace
}  // namespace pgdlm
