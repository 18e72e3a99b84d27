#include "diffusion/guidance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kit/backward_case.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

TEST(Guidance, ExtrapolatesFromTheUnconditionalPrediction) {
  const auto toy = std::make_shared<kit::ToyDenoiser>(kit::ToyDenoiserOptions{.tokens = 3});
  const auto guided = make_guided(toy, 1.5);
  const Frame frame = kit::toy_frame(4, 3, {2}, 1);  // prompt at 0, infilled at 2
  const kit::State state = kit::start_state(frame);
  kit::State promptless = state;
  promptless.tokens[0] = frame.mask;
  const std::vector<StateView> views = {view(frame, state), view(frame, promptless)};
  const auto plain = toy->predict(views);
  const auto both = guided->predict(std::span(views).first(1));
  ASSERT_EQ(both.size(), 1u);
  for (Position l = 0; l < 4; ++l)
    for (int v = 0; v < 4; ++v) {
      const double with = plain[0]->logits(l)[v], without = plain[1]->logits(l)[v];
      EXPECT_NEAR(both[0]->logits(l)[v], without + 2.5 * (with - without), 1e-5);
    }
  EXPECT_GE(both[0]->bytes(), plain[0]->bytes() + plain[1]->bytes());
}

TEST(Guidance, ScaleZeroIsTheConditionalPrediction) {
  const auto toy = std::make_shared<kit::ToyDenoiser>();
  const Frame frame = kit::toy_frame(3, 2, {}, 1);
  const kit::State state = kit::start_state(frame);
  const StateView x = view(frame, state);
  const auto guided = make_guided(toy, 0)->predict(std::span(&x, 1));
  const auto plain = toy->predict(std::span(&x, 1));
  for (int v = 0; v < 3; ++v) EXPECT_FLOAT_EQ(guided[0]->logits(1)[v], plain[0]->logits(1)[v]);
}

TEST(Guidance, AsksTwiceInOneBatch) {
  const auto toy = std::make_shared<kit::ToyDenoiser>(kit::ToyDenoiserOptions{.time_dependent = true});
  const auto guided = make_guided(toy, 2);
  EXPECT_EQ(guided->forwards_per_state(), 2);
  EXPECT_TRUE(guided->time_dependent());
  EXPECT_EQ(guided->vocab(), 3);
  EXPECT_EQ(guided->mask(), 2);
  const Frame frame = kit::toy_frame(3, 2, {}, 1);
  const kit::State state = kit::start_state(frame);
  const std::vector<StateView> views(5, view(frame, state));
  EXPECT_EQ(guided->predict(views).size(), 5u);
  EXPECT_EQ(toy->states_run(), 10);
  EXPECT_EQ(toy->batches_run(), 1);
}

TEST(Guidance, ForbiddenTokensStayForbidden) {
  class Forbidding final : public Denoiser {
   public:
    std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
      std::vector<PredictionPtr> out;
      for (const StateView& x : states) {  // without its prompt it forbids token 1, with it token 0
        const bool with = x.tokens[0] != mask();
        out.push_back(std::make_shared<TablePrediction>(
            2, with ? std::vector<float>{-INFINITY, 1, -INFINITY, 1} : std::vector<float>{1, -INFINITY, 1, -INFINITY}));
      }
      return out;
    }
    int vocab() const override { return 2; }
    Token mask() const override { return 2; }
  };
  const auto guided = make_guided(std::make_shared<Forbidding>(), 1);
  const Frame frame = kit::toy_frame(2, 2, {}, 1);
  const kit::State state = kit::start_state(frame);
  const StateView x = view(frame, state);
  const auto prediction = guided->predict(std::span(&x, 1)).front();
  EXPECT_EQ(prediction->logits(1)[0], -INFINITY);
  EXPECT_EQ(prediction->logits(1)[1], 1);
}

TEST(Guidance, RefusesANegativeScaleAndASecondTime) {
  const auto toy = std::make_shared<kit::ToyDenoiser>();
  EXPECT_THROW(make_guided(make_guided(toy, 1), 1), Error);
  EXPECT_THROW(make_guided(toy, -1), Error);
  EXPECT_THROW(make_guided(toy, NAN), Error);
  EXPECT_THROW(make_guided(toy, INFINITY), Error);
}

}  // namespace
}  // namespace pgdlm
