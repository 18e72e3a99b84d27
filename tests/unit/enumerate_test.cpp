// The tool that proves the laws has to be right itself.
#include "kit/enumerate.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

namespace pgdlm::kit {
namespace {

constexpr std::array<double, 3> kUneven = {1, 0, 3};

int flip_then_roll(Source& source) {
  const auto first = source.open(Key{.path = 1});
  const auto second = source.open(Key{.path = 2});
  if (!first->coin(0.25)) return 0;
  return 1 + second->categorical(kUneven) + 10 * first->categorical(kUneven);
}

TEST(Enumerate, GivesEveryOutcomeItsProbability) {
  const auto law = law_of(flip_then_roll);
  const std::map<int, double> expected = {{0, 0.75}, {1, 0.25 / 16}, {3, 0.75 / 16}, {21, 0.75 / 16}, {23, 2.25 / 16}};
  ASSERT_EQ(law.size(), expected.size());
  EXPECT_LT(total_variation(law, expected), 1e-15);
  EXPECT_DOUBLE_EQ(total_mass(law), 1.0);
}

TEST(Enumerate, SkipsImpossibleOutcomesAndCountsLeaves) {
  const auto leaves = enumerate([](Source& s) { flip_then_roll(s); }, [](double p) { EXPECT_GT(p, 0); });
  EXPECT_EQ(leaves, 5);
}

TEST(Enumerate, BodyWithoutDrawsRunsOnce) {
  EXPECT_EQ(enumerate([](Source&) {}, [](double p) { EXPECT_EQ(p, 1.0); }), 1);
}

TEST(Enumerate, StopsAtTheLeafLimit) {
  EXPECT_THROW(law_of(flip_then_roll, {.max_leaves = 4}), std::length_error);
  EXPECT_NO_THROW(law_of(flip_then_roll, {.max_leaves = 5}));
}

TEST(Enumerate, ForcedPrefixRestrictsTheLaw) {
  const auto law = law_of(flip_then_roll, {.forced = {1, 2}});
  const std::map<int, double> expected = {{3, 0.75 / 16}, {23, 2.25 / 16}};
  ASSERT_EQ(law.size(), 2u);
  EXPECT_LT(total_variation(law, expected), 1e-15);
  EXPECT_THROW(law_of(flip_then_roll, {.forced = {1, 1}}), std::logic_error);  // weight 0
  EXPECT_THROW(law_of(flip_then_roll, {.forced = {2}}), std::logic_error);     // a coin has two sides
}

TEST(Enumerate, RecordedChoicesReplayAnExecution) {
  EnumeratingSource source;
  do source.rewind();
  while (flip_then_roll(source) != 21 && source.advance());
  const auto law = law_of(flip_then_roll, {.forced = source.choices()});
  ASSERT_EQ(law.size(), 1u);
  EXPECT_DOUBLE_EQ(law.at(21), source.probability());
}

TEST(Enumerate, ExpectationIsTheMeanOverTheLaw) {
  const double mean = expectation_of([](Source& s) { return s.open({})->coin(0.2) ? 5.0 : -1.0; });
  EXPECT_DOUBLE_EQ(mean, 0.2);
}

TEST(Enumerate, RefusesAKeyThatIsOpenedTwice) {
  const auto body = [](Source& s) {
    const bool a = s.open(Key{.path = 7})->coin(0.5);
    return a == s.open(Key{.path = 7})->coin(0.5);
  };
  EXPECT_THROW(law_of(body), std::logic_error);
  EXPECT_NO_THROW(law_of(body, {.distinct_keys = false}));
}

TEST(Enumerate, RefusesABodyWithAMemory) {
  int calls = 0;
  const auto body = [&](Source& s) {
    const auto draws = s.open({});
    if (calls++ == 0) return draws->coin(0.5) ? 1 : 0;
    return draws->categorical(kUneven);
  };
  EXPECT_THROW(law_of(body), std::logic_error);
}

TEST(Enumerate, RefusesBrokenWeights) {
  constexpr std::array<double, 2> none = {0, 0};
  constexpr std::array<double, 2> negative = {2, -1};
  EXPECT_THROW(law_of([&](Source& s) { return s.open({})->categorical(none); }), std::logic_error);
  EXPECT_THROW(law_of([&](Source& s) { return s.open({})->categorical(negative); }), std::logic_error);
}

}  // namespace
}  // namespace pgdlm::kit
