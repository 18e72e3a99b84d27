// The whole way from a Hugging Face folder to numbers: tests/data/hf/FAMILY is converted, loaded and run, and must give
// what the PyTorch networks of reference/ gave in float64 (tests/data/reference/FAMILY.json, written by
// reference/make_reference.py), on the CPU and on a device whose memory is not ours. The same files hold what Hugging
// Face's tokenizers make of a few texts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "convert/convert.h"
#include "kit/scratch.h"
#include "models/devices.h"
#include "parity/compare.h"
#include "text/tokenizer.h"

namespace pgdlm::parity {
namespace {

struct Family {
  const char* name;
  Role role;
};
void PrintTo(const Family& f, std::ostream* out) { *out << f.name; }

class Reference : public testing::TestWithParam<std::tuple<Family, Where>> {
 protected:
  Reference() {
    const std::string file = std::string(PGDLM_SOURCE_DIR) + "/tests/data/reference/" + family().name + ".json";
    expected = nlohmann::json::parse(std::ifstream(file));
    for (const auto& one : expected["cases"]) rows.push_back(one["tokens"].get<std::vector<Token>>());
  }

  const Family& family() const { return std::get<0>(GetParam()); }
  Where where() const { return std::get<1>(GetParam()); }

  std::filesystem::path converted(const char* type) {
    const auto file = folder / (std::string(type) + ".gguf");
    if (!std::filesystem::exists(file)) {
      convert(std::string(PGDLM_SOURCE_DIR) + "/tests/data/hf/" + family().name, file,
              {.type = parse_weight_type(type), .threads = 1});
    }
    return file;
  }

  std::shared_ptr<Model> load(const char* type) {
    return pgdlm::load(converted(type), where(), {.device = {.threads = 1}});
  }

  // The largest difference of all cases, as a part of the largest expected value of each.
  double worst(const char* type) {
    const auto model = load(type);
    const auto outputs = raw_outputs(*model, rows);
    double all = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& one = expected["cases"][i];
      EXPECT_EQ(outputs[i].rows, one["rows"].get<int>()) << "case " << i;
      EXPECT_EQ(outputs[i].columns, one["columns"].get<int>()) << "case " << i;
      all = std::max(all, difference(outputs[i].values, one["values"].get<std::vector<float>>()));
    }
    return all;
  }

  Scratch folder{"parity"};
  nlohmann::json expected;
  std::vector<std::vector<Token>> rows;
};

TEST_P(Reference, GivesTheNumbersOfPyTorch) {
  const auto model = load("f32");
  EXPECT_EQ(model->role(), family().role);
  const double f32 = worst("f32");
  fmt::print("{:20} {} f32 {:.1e}\n", family().name, where_name(where()), f32);
  RecordProperty("f32", fmt::format("{:.2e}", f32));
  EXPECT_LE(f32, 2e-5);
}

// What rounding the weights costs in networks this narrow and sharp. A wrong block layout would be of order 1.
TEST_P(Reference, StaysNearWithRoundedWeights) {
  std::string line = fmt::format("{:20} {}", family().name, where_name(where()));
  for (const auto& [type, bound] : {std::pair{"f16", 0.02}, std::pair{"bf16", 0.1}, std::pair{"q8_0", 0.2}}) {
    const double apart = worst(type);
    line += fmt::format(" {} {:.1e}", type, apart);
    RecordProperty(type, fmt::format("{:.2e}", apart));
    EXPECT_LE(apart, bound) << type;
  }
  fmt::print("{}\n", line);
}

// Rows of different lengths in one batch see nothing of each other. Positions that are asked alone get the same state.
TEST_P(Reference, BatchesChangeNothing) {
  const auto model = load("f32");
  std::vector<TokenRow> all, some;
  for (const auto& row : rows) {
    all.push_back({row, {}});
    some.push_back({row, {}});
    for (Position l = 0; l < static_cast<Position>(row.size()); ++l) {
      all.back().asked.push_back(l);
      if (l % 3 == 1) some.back().asked.push_back(l);
    }
  }
  const auto together = model->runtime().trunk(all);
  const auto parts = model->runtime().trunk(some);
  const auto width = static_cast<std::size_t>(model->sizes().embedding);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto alone = model->runtime().trunk({&all[i], 1}).front();
    EXPECT_LE(difference(together[i], alone), 1e-5) << "row " << i;
    std::vector<float> picked;
    for (const Position l : some[i].asked) {
      const auto first = alone.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(l) * width);
      picked.insert(picked.end(), first, first + static_cast<std::ptrdiff_t>(width));
    }
    EXPECT_LE(difference(parts[i], picked), 1e-5) << "row " << i;
  }
}

using ReferenceText = Reference;  // tokenizers run on the CPU only

TEST_P(ReferenceText, TokenizesAsHuggingFace) {
  const auto tokenizer = Tokenizer::make(read_vocabulary(*Gguf::open(converted("f32"))));
  // Files of LLaDA ask for a BOS, as llama.cpp's converter has it; the published tokenizer adds none by itself.
  const bool adds_bos = std::string(family().name) == "llada" || std::string(family().name) == "mdlm";
  for (const auto& text : expected["texts"]) {
    const auto words = text["text"].get<std::string>();
    auto with_special = text["with_special"].get<std::vector<Token>>();
    if (adds_bos) with_special.insert(with_special.begin(), tokenizer->vocabulary().bos);
    EXPECT_EQ(tokenizer->encode(words, {.parse_special = true}), text["ids"].get<std::vector<Token>>()) << words;
    EXPECT_EQ(tokenizer->encode(words, {.add_special = true, .parse_special = true}), with_special) << words;
  }
}

const auto kFamilies =
    testing::Values(Family{"mdlm", Role::denoiser}, Family{"llada", Role::denoiser}, Family{"dream", Role::denoiser},
                    Family{"roberta-fill-mask", Role::denoiser}, Family{"bert-fill-mask", Role::denoiser},
                    Family{"roberta-classifier", Role::classifier}, Family{"bert-classifier", Role::classifier},
                    Family{"qwen2-prm", Role::process_reward});

std::string name_of(const testing::TestParamInfo<std::tuple<Family, Where>>& tested) {
  std::string name = std::string(std::get<0>(tested.param).name) + "_" + where_name(std::get<1>(tested.param));
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(HuggingFace, Reference, testing::Combine(kFamilies, testing::Values(Where::cpu, Where::rpc)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(HuggingFace, ReferenceText, testing::Combine(kFamilies, testing::Values(Where::cpu)), name_of);

}  // namespace
}  // namespace pgdlm::parity
