// The ground: Philox against its published answers, keys as addresses, log-space arithmetic, tasks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/exp_sum_set.h"
#include "base/log_math.h"
#include "base/philox.h"
#include "base/task.h"
#include "kit/chi_square.h"

namespace pgdlm {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
using Block = std::array<std::uint32_t, 4>;

TEST(Philox, KnownAnswers) {  // of the Random123 distribution
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, StreamIsItsAddress) {
  PhiloxSource source;
  const std::vector<double> w(1000, 1.0);
  const Key key = Key{5}.child(1).child(2);
  const int first = source.open(key)->categorical(w), other = source.open(key.child(0))->categorical(w);
  auto again = source.open(key);
  EXPECT_EQ(again->categorical(w), first);
  EXPECT_NE(again->categorical(w), first);  // the stream moves on
  EXPECT_NE(other, first);
  EXPECT_NE((source.open(Key{6}.child(1).child(2))->categorical(w)), first);
}

TEST(Philox, CategoricalFollowsItsWeights) {
  PhiloxSource source;
  const std::vector<double> w = {0.5, 0.0, 3.0, 1.5, 1e-300};
  std::vector<std::int64_t> counts(w.size(), 0);
  auto draws = source.open(Key{11});
  for (int i = 0; i < 200'000; ++i) ++counts[draws->categorical(w)];
  EXPECT_EQ(counts[1], 0);
  EXPECT_EQ(counts[4], 0);
  EXPECT_GT(
      kit::chi_square(std::vector<std::int64_t>{counts[0], counts[2], counts[3]}, std::vector<double>{0.1, 0.6, 0.3})
          .p_value,
      1e-6);
}

TEST(Philox, NothingToDrawFromIsAnError) {
  PhiloxSource source;
  EXPECT_THROW(source.open(Key{})->categorical(std::vector<double>{0.0, 0.0}), Error);
}

TEST(Key, SmallAddressesDoNotCollide) {
  std::set<std::uint64_t> paths;
  for (std::uint64_t a = 0; a < 64; ++a)
    for (std::uint64_t b = 0; b < 64; ++b)
      for (std::uint64_t c = 0; c < 16; ++c) paths.insert(Key{1}.child(a).child(b).child(c).path);
  EXPECT_EQ(paths.size(), 64U * 64 * 16);
}

TEST(LogMath, SumsAndMeans) {
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector<double>{std::log(1.0), std::log(3.0)}), std::log(4.0));
  EXPECT_DOUBLE_EQ(log_mean_exp(std::vector<double>{1000.0, 1000.0}), 1000.0);
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector<double>{-kInf, 2.0}), 2.0);
  EXPECT_EQ(log_sum_exp(std::vector<double>{-kInf, -kInf}), -kInf);
  EXPECT_EQ(log_sum_exp(std::vector<double>{}), -kInf);
  EXPECT_TRUE(std::isnan(log_mean_exp(std::vector<double>{std::nan(""), std::nan("")})));
}

TEST(LogMath, SoftmaxWithTemperatureAndForbiddenTokens) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<double> p(3);
  softmax(std::vector<float>{0.0F, -inf, static_cast<float>(std::log(4.0))}, 2.0, p);
  EXPECT_NEAR(p[0], 1.0 / 3, 1e-7);
  EXPECT_EQ(p[1], 0);
  EXPECT_NEAR(p[2], 2.0 / 3, 1e-7);
}

TEST(ExpSum, IsTheExponentialToTheLastBits) {
  std::vector<float> x;
  for (int i = 0; i < 4001; ++i) x.push_back(static_cast<float>(-i) * 0.1831F);
  std::vector<double> e(x.size());
  const double sum = exp_and_sum(x, 0, 1, e);
  double expected = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i]));
    expected += exact;
    EXPECT_NEAR(e[i], x[i] < -700 ? 0 : exact, 1e-15 * exact);
  }
  EXPECT_NEAR(sum, expected, 1e-13);
  std::vector<double> shifted(3);
  exp_and_sum(std::vector<float>{3, -std::numeric_limits<float>::infinity(), 1}, 3, 0.5, shifted);
  EXPECT_EQ(shifted[0], 1);
  EXPECT_EQ(shifted[1], 0);
  EXPECT_NEAR(shifted[2], std::exp(-1.0), 1e-15);
}

TEST(ExpSum, TopSeesEveryElement) {
  for (std::size_t n = 1; n < 40; ++n)
    for (std::size_t at = 0; at < n; ++at) {
      std::vector<float> x(n, -2.5F);
      x[at] = 7;
      EXPECT_EQ(top_of(x).value, 7);
      EXPECT_FALSE(top_of(x).nan);
      x[at] = NAN;
      EXPECT_TRUE(top_of(x).nan);
    }
  EXPECT_EQ(top_of({}).value, -std::numeric_limits<float>::infinity());
}

// Also where vectors end, with -inf, and far below.
TEST(ExpSum, EveryInstructionSetGivesTheSameBits) {
  for (std::size_t n = 1; n < 70; ++n) {
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i)
      x[i] = i % 7 == 3 ? -std::numeric_limits<float>::infinity() : -0.37F * static_cast<float>((i * i) % 4001);
    std::vector<double> expected(n), got(n);
    const ExpSumSet& plain = *all_exp_sums().back();
    const double sum = plain.exp_and_sum(x.data(), n, 0.25, 1.7, expected.data());
    for (const ExpSumSet* set : all_exp_sums()) {
      EXPECT_EQ(set->exp_and_sum(x.data(), n, 0.25, 1.7, got.data()), sum);
      EXPECT_EQ(got, expected);
      EXPECT_EQ(set->sum_of(got.data(), n), plain.sum_of(expected.data(), n));
      EXPECT_EQ(set->top_of(x.data(), n).value, plain.top_of(x.data(), n).value);
    }
  }
}

// More weights than one block of the walk: rare outcomes at its borders come as often as they should.
TEST(Philox, CategoricalOfALargeVocabulary) {
  std::vector<double> w(1000, 0.0);
  const std::vector<int> places = {0, 255, 256, 511, 512, 700, 999};
  for (std::size_t i = 0; i < places.size(); ++i) w[static_cast<std::size_t>(places[i])] = static_cast<double>(i + 1);
  PhiloxSource source;
  const auto draws = source.open(Key{11});
  std::vector<double> expected, seen(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) expected.push_back(static_cast<double>(i + 1) / 28);
  for (int n = 0; n < 20000; ++n) {
    const auto found = std::find(places.begin(), places.end(), draws->categorical(w));
    ASSERT_NE(found, places.end());
    seen[static_cast<std::size_t>(found - places.begin())] += 1.0 / 20000;
  }
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_NEAR(seen[i], expected[i], 0.02);
}

Task<int> seven() { co_return 7; }
Task<int> one_more(Task<int> task) { co_return 1 + co_await std::move(task); }
Task<int> fails() {
  throw Error(ErrorCode::unsupported, "no");
  co_return 0;
}
Task<void> swallow(Task<int> task, bool& caught) {
  try {
    co_await std::move(task);
  } catch (const Error& e) {
    caught = e.code() == ErrorCode::unsupported;
  }
}

TEST(Task, ValuesAndErrorsTravelThroughAwaits) {
  EXPECT_EQ(run_inline(one_more(one_more(seven()))), 9);
  EXPECT_THROW(run_inline(one_more(fails())), Error);
  bool caught = false;
  run_inline(swallow(fails(), caught));
  EXPECT_TRUE(caught);
}

Task<std::int64_t> add_up(std::int64_t count) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += co_await seven();
  co_return sum;
}

TEST(Task, MillionAwaitsDoNotGrowTheStack) { EXPECT_EQ(run_inline(add_up(1'000'000)), 7'000'000); }

TEST(Task, NeverStartedIsFreed) {
  auto task = one_more(seven());  // lazy: nothing runs, nothing leaks
  EXPECT_FALSE(task.done());
}

}  // namespace
}  // namespace pgdlm
