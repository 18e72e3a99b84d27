#include "kit/chi_square.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace pgdlm::kit {
namespace {

TEST(ChiSquare, TailHasItsClosedForms) {
  for (double x : {0.1, 1.0, 3.0, 10.0, 60.0}) {
    EXPECT_NEAR(chi_square_tail(x, 2), std::exp(-x / 2), 1e-13);             // 2 degrees: exponential
    EXPECT_NEAR(chi_square_tail(x, 1), std::erfc(std::sqrt(x / 2)), 1e-13);  // 1 degree: a squared normal
    EXPECT_NEAR(chi_square_tail(x, 4), std::exp(-x / 2) * (1 + x / 2), 1e-13);
  }
  EXPECT_NEAR(chi_square_tail(124.342, 100), 0.05, 1e-5);  // a table's 95% point
}

TEST(ChiSquare, StatisticByHand) {
  const std::array<std::int64_t, 3> counts = {50, 30, 20};
  const std::array<double, 3> p = {0.4, 0.4, 0.2};
  const ChiSquare test = chi_square(counts, p);
  EXPECT_DOUBLE_EQ(test.statistic, 100.0 / 40 + 100.0 / 40);
  EXPECT_EQ(test.freedom, 2);
  EXPECT_NEAR(test.p_value, std::exp(-2.5), 1e-13);
}

TEST(ChiSquare, PoolsRareCellsAndRefusesImpossibleOnes) {
  const std::array<std::int64_t, 4> counts = {90, 4, 5, 1};
  const std::array<double, 4> p = {0.9, 0.04, 0.03, 0.03};
  EXPECT_EQ(chi_square(counts, p).freedom, 1);
  const std::array<double, 4> impossible = {0.98, 0.01, 0.01, 0};
  EXPECT_EQ(chi_square(counts, impossible).p_value, 0);
}

TEST(ChiSquare, OneDrawInAVeryRareCellIsNoAlarm) {
  const std::array<std::int64_t, 3> counts = {52, 47, 1};
  const std::array<double, 3> p = {0.5, 0.4999, 0.0001};
  EXPECT_EQ(chi_square(counts, p).freedom, 1);
  EXPECT_GT(chi_square(counts, p).p_value, 0.5);
}

TEST(ChiSquare, SeesAWrongLaw) {
  const std::array<std::int64_t, 2> counts = {51'500, 48'500};
  const std::array<double, 2> fair = {0.5, 0.5};
  EXPECT_LT(chi_square(counts, fair).p_value, 1e-6);
}

}  // namespace
}  // namespace pgdlm::kit
