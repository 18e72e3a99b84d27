// Weights as files store them: a kernel makes of them what ggml decodes, whether their panels are kept or packed on the
// way. And kernels that find no memory say so.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <ggml.h>

#include "models/packed_weights.h"

namespace pgdlm {
namespace {

constexpr int kIn = 512, kOut = 70, kRows = 35;  // whole blocks of every type, but no whole tiles

std::vector<float> noise(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(engine);
  return values;
}

struct Stored {
  explicit Stored(ggml_type type) : bytes(ggml_row_size(type, kIn) * kOut) {
    const std::vector<float> values = noise(kIn * kOut, 1);
    if (type == GGML_TYPE_F32)
      std::copy_n(reinterpret_cast<const std::byte*>(values.data()), bytes.size(), bytes.data());
    else
      ggml_quantize_chunk(type, values.data(), bytes.data(), 0, kOut, kIn, nullptr);
    tensor.type = type;
    tensor.ne[0] = kIn;
    tensor.ne[1] = kOut;
    tensor.nb[1] = ggml_row_size(type, kIn);
    tensor.data = bytes.data();
  }
  std::vector<float> decoded() const {
    std::vector<float> values(kIn * kOut);
    if (tensor.type == GGML_TYPE_F32)
      std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<std::byte*>(values.data()));
    else
      ggml_get_type_traits(tensor.type)->to_float(bytes.data(), values.data(), kIn * kOut);
    return values;
  }

  std::vector<std::byte> bytes;
  ggml_tensor tensor{};
};

struct Product {
  const Kernels& k;
  std::vector<float> x = noise(kIn * kRows, 2), bias = noise(kOut, 3);

  // Empty: a kernel found no memory.
  std::vector<float> run(const Matrix& weight, bool keep) const {
    std::vector<std::byte> form(k.pack_rows == nullptr ? 0 : k.packed_rows_bytes(kIn, kRows));
    if (!form.empty() && !k.pack_rows(x.data(), kIn, kIn, kRows, form.data(), {})) return {};
    std::vector<std::byte> panels(keep ? k.packed_bytes(weight) : 0);
    if (keep && !k.pack(weight, panels.data())) return {};
    std::vector<float> y(kOut * kRows, NAN);
    const LinearTask task{.weight = weight,
                          .packed = keep ? panels.data() : nullptr,
                          .bias = bias.data(),
                          .x = form.empty() ? static_cast<const void*>(x.data()) : form.data(),
                          .x_stride = kIn,
                          .y = y.data(),
                          .y_stride = kOut,
                          .rows = kRows};
    return k.linear(task, {}) ? y : std::vector<float>();
  }
};

class EachStored : public testing::TestWithParam<const Kernels*> {};

TEST_P(EachStored, TypeIsWhatGgmlDecodes) {
  for (const ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0, GGML_TYPE_Q6_K,
                               GGML_TYPE_Q5_K, GGML_TYPE_Q5_1, GGML_TYPE_Q5_0, GGML_TYPE_Q4_K, GGML_TYPE_Q4_1,
                               GGML_TYPE_Q4_0, GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS, GGML_TYPE_Q3_K, GGML_TYPE_Q2_K}) {
    SCOPED_TRACE(ggml_type_name(type));
    const Stored stored(type);
    const std::vector<float> w = stored.decoded();
    const Matrix matrix = as_matrix(&stored.tensor);
    const Matrix floats{
        .data = w.data(), .stride = kIn * sizeof(float), .in = kIn, .out = kOut, .parts = parts_of(type)};
    const Product product{*GetParam()};
    const std::vector<float> y = product.run(matrix, false);
    EXPECT_EQ(y, product.run(matrix, true));
    EXPECT_EQ(y, product.run(floats, false));
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t o = 0; o < kOut; ++o) {
        double expected = static_cast<double>(product.bias[o]);
        for (std::size_t i = 0; i < kIn; ++i)
          expected += static_cast<double>(product.x[r * kIn + i]) * static_cast<double>(w[o * kIn + i]);
        ASSERT_NEAR(y[r * kOut + o], expected, (type == GGML_TYPE_F32 ? 4e-6 : 2e-5) * std::sqrt(kIn));
      }
  }
}

TEST_P(EachStored, WithoutMemoryAKernelSaysSo) {
  const Stored stored(GGML_TYPE_Q8_0);
  const Product product{*GetParam()};
  const std::vector<float> q(8), out(8, 7.0F);
  std::vector<float> written = out;
  const AttentionRow row{.queries = 1, .keys = 1};
  const AttentionTask task{.q = q.data(),
                           .k = q.data(),
                           .v = q.data(),
                           .out = written.data(),
                           .heads = 1,
                           .kv_heads = 1,
                           .size = 8,
                           .rows = &row,
                           .row_count = 1};
  limit_scratch(8);
  for (const bool keep : {false, true}) EXPECT_TRUE(product.run(as_matrix(&stored.tensor), keep).empty());
  EXPECT_FALSE(GetParam()->attention(task, {}));
  EXPECT_EQ(written, out);
  limit_scratch(SIZE_MAX);
  EXPECT_TRUE(GetParam()->attention(task, {}));
  EXPECT_EQ(product.run(as_matrix(&stored.tensor), true).size(), static_cast<std::size_t>(kOut * kRows));
}

INSTANTIATE_TEST_SUITE_P(Kernels, EachStored, testing::ValuesIn(all_kernels().begin(), all_kernels().end()),
                         [](const auto& kernel) { return std::string(kernel.param->name); });

}  // namespace
}  // namespace pgdlm
