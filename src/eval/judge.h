// A judge says whether a text has a quality: log-odds of an n-gram logistic model, which recipes/train_judges.py trains
// and writes as one JSON object. Judges are never rewards. They exist to tell whether steered text became better or
// only fooled its reward, and whatever has been steered by a judge can no longer be judged by it: so there is no way
// from here to a Reward, and none may be made. Immutable, any thread.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pgdlm {

class Judge {
 public:
  // Error{invalid_request} if the file cannot be read, Error{bad_model} if it is no judge.
  static Judge load(const std::filesystem::path& path);
  // The content of such a file; `source` is its name in messages.
  static Judge parse(std::string_view json, const std::string& source);

  const std::array<std::string, 2>& labels() const { return labels_; }
  // Of the second label. What broken UTF-8 there is counts as U+FFFD. A text too short for any n-gram says nothing: it
  // gets the bias alone.
  double log_odds(std::string_view text) const;

 private:
  Judge() = default;

  std::vector<std::string> words_of(std::string_view text) const;

  std::array<std::string, 2> labels_;
  std::unordered_set<std::string> frequent_;  // empty: every word stands for itself
  std::map<int, double> unknown_;             // for each n, the weight of an n-gram that is not listed
  std::unordered_map<std::string, double> weights_;
  double power_ = 0, bias_ = 0;
};

}  // namespace pgdlm
