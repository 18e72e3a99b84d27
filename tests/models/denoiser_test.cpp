// A network as a Denoiser: what is read of a prediction is the network's row, however it was asked for, and the whole
// engine runs on it.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/fixture.h"
#include "pgdlm/conformance.h"
#include "pgdlm/engine.h"
#include "pgdlm/processes.h"

namespace pgdlm {
namespace {

struct Scene {
  std::shared_ptr<Model> model;
  std::shared_ptr<Denoiser> denoiser = make_denoiser(model);
  Frame frame{.mask = denoiser->mask(), .vocab = denoiser->vocab(), .prompt = 2, .pinned = {1, 1, 0, 0, 0, 0, 0, 0}};
  std::vector<Token> tokens = {5, 6, frame.mask, 9, frame.mask, frame.mask, 11, frame.mask};
  std::vector<float> notes = std::vector<float>(8);

  StateView state(Position horizon = 100) const { return {frame, tokens, notes, 1, horizon}; }
};

std::vector<float> row(const RawOutput& output, int row) {
  const auto first = output.values.begin() + static_cast<std::ptrdiff_t>(row) * output.columns;
  return {first, first + output.columns};
}

std::vector<float> read(const PredictionPtr& prediction, Position l) {
  const auto logits = prediction->logits(l);
  return {logits.begin(), logits.end()};
}

class EachDenoiser : public testing::TestWithParam<std::string> {};

TEST_P(EachDenoiser, RowsAreTheNetworksHoweverTheyAreAskedFor) {
  Scene scene{Model::load(tiny(GetParam()))};
  const bool shift = scene.model->diffusion().shift_logits;
  EXPECT_EQ(shift, GetParam() == "dream");
  const RawOutput raw = raw_outputs(*scene.model, std::vector<std::vector<Token>>{scene.tokens}).front();
  const auto expected = [&](Position l) { return row(raw, shift ? std::max(l - 1, 0) : l); };

  const StateView states[] = {scene.state(), scene.state(4)};
  const auto predictions = scene.denoiser->predict(states);
  const std::vector<Position> some = {2, 4}, other = {4, 5, 7};
  const Reading readings[] = {
      {predictions[0].get(), some}, {predictions[1].get(), some}, {predictions[0].get(), other}};
  ASSERT_EQ(scene.denoiser->prepare(readings), 3U);
  for (const Position l : {2, 4, 5, 7}) EXPECT_EQ(read(predictions[0], l), expected(l)) << l;
  for (Position l = 0; l < 8; ++l) {  // not announced, beyond the horizon, revealed, given: slower, but the same
    EXPECT_EQ(read(predictions[0], l), expected(l)) << l;
    EXPECT_EQ(read(predictions[1], l), expected(l)) << l;
  }
  scene.denoiser->prepare(std::span(readings).first(1));  // the other's rows are gone, and are made again
  EXPECT_EQ(read(predictions[0], 5), expected(5));
}

TEST_P(EachDenoiser, KeepsTheContract) {
  Scene scene{Model::load(tiny(GetParam()))};
  Canvas canvas{.tokens = scene.tokens, .prompt = 2};
  for (const std::string& finding : check_denoiser(*scene.denoiser, canvas)) ADD_FAILURE() << finding;
}

// Any denoiser under any process, steered, in the engine; the memo and the lanes change nothing.
TEST_P(EachDenoiser, RunsUnderEveryProcess) {
  class ManyFives final : public Reward {
    std::vector<double> score(std::span<const Candidate> candidates) override {
      std::vector<double> scores;
      for (const Candidate& c : candidates)
        scores.push_back(static_cast<double>(std::ranges::count_if(c.tokens, [](Token t) { return t % 5 == 0; })));
      return scores;
    }
  };
  const std::vector<std::shared_ptr<const Backward>> processes = {
      make_mdlm({}), make_remdm({}), make_llada({.block_length = 2, .temperature = 0.8}), make_dream({})};
  for (const auto& process : processes) {
    std::vector<std::vector<Token>> answers;
    for (const bool memo : {true, false}) {
      Scene scene{Model::load(tiny(GetParam()))};
      Request request{.canvas = {.tokens = scene.tokens, .prompt = 2}, .steps = 6, .process = process};
      request.canvas.tokens = {5, 6, scene.frame.mask, scene.frame.mask, scene.frame.mask, scene.frame.mask};
      request.reward = std::make_shared<ManyFives>();
      request.settings = preset(Preset::exact, Method::particle_gibbs);
      request.settings.plan.particles = 4;
      request.settings.plan.iterations = 2;
      Engine engine(scene.denoiser, {.threads = memo ? 2 : 1, .memo = memo});
      answers.push_back(engine.generate(request).tokens);
      EXPECT_EQ(std::ranges::count(answers.back(), scene.frame.mask), 0);
    }
    EXPECT_EQ(answers[0], answers[1]);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EachDenoiser,
                         testing::Values("mdlm", "llada", "dream", "bert-fill-mask", "roberta-fill-mask"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::ranges::replace(text, '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace pgdlm
