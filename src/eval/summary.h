// Figures of an evaluation. Samples of one question are alike, so errors are over questions. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/result.h"
#include "eval/task.h"

namespace pgdlm {

struct Mean {
  double value = 0;
  std::optional<double> error;  // standard error; nothing for a single question
};

// Of each group the mean, of those the mean. Groups may be empty: they do not count. Nothing if all are.
std::optional<Mean> mean_of_groups(const std::vector<std::vector<double>>& groups);

struct Summary {
  int texts = 0, questions = 0;
  std::optional<Mean> accuracy;  // of the questions that have an answer
  std::optional<Mean> reward;    // of the texts that are not forbidden
  int forbidden = 0;
  Mean particles;  // per text, as all that follow
  Mean forwards_asked, forwards_needed, rewards_asked, rewards_needed;
};

// `results` holds so many of each question, one question after the other.
Summary summarise(std::span<const Question> questions, std::span<const Result> results);

// What one way of asking gives more than another, question by question: errors of paired differences are smaller.
struct Difference {
  std::optional<Mean> accuracy, reward;
  Mean particles, forwards_needed;
};
Difference compare(std::span<const Question> questions, std::span<const Result> one, std::span<const Result> other);

}  // namespace pgdlm
