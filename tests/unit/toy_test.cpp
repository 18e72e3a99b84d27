// The toy model: its denoiser is exact, its text reads, its rewards say what they promise.
#include "models/toy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/log_math.h"
#include "base/philox.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

class Toy : public testing::Test {
 protected:
  ToyModel model;
  std::shared_ptr<Denoiser> denoiser = model.denoiser();
  int size = denoiser->vocab() - 1;  // words that can be revealed

  PredictionPtr predict(const std::vector<Token>& tokens) const {
    const Frame frame{.mask = model.mask(), .eos = model.eos(), .vocab = denoiser->vocab(), .pinned = {}};
    const std::vector<float> notes(tokens.size(), 0);
    const StateView state{.frame = frame, .tokens = tokens, .notes = notes};
    return denoiser->predict(std::span(&state, 1))[0];
  }

  std::vector<double> probs(const Prediction& prediction, Position l) const {
    std::vector<double> p(denoiser->vocab());
    softmax(prediction.logits(l), 1, p);
    return p;
  }

  // p(x, </s> follows) by the chain itself.
  double joint(const std::vector<Token>& x) const {
    double p = model.start(x[0]) * model.transition(x.back(), model.eos());
    for (std::size_t l = 1; l < x.size(); ++l) p *= model.transition(x[l - 1], x[l]);
    return p;
  }

  // The probability that </s> follows `length` words: the sum of joint over all texts of that length.
  double ends_after(std::size_t length) const {
    std::vector<double> last(size), next(size);
    for (Token v = 0; v < size; ++v) last[v] = model.start(v);
    for (; length > 0; --length, last = next)
      for (Token w = 0; w < size; ++w) {
        next[w] = 0;
        for (Token v = 0; v < size; ++v) next[w] += last[v] * model.transition(v, w);
      }
    return last[model.eos()];
  }

  double score(std::string_view reward, std::string_view text) const {
    const std::vector<Token> tokens = model.encode(text);
    const Candidate candidate{.tokens = tokens};
    return model.reward(reward)->score(std::span(&candidate, 1))[0];
  }

  std::string error(auto&& action) const {
    try {
      action();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_request);
      return std::string(e.what()) + " | " + e.hint();
    }
    return "";
  }
};

TEST_F(Toy, IsAChain) {
  double sum = 0;
  for (Token v = 0; v < size; ++v) {
    sum += model.start(v);
    double row = 0;
    for (Token w = 0; w < size; ++w) {
      EXPECT_GT(model.transition(v, w), 0);
      row += model.transition(v, w);
    }
    EXPECT_NEAR(row, 1, 1e-12) << model.words()[v];
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

// Every conditional of a canvas of three free positions and one given, against the sum over all 60^3 texts.
TEST_F(Toy, PredictsTheConditionalsOfTheChain) {
  const Token mask = model.mask(), was = model.encode("was")[0];
  const std::vector<Token> canvas = {mask, mask, was, mask};
  std::vector<std::vector<double>> expected(4, std::vector<double>(size, 0));
  double total = 0;
  for (Token a = 0; a < size; ++a)
    for (Token b = 0; b < size; ++b)
      for (Token d = 0; d < size; ++d) {
        const double p = joint({a, b, was, d});
        expected[0][a] += p, expected[1][b] += p, expected[3][d] += p;
        total += p;
      }
  const PredictionPtr prediction = predict(canvas);
  for (Position l : {0, 1, 3}) {
    const std::vector<double> p = probs(*prediction, l);
    for (Token v = 0; v < size; ++v) ASSERT_NEAR(p[v], expected[l][v] / total, 1e-6) << l << " " << model.words()[v];
    EXPECT_EQ(p[mask], 0);
  }
}

// The chain rule in any order: so one reveal per step samples the chain itself.
TEST_F(Toy, OneRevealAtATimeHasTheLawOfTheChain) {
  const std::vector<std::string> texts = {"the movie was truly wonderful .", "i hated every minute .",
                                          "this film is a dull mess and the plot was boring .", "so so it the ."};
  PhiloxSource source;
  const auto draws = source.open({.seed = 7});
  for (const std::string& text : texts) {
    const std::vector<Token> x = model.encode(text);
    for (int repeat = 0; repeat < 5; ++repeat) {
      std::vector<Token> canvas(x.size(), model.mask());
      std::vector<double> hidden(x.size(), 1);
      double log_p = 0;
      for (std::size_t n = 0; n < x.size(); ++n) {
        const Position l = draws->categorical(hidden);
        log_p += std::log(probs(*predict(canvas), l)[x[l]]);
        canvas[l] = x[l];
        hidden[l] = 0;
      }
      EXPECT_NEAR(log_p, std::log(joint(x) / ends_after(x.size())), 1e-4) << text;
    }
  }
}

TEST_F(Toy, DoesNotLookBeyondTheNearestWords) {
  const Token mask = model.mask();
  std::vector<Token> a = model.encode("the plot was boring and the film");
  std::vector<Token> b = model.encode("i loved every minute and the film");
  a.push_back(mask), b.push_back(mask);
  EXPECT_EQ(probs(*predict(a), 7), probs(*predict(b), 7));
}

TEST_F(Toy, TextGoesThereAndBack) {
  const std::string text = "The movie was truly wonderful, but it felt long. I loved every scene.";
  EXPECT_EQ(model.decode(model.encode(text)), text);
  std::vector<Token> tokens = model.encode("it was great.");
  tokens.push_back(model.eos());
  tokens.push_back(model.encode("but")[0]);
  EXPECT_EQ(model.decode(tokens), "It was great.");
  EXPECT_EQ(model.decode({}), "");
}

TEST_F(Toy, RewardsSayWhatTheyPromise) {
  for (const char* name : {"none", "happy", ""}) EXPECT_EQ(model.reward(name), nullptr) << name;
  EXPECT_NEAR(score("positive", "the movie was"), std::log(0.5), 1e-12);
  EXPECT_GT(score("positive", "it was wonderful ."), score("positive", "it was awful ."));
  EXPECT_NEAR(std::exp(score("positive", "it was great .")) + std::exp(score("negative", "it was great .")), 1, 1e-12);
}

TEST_F(Toy, BadInputNamesTheField) {
  const auto encode = [&] { model.encode("The banana"); };
  EXPECT_NE(error(encode).find("prompt: the toy model does not know the word 'banana'"), std::string::npos);
  EXPECT_NE(error(encode).find("it knows"), std::string::npos);
  EXPECT_NE(error([&] { model.encode("[MASK]"); }), "");
}

}  // namespace
}  // namespace pgdlm
