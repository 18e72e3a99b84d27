// Do draws follow the probabilities that are claimed for them? Pearson's chi-square test at p < 1e-6.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pgdlm {

class Frequencies {
 public:
  explicit Frequencies(std::int64_t draws) : draws_(draws) {}

  void add(std::int64_t seen, double probability);  // one outcome that was seen
  double mass() const { return mass_; }             // claimed for all of them
  bool plausible() const;
  std::string worst() const;  // in words, the outcome that fits least

 private:
  struct Cell {
    double seen, expected;
    double misfit() const { return (seen - expected) * (seen - expected) / expected; }
  };
  std::vector<Cell> cells() const;

  std::int64_t draws_;
  double mass_ = 0;
  std::vector<Cell> outcomes_;
};

}  // namespace pgdlm
