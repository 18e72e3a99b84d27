// What the tests of this folder share: differences as one number, rows of random tokens, a folder that goes away.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pgdlm/plugin.h"

namespace pgdlm::parity {

// The largest difference, as a part of the largest expected value. Infinite if the sizes differ or something is NaN.
inline double difference(std::span<const float> got, std::span<const float> expected) {
  if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double apart = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (std::isnan(apart)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, apart);
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return worst == 0 ? 0 : worst / largest;
}

inline std::vector<std::vector<Token>> random_rows(std::span<const int> lengths, int vocab, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<Token>> rows;
  for (const int length : lengths) {
    rows.emplace_back();
    for (int i = 0; i < length; ++i) rows.back().push_back(static_cast<Token>(random() % static_cast<unsigned>(vocab)));
  }
  return rows;
}

}  // namespace pgdlm::parity
