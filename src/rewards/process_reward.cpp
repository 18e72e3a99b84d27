#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "models/step_scorer.h"
#include "pgdlm/error.h"
#include "rewards/scale.h"
#include "rewards/text_reward.h"
#include "text/prm.h"

namespace pgdlm {
namespace {

constexpr std::size_t kCacheBytes = 256 << 20;  // of keys and values of texts that may go on

class ProcessReward final : public TextReward {
 public:
  ProcessReward(std::shared_ptr<Model> model, Aggregation aggregation, Scale scale)
      : model_(std::move(model)),
        tokenizer_(Tokenizer::make(read_vocabulary(*model_->file()))),
        scorer_(*model_, kCacheBytes),
        aggregation_(aggregation),
        scale_(scale) {}

  std::vector<Scored> score(std::span<const Passage> texts) override {
    std::vector<Scored> scores(texts.size());
    std::vector<std::vector<Token>> rows;
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::vector<std::string> steps = steps_of(texts[i].reply);
      std::vector<Token> row = page(texts[i].prompt, steps);
      if (row.empty()) continue;
      rows.push_back(std::move(row));
      owners.push_back(i);
    }
    const std::vector<std::vector<double>> steps = scorer_.score(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) scores[owners[i]] = {aggregate(steps[i], aggregation_), steps[i]};
    for (Scored& scored : scores) scored.score = scaled(std::log(scored.score), scale_);
    return scores;
  }
  bool accepts_prefixes() const override { return true; }

 private:
  std::vector<std::string> steps_of(const std::string& reply) const {
    const std::vector<std::string> steps = split_steps(reply, model_->step_separator());
    return aggregation_ == Aggregation::model && !steps.empty() ? std::vector{reply} : steps;
  }

  // A page that is too long is cut behind the last step that fits; with none, there is nothing to read.
  std::vector<Token> page(const std::string& question, std::span<const std::string> steps) const {
    const auto longest = static_cast<std::size_t>(model_->sizes().context);
    for (; !steps.empty(); steps = steps.first(steps.size() - 1)) {
      std::vector<Token> tokens = encode_prm(*tokenizer_, model_->step_token(), question, steps).tokens;
      if (tokens.size() <= longest) return tokens;
    }
    return {};
  }

  std::shared_ptr<Model> model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  StepScorer scorer_;
  Aggregation aggregation_;
  Scale scale_;
};

}  // namespace

double aggregate(std::span<const double> steps, Aggregation aggregation) {
  if (steps.empty()) return 0;
  switch (aggregation) {
    case Aggregation::last:
    case Aggregation::model: return steps.back();
    case Aggregation::min: return *std::ranges::min_element(steps);
    case Aggregation::prod: return std::accumulate(steps.begin(), steps.end(), 1.0, std::multiplies<>());
    case Aggregation::mean: return std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
  }
  throw Error(ErrorCode::internal, "unknown aggregation");
}

std::unique_ptr<TextReward> make_process_reward(std::shared_ptr<Model> model, Aggregation aggregation, Scale scale) {
  model->require(Role::process_reward);
  return std::make_unique<ProcessReward>(std::move(model), aggregation, scale);
}

}  // namespace pgdlm
