// Every kernel this processor can run, against plain loops in double: shapes that fit no tile, any number of threads,
// and the promise that a row does not depend on its batch.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/kernels.h"

namespace pgdlm {
namespace {

std::vector<float> noise(std::size_t count, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(count);
  for (float& v : values) v = normal(engine);
  return values;
}

class EachKernel : public testing::TestWithParam<const Kernels*> {};

// Weights that so many parts of 8 bits hold.
std::vector<float> short_weights(std::size_t count, int parts) {
  std::vector<float> weights = noise(count, 1);
  const std::uint32_t kept = parts == 3 ? ~0U : parts == 2 ? ~0xffU : ~0xffffU;
  for (float& w : weights) w = std::bit_cast<float>(std::bit_cast<std::uint32_t>(w) & kept);
  return weights;
}

struct Product {
  int in, out, rows;
  int parts = 3;
  std::vector<float> w = short_weights(static_cast<std::size_t>(in) * static_cast<std::size_t>(out), parts);
  std::vector<float> x = noise(static_cast<std::size_t>(in) * static_cast<std::size_t>(rows), 2);
  std::vector<float> bias = noise(static_cast<std::size_t>(out), 3);

  std::vector<float> run(const Kernels& k, int threads, int first = 0, int count = -1, bool keep = false) const {
    std::vector<float> y(static_cast<std::size_t>(out) * static_cast<std::size_t>(rows), NAN);
    const int n = count < 0 ? rows : count;
    const Matrix matrix{
        .data = w.data(), .stride = static_cast<std::size_t>(in) * sizeof(float), .in = in, .out = out, .parts = parts};
    const float* from = x.data() + static_cast<std::size_t>(first * in);
    std::vector<std::byte> form(k.pack_rows == nullptr ? 0 : k.packed_rows_bytes(in, n));
    for (int i = 0; k.pack_rows != nullptr && i < threads; ++i)
      k.pack_rows(from, static_cast<std::size_t>(in), in, n, form.data(), {i, threads});
    std::vector<std::byte> panels(keep ? k.packed_bytes(matrix) : 0);
    if (keep) k.pack(matrix, panels.data());
    for (int i = 0; i < threads; ++i)
      k.linear({.weight = matrix,
                .packed = keep ? panels.data() : nullptr,
                .bias = bias.data(),
                .x = form.empty() ? static_cast<const void*>(from) : form.data(),
                .x_stride = static_cast<std::size_t>(in),
                .y = y.data() + static_cast<std::size_t>(first * out),
                .y_stride = static_cast<std::size_t>(out),
                .rows = n},
               {i, threads});
    return y;
  }
};

TEST_P(EachKernel, LinearIsTheProduct) {
  for (const auto& [in, out, rows] :
       {std::array{1, 1, 1}, {3, 5, 2}, {64, 32, 12}, {65, 33, 13}, {17, 100, 25}, {300, 7, 40}}) {
    for (const int parts : {3, 2, 1}) {
      const Product p{in, out, rows, parts};
      const std::vector<float> y = p.run(*GetParam(), 1);
      for (int r = 0; r < rows; ++r)
        for (int o = 0; o < out; ++o) {
          double expected = static_cast<double>(p.bias[static_cast<std::size_t>(o)]);
          for (int i = 0; i < in; ++i)
            expected += static_cast<double>(p.x[static_cast<std::size_t>(r * in + i)]) *
                        static_cast<double>(p.w[static_cast<std::size_t>(o * in + i)]);
          ASSERT_NEAR(y[static_cast<std::size_t>(r * out + o)], expected,
                      (parts == 3 ? 4e-6 : 2e-5) * std::sqrt(in + 1.0))
              << in << " " << out << " " << rows;
        }
    }
  }
}

TEST_P(EachKernel, LinearRowsAreTheSameBitsInAnyBatchAndWithAnyThreads) {
  const Product p{130, 77, 31};
  const std::vector<float> whole = p.run(*GetParam(), 1);
  EXPECT_EQ(whole, p.run(*GetParam(), 3));
  EXPECT_EQ(whole, p.run(*GetParam(), 2, 0, -1, true));  // panels that were kept
  for (int r = 0; r < p.rows; ++r) {
    const std::vector<float> alone = p.run(*GetParam(), 2, r, 1);
    for (int o = 0; o < p.out; ++o)
      ASSERT_EQ(alone[static_cast<std::size_t>(r * p.out + o)], whole[static_cast<std::size_t>(r * p.out + o)]);
  }
}

// Rows of different lengths, grouped keys, sizes that fill no vector; keys far apart in value. The second row asks
// about 3 of its 13; in the last one, which goes on from 9 known keys, a query sees those up to its own.
TEST_P(EachKernel, AttentionIsSoftmaxWithinTheRow) {
  for (const int size : {2, 32, 40, 64}) {
    const int heads = 4, kv_heads = 2, positions = 80;
    const auto n = static_cast<std::size_t>(positions * size);
    const std::vector<float> q = noise(n * heads, 4, 2), k = noise(n * kv_heads, 5, 2), v = noise(n * kv_heads, 6);
    const std::vector<AttentionRow> rows = {{0, 37, 0, 37}, {37, 3, 37, 13}, {40, 20, 50, 29, true}};
    std::vector<float> out(n * heads, NAN);
    const auto s = static_cast<std::size_t>(size);
    for (int i = 0; i < 2; ++i)
      GetParam()->attention({.q = q.data(),
                             .k = k.data(),
                             .v = v.data(),
                             .q_stride = s * heads,
                             .k_stride = s * kv_heads,
                             .v_stride = s * kv_heads,
                             .q_head_stride = s,
                             .k_head_stride = s,
                             .v_head_stride = s,
                             .out = out.data(),
                             .heads = heads,
                             .kv_heads = kv_heads,
                             .size = size,
                             .rows = rows.data(),
                             .row_count = static_cast<int>(rows.size())},
                            {i, 2});
    for (const AttentionRow& row : rows)
      for (int a = 0; a < row.queries; ++a)
        for (int h = 0; h < heads; ++h) {
          std::vector<double> weight;
          double sum = 0;
          const int seen = row.causal ? row.keys - row.queries + a + 1 : row.keys;
          const auto qa = static_cast<std::size_t>(((row.first_query + a) * heads + h) * size);
          for (int b = 0; b < seen; ++b) {
            double dot = 0;
            const auto kb = static_cast<std::size_t>(((row.first_key + b) * kv_heads + h / 2) * size);
            for (std::size_t d = 0; d < s; ++d) dot += static_cast<double>(q[qa + d]) * static_cast<double>(k[kb + d]);
            weight.push_back(std::exp(dot / std::sqrt(size)));
            sum += weight.back();
          }
          for (std::size_t d = 0; d < s; ++d) {
            double expected = 0;
            for (int b = 0; b < seen; ++b)
              expected +=
                  weight[static_cast<std::size_t>(b)] / sum *
                  static_cast<double>(v[static_cast<std::size_t>(((row.first_key + b) * kv_heads + h / 2) * size) + d]);
            ASSERT_NEAR(out[qa + d], expected, 2e-5) << size;
          }
        }
  }
}

TEST_P(EachKernel, ActivationsAreWhatTheySay) {
  std::vector<float> x;
  for (int i = -2000; i <= 2000; ++i) x.push_back(static_cast<float>(i) * 0.0151F);
  x.insert(x.end(), {-1e4F, 1e4F, 0.0F});
  std::vector<float> erf(x.size()), tanh(x.size()), silu(x.size());
  GetParam()->gelu_erf(x.data(), erf.data(), x.size());
  GetParam()->gelu_tanh(x.data(), tanh.data(), x.size());
  const std::vector<float> two(x.size(), 2.0F);
  GetParam()->swiglu(x.data(), two.data(), silu.data(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = static_cast<double>(x[i]);
    const double tolerance = 1e-6 * std::max(1.0, std::fabs(v));
    EXPECT_NEAR(erf[i], 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))), tolerance);
    EXPECT_NEAR(tanh[i], 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))), tolerance);
    EXPECT_NEAR(silu[i], 2 * v / (1 + std::exp(-v)), 2 * tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EachKernel, testing::ValuesIn(all_kernels().begin(), all_kernels().end()),
                         [](const auto& kernel) { return std::string(kernel.param->name); });

}  // namespace
}  // namespace pgdlm
