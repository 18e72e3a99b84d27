// Rewards that read text. They know nothing of the model that wrote it: its tokens are read by the model's own text
// side and scored by a network with another vocabulary. A TextReward belongs to one reward lane: one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catalog/language_model.h"
#include "models/model.h"

namespace pgdlm {

// A score and what it was made of: log p of every label, p of every step, or what the terms of a sum gave.
struct Scored {
  double score = 0;
  std::vector<double> parts;
};

class TextReward {
 public:
  virtual ~TextReward() = default;
  virtual std::vector<Scored> score(std::span<const Passage> texts) = 0;
  virtual std::vector<std::string> labels() const { return {}; }  // names of the parts; empty: they are steps
  virtual bool accepts_prefixes() const { return false; }         // may `reply` be the beginning of one?
};

enum class Scale { log, p, logit };  // of a probability

// p(label | text) of a classifier; its logarithm is FK-Steering's reward. An empty label is the last one: positive,
// toxic, acceptable. Error{invalid_request} lists the labels there are.
std::unique_ptr<TextReward> make_classifier_reward(std::shared_ptr<Model> model, const std::string& label,
                                                   Scale scale = Scale::log);

// The probabilities of an answer's steps as one. `model` reads the whole answer as one step. A reply without steps has
// 0.
enum class Aggregation { last, min, prod, mean, model };
double aggregate(std::span<const double> steps, Aggregation aggregation);
std::unique_ptr<TextReward> make_process_reward(std::shared_ptr<Model> model, Aggregation aggregation,
                                                Scale scale = Scale::p);

// A weighted sum. It accepts prefixes if all of its terms do.
struct WeightedReward {
  double weight = 1;
  std::string name;
  std::unique_ptr<TextReward> reward;
};
std::unique_ptr<TextReward> make_blend(std::vector<WeightedReward> terms);

// What a reward of the writer's own says: it reads the text as the writer's tokens.
std::unique_ptr<TextReward> make_own_reward(std::shared_ptr<const LanguageModel> writer, std::shared_ptr<Reward> own);

// The same for what `writer` wrote.
std::shared_ptr<Reward> make_passage_reward(std::shared_ptr<const LanguageModel> writer,
                                            std::unique_ptr<TextReward> reward);

}  // namespace pgdlm
