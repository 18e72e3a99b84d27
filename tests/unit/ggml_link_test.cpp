// Proves that the ggml we found or built links and computes on this processor: a product of two matrices against plain
// loops, for weights in every kind of CPU buffer. The extra kinds (AMX, repacked) hold weights in a layout of their own
// and run other instructions, so this is where a compiler that gets AMX wrong would die of SIGILL.
#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml-cpu.h>
#include <ggml-rpc.h>
#include <ggml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kDepth = 256, kOut = 256;

// A fixed pattern in [-1, 1], different for each seed; no generator, so that the test depends on ggml alone.
std::vector<float> pattern(int64_t size, double seed) {
  std::vector<float> values(static_cast<size_t>(size));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(std::sin(seed + 0.7 * static_cast<double>(i) + 0.01 * static_cast<double>(i % 97)));
  }
  return values;
}

// Weights as `type` stores them, and the floats they then stand for.
std::pair<std::vector<uint8_t>, std::vector<float>> encode(const std::vector<float>& values, ggml_type type) {
  std::vector<uint8_t> bytes(ggml_row_size(type, static_cast<int64_t>(values.size())));
  ggml_quantize_chunk(type, values.data(), bytes.data(), 0, kOut, kDepth, nullptr);
  if (type == GGML_TYPE_F32) return {bytes, values};
  std::vector<float> decoded(values.size());
  ggml_get_type_traits(type)->to_float(bytes.data(), decoded.data(), static_cast<int64_t>(values.size()));
  return {bytes, decoded};
}

std::vector<ggml_backend_buffer_type_t> cpu_buffer_types() {
  ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  std::vector types = {ggml_backend_dev_buffer_type(device)};
  auto extra = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), "ggml_backend_dev_get_extra_bufts"));
  if (extra == nullptr) return types;
  for (ggml_backend_buffer_type_t* type = extra(device); type != nullptr && *type != nullptr; ++type) {
    types.push_back(*type);
  }
  return types;
}

struct Case {
  ggml_type type;
  int64_t rows;      // of the activations: 1 takes ggml's vector path, more its matrix path
  double tolerance;  // relative to the largest output: ggml rounds the activations to fit the weights
};

class GgmlLink : public testing::TestWithParam<Case> {};

TEST_P(GgmlLink, MatrixProductAgreesWithPlainLoops) {
  const auto [type, rows, tolerance] = GetParam();
  const std::vector<float> x = pattern(rows * kDepth, 0.3);                  // [rows, depth]
  const auto [weight_bytes, w] = encode(pattern(kOut * kDepth, 1.1), type);  // [out, depth]
  std::vector<double> want(static_cast<size_t>(rows * kOut));                // [rows, out]
  double largest = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const size_t row = i / kOut, out = i % kOut;
    for (size_t k = 0; k < kDepth; ++k) want[i] += double{x[row * kDepth + k]} * double{w[out * kDepth + k]};
    largest = std::max(largest, std::abs(want[i]));
  }

  ggml_backend_ptr backend(ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr));
  ASSERT_TRUE(backend);
  ggml_backend_cpu_set_n_threads(backend.get(), 2);

  for (ggml_backend_buffer_type_t buffer_type : cpu_buffer_types()) {
    const std::string name = ggml_backend_buft_name(buffer_type);
    SCOPED_TRACE(name);
    const ggml_init_params no_data = {.mem_size = 1 << 20, .mem_buffer = nullptr, .no_alloc = true};
    ggml_context_ptr weights(ggml_init(no_data)), graph_data(ggml_init(no_data));
    ggml_tensor* weight = ggml_new_tensor_2d(weights.get(), type, kDepth, kOut);
    ggml_backend_buffer_ptr weight_buffer(ggml_backend_alloc_ctx_tensors_from_buft(weights.get(), buffer_type));
    ASSERT_TRUE(weight_buffer);

    ggml_tensor* input = ggml_new_tensor_2d(graph_data.get(), GGML_TYPE_F32, kDepth, rows);
    ggml_tensor* output = ggml_mul_mat(graph_data.get(), weight, input);
    ggml_cgraph* graph = ggml_new_graph(graph_data.get());
    ggml_build_forward_expand(graph, output);
    if (!ggml_backend_supports_op(backend.get(), output)) continue;  // e.g. AMX has no f32
    RecordProperty("ran_on_" + name, "yes");

    ggml_backend_buffer_ptr data(ggml_backend_alloc_ctx_tensors(graph_data.get(), backend.get()));
    ggml_backend_tensor_set(weight, weight_bytes.data(), 0, weight_bytes.size());
    ggml_backend_tensor_set(input, x.data(), 0, x.size() * sizeof(float));
    ASSERT_EQ(ggml_backend_graph_compute(backend.get(), graph), GGML_STATUS_SUCCESS);
    std::vector<float> got(want.size());
    ggml_backend_tensor_get(output, got.data(), 0, got.size() * sizeof(float));
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(double{got[i]}, want[i], tolerance * largest) << "row " << i / kOut << ", output " << i % kOut;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, GgmlLink,
                         testing::Values(Case{GGML_TYPE_F32, 1, 1e-5}, Case{GGML_TYPE_F32, 33, 1e-5},
                                         Case{GGML_TYPE_F16, 33, 2e-3}, Case{GGML_TYPE_BF16, 1, 1e-2},
                                         Case{GGML_TYPE_BF16, 33, 1e-2}, Case{GGML_TYPE_Q8_0, 1, 2e-2},
                                         Case{GGML_TYPE_Q8_0, 33, 2e-2}, Case{GGML_TYPE_Q4_0, 33, 2e-2}),
                         [](const auto& test) {
                           return std::string(ggml_type_name(test.param.type)) + "_" + std::to_string(test.param.rows);
                         });

TEST(GgmlRpc, BackendIsLinked) {
  ggml_backend_reg_t rpc = ggml_backend_rpc_reg();
  ASSERT_NE(rpc, nullptr);
  EXPECT_STREQ(ggml_backend_reg_name(rpc), "RPC");
}

}  // namespace
