// How weights move: types and their fallbacks, blocks of rows, progress, cancelling, memory.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <stop_token>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/fake_hf.h"
#include "convert/weight_type.h"
#include "pgdlm/error.h"

namespace {
std::atomic<std::size_t> largest = 0;  // single allocation since it was last set to 0
}

void* operator new(std::size_t size) {
  for (std::size_t seen = largest; size > seen && !largest.compare_exchange_weak(seen, size);) {
  }
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace pgdlm {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(ConvertTypes, Names) {
  for (const std::string& name : weight_type_names()) {
    const ggml_type type = parse_weight_type(name);
    EXPECT_FALSE(ggml_quantize_requires_imatrix(type)) << name;
    EXPECT_GT(ggml_blck_size(type), 0);
  }
  EXPECT_EQ(parse_weight_type("Q4_K"), GGML_TYPE_Q4_K);
  try {
    parse_weight_type("q4");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("type is 'q4', allowed: f32, f16, bf16, q8_0"));
  }
}

TEST(ConvertTypes, FallbacksAreThoseOfLlamaCpp) {
  EXPECT_EQ(type_for_rows(GGML_TYPE_Q4_K, 512), GGML_TYPE_Q4_K);
  EXPECT_EQ(type_for_rows(GGML_TYPE_Q2_K, 384), GGML_TYPE_Q4_0);
  EXPECT_EQ(type_for_rows(GGML_TYPE_Q3_K, 384), GGML_TYPE_Q4_0);
  EXPECT_EQ(type_for_rows(GGML_TYPE_Q4_K, 384), GGML_TYPE_Q5_0);
  EXPECT_EQ(type_for_rows(GGML_TYPE_Q5_K, 384), GGML_TYPE_Q5_1);
  EXPECT_EQ(type_for_rows(GGML_TYPE_Q6_K, 384), GGML_TYPE_Q8_0);
  EXPECT_EQ(type_for_rows(GGML_TYPE_Q8_0, 40), GGML_TYPE_F16);
  EXPECT_EQ(type_for_rows(GGML_TYPE_Q4_K, 40), GGML_TYPE_F16);
}

TEST(ConvertTypes, FallbacksAreReported) {
  FakeFolder folder("fallbacks");
  fill_llada(folder).write();
  const ConvertReport report = convert(folder.path(), folder.out(), {.type = GGML_TYPE_Q8_0});
  EXPECT_EQ(report.tensors, 21u);
  EXPECT_EQ(report.fallbacks.size(), 16u);
  EXPECT_THAT(report.fallbacks, Contains("blk.1.ffn_down.weight: f16"));
  EXPECT_EQ(report.bytes, std::filesystem::file_size(folder.out()));
}

// A LLaDA whose embedding alone is larger than a block, with rows of 256 for the k-quants.
FakeFolder& fill_wide(FakeFolder& folder) {
  fill_llada(folder);
  folder.config.update({{"d_model", 256},
                        {"n_layers", 1},
                        {"n_heads", 2},
                        {"n_kv_heads", 2},
                        {"vocab_size", 20000},
                        {"embedding_size", 20000},
                        {"mlp_hidden_size", 512}});
  folder.tensors.clear();
  for (const auto& [name, rows, columns] : {std::tuple{"wte.weight", 20000, 256},
                                            {"ff_out.weight", 20000, 256},
                                            {"blocks.0.q_proj.weight", 256, 256},
                                            {"blocks.0.k_proj.weight", 256, 256},
                                            {"blocks.0.v_proj.weight", 256, 256},
                                            {"blocks.0.attn_out.weight", 256, 256},
                                            {"blocks.0.ff_proj.weight", 512, 256},
                                            {"blocks.0.up_proj.weight", 512, 256},
                                            {"blocks.0.ff_out.weight", 256, 512}})
    folder.add(std::string("model.transformer.") + name, {rows, columns}).dtype = "BF16";
  for (const char* name : {"ln_f.weight", "blocks.0.attn_norm.weight", "blocks.0.ff_norm.weight"})
    folder.add(std::string("model.transformer.") + name, {256});
  return folder;
}

// Blocks and threads must not show: the bytes are those of the whole tensor quantised at once.
TEST(ConvertStream, BlocksDoNotShow) {
  FakeFolder folder("wide");
  fill_wide(folder).write(2);
  const std::vector<float>& values = folder.tensors.at("model.transformer.wte.weight").values;
  for (const ggml_type type : {GGML_TYPE_F16, GGML_TYPE_Q8_0, GGML_TYPE_Q4_K, GGML_TYPE_Q5_1}) {
    std::vector<std::byte> whole(ggml_row_size(type, 256) * 20000);
    ggml_quantize_chunk(type, values.data(), whole.data(), 0, 20000, 256, nullptr);
    for (const int threads : {1, 3}) {
      convert(folder.path(), folder.out(), {.type = type, .threads = threads});
      const auto file = Gguf::open(folder.out());
      const GgufTensor& tensor = *file->find("token_embd.weight");
      ASSERT_EQ(tensor.type, type);
      EXPECT_TRUE(std::equal(whole.begin(), whole.end(), tensor.bytes.begin(), tensor.bytes.end()))
          << ggml_type_name(type) << " with " << threads << " threads";
    }
  }
}

// The embedding is 20 MB as floats; no buffer may be.
TEST(ConvertStream, NoTensorIsHeldWhole) {
  FakeFolder folder("memory");
  fill_wide(folder).write();
  largest = 0;
  convert(folder.path(), folder.out(), {.type = GGML_TYPE_F32});
  EXPECT_LE(largest, std::size_t{5} << 20);
}

TEST(ConvertStream, ProgressEndsAtItsTotal) {
  FakeFolder folder("progress");
  fill_wide(folder).write();
  std::vector<ConvertProgress> seen;
  std::vector<std::string> names;
  convert(folder.path(), folder.out(), {.progress = [&](const ConvertProgress& p) {
            EXPECT_TRUE(seen.empty() || p.done >= seen.back().done);
            seen.push_back(p);
            names.emplace_back(p.tensor);
          }});
  ASSERT_GT(seen.size(), 15u);  // the large tensors come in several blocks
  EXPECT_EQ(seen.back().done, seen.back().total);
  EXPECT_EQ(names.front(), "token_embd.weight");
  EXPECT_EQ(names.back(), "output.weight");
}

TEST(ConvertStream, CancelledLeavesTheOldFile) {
  FakeFolder folder("cancel");
  fill_wide(folder).write();
  folder.scratch().file("out.gguf", "GGUF, an old one");
  std::stop_source stop;
  const ConvertOptions options{.progress =
                                   [&](const ConvertProgress& p) {
                                     if (p.done * 2 > p.total) stop.request_stop();
                                   },
                               .cancel = stop.get_token()};
  try {
    convert(folder.path(), folder.out(), options);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
  EXPECT_EQ(std::filesystem::file_size(folder.out()), 16u);
  EXPECT_THAT(folder.scratch().names(), Not(Contains(HasSubstr(".part-"))));
}

}  // namespace
}  // namespace pgdlm
