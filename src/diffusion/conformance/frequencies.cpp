#include "diffusion/conformance/frequencies.h"

#include <algorithm>
#include <cmath>

namespace pgdlm {
namespace {

constexpr double kCommon = 10;     // an outcome expected so often has a cell of its own
constexpr double kLimit = 4.7534;  // P(Z > kLimit) = 1e-6

// Wilson and Hilferty: the cube root of a chi-square variable is nearly normal. On the safe side for few cells.
double normal_score(double statistic, int freedom) {
  const double spread = 2.0 / (9.0 * freedom);
  return (std::cbrt(statistic / freedom) - (1 - spread)) / std::sqrt(spread);
}

}  // namespace

void Frequencies::add(std::int64_t seen, double probability) {
  outcomes_.push_back({static_cast<double>(seen), probability * static_cast<double>(draws_)});
  mass_ += probability;
}

// Common outcomes one by one; the rare ones and those never seen together, or with the rarest of the common ones if
// even together they are too few.
std::vector<Frequencies::Cell> Frequencies::cells() const {
  std::vector<Cell> cells;
  Cell rest{static_cast<double>(draws_), static_cast<double>(draws_)};
  for (const Cell& outcome : outcomes_) {
    if (!(outcome.expected >= kCommon)) continue;
    cells.push_back(outcome);
    rest.seen -= outcome.seen;
    rest.expected -= outcome.expected;
  }
  if (rest.expected >= kCommon || cells.empty()) {
    cells.push_back(rest);
  } else {
    const auto rarest =
        std::ranges::min_element(cells, [](const Cell& a, const Cell& b) { return a.expected < b.expected; });
    rarest->seen += rest.seen;
    rarest->expected += std::max(rest.expected, 0.0);
  }
  return cells;
}

bool Frequencies::plausible() const {
  const std::vector<Cell> tested = cells();
  if (tested.size() < 2) return true;
  double statistic = 0;
  for (const Cell& cell : tested) statistic += cell.misfit();
  return normal_score(statistic, static_cast<int>(tested.size()) - 1) < kLimit;
}

std::string Frequencies::worst() const {
  const std::vector<Cell> tested = cells();
  const auto cell =
      std::ranges::max_element(tested, [](const Cell& a, const Cell& b) { return a.misfit() < b.misfit(); });
  return "a move drawn " + std::to_string(std::llround(cell->seen)) + " times in " + std::to_string(draws_) +
         " was expected " + std::to_string(cell->expected) + " times";
}

}  // namespace pgdlm
