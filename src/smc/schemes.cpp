#include "smc/schemes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace pgdlm {
namespace {

// ---- multinomial: every slot on its own; exchangeable, so the reference may keep any slot, here the last ----

Offspring multinomial(std::span<const double> probs, Draws& draws) {
  Offspring born;
  for (std::size_t i = 0; i < probs.size(); ++i) born.parents.push_back(draws.categorical(probs));
  return born;
}

Offspring multinomial_given(std::span<const double> probs, int reference, Draws& draws) {
  Offspring born;
  for (std::size_t i = 0; i + 1 < probs.size(); ++i) born.parents.push_back(draws.categorical(probs));
  born.parents.push_back(reference);
  born.kept = static_cast<int>(probs.size()) - 1;
  return born;
}

// ---- stratified: slot j draws from the part of the cumulative weights that lies in [j/k, (j+1)/k) ----

// Lengths of the overlaps of the cells of W with the stratum of slot j, in units of 1/k.
std::vector<double> stratum(std::span<const double> probs, std::size_t slot) {
  const double k = static_cast<double>(probs.size());
  const double low = static_cast<double>(slot), high = low + 1;
  std::vector<double> overlap(probs.size(), 0.0);
  double begin = 0;
  for (std::size_t i = 0; i < probs.size(); ++i) {
    const double end = begin + k * probs[i];
    overlap[i] = std::max(0.0, std::min(end, high) - std::max(begin, low));
    begin = end;
  }
  // Rounding may leave the last stratum empty; its mass then belongs to the last cell with weight.
  if (std::all_of(overlap.begin(), overlap.end(), [](double o) { return o <= 0; }))
    for (std::size_t i = probs.size(); i-- > 0;)
      if (probs[i] > 0) {
        overlap[i] = 1;
        break;
      }
  return overlap;
}

Offspring stratified(std::span<const double> probs, Draws& draws) {
  Offspring born;
  for (std::size_t j = 0; j < probs.size(); ++j) born.parents.push_back(draws.categorical(stratum(probs, j)));
  return born;
}

Offspring stratified_given(std::span<const double> probs, int reference, Draws& draws) {
  std::vector<double> share;  // of the reference's cell, by stratum
  for (std::size_t j = 0; j < probs.size(); ++j)
    share.push_back(stratum(probs, j)[static_cast<std::size_t>(reference)]);
  Offspring born;
  born.kept = draws.categorical(share);
  for (std::size_t j = 0; j < probs.size(); ++j)
    born.parents.push_back(static_cast<int>(j) == born.kept ? reference : draws.categorical(stratum(probs, j)));
  return born;
}

// ---- systematic: one point u in [0, 1), slot j takes the cell of W that holds (u + j)/k ----

// u falls into one of the cells between the breakpoints, in each of which the parents do not change.
struct Cells {
  std::vector<double> ends;     // k · cumulative weights
  std::vector<double> lengths;  // of the cells of u
  std::vector<double> middles;
};

Cells systematic_cells(std::span<const double> probs) {
  Cells cells;
  const double k = static_cast<double>(probs.size());
  double sum = 0;
  for (double p : probs) cells.ends.push_back(sum += k * p);
  std::vector<double> cuts = {0.0, 1.0};
  for (double end : cells.ends) cuts.push_back(end - std::floor(end));
  std::sort(cuts.begin(), cuts.end());
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    const double length = cuts[c + 1] - cuts[c];
    if (length <= 1e-15) continue;  // a crumb of rounding between two equal breakpoints
    cells.lengths.push_back(length);
    cells.middles.push_back(cuts[c] + length / 2);
  }
  return cells;
}

std::vector<int> parents_at(const Cells& cells, double u, std::span<const double> probs) {
  std::vector<int> parents;
  std::size_t i = 0;
  for (std::size_t j = 0; j < probs.size(); ++j) {
    while (i + 1 < probs.size() && (cells.ends[i] <= u + static_cast<double>(j) || probs[i] <= 0)) ++i;
    parents.push_back(static_cast<int>(i));
  }
  return parents;
}

Offspring systematic(std::span<const double> probs, Draws& draws) {
  const Cells cells = systematic_cells(probs);
  return {parents_at(cells, cells.middles[static_cast<std::size_t>(draws.categorical(cells.lengths))], probs), -1};
}

// u is drawn in proportion to the number of copies it gives the reference (the points u + j in its cell of W), then one
// of the copies continues it.
Offspring systematic_given(std::span<const double> probs, int reference, Draws& draws) {
  const Cells cells = systematic_cells(probs);
  const double begin = reference > 0 ? cells.ends[static_cast<std::size_t>(reference) - 1] : 0.0;
  const double end = cells.ends[static_cast<std::size_t>(reference)];
  std::vector<double> mass;
  for (std::size_t c = 0; c < cells.lengths.size(); ++c)
    mass.push_back(cells.lengths[c] * (std::ceil(end - cells.middles[c]) - std::ceil(begin - cells.middles[c])));
  Offspring born{parents_at(cells, cells.middles[static_cast<std::size_t>(draws.categorical(mass))], probs), -1};

  std::vector<double> copies;
  for (int parent : born.parents) copies.push_back(parent == reference ? 1.0 : 0.0);
  born.kept = draws.categorical(copies);
  return born;
}

// ---- residual: ⌊k·W_i⌋ copies for certain, the rest of the slots multinomially from the remainders ----

struct Residual {
  std::vector<int> certain;        // parents of the first slots
  std::vector<double> remainders;  // k·W_i - ⌊k·W_i⌋
  std::size_t open = 0;            // slots still to draw
};

Residual split(std::span<const double> probs) {
  Residual r;
  const double k = static_cast<double>(probs.size());
  for (std::size_t i = 0; i < probs.size(); ++i) {
    const double copies = std::floor(k * probs[i] * (1 + 4e-16));  // 1/3 · 3 must count as 1
    r.certain.insert(r.certain.end(), static_cast<std::size_t>(copies), static_cast<int>(i));
    r.remainders.push_back(std::max(0.0, k * probs[i] - copies));
  }
  r.open = probs.size() - r.certain.size();
  return r;
}

Offspring residual(std::span<const double> probs, Draws& draws) {
  const Residual r = split(probs);
  Offspring born{r.certain, -1};
  for (std::size_t j = 0; j < r.open; ++j) born.parents.push_back(draws.categorical(r.remainders));
  return born;
}

// A copy of the reference is either a certain one, or sits in one of the open slots (all alike, so the last).
Offspring residual_given(std::span<const double> probs, int reference, Draws& draws) {
  const Residual r = split(probs);
  const double certain = static_cast<double>(std::count(r.certain.begin(), r.certain.end(), reference));
  const double remainder = r.open > 0 ? r.remainders[static_cast<std::size_t>(reference)] : 0.0;
  const bool open = remainder > 0 && draws.coin(remainder / (certain + remainder));

  Offspring born{r.certain, -1};
  const std::size_t drawn = open ? r.open - 1 : r.open;
  for (std::size_t j = 0; j < drawn; ++j) born.parents.push_back(draws.categorical(r.remainders));
  if (open) {
    born.parents.push_back(reference);
    born.kept = static_cast<int>(born.parents.size()) - 1;
  } else {
    born.kept = static_cast<int>(std::find(r.certain.begin(), r.certain.end(), reference) - r.certain.begin());
  }
  return born;
}

constexpr std::array<Scheme, 4> kSchemes = {{
    {"multinomial", multinomial, multinomial_given, false},
    {"stratified", stratified, stratified_given, true},
    {"systematic", systematic, systematic_given, true},
    {"residual", residual, residual_given, false},
}};

}  // namespace

const Scheme* find_scheme(std::string_view name) {
  for (const Scheme& scheme : kSchemes)
    if (scheme.name == name) return &scheme;
  return nullptr;
}

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
  for (const Scheme& scheme : kSchemes) names.push_back(scheme.name);
  return names;
}

}  // namespace pgdlm
