#include "kit/chi_square.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace pgdlm::kit {
namespace {

// P(a, x) by its power series, good for x < a + 1.
double lower_gamma_series(double a, double x) {
  double term = 1 / a;
  double sum = term;
  for (int n = 1; n < 10'000 && std::abs(term) > sum * 1e-16; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * std::exp(-x + a * std::log(x) - std::lgamma(a));
}

// Q(a, x) by Lentz's continued fraction, good for x >= a + 1.
double upper_gamma_fraction(double a, double x) {
  constexpr double kTiny = std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
  double b = x + 1 - a;
  double c = 1 / kTiny;
  double d = 1 / b;
  double h = d;
  for (int i = 1; i < 10'000; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + an / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return h * std::exp(-x + a * std::log(x) - std::lgamma(a));
}

}  // namespace

double chi_square_tail(double x, int freedom) {
  if (x <= 0 || freedom <= 0) return 1;
  const double a = freedom / 2.0;
  return x / 2 < a + 1 ? 1 - lower_gamma_series(a, x / 2) : upper_gamma_fraction(a, x / 2);
}

ChiSquare chi_square(std::span<const std::int64_t> counts, std::span<const double> probabilities) {
  std::int64_t draws = 0;
  for (std::int64_t c : counts) draws += c;
  struct Cell {
    double expected = 0, seen = 0;
  };
  std::vector<Cell> cells;
  Cell rare;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = probabilities[i] * static_cast<double>(draws);
    if (expected <= 0 && counts[i] > 0) return {std::numeric_limits<double>::infinity(), 0, 0};
    if (expected >= 5) {
      cells.push_back({expected, static_cast<double>(counts[i])});
    } else {
      rare.expected += expected;
      rare.seen += static_cast<double>(counts[i]);
    }
  }
  // If even all rare cells together expect too little, the least of the others takes them in.
  const auto least = std::min_element(cells.begin(), cells.end(),
                                      [](const Cell& a, const Cell& b) { return a.expected < b.expected; });
  if (rare.expected >= 5 || least == cells.end()) {
    cells.push_back(rare);
  } else {
    least->expected += rare.expected;
    least->seen += rare.seen;
  }
  double statistic = 0;
  for (const Cell& cell : cells)
    if (cell.expected > 0) statistic += (cell.seen - cell.expected) * (cell.seen - cell.expected) / cell.expected;
  const int freedom = static_cast<int>(cells.size()) - 1;
  return {statistic, freedom, chi_square_tail(statistic, freedom)};
}

}  // namespace pgdlm::kit
