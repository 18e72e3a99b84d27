// Rewards that break one sentence of the contract each, and the check that says which.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "conformance/expect.h"
#include "pgdlm/conformance.h"

namespace pgdlm {
namespace {

using Scores = std::vector<double>;
using Candidates = std::span<const Candidate>;

struct MadeReward final : Reward {
  explicit MadeReward(std::function<Scores(Candidates)> f, bool takes_prefixes = false)
      : function(std::move(f)), prefixes(takes_prefixes) {}
  Scores score(Candidates candidates) override { return function(candidates); }
  bool accepts_prefixes() const override { return prefixes; }

  std::function<Scores(Candidates)> function;
  bool prefixes;
};

Scores lengths(Candidates candidates) {
  Scores scores;
  for (const Candidate& candidate : candidates) scores.push_back(static_cast<double>(candidate.tokens.size()));
  return scores;
}

const std::vector<std::vector<Token>> kTexts = {{0, 1, 2, 3}, {1, 1}, {4}, {2, 2, 2}};

std::vector<std::string> check(std::function<Scores(Candidates)> function, bool prefixes = false) {
  MadeReward reward(std::move(function), prefixes);
  return check_reward(reward, kTexts);
}

TEST(RewardTeeth, AGoodOnePasses) {
  EXPECT_THAT(check(lengths), conformant());
  EXPECT_THAT(check(lengths, true), conformant());
}

TEST(RewardTeeth, MinusInfinityIsAllowed) {
  EXPECT_THAT(check([](Candidates c) { return Scores(c.size(), -std::numeric_limits<double>::infinity()); }),
              conformant());
}

TEST(RewardTeeth, MissingScoresAreCaught) {
  EXPECT_THAT(check([](Candidates) { return Scores{}; }), violates_only("score() must return one score per text"));
}

TEST(RewardTeeth, NotANumberIsCaught) {
  EXPECT_THAT(check([](Candidates c) { return Scores(c.size(), std::nan("")); }),
              violates_only("a reward must be finite or -inf"));
}

TEST(RewardTeeth, PlusInfinityIsCaught) {
  EXPECT_THAT(check([](Candidates c) { return Scores(c.size(), std::numeric_limits<double>::infinity()); }),
              violates_only("a reward must be finite or -inf"));
}

TEST(RewardTeeth, NormalisingOverTheBatchIsCaught) {
  EXPECT_THAT(check([](Candidates c) {
                Scores scores = lengths(c);
                for (double& score : scores) score /= static_cast<double>(c.size());
                return scores;
              }),
              violates("a reward must be the same alone and in a batch"));
}

TEST(RewardTeeth, ABatchWithinTheToleranceIsForgiven) {
  MadeReward reward([](Candidates c) {
    Scores scores = lengths(c);
    for (double& score : scores) score += 1e-6 * static_cast<double>(c.size());
    return scores;
  });
  EXPECT_THAT(check_reward(reward, kTexts), violates("a reward must be the same alone and in a batch"));
  EXPECT_THAT(check_reward(reward, kTexts, 0, {.tolerance = 1e-5}), conformant());
}

TEST(RewardTeeth, DependenceOnTheOrderIsCaught) {
  EXPECT_THAT(check([](Candidates c) {
                Scores scores = lengths(c);
                if (c.size() > 1 && c.front().tokens.size() < c.back().tokens.size()) scores.front() += 1;
                return scores;
              }),
              violates("a reward must not depend on the order of the batch"));
}

TEST(RewardTeeth, AMemoryIsCaught) {
  int calls = 0;
  EXPECT_THAT(check([&calls](Candidates c) { return Scores(c.size(), ++calls); }),
              violates("a reward must be the same when asked for again"));
}

TEST(RewardTeeth, ThrowingIsCaught) {
  EXPECT_THAT(check([](Candidates) -> Scores { throw std::runtime_error("out of ink"); }),
              violates_only("score() must not throw on valid input: out of ink"));
}

TEST(RewardTeeth, PrefixesThatAreNotReallyAcceptedAreCaught) {
  const auto complete_only = [](Candidates c) -> Scores {
    for (const Candidate& candidate : c)
      if (!candidate.complete) throw std::runtime_error("not finished");
    return lengths(c);
  };
  EXPECT_THAT(check(complete_only), conformant());
  EXPECT_THAT(check(complete_only, true), violates_only("score(), which accepts prefixes, must not throw"));
}

struct ReadsTooLittle final : Reward {
  std::vector<double> score(std::span<const Candidate> all) override {
    std::vector<double> scores;
    for (const Candidate& c : all) scores.push_back(static_cast<double>(c.tokens.size()));
    return scores;
  }
  std::optional<std::string> reads(const Candidate&) const override { return "the same"; }
};

TEST(RewardTeeth, ReadsLessThanItScores) {
  ReadsTooLittle reward;
  EXPECT_THAT(check_reward(reward, kTexts),
              violates_only("candidates of which reads() says the same must score the same"));
}

}  // namespace
}  // namespace pgdlm
