// What networks say, read row by row: classifiers, process rewards, and the raw outputs of anything.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "models/model.h"
#include "models/step_scorer.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

// Hidden states through the head, as many at a time as memory allows.
std::vector<float> through_head(Runtime& runtime, std::span<const float> hidden) {
  const auto width = static_cast<std::size_t>(runtime.sizes().embedding);
  const std::size_t most = static_cast<std::size_t>(runtime.max_head_rows()) * width;
  std::vector<float> outputs;
  for (std::size_t first = 0; first < hidden.size(); first += most) {
    const std::vector<float> part = runtime.head(hidden.subspan(first, std::min(most, hidden.size() - first)));
    outputs.insert(outputs.end(), part.begin(), part.end());
  }
  return outputs;
}

std::vector<Position> all_positions(std::span<const Token> tokens) {
  std::vector<Position> all(tokens.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

std::vector<std::vector<float>> classify(Model& model, std::span<const std::vector<Token>> texts) {
  model.require(Role::classifier);
  std::vector<TokenRow> rows;
  for (const auto& text : texts) rows.push_back({text, {0}});
  std::vector<float> hidden;
  for (const auto& state : model.runtime().trunk(rows)) hidden.insert(hidden.end(), state.begin(), state.end());
  std::vector<std::vector<float>> logits;
  if (hidden.empty()) return logits;
  const std::vector<float> all = through_head(model.runtime(), hidden);
  const auto width = static_cast<std::ptrdiff_t>(model.sizes().outputs);
  for (auto first = all.begin(); first != all.end(); first += width) logits.emplace_back(first, first + width);
  return logits;
}

std::vector<std::vector<double>> step_probabilities(Model& model, std::span<const std::vector<Token>> rows) {
  model.require(Role::process_reward);
  return StepScorer(model, 0).score(rows);
}

std::vector<RawOutput> raw_outputs(Model& model, std::span<const std::vector<Token>> rows) {
  std::vector<RawOutput> outputs;
  if (model.role() == Role::classifier) {
    for (auto& logits : classify(model, rows)) {
      const int labels = static_cast<int>(logits.size());
      outputs.push_back({1, labels, std::move(logits)});
    }
  } else if (model.role() == Role::process_reward) {
    for (const auto& steps : step_probabilities(model, rows)) {
      outputs.push_back({static_cast<int>(steps.size()), 1, {}});
      for (const double p : steps) outputs.back().values.push_back(static_cast<float>(p));
    }
  } else {
    for (const auto& row : rows) {  // one by one: a row of logits for every position is large
      const TokenRow one{row, all_positions(row)};
      std::vector<float> hidden = std::move(model.runtime().trunk({&one, 1}).front());
      const bool bare = model.role() == Role::trunk;
      outputs.push_back({static_cast<int>(row.size()), bare ? model.sizes().embedding : model.sizes().outputs,
                         bare ? std::move(hidden) : through_head(model.runtime(), hidden)});
    }
  }
  return outputs;
}

}  // namespace pgdlm
