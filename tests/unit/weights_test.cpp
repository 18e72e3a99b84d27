#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "pgdlm/error.h"
#include "smc/weights.h"

namespace pgdlm {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Weights, NormaliseInLogSpace) {
  const Weights w(std::vector<double>{1000 + std::log(1.0), 1000 + std::log(3.0)});
  EXPECT_NEAR(w.probs()[0], 0.25, 1e-12);
  EXPECT_NEAR(w.probs()[1], 0.75, 1e-12);
  EXPECT_NEAR(w.ess(), 16.0 / 10, 1e-12);
  EXPECT_NEAR(w.log_mean(), 1000 + std::log(2.0), 1e-12);
}

TEST(Weights, EqualWeightsHaveExactlyFullEss) {
  for (int k : {1, 3, 7, 64}) EXPECT_EQ(Weights(std::vector<double>(k, -12.345)).ess(), k);
}

TEST(Weights, SomeZeroIsFineAllZeroHasAName) {
  const Weights some(std::vector<double>{-kInf, 0.0});
  EXPECT_FALSE(some.degenerate());
  EXPECT_EQ(some.probs()[0], 0.0);
  EXPECT_EQ(some.ess(), 1.0);
  const Weights none(std::vector<double>{-kInf, -kInf});
  EXPECT_TRUE(none.degenerate());
  EXPECT_EQ(none.ess(), 0.0);
  EXPECT_EQ(none.log_mean(), -kInf);
}

TEST(Weights, NotANumberIsAnError) {
  EXPECT_THROW(Weights(std::vector<double>{0.0, std::nan("")}), Error);
  EXPECT_THROW(Weights(std::vector<double>{0.0, kInf}), Error);
}

}  // namespace
}  // namespace pgdlm
