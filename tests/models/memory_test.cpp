// When memory is short: an Error that says so, and the model goes on working; with no room for packed weights, the same
// numbers.
#include <cstdint>

#include "kernels/kernels.h"
#include "models/each_device.h"
#include "models/step_scorer.h"
#include "parity/random_gguf.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

// The kernels find no memory while this lives.
struct NoScratch {
  NoScratch() { limit_scratch(0); }
  ~NoScratch() { limit_scratch(SIZE_MAX); }
};

template <class F>
std::string exhausted(const F& run) {
  try {
    run();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::exhausted);
    return e.what();
  }
  return "it worked";
}

class EachModel : public testing::TestWithParam<std::string> {};

TEST_P(EachModel, KernelsWithoutMemoryAreAnError) {
  const auto model = load(tiny(GetParam()), Where::cpu);
  auto rows = random_rows(*model, {5, 9});
  if (model->role() == Role::process_reward)
    for (auto& row : rows) row.back() = model->step_token();
  const auto run = [&] { return raw_outputs(*model, rows); };
  const auto expected = raw_outputs(*load(tiny(GetParam()), Where::cpu), rows);
  {
    const NoScratch none;  // weights cannot be packed either
    EXPECT_EQ(exhausted(run), "not enough memory on CPU for a kernel of this batch");
  }
  const auto got = run();
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(got[i].values, expected[i].values);
}

TEST_P(EachModel, WithoutPackedWeightsTheSameBits) {
  for (const ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0}) {
    const auto packed = load(tiny(GetParam(), type), Where::cpu);
    const auto bare = load(tiny(GetParam(), type), Where::cpu, {.packed_bytes = 0});
    const auto some = load(tiny(GetParam(), type), Where::cpu, {.packed_bytes = 100'000});
    auto rows = random_rows(*packed, {5, 9, 40});
    if (packed->role() == Role::process_reward)
      for (auto& row : rows) row.back() = packed->step_token();
    const auto expected = raw_outputs(*packed, rows);
    for (const auto& model : {bare, some}) {
      const auto got = raw_outputs(*model, rows);
      for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_EQ(got[i].values, expected[i].values) << ggml_type_name(type);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EachModel,
                         testing::Values("mdlm", "llada", "dream", "bert-fill-mask", "roberta-classifier", "qwen2-prm"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Memory, AHeadThatFailsLeavesTheDenoiserUsable) {
  const auto model = load(tiny("llada"), Where::cpu, {.packed_bytes = 0});
  const auto denoiser = make_denoiser(model);
  const Frame frame{.mask = denoiser->mask(), .vocab = denoiser->vocab(), .pinned = std::vector<std::uint8_t>(6)};
  const std::vector<Token> tokens(6, frame.mask);
  const std::vector<float> notes(6);
  const PredictionPtr prediction = denoiser->predict(std::vector{StateView{frame, tokens, notes}}).front();
  const std::vector<Position> first = {0, 1}, second = {1, 3};
  const Reading before{prediction.get(), first}, after{prediction.get(), second};
  denoiser->prepare({&before, 1});
  const auto read = [&](Position l) {
    const auto row = prediction->logits(l);
    return std::vector<float>(row.begin(), row.end());
  };
  const auto one = read(1);
  {
    const NoScratch none;
    EXPECT_THROW(denoiser->prepare({&after, 1}), Error);
    EXPECT_THROW(read(1), Error);  // nothing of before or after is taken for prepared
  }
  EXPECT_EQ(read(1), one);
  denoiser->prepare({&after, 1});
  EXPECT_EQ(read(1), one);
}

TEST(Memory, ADeviceThatIsTooSmallIsAnErrorWithTheSize) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes more memory than we would leave the server";
  const RpcServer server(32);
  const auto large = scratch() / "large.gguf", small = scratch() / "small.gguf";
  parity::write_random_gguf(large, {.layers = 1, .embedding = 256, .heads = 2, .kv_heads = 2, .vocab = 40'000});
  parity::write_random_gguf(small, {.layers = 1, .embedding = 64, .heads = 2, .kv_heads = 2, .context = 2048});
  const std::string weights = exhausted([&] { load(large, server); });
  EXPECT_NE(weights.find("large.gguf: the weights, "), std::string::npos) << weights;
  EXPECT_NE(weights.find(" MB, do not fit into the memory of RPC"), std::string::npos) << weights;

  const auto model = load(small, server);
  const auto shorter = random_rows(*model, {20}), longer = random_rows(*model, {2048});
  const auto expected = raw_outputs(*model, shorter);
  for (int i = 0; i < 2; ++i) {  // the same batch again fails again
    const std::string batch = exhausted([&] { raw_outputs(*model, longer); });
    EXPECT_NE(batch.find("for this batch, which takes "), std::string::npos) << batch;
  }
  EXPECT_EQ(raw_outputs(*model, shorter).front().values, expected.front().values);
}

}  // namespace
}  // namespace pgdlm
