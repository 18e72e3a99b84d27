// A network as a Denoiser: what is read of a prediction is the network's row, however it was asked for.
#include <random>
#include <thread>

#include "diffusion/guidance.h"
#include "models/each_device.h"
#include "pgdlm/conformance.h"

namespace pgdlm {
namespace {

struct Scene {
  explicit Scene(std::shared_ptr<Model> m) : model(std::move(m)) {}

  std::shared_ptr<Model> model;
  std::shared_ptr<Denoiser> denoiser = make_denoiser(model);
  Frame frame{.mask = denoiser->mask(), .vocab = denoiser->vocab(), .prompt = 2, .pinned = {1, 1, 0, 0, 0, 0, 0, 0}};
  std::vector<Token> tokens = {5, 6, frame.mask, 9, frame.mask, frame.mask, 11, frame.mask};
  std::vector<float> notes = std::vector<float>(8);
  std::vector<Position> masks = {2, 4, 5, 7};

  StateView state(Position horizon = 100) const { return {frame, tokens, notes, 1, horizon}; }
  PredictionPtr predict() const { return denoiser->predict(std::vector{state()}).front(); }

  // What the network itself says of a position.
  std::vector<float> expected(Position l) const { return expected(tokens, l); }
  std::vector<float> expected(const std::vector<Token>& row, Position l) const {
    const RawOutput raw = raw_outputs(*model, std::vector<std::vector<Token>>{row}).front();
    const Position at = model->diffusion().shift_logits ? std::max(l - 1, 0) : l;
    const auto first = raw.values.begin() + static_cast<std::ptrdiff_t>(at) * raw.columns;
    return {first, first + raw.columns};
  }
};

std::vector<float> read(const PredictionPtr& prediction, Position l) {
  const auto logits = prediction->logits(l);
  return {logits.begin(), logits.end()};
}

using EachDenoiser = EachDevice;

TEST_P(EachDenoiser, RowsAreTheNetworksHoweverTheyAreAskedFor) {
  const Scene scene(model());
  EXPECT_EQ(scene.model->diffusion().shift_logits, family() == "dream");
  const StateView states[] = {scene.state(), scene.state(4)};
  const auto predictions = scene.denoiser->predict(states);
  const std::vector<Position> some = {2, 4}, other = {4, 5, 7};
  const Reading readings[] = {
      {predictions[0].get(), some}, {predictions[1].get(), some}, {predictions[0].get(), other}};
  ASSERT_EQ(scene.denoiser->prepare(readings), 3U);
  for (const Position l : scene.masks) EXPECT_EQ(read(predictions[0], l), scene.expected(l)) << l;
  for (Position l = 0; l < 8; ++l) {  // not announced, beyond the horizon, revealed, given: slower, but the same
    EXPECT_EQ(read(predictions[0], l), scene.expected(l)) << l;
    EXPECT_EQ(read(predictions[1], l), scene.expected(l)) << l;
  }
  scene.denoiser->prepare(std::span(readings).first(1));  // the other's rows are gone, and are made again
  EXPECT_EQ(read(predictions[0], 5), scene.expected(5));
}

TEST_P(EachDenoiser, KeepsTheContract) {
  const Scene scene(model());
  const Canvas canvas{.tokens = scene.tokens, .prompt = 2};
  for (const std::string& finding : check_denoiser(*scene.denoiser, canvas)) ADD_FAILURE() << finding;
}

TEST_P(EachDenoiser, ABatchOfMixedLengthsIsOneByOne) {
  const Scene scene(model());
  std::mt19937 random(3);
  std::vector<Frame> frames;
  std::vector<std::vector<Token>> texts;
  for (const std::size_t length : {5, 1, 9, 5, 16}) {
    frames.push_back(
        {.mask = scene.frame.mask, .vocab = scene.frame.vocab, .pinned = std::vector<std::uint8_t>(length)});
    texts.emplace_back();
    for (std::size_t l = 0; l < length; ++l)
      texts.back().push_back(random() % 2 == 0 ? scene.frame.mask : static_cast<Token>(random() % 20));
    texts.back()[0] = scene.frame.mask;
  }
  const std::vector<float> notes(16);
  std::vector<StateView> states;
  for (std::size_t i = 0; i < texts.size(); ++i)
    states.push_back({frames[i], texts[i], std::span(notes).first(texts[i].size())});
  const auto predictions = scene.denoiser->predict(states);
  std::vector<std::vector<Position>> masked(texts.size());
  std::vector<Reading> readings;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (Position l = 0; l < static_cast<Position>(texts[i].size()); ++l)
      if (states[i].masked(l)) masked[i].push_back(l);
    readings.push_back({predictions[i].get(), masked[i]});
  }
  ASSERT_EQ(scene.denoiser->prepare(readings), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const Position l : masked[i]) EXPECT_EQ(read(predictions[i], l), scene.expected(texts[i], l)) << i << " " << l;
}

TEST_P(EachDenoiser, OnlyWhatIsReadIsCopiedFromADevice) {
  const Scene scene(model());
  const std::size_t there = where() == Where::cpu ? 0 : sizeof(float);
  const auto embedding = static_cast<std::size_t>(scene.model->sizes().embedding);
  const auto vocab = static_cast<std::size_t>(scene.model->sizes().vocab);
  auto copied = [&, before = std::size_t{0}]() mutable {
    const std::size_t now = scene.model->runtime().bytes_copied();
    return now - std::exchange(before, now);
  };
  const PredictionPtr prediction = scene.predict();
  EXPECT_EQ(copied(), scene.masks.size() * embedding * there);
  const std::vector<Position> some = {4, 5};
  const Reading reading{prediction.get(), some};
  scene.denoiser->prepare({&reading, 1});
  EXPECT_EQ(copied(), some.size() * vocab * there);
  for (const Position l : some) prediction->logits(l);
  EXPECT_EQ(copied(), 0U);
  prediction->logits(7);  // not announced
  EXPECT_EQ(copied(), vocab * there);
  prediction->logits(3);  // not even expected
  EXPECT_EQ(copied(), (embedding + vocab) * there);
}

// Two rows at a time, whatever is asked.
TEST_P(EachDenoiser, PrepareKeepsToTheCap) {
  const Scene scene(model({.max_tokens = 2}));
  ASSERT_EQ(scene.model->runtime().max_head_rows(), 2);
  const PredictionPtr a = scene.predict(), b = scene.predict();
  const std::vector<Position> one = {5}, two = {4, 7};
  const Reading small[] = {{a.get(), one}, {b.get(), one}, {a.get(), two}};
  EXPECT_EQ(scene.denoiser->prepare(small), 2U);
  EXPECT_EQ(read(a, 5), scene.expected(5));
  EXPECT_EQ(read(b, 5), scene.expected(5));
  EXPECT_EQ(scene.denoiser->prepare(std::span(small).last(1)), 1U);
  for (const Position l : two) EXPECT_EQ(read(a, l), scene.expected(l));

  const Reading large[] = {{a.get(), scene.masks}, {b.get(), one}};  // more than there is room for
  const std::size_t before = scene.model->runtime().bytes_copied();
  EXPECT_EQ(scene.denoiser->prepare(large), 1U);
  std::vector<std::vector<float>> rows;
  for (const Position l : scene.masks) rows.push_back(read(a, l));
  const std::size_t once = scene.masks.size() * static_cast<std::size_t>(scene.frame.vocab) * sizeof(float);
  EXPECT_EQ(scene.model->runtime().bytes_copied() - before, where() == Where::cpu ? 0 : once);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], scene.expected(scene.masks[i]));
  for (const Position l : {7, 2, 5, 4, 7}) EXPECT_EQ(read(a, l), scene.expected(l));  // in any order
}

// With room for both halves of a reading, for one half, and for a part of it.
TEST_P(EachDenoiser, GuidanceCombinesBothHalves) {
  for (const int cap : {100, 4, 2}) {
    const Scene scene(model({.max_tokens = cap}));
    const auto guided = make_guided(scene.denoiser, 1.5);
    const StateView states[] = {scene.state(), scene.state()};
    const auto predictions = guided->predict(states);
    const Reading readings[] = {{predictions[0].get(), scene.masks}, {predictions[1].get(), scene.masks}};
    EXPECT_EQ(guided->prepare(readings), cap == 100 ? 2U : 1U);
    std::vector<Token> promptless = scene.tokens;
    promptless[0] = promptless[1] = scene.frame.mask;
    for (const Position l : scene.masks) {
      std::vector<float> with = scene.expected(l);
      const std::vector<float> without = scene.expected(promptless, l);
      for (std::size_t v = 0; v < with.size(); ++v) {
        const double un = static_cast<double>(without[v]);
        with[v] = static_cast<float>(un + 2.5 * (static_cast<double>(with[v]) - un));
      }
      EXPECT_EQ(read(predictions[0], l), with) << cap << " " << l;
    }
  }
}

TEST_P(EachDenoiser, TwoOfOneModelLeaveEachOtherAlone) {
  const Scene scene(model());
  const auto other = make_denoiser(scene.model);
  std::vector<Token> text = scene.tokens;
  text[0] = 1;
  const PredictionPtr mine = scene.predict();
  const PredictionPtr theirs = other->predict(std::vector{StateView{scene.frame, text, scene.notes}}).front();
  const Reading my_reading{mine.get(), scene.masks}, their_reading{theirs.get(), scene.masks};
  scene.denoiser->prepare({&my_reading, 1});
  other->prepare({&their_reading, 1});
  std::vector<std::vector<float>> my_rows, their_rows;
  for (const Position l : scene.masks) {
    my_rows.push_back(read(mine, l));
    their_rows.push_back(read(theirs, l));
  }
  for (std::size_t i = 0; i < scene.masks.size(); ++i) {
    EXPECT_EQ(my_rows[i], scene.expected(scene.masks[i]));
    EXPECT_EQ(their_rows[i], scene.expected(text, scene.masks[i]));
  }
}

TEST_P(EachDenoiser, TwoThreadsReadTwoPredictions) {
  const Scene scene(model());
  std::vector<std::vector<float>> expected;
  for (Position l = 0; l < 8; ++l) expected.push_back(scene.expected(l));
  const PredictionPtr mine = scene.predict(), theirs = scene.predict();
  const Reading reading{mine.get(), scene.masks};  // some rows are prepared, the others are not
  scene.denoiser->prepare({&reading, 1});
  const auto work = [&](const PredictionPtr& prediction) {
    for (Position l = 0; l < 8; ++l) EXPECT_EQ(read(prediction, l), expected[static_cast<std::size_t>(l)]);
  };
  std::thread beside([&] { work(theirs); });
  work(mine);
  beside.join();
}

TEST_P(EachDenoiser, TwoOfOneModelTakeTurns) {
  const Scene scene(model());
  std::vector<std::vector<float>> expected;
  for (const Position l : scene.masks) expected.push_back(scene.expected(l));
  const auto work = [&](Denoiser& denoiser) {
    for (int i = 0; i < 10; ++i) {
      const PredictionPtr prediction = denoiser.predict(std::vector{scene.state()}).front();
      const Reading reading{prediction.get(), scene.masks};
      denoiser.prepare({&reading, 1});
      for (std::size_t r = 0; r < expected.size(); ++r) EXPECT_EQ(read(prediction, scene.masks[r]), expected[r]);
    }
  };
  const auto other = make_denoiser(scene.model);
  std::thread beside([&] { work(*other); });
  work(*scene.denoiser);
  beside.join();
}

INSTANTIATE_TEST_SUITE_P(Models, EachDenoiser,
                         everywhere("mdlm", "llada", "dream", "bert-fill-mask", "roberta-fill-mask"), device_test_name);

}  // namespace
}  // namespace pgdlm
