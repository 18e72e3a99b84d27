#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "diffusion/conformance/findings.h"
#include "pgdlm/conformance.h"

namespace pgdlm {
namespace {

class RewardCheck {
 public:
  RewardCheck(Reward& reward, int prompt, const ConformanceOptions& options)
      : reward_(reward), prompt_(prompt), options_(options) {}

  std::vector<std::string> run(std::span<const std::vector<Token>> texts) {
    std::vector<Candidate> complete, prefixes;
    for (const std::vector<Token>& text : texts) {
      complete.push_back({text, prompt_, true});
      for (std::size_t end = static_cast<std::size_t>(prompt_) + 1; end < text.size(); ++end)
        prefixes.push_back({std::span(text).first(end), prompt_, false});
    }
    findings_.guard("score()", [&] { check(complete, "text"); });
    if (reward_.accepts_prefixes() && !prefixes.empty())
      findings_.guard("score(), which accepts prefixes,", [&] { check(prefixes, "prefix"); });
    return findings_.take();
  }

 private:
  void check(std::vector<Candidate> candidates, const std::string& what) {
    std::vector<double> alone;
    for (const Candidate& candidate : candidates) {
      const std::vector<double> scores = ask({&candidate, 1}, what);
      if (scores.empty()) return;  // nothing to compare with
      alone.push_back(scores.front());
    }
    check_reading(candidates, alone, what);
    same("a reward must be the same alone and in a batch", candidates, alone, what);
    same("a reward must be the same when asked for again", candidates, alone, what);
    std::reverse(candidates.begin(), candidates.end());
    std::reverse(alone.begin(), alone.end());
    same("a reward must not depend on the order of the batch", candidates, alone, what);
  }

  void check_reading(std::span<const Candidate> candidates, std::span<const double> scores, const std::string& what) {
    std::map<std::string, std::size_t> first;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::optional<std::string> read = reward_.reads(candidates[i]);
      if (!read) continue;
      const std::size_t like = first.emplace(*read, i).first->second;
      findings_.require(scores[i] == scores[like], "candidates of which reads() says the same must score the same",
                        what + " " + std::to_string(like) + " scores " + std::to_string(scores[like]) + ", " + what +
                            " " + std::to_string(i) + " scores " + std::to_string(scores[i]));
    }
  }

  // Empty if there were not as many scores as texts.
  std::vector<double> ask(std::span<const Candidate> candidates, const std::string& what) {
    std::vector<double> scores = reward_.score(candidates);
    if (scores.size() != candidates.size()) {
      findings_.add("score() must return one score per " + what,
                    std::to_string(candidates.size()) + " asked, " + std::to_string(scores.size()) + " returned");
      return {};
    }
    for (std::size_t i = 0; i < scores.size(); ++i)
      findings_.require(!std::isnan(scores[i]) && !(std::isinf(scores[i]) && scores[i] > 0),
                        "a reward must be finite or -inf",
                        what + " " + std::to_string(i) + " scores " + std::to_string(scores[i]));
    return scores;
  }

  void same(const std::string& kind, std::span<const Candidate> candidates, std::span<const double> expected,
            const std::string& what) {
    const std::vector<double> scores = ask(candidates, what);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const bool both_nan = std::isnan(scores[i]) && std::isnan(expected[i]);  // reported already
      const bool close = scores[i] == expected[i] || std::abs(scores[i] - expected[i]) <= options_.tolerance;
      findings_.require(both_nan || close, kind,
                        what + " " + std::to_string(i) + ": " + std::to_string(scores[i]) + " instead of " +
                            std::to_string(expected[i]));
    }
  }

  Reward& reward_;
  int prompt_;
  const ConformanceOptions& options_;
  Findings findings_;
};

}  // namespace

std::vector<std::string> check_reward(Reward& reward, std::span<const std::vector<Token>> texts, int prompt,
                                      ConformanceOptions options) {
  return RewardCheck(reward, prompt, options).run(texts);
}

}  // namespace pgdlm
