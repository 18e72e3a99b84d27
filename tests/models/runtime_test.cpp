// The runtime's promises: a row comes out the same in any batch, alone, in parts, on any number of threads; asked
// positions are those of the full output, and nothing else is copied from a device.
#include <atomic>
#include <numeric>
#include <thread>

#include "models/each_device.h"
#include "parity/random_gguf.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

std::vector<Position> all(const std::vector<Token>& row) {
  std::vector<Position> positions(row.size());
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

std::vector<std::vector<float>> hidden(Model& model, const std::vector<std::vector<Token>>& rows) {
  std::vector<TokenRow> batch;
  for (const auto& row : rows) batch.push_back({row, all(row)});
  return model.runtime().trunk(batch);
}

const std::vector<int> kLengths = {7, 1, 12, 7, 3, 12, 20};

using EachTrunk = EachDevice;

TEST_P(EachTrunk, ARowIsTheSameBitsInAnyBatch) {
  const auto model = this->model();
  const auto rows = random_rows(*model, kLengths);
  const auto together = hidden(*model, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(hidden(*model, {rows[i]}).front(), together[i]) << i;
}

TEST_P(EachTrunk, ATokenCapAndThreadsChangeNoBit) {
  const auto whole = model();
  const auto rows = random_rows(*whole, kLengths);
  const auto expected = hidden(*whole, rows);
  for (const int cap : {1, 13, 30}) EXPECT_EQ(hidden(*model({.max_tokens = cap}), rows), expected) << cap;
  for (const int threads : {2, 3}) EXPECT_EQ(hidden(*model({.device = {.threads = threads}}), rows), expected);
}

TEST_P(EachTrunk, AskedPositionsAreThoseOfTheFullOutput) {
  const auto model = this->model();
  const auto rows = random_rows(*model, kLengths);
  const auto full = hidden(*model, rows);
  const auto width = static_cast<std::size_t>(model->sizes().embedding);
  std::vector<TokenRow> batch;
  std::size_t asked = 0;
  for (const auto& row : rows) {
    batch.push_back({row, {}});
    for (std::size_t l = 0; l < row.size(); l += 3) batch.back().asked.push_back(static_cast<Position>(l));
  }
  batch[3].asked.clear();  // one that nobody asks about
  for (const TokenRow& row : batch) asked += row.asked.size();
  const std::size_t before = model->runtime().bytes_copied();
  const auto some = model->runtime().trunk(batch);
  EXPECT_EQ(model->runtime().bytes_copied() - before, where() == Where::cpu ? 0 : asked * width * sizeof(float));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(some[i].size(), batch[i].asked.size() * width);
    for (std::size_t a = 0; a < batch[i].asked.size(); ++a)
      for (std::size_t d = 0; d < width; ++d)
        ASSERT_EQ(some[i][a * width + d], full[i][static_cast<std::size_t>(batch[i].asked[a]) * width + d]);
  }
}

TEST_P(EachTrunk, RefusesWhatTheModelCannotRead) {
  const auto model = this->model();
  const std::vector<std::vector<std::vector<Token>>> bad = {
      {{}},
      {{0, -1}},
      {{model->sizes().vocab}},
      {std::vector<Token>(static_cast<std::size_t>(model->sizes().context) + 1)}};
  for (const auto& rows : bad) EXPECT_THROW(raw_outputs(*model, rows), Error);
}

INSTANTIATE_TEST_SUITE_P(Models, EachTrunk, everywhere("mdlm", "llada", "dream", "bert-fill-mask", "roberta-fill-mask"),
                         device_test_name);

using EachClassifier = EachDevice;

TEST_P(EachClassifier, ATextIsTheSameInAnyBatch) {
  const auto model = this->model();
  const auto texts = random_rows(*model, kLengths);
  const std::size_t before = model->runtime().bytes_copied();
  const auto together = classify(*model, texts);
  const auto floats = texts.size() * static_cast<std::size_t>(model->sizes().embedding + model->sizes().outputs);
  EXPECT_EQ(model->runtime().bytes_copied() - before, where() == Where::cpu ? 0 : floats * sizeof(float));
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(classify(*model, std::span(texts).subspan(i, 1)).front(), together[i]) << i;
  EXPECT_TRUE(classify(*model, {}).empty());
}

INSTANTIATE_TEST_SUITE_P(Models, EachClassifier, everywhere("bert-classifier", "roberta-classifier"), device_test_name);

// Large enough that threads share one forward (a row of 100) or have rows of their own (four of them); one alone runs a
// row of 5.
struct SeveralThreads : testing::Test {
  SeveralThreads() {
    parity::write_random_gguf(path, {.layers = 4, .embedding = 512, .heads = 4, .kv_heads = 4, .feed_forward = 1024});
  }
  std::shared_ptr<Model> open(int threads) const { return load(path, Where::cpu, {.device = {.threads = threads}}); }

  std::filesystem::path path = scratch() / "several.gguf";
  const std::vector<std::vector<int>> batches = {{100}, {5}, {100, 80, 100, 90}};
};

TEST_F(SeveralThreads, ChangeNoBit) {
  const auto one = open(1), three = open(3);
  for (const auto& lengths : batches) {
    const auto rows = random_rows(*one, lengths);
    EXPECT_EQ(hidden(*three, rows), hidden(*one, rows));
  }
}

TEST_F(SeveralThreads, AreLentOnceAndInOrder) {
  const auto model = open(2);
  const Device& device = model->runtime().device();
  auto first = std::make_unique<Device::Lease>(device, 1);
  std::atomic<int> got = 0, all = 0, one = 0;
  std::thread wants_all([&] {
    const Device::Lease lease(device, 2);
    all = ++got;
  });
  while (device.waiting() < 1) std::this_thread::yield();
  std::thread wants_one([&] {  // one is free, but it came later
    const Device::Lease lease(device, 1);
    one = ++got;
  });
  while (device.waiting() < 2) std::this_thread::yield();
  EXPECT_EQ(got, 0);
  first.reset();
  wants_all.join();
  wants_one.join();
  EXPECT_EQ(all, 1);
  EXPECT_EQ(one, 2);
}

TEST_F(SeveralThreads, AreLentToTheModelsOfADevice) {
  const auto model = open(2), other = open(2);
  EXPECT_EQ(&model->runtime().device(), &other->runtime().device());
  EXPECT_NE(&model->runtime().device(), &open(1)->runtime().device());
  std::vector<std::vector<std::vector<Token>>> rows;
  for (const auto& lengths : batches) rows.push_back(random_rows(*model, lengths));
  const auto run = [&](Model& m) {
    std::vector<std::vector<std::vector<float>>> states;
    for (int round = 0; round < 3; ++round)
      for (const auto& batch : rows) states.push_back(hidden(m, batch));
    return states;
  };
  const auto alone = run(*model);
  std::vector<std::vector<std::vector<float>>> beside;
  std::thread neighbour([&] { beside = run(*other); });
  EXPECT_EQ(run(*model), alone);
  neighbour.join();
  EXPECT_EQ(beside, alone);
}

}  // namespace
}  // namespace pgdlm
