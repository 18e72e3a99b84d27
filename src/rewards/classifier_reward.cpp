#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log_math.h"
#include "pgdlm/error.h"
#include "rewards/scale.h"
#include "rewards/text_reward.h"
#include "text/tokenizer.h"

namespace pgdlm {
namespace {

std::size_t find_label(const Model& model, const std::string& label) {
  const std::vector<std::string>& labels = model.labels();
  if (label.empty()) return labels.size() - 1;
  const auto found = std::ranges::find(labels, label);
  if (found == labels.end())
    throw Error(ErrorCode::invalid_request, fmt::format("reward: {} has no label '{}', allowed: {}",
                                                        model.file()->path(), label, fmt::join(labels, ", ")));
  return static_cast<std::size_t>(found - labels.begin());
}

class ClassifierReward final : public TextReward {
 public:
  ClassifierReward(std::shared_ptr<Model> model, const std::string& label, Scale scale)
      : model_(std::move(model)),
        tokenizer_(Tokenizer::make(read_vocabulary(*model_->file()))),
        label_(find_label(*model_, label)),
        scale_(scale) {}

  std::vector<Scored> score(std::span<const Passage> texts) override {
    std::vector<std::vector<Token>> rows;
    for (const Passage& text : texts) rows.push_back(row(text.text));
    std::vector<Scored> scores;
    for (const std::vector<float>& logits : classify(*model_, rows)) {
      std::vector<double> log_p(logits.begin(), logits.end());
      const double sum = log_sum_exp(log_p);
      for (double& l : log_p) l -= sum;
      scores.push_back({scaled(log_p[label_], scale_), log_p});
    }
    return scores;
  }
  std::vector<std::string> labels() const override { return model_->labels(); }

 private:
  // What is too long is cut before the token that closes a text, as Hugging Face cuts it.
  std::vector<Token> row(const std::string& text) const {
    std::vector<Token> tokens = tokenizer_->encode(text, {.add_special = true});
    const auto longest = static_cast<std::size_t>(model_->sizes().context);
    if (tokens.size() > longest)
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(longest) - 1, tokens.end() - 1);
    return tokens;
  }

  std::shared_ptr<Model> model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::size_t label_;
  Scale scale_;
};

}  // namespace

std::unique_ptr<TextReward> make_classifier_reward(std::shared_ptr<Model> model, const std::string& label,
                                                   Scale scale) {
  model->require(Role::classifier);
  return std::make_unique<ClassifierReward>(std::move(model), label, scale);
}

}  // namespace pgdlm
