// Our networks against libllama's, on the same files. It is written from the same facts by other people, so what could
// differ is the graph: which tensor goes where, how positions turn, who sees whom. Widths are those of small real
// models, weights of every kind of block are included. And what we convert must load there at all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "kit/scratch.h"
#include "models/model.h"
#include "parity/compare.h"
#include "parity/judge.h"
#include "parity/random_gguf.h"

namespace pgdlm::parity {
namespace {

struct Case {
  const char* name;
  RandomModel model;
  double bound;  // largest difference, as a part of the largest output
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Libllama : public testing::TestWithParam<Case> {};

constexpr std::array kLengths = {1, 7, 33, 96};

Ask question(const RandomModel& m) {
  return m.architecture == "bert" ? Ask::labels : m.architecture == "qwen2" ? Ask::hidden : Ask::logits;
}

std::vector<float> ours(Model& model, const std::vector<Token>& row, Ask ask) {
  if (ask != Ask::hidden) return raw_outputs(model, {&row, 1}).front().values;
  TokenRow all{row, std::vector<Position>(row.size())};
  std::iota(all.asked.begin(), all.asked.end(), 0);
  return model.runtime().trunk({&all, 1}).front();
}

double worst_difference(Model& model, const RandomModel& shape, const std::filesystem::path& theirs) {
  Judge judge(theirs, question(shape));
  double worst = 0;
  for (const auto& row : random_rows(kLengths, shape.vocab, 7)) {
    worst = std::max(worst, difference(ours(model, row, question(shape)), judge.run(row)));
  }
  return worst;
}

// On a CPU we multiply what the weights decode to by unrounded activations, whatever the weights' type. libllama rounds
// activations to the weights' kind, so it is asked twice: on the same file, and on one with the decoded weights in f32.
TEST_P(Libllama, Agrees) {
  const Scratch folder{"parity"};
  RandomModel shape = GetParam().model;
  write_random_gguf(folder / "ours.gguf", shape);
  shape.head = false;
  write_random_gguf(folder / "same.gguf", shape);
  shape.decoded = true;
  write_random_gguf(folder / "decoded.gguf", shape);
  const auto model = Model::load(folder / "ours.gguf", {.device = {.threads = 1}});
  const double same = worst_difference(*model, shape, folder / "same.gguf");
  const double decoded = worst_difference(*model, shape, folder / "decoded.gguf");
  fmt::print("{:15} differs by {:.1e}, with decoded weights {:.1e} of the largest output\n", GetParam().name, same,
             decoded);
  RecordProperty("same", fmt::format("{:.2e}", same));
  RecordProperty("decoded", fmt::format("{:.2e}", decoded));
  EXPECT_LE(same, 0.1);
  EXPECT_LE(decoded, GetParam().bound);
}

RandomModel llada(ggml_type type) { return {.architecture = "llada", .type = type}; }
RandomModel dream(ggml_type type) { return {.architecture = "dream", .kv_heads = 2, .type = type}; }
RandomModel qwen2(ggml_type type) { return {.architecture = "qwen2", .kv_heads = 4, .type = type}; }
RandomModel bert(ggml_type type, const char* activation) {
  return {.architecture = "bert", .type = type, .activation = activation};
}

// libllama's GELU is the tanh form, from a table of half floats; with erf we differ by what the two forms differ.
constexpr double kRounding = 2e-5, kTable = 2e-3, kErf = 5e-3;
constexpr double kShort = 1e-4;  // weights shorter than f32 meet 16 bits of an activation where there is AMX
INSTANTIATE_TEST_SUITE_P(Wide, Libllama,
                         testing::Values(Case{"llada_f32", llada(GGML_TYPE_F32), kRounding},
                                         Case{"llada_f16", llada(GGML_TYPE_F16), kShort},
                                         Case{"llada_bf16", llada(GGML_TYPE_BF16), kShort},
                                         Case{"llada_q8_0", llada(GGML_TYPE_Q8_0), kShort},
                                         Case{"llada_q4_k", llada(GGML_TYPE_Q4_K), kShort},
                                         Case{"dream_f32", dream(GGML_TYPE_F32), kRounding},
                                         Case{"dream_q8_0", dream(GGML_TYPE_Q8_0), kShort},
                                         Case{"dream_q6_k", dream(GGML_TYPE_Q6_K), kShort},
                                         Case{"qwen2_f32", qwen2(GGML_TYPE_F32), kRounding},
                                         Case{"qwen2_q8_0", qwen2(GGML_TYPE_Q8_0), kShort},
                                         Case{"qwen2_q4_k", qwen2(GGML_TYPE_Q4_K), kShort},
                                         Case{"bert_tanh_f32", bert(GGML_TYPE_F32, "gelu_tanh"), kTable},
                                         Case{"bert_tanh_f16", bert(GGML_TYPE_F16, "gelu_tanh"), kTable},
                                         Case{"bert_erf_f32", bert(GGML_TYPE_F32, "gelu_erf"), kErf},
                                         Case{"bert_erf_q8_0", bert(GGML_TYPE_Q8_0, "gelu_erf"), kErf}),
                         [](const auto& info) { return std::string(info.param.name); });

class Converted : public testing::TestWithParam<const char*> {};

// llama.cpp's own converter drops the labels of the two-label case, and then cannot load the file.
TEST_P(Converted, FilesRunInLibllama) {
  const Scratch folder{"parity"};
  const auto file = folder / "converted.gguf";
  convert(std::string(PGDLM_SOURCE_DIR) + "/tests/data/hf/" + GetParam(), file, {.type = GGML_TYPE_F32, .threads = 1});
  const auto model = Model::load(file, {.device = {.threads = 1}});
  const bool classifier = model->role() == Role::classifier;
  Judge judge(file, classifier ? Ask::labels : Ask::logits);
  double worst = 0;
  for (const auto& row : random_rows(std::array{2, 9, 40}, model->sizes().vocab, 3)) {
    worst = std::max(worst, difference(raw_outputs(*model, {&row, 1}).front().values, judge.run(row)));
  }
  fmt::print("{:20} differs by {:.1e} of the largest output\n", GetParam(), worst);
  EXPECT_LE(worst, classifier ? kErf : kRounding);
}

INSTANTIATE_TEST_SUITE_P(Tiny, Converted, testing::Values("llada", "dream", "roberta-classifier", "bert-classifier"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace pgdlm::parity
