// Figures of finished texts, by name. Samples of one question are alike, so a figure is first one of each question, and
// errors are over questions. Pure functions.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/result.h"
#include "eval/task.h"

namespace pgdlm {

// A finished text, and what a measurement (measurement.h) found out about it afterwards.
struct Text {
  Result result;
  std::optional<bool> labelled;                              // does the classifier find its label the likeliest?
  std::optional<bool> judged;                                // does the judge, who steered nothing, agree?
  std::optional<double> nats;                                // per token: the bound of the model that wrote it
  std::optional<double> seconds, forwards_run, rewards_run;  // see Effort
};

struct Mean {
  double value = 0;
  std::optional<double> error;  // standard error; nothing for a single question
};

// Values by question; a question may have none.
using Groups = std::vector<std::vector<double>>;

struct Gauge {
  std::string name;   // also the key in JSON and CSV
  std::string title;  // for people
  double factor = 1;  // from the value to what people read: 100 for a percentage
  std::string unit;
  std::function<std::vector<double>(const Question&, std::span<const Text>)> of_question;
  enum class Kind {
    plain,
    logarithm,  // of the figure that people read: a perplexity
    effort,     // it differs from one day to another (store.h)
    of_set      // of a question's texts together: with more of them it is another figure
  };
  Kind kind = Kind::plain;
};

const std::vector<Gauge>& gauges();
const Gauge& find_gauge(const std::string& name);  // Error{invalid_request} lists those there are

// `texts` holds so many of each question, one question after the other.
Groups groups_of(const Gauge& gauge, std::span<const Question> questions, std::span<const Text> texts);

// Of each group the mean, of those the mean. Nothing if all groups are empty.
std::optional<Mean> mean_of_groups(const Groups& groups);
// What one has more than the other, question by question: errors of paired differences are smaller.
Groups differences(const Groups& one, const Groups& other);

// In the unit that people read.
Mean readable(const Gauge& gauge, const Mean& mean);

// A figure of an evaluation that was repeated with other seeds.
struct Measured {
  Mean mean;                        // over the texts of all repeats, as people read it
  std::optional<double> deviation;  // standard deviation over repeats; nothing for one
};
using Repeats = std::vector<std::vector<Text>>;
// A figure of a set of texts is one of each repeat: of all repeats' texts together it would be another figure.
Groups groups_of(const Gauge& gauge, std::span<const Question> questions, const Repeats& repeats);
std::optional<Measured> measured(const Gauge& gauge, std::span<const Question> questions, const Repeats& repeats);

}  // namespace pgdlm
