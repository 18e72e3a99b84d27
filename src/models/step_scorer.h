// Scores the steps of growing texts with a process reward. What was read once is not read again: texts that begin alike
// (the question, a particle's earlier blocks) share their keys and values, whether they come in one call or in many.
// Owned by whoever scores; used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "models/model.h"

namespace pgdlm {

class StepScorer {
 public:
  // Keeps at most `cache_bytes` of keys and values between calls. The model must be a process reward and outlive this.
  StepScorer(Model& model, std::size_t cache_bytes);
  ~StepScorer();

  // Probability that each step is good, at every step token of each row.
  std::vector<std::vector<double>> score(std::span<const std::vector<Token>> rows);

  std::int64_t tokens_run() const { return tokens_run_; }  // since it was made; tokens found in the cache cost nothing

 private:
  struct Stretch;

  Stretch& find_or_add(std::span<const Token> row);
  void run_level(std::span<Stretch* const> fresh);
  void run(std::span<Stretch* const> fresh);
  std::vector<double> steps_of(const Stretch& end, std::size_t length) const;
  void forget();

  Model& model_;
  std::size_t cache_bytes_;
  std::int64_t tokens_run_ = 0;
  std::uint64_t clock_ = 0;
  std::unique_ptr<Stretch> root_;
};

}  // namespace pgdlm
