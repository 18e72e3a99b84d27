// The exact φ-best completions against brute force, and the law of random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "diffusion/backward/common.h"
#include "diffusion/completion.h"
#include "kit/enumerate.h"
#include "kit/toy_denoiser.h"

namespace pgdlm {
namespace {

using Text = std::vector<Token>;

struct Fixture {
  Frame frame = kit::toy_frame(4, 3, {1});
  std::vector<Token> tokens = kit::toy_canvas(frame);
  std::vector<float> notes = std::vector<float>(4, 0.0F);
  kit::ToyDenoiser denoiser{{.tokens = 3}};
  StateView state() const { return {frame, tokens, notes}; }
  PredictionPtr prediction = denoiser.predict(std::vector<StateView>{state()})[0];

  // Every completion with its probability, best first.
  std::vector<std::pair<double, Text>> all() const {
    std::vector<std::pair<double, Text>> texts = {{1.0, tokens}};
    for (Position l : masks_of(state())) {
      std::vector<std::pair<double, Text>> longer;
      const Row row = subs_row(frame, *prediction, l);
      for (const auto& [p, text] : texts)
        for (Token v = 0; v < 3; ++v) {
          Text next = text;
          next[l] = v;
          longer.emplace_back(p * row.prob(v), next);
        }
      texts = longer;
    }
    std::sort(texts.begin(), texts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    return texts;
  }
};

TEST(Completion, BeamIsTheExactBestList) {
  const Fixture f;
  const auto all = f.all();
  ASSERT_EQ(all.size(), 27U);
  for (int phi : {1, 2, 5, 27, 40}) {
    const auto best = best_completions(f.state(), *f.prediction, phi);
    ASSERT_EQ(best.size(), std::min<std::size_t>(phi, 27));  // fewer if there are fewer
    for (std::size_t i = 0; i < best.size(); ++i) EXPECT_EQ(best[i], all[i].second) << phi << " " << i;
  }
}

TEST(Completion, RandomDrawsFollowTheProduct) {
  const Fixture f;
  const auto law =
      kit::law_of([&](Source& source) { return sample_completion(f.state(), *f.prediction, *source.open(Key{})); });
  ASSERT_EQ(law.size(), 27U);
  for (const auto& [p, text] : f.all()) EXPECT_NEAR(law.at(text), p, 1e-14);
}

TEST(Completion, LookAheadRevealsItsShare) {
  const Fixture f;  // three masks
  EXPECT_EQ(surest_ahead(f.state(), *f.prediction, 2).size(), 2U);
  EXPECT_EQ(surest_ahead(f.state(), *f.prediction, 3).size(), 1U);
  const double expected = kit::expectation_of([&](Source& source) {
    return static_cast<double>(sample_ahead(f.state(), *f.prediction, 2, *source.open(Key{})).size());
  });
  EXPECT_NEAR(expected, 1.5, 1e-12);
}

TEST(Completion, SurestPositionComesFirst) {
  const Fixture f;
  const Edit surest = surest_ahead(f.state(), *f.prediction, 3)[0];
  const double p = subs_row(f.frame, *f.prediction, surest.position).prob(surest.token);
  for (Position l : masks_of(f.state())) {
    const Row row = subs_row(f.frame, *f.prediction, l);
    EXPECT_GE(p, row.prob(row.best()));
  }
}

}  // namespace
}  // namespace pgdlm
