// The bound on -log p(text): unbiased by enumeration of its own draws, tight where the denoiser is exact, and the same
// whatever the batch.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/philox.h"
#include "eval/nelbo.h"
#include "kit/enumerate.h"
#include "kit/toy_denoiser.h"
#include "models/toy.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

// -log p of a token among those that are not the mask.
double surprise(std::span<const float> logits, Token token, Token mask) {
  double sum = 0;
  for (Token v = 0; v < static_cast<Token>(logits.size()); ++v)
    if (v != mask) sum += std::exp(static_cast<double>(logits[v]));
  return std::log(sum) - static_cast<double>(logits[token]);
}

// The bound by its definition: all k, all sets of k hidden tokens.
double exact_bound(Denoiser& denoiser, const BoundText& text) {
  Frame frame{.mask = denoiser.mask(), .vocab = denoiser.vocab(), .prompt = text.first};
  frame.pinned.assign(text.tokens.size(), 1);
  std::fill_n(frame.pinned.begin() + text.first, text.count, std::uint8_t{0});
  const std::vector<float> notes(text.tokens.size());
  std::vector<double> sums(text.count + 1), sets(text.count + 1);
  for (unsigned set = 1; set < (1U << text.count); ++set) {
    std::vector<Token> tokens = text.tokens;
    for (int i = 0; i < text.count; ++i)
      if (set >> i & 1) tokens[text.first + i] = denoiser.mask();
    const StateView view{.frame = frame, .tokens = tokens, .notes = notes};
    const PredictionPtr prediction = denoiser.predict({&view, 1}).front();
    const int k = std::popcount(set);
    sets[k] += 1;
    for (int i = 0; i < text.count; ++i)
      if (set >> i & 1)
        sums[k] += surprise(prediction->logits(text.first + i), text.tokens[text.first + i], denoiser.mask()) / k;
  }
  double bound = 0;
  for (int k = 1; k <= text.count; ++k) bound += sums[k] / sets[k];  // n times the mean over n values of k
  return bound;
}

std::vector<Bound> bounds_of(Denoiser& denoiser, std::vector<BoundText> texts, BoundOptions options = {}) {
  PhiloxSource source;
  return bounds(denoiser, texts, options, source);
}

// Remembers how many tokens were hidden in each state.
class Watching final : public Denoiser {
 public:
  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    for (const StateView& x : states) {
      int count = 0;
      for (Position l = 0; l < x.frame.length(); ++l) count += x.masked(l);
      hidden.push_back(count);
    }
    return inner.predict(states);
  }
  int vocab() const override { return inner.vocab(); }
  Token mask() const override { return inner.mask(); }

  kit::ToyDenoiser inner;
  std::vector<int> hidden;
};

// Every outcome of every draw, with a mask that claims a logit for itself.
TEST(Nelbo, IsUnbiased) {
  for (const int draws : {1, 2, 3}) {
    kit::ToyDenoiser denoiser({.tokens = 3});
    const std::vector<BoundText> texts = {{.tokens = {1, 0, 2, 1, 0}, .first = 1, .count = 3}};
    const double expected = kit::expectation_of(
        [&](Source& source) { return bounds(denoiser, texts, {.draws = draws}, source).front().nats; });
    EXPECT_NEAR(expected, exact_bound(denoiser, texts.front()), 1e-12) << draws;
  }
}

// The toy's conditionals are those of one distribution, so its bound is no bound but -log p itself.
TEST(Nelbo, IsTightForTheToyAndNearWithManyDraws) {
  const auto model = make_toy_language_model();
  const auto denoiser = model->denoiser();
  const BoundText text = bound_text(*model, "the movie was great.", "text");
  EXPECT_EQ(text.count, 6);
  const double exact = exact_bound(*denoiser, text);

  const ToyModel toy;
  std::vector<double> last(toy.words().size());  // of all texts of this length
  double joint = toy.start(text.tokens.front());
  for (Token v = 0; v < toy.mask(); ++v) last[v] = toy.start(v);
  for (int i = 0; i < text.count; ++i) {
    joint *= toy.transition(text.tokens[i], i + 1 < text.count ? text.tokens[i + 1] : toy.eos());
    std::vector<double> next(last.size());
    for (Token v = 0; v < toy.mask(); ++v)
      for (Token w = 0; w < toy.mask(); ++w) next[w] += last[v] * toy.transition(v, w);
    last = next;
  }
  EXPECT_NEAR(exact, -std::log(joint / last[toy.eos()]), 1e-4);

  const Bound found = bounds_of(*denoiser, {text}, {.draws = 4000}).front();
  EXPECT_EQ(found.tokens, 6);
  ASSERT_TRUE(found.error);
  EXPECT_LT(*found.error, 0.1);
  EXPECT_NEAR(found.nats, exact, 6 * *found.error);
}

TEST(Nelbo, OneTokenLeavesNothingToChance) {
  const auto model = make_toy_language_model();
  const auto denoiser = model->denoiser();
  const BoundText text = bound_text(*model, "", "text");
  ASSERT_EQ(text.tokens, std::vector<Token>{model->eos()});
  const double exact = exact_bound(*denoiser, text);
  EXPECT_NEAR(bounds_of(*denoiser, {text}, {.draws = 1}).front().nats, exact, 1e-12);
  EXPECT_EQ(bounds_of(*denoiser, {text}, {.draws = 1}).front().error, std::nullopt);
  EXPECT_EQ(bounds_of(*denoiser, {text}, {.draws = 5, .seed = 9}).front().error, 0.0);
}

TEST(Nelbo, DrawsAreSpreadOverAllCounts) {
  for (const int draws : {5, 10}) {
    Watching denoiser;
    bounds_of(denoiser, {{.tokens = {0, 1, 1, 0, 1}, .first = 0, .count = 5}}, {.draws = draws});
    std::multiset<int> seen(denoiser.hidden.begin(), denoiser.hidden.end());
    for (int k = 1; k <= 5; ++k) EXPECT_EQ(seen.count(k), static_cast<std::size_t>(draws / 5)) << k;
  }
}

TEST(Nelbo, DoesNotDependOnTheBatch) {
  const auto model = make_toy_language_model();
  std::vector<BoundText> texts;
  for (const char* text : {"it was great.", "the movie was so boring and the plot was weak.", "i loved every scene."})
    texts.push_back(bound_text(*model, text, "text"));
  std::size_t calls = 0;
  const auto run = [&](int batch, std::uint64_t seed) {
    calls = 0;
    std::vector<double> nats;
    for (const Bound& bound :
         bounds_of(*model->denoiser(), texts,
                   {.draws = 6, .seed = seed, .batch_tokens = batch, .progress = [&](std::size_t, std::size_t all) {
                      ++calls;
                      EXPECT_EQ(all, 18U);
                    }}))
      nats.push_back(bound.nats);
    return nats;
  };
  const std::vector<double> together = run(100'000, 3);
  EXPECT_EQ(calls, 1U);
  EXPECT_EQ(run(1, 3), together);
  EXPECT_EQ(calls, 18U);
  EXPECT_EQ(run(25, 3), together);
  EXPECT_NE(run(25, 4), together);
}

TEST(Nelbo, AnExcludedTokenHasNoBound) {
  class Never final : public Denoiser {
   public:
    std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
      const float never = -std::numeric_limits<float>::infinity();
      return {states.size(), std::make_shared<TablePrediction>(2, std::vector<float>{0, never})};
    }
    int vocab() const override { return 2; }
    Token mask() const override { return 2; }
  } denoiser;
  EXPECT_EQ(bounds_of(denoiser, {{.tokens = {1}, .count = 1}}).front().nats, std::numeric_limits<double>::infinity());
  EXPECT_EQ(bounds_of(denoiser, {{.tokens = {0}, .count = 1}}).front().nats, 0);
}

TEST(Nelbo, RefusesWhatItCannotMeasure) {
  kit::ToyDenoiser timely({.time_dependent = true}), denoiser;
  const auto code = [](Denoiser& asked, BoundOptions options) {
    try {
      bounds_of(asked, {{.tokens = {0}, .count = 1}}, options);
    } catch (const Error& e) {
      return e.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code(timely, {}), ErrorCode::unsupported);
  EXPECT_EQ(code(denoiser, {.draws = 0}), ErrorCode::invalid_request);
}

// Letters as tokens, 'z' as the mask.
class Letters final : public LanguageModel {
 public:
  explicit Letters(Token eos) : eos_(eos) {}
  std::shared_ptr<Denoiser> denoiser() const override { return nullptr; }
  ModelDefaults defaults() const override { return {}; }
  int max_length() const override { return 8; }
  Token mask() const override { return 'z'; }
  Token eos() const override { return eos_; }
  std::vector<Token> encode(std::string_view text, std::string_view) const override {
    return {text.begin(), text.end()};
  }
  std::vector<Token> encode_chat(std::span<const Message>) const override { return {}; }
  std::vector<Token> opening() const override { return {1, 2}; }
  std::vector<Token> closing() const override { return {3}; }
  Passage read(std::span<const Token>, int) const override { return {}; }
  std::string show(std::span<const Token>) const override { return {}; }
  std::string piece(Token) const override { return {}; }

 private:
  Token eos_;
};

TEST(Nelbo, ScoresTheTextAndItsEnd) {
  const BoundText ended = bound_text(Letters(9), "ab", "text");
  EXPECT_EQ(ended.tokens, (std::vector<Token>{1, 2, 'a', 'b', 9}));
  EXPECT_EQ(ended.first, 2);
  EXPECT_EQ(ended.count, 3);
  const BoundText endless = bound_text(Letters(-1), "ab", "text");
  EXPECT_EQ(endless.tokens, (std::vector<Token>{1, 2, 'a', 'b', 3}));
  EXPECT_EQ(endless.count, 2);
  EXPECT_THROW(bound_text(Letters(-1), "", "text"), Error);
  EXPECT_THROW(bound_text(Letters(9), "az", "text"), Error);
}

TEST(Nelbo, RatiosHaveTheirErrorOverTexts) {
  const std::vector<double> above = {1, 3}, even = {1, 1}, uneven = {1, 2};
  EXPECT_EQ(ratio_of_sums(above, even).value, 2);
  EXPECT_NEAR(*ratio_of_sums(above, even).error, 1, 1e-12);  // that of the mean
  EXPECT_NEAR(ratio_of_sums(above, uneven).value, 4.0 / 3, 1e-12);
  EXPECT_NEAR(*ratio_of_sums(above, uneven).error, 2.0 / 9, 1e-12);
  EXPECT_EQ(ratio_of_sums(std::span(above).first(1), std::span(even).first(1)).error, std::nullopt);
}

}  // namespace
}  // namespace pgdlm
