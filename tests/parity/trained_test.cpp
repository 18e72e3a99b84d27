// The models of models/ against PyTorch on the same trained weights. recipes/reference_outputs.py wrote
// tests/data/trained/NAME.json from the Hugging Face folder that models/NAME.gguf was converted from: rows of tokens of
// real text, what the network says of them in float64 with unrounded weights, and texts with their tokens.
//
// PGDLM_TRAINED=FOLDER looks at the .gguf and .json files of FOLDER instead.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "models/model.h"
#include "parity/compare.h"
#include "text/chat.h"
#include "text/prm.h"
#include "text/tokenizer.h"

namespace pgdlm::parity {
namespace {

std::filesystem::path folder(const char* ours) {
  const char* other = std::getenv("PGDLM_TRAINED");
  return other ? std::filesystem::path(other) : std::filesystem::path(PGDLM_SOURCE_DIR) / ours;
}

std::filesystem::path model_file(const std::string& name) { return folder("models") / (name + ".gguf"); }

std::set<std::string> names(const std::filesystem::path& where, const std::string& extension) {
  std::set<std::string> found;
  if (!std::filesystem::exists(where)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(where))
    if (entry.path().extension() == extension) found.insert(entry.path().stem());
  return found;
}

std::set<std::string> references() { return names(folder("tests/data/trained"), ".json"); }

// One list of the file: "cases" or "texts".
std::vector<nlohmann::json> read(const std::string& name, const char* list) {
  auto found = nlohmann::json::parse(std::ifstream(folder("tests/data/trained") / (name + ".json"))).at(list);
  EXPECT_GE(found.size(), 6u);
  return found;
}

std::shared_ptr<Model> load(const std::string& name) {
  return Model::load(model_file(name), {.device = {.threads = 1}});
}

// What the rounding of the weights may cost, as a part of the largest number compared. All kernels multiply the stored
// weights in float, within 2e-5 on every processor (reference_test.cpp), so nearly all of the difference is that of the
// weights and the same everywhere. A weight of f16 is off by at most 2^-11 of itself, one of q8_0 by 1/254 of the
// largest of its 32. The largest differences seen were 4e-4 (f16) and 2e-2 (q8_0); a wrong network is of order 1.
double tolerance(const Model& model) {
  const auto tensors = model.file()->tensors();
  const bool q8_0 = std::ranges::any_of(tensors, [](const GgufTensor& t) { return t.type == GGML_TYPE_Q8_0; });
  return q8_0 ? 0.05 : 0.003;
}

// log p of a row of logits: adding a number to all of them says nothing.
std::vector<float> log_softmax(std::span<const float> row) {
  const double largest = *std::ranges::max_element(row);
  double sum = 0;
  for (const float x : row) sum += std::exp(static_cast<double>(x) - largest);
  std::vector<float> out;
  for (const float x : row) out.push_back(static_cast<float>(x - largest - std::log(sum)));
  return out;
}

// What a case compares: the probabilities of a process reward, else log p of labels or of a few tokens at a few
// positions.
std::vector<float> expected_of(const nlohmann::json& one) {
  if (one.contains("steps")) return one["steps"];
  if (one.contains("logits")) return log_softmax(one["logits"].get<std::vector<float>>());
  std::vector<float> out;
  for (const auto& position : one["positions"])
    for (const double logit : position["logits"])
      out.push_back(static_cast<float>(logit - position["logsumexp"].get<double>()));
  return out;
}

std::vector<float> got_of(const nlohmann::json& one, const RawOutput& output) {
  if (one.contains("steps")) return output.values;
  if (one.contains("logits")) return log_softmax(output.values);
  std::vector<float> out;
  const auto columns = static_cast<std::size_t>(output.columns);
  for (const auto& position : one["positions"]) {
    const auto row = std::span(output.values).subspan(position["at"].get<std::size_t>() * columns, columns);
    const auto log_p = log_softmax(row);
    for (const std::size_t id : position["ids"]) out.push_back(log_p.at(id));
  }
  return out;
}

double worst(Model& model, const std::vector<nlohmann::json>& cases, const std::vector<std::vector<Token>>& rows) {
  const auto outputs = raw_outputs(model, rows);
  double all = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    all = std::max(all, difference(got_of(cases[i], outputs[i]), expected_of(cases[i])));
  return all;
}

TEST(Trained, EveryModelHasAReference) { EXPECT_EQ(names(folder("models"), ".gguf"), references()); }

TEST(Trained, GivesTheNumbersOfPyTorch) {
  for (const std::string& name : references()) {
    SCOPED_TRACE(name);
    const auto model = load(name);
    const auto cases = read(name, "cases");
    std::vector<std::vector<Token>> rows;
    for (const auto& one : cases) rows.push_back(one["tokens"].get<std::vector<Token>>());
    const double off = worst(*model, cases, rows);
    fmt::print("{:20} {:.1e}, allowed {}\n", name, off, tolerance(*model));
    RecordProperty(name, fmt::format("{:.2e}", off));
    EXPECT_LE(off, tolerance(*model));
    for (auto& row : rows) std::ranges::reverse(row);  // the tolerance has teeth
    EXPECT_GT(worst(*model, cases, rows), tolerance(*model));
  }
}

// Texts alone, and with what the model saw around them in training.
TEST(Trained, TokenizesAsTheRecipe) {
  for (const std::string& name : references()) {
    SCOPED_TRACE(name);
    const auto tokenizer = Tokenizer::make(read_vocabulary(*Gguf::open(model_file(name))));
    for (const auto& one : read(name, "texts")) {
      const auto text = one["text"].get<std::string>();
      EXPECT_EQ(tokenizer->encode(text), one["ids"].get<std::vector<Token>>()) << text;
      if (!one.contains("framed")) continue;
      EXPECT_EQ(tokenizer->encode(text, {.add_special = true}), one["framed"].get<std::vector<Token>>()) << text;
    }
  }
}

// The pages of a process reward and the prompts of a chat model, made by the file's own template.
TEST(Trained, WritesThePagesOfTraining) {
  for (const std::string& name : references()) {
    SCOPED_TRACE(name);
    const auto model = load(name);
    const auto words = read_vocabulary(*model->file());
    const auto tokenizer = Tokenizer::make(words);
    for (const auto& one : read(name, "cases")) {
      if (!one.contains("question")) break;
      const auto question = one["question"].get<std::string>();
      auto expected = one["tokens"].get<std::vector<Token>>();
      std::vector<Token> page;
      if (model->role() == Role::process_reward) {
        const auto steps = split_steps(one["answer"].get<std::string>(), model->step_separator());
        page = encode_prm(*tokenizer, model->step_token(), question, steps).tokens;
      } else {
        expected.resize(one["prompt"].get<std::size_t>());
        const Message message{"user", question};
        page = encode_chat(*tokenizer, detect_chat_format(words), {&message, 1}, true);
      }
      EXPECT_EQ(page, expected) << question;
    }
  }
}

}  // namespace
}  // namespace pgdlm::parity
