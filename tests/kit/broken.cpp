#include "kit/broken.h"

#include <algorithm>
#include <numeric>

namespace pgdlm::kit {
namespace {

// Dropping the smallest of k sorted draws is not the law of k-1 independent ones.
Offspring sorted_multinomial(std::span<const double> probs, int reference, Draws& draws) {
  Offspring born;
  for (std::size_t i = 0; i < probs.size(); ++i) born.parents.push_back(draws.categorical(probs));
  std::sort(born.parents.begin(), born.parents.end());
  born.parents[0] = reference;
  born.kept = 0;
  return born;
}

// k-1 equally spaced points, as if the reference took no part.
Offspring pinned_systematic(std::span<const double> probs, int reference, Draws& draws) {
  const int others = static_cast<int>(probs.size()) - 1;
  std::vector<double> ends(probs.size());
  std::partial_sum(probs.begin(), probs.end(), ends.begin());
  std::vector<double> cuts = {0, 1};
  for (double end : ends) cuts.push_back(others * end - static_cast<int>(others * end));
  std::sort(cuts.begin(), cuts.end());
  std::vector<double> lengths;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) lengths.push_back(cuts[c + 1] - cuts[c]);
  const int cell = draws.categorical(lengths);
  const double u = (cuts[cell] + cuts[cell + 1]) / 2;

  Offspring born;
  for (int j = 0; j < others; ++j)
    born.parents.push_back(
        static_cast<int>(std::upper_bound(ends.begin(), ends.end() - 1, (u + j) / others) - ends.begin()));
  born.parents.push_back(reference);
  born.kept = others;
  return born;
}

Scheme variant(const char* of, const char* name) {
  Scheme scheme = *find_scheme(of);
  scheme.name = name;
  return scheme;
}

Scheme with_given(const char* of, const char* name, DrawGivenFn given) {
  Scheme scheme = variant(of, name);
  scheme.draw_given = given;
  scheme.ordered = false;
  return scheme;
}

}  // namespace

const Scheme kSortedMultinomial = with_given("multinomial", "sorted-multinomial", sorted_multinomial);
const Scheme kPinnedSystematic = with_given("systematic", "pinned-systematic", pinned_systematic);
const Scheme kFixedFirstSlot = with_given("stratified", "fixed-first-slot", find_scheme("stratified")->draw_given);
const Scheme kUnconditional = with_given("systematic", "unconditional", nullptr);

}  // namespace pgdlm::kit
