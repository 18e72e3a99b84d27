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

// A score and what it was made of: log p of every label, or p of every step.
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

// log p(label | text) of a classifier (FK-Steering's rewards). An empty label is the last one: positive, toxic,
// acceptable. Error{invalid_request} lists the labels there are.
std::unique_ptr<TextReward> make_classifier_reward(std::shared_ptr<Model> model, const std::string& label);

// The probabilities of an answer's steps as one number. A reply without steps has 0.
enum class Aggregation { last, min, prod, mean };
std::unique_ptr<TextReward> make_process_reward(std::shared_ptr<Model> model, Aggregation aggregation);

// The same for what `writer` wrote.
std::shared_ptr<Reward> make_passage_reward(std::shared_ptr<const LanguageModel> writer,
                                            std::unique_ptr<TextReward> reward);

}  // namespace pgdlm
