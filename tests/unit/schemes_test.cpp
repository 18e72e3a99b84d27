// Every scheme by enumeration: unbiased, and its conditional form is the law P(parents, slot) ∝
// R(parents)·1[parents[slot] = reference] that docs/theory.md proves right.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kit/enumerate.h"
#include "smc/schemes.h"

namespace pgdlm {
namespace {

using Probs = std::vector<double>;
using Parents = std::vector<int>;

const std::vector<Probs> kWeights = {
    {0.5, 0.5},        {0.9, 0.1},      {1.0, 0.0},           {0.2, 0.5, 0.3},          {1.0 / 3, 1.0 / 3, 1.0 / 3},
    {0.05, 0.9, 0.05}, {0.0, 0.4, 0.6}, {0.1, 0.2, 0.3, 0.4}, {0.25, 0.25, 0.25, 0.25}, {0.7, 0.0, 0.2, 0.1},
};

class SchemeLaw : public testing::TestWithParam<std::string_view> {
 protected:
  const Scheme& scheme() const { return *find_scheme(GetParam()); }
  std::map<Parents, double> law(const Probs& w) const {
    return kit::law_of([&](Source& source) { return scheme().draw(w, *source.open(Key{})).parents; });
  }
};

TEST_P(SchemeLaw, ExpectedCopiesAreProportionalToWeights) {
  for (const Probs& w : kWeights) {
    std::vector<double> copies(w.size(), 0.0);
    for (const auto& [parents, p] : law(w))
      for (int parent : parents) copies[parent] += p;
    for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(copies[i], static_cast<double>(w.size()) * w[i], 1e-12);
  }
}

// Slots of schemes that do not look at the order may be permuted: compare sorted parents, and who continues.
TEST_P(SchemeLaw, ConditionalFormIsTheSizeBiasedLaw) {
  for (const Probs& w : kWeights) {
    for (int reference = 0; reference < static_cast<int>(w.size()); ++reference) {
      if (w[reference] == 0) continue;
      std::map<Parents, double> expected;
      const double k = static_cast<double>(w.size());
      for (const auto& [drawn, p] : law(w)) {
        Parents parents = drawn;
        const double copies = static_cast<double>(std::count(parents.begin(), parents.end(), reference));
        if (!scheme().ordered) std::sort(parents.begin(), parents.end());
        if (copies > 0) expected[parents] += p * copies / (k * w[reference]);
      }
      const auto given = kit::law_of([&](Source& source) {
        Offspring born = scheme().draw_given(w, reference, *source.open(Key{}));
        EXPECT_EQ(born.parents[born.kept], reference);
        if (!scheme().ordered) std::sort(born.parents.begin(), born.parents.end());
        return born.parents;
      });
      EXPECT_LE(kit::total_variation(given, expected), 1e-12);
    }
  }
}

// Which of its copies continues the reference does not matter for exchangeable schemes; for ordered ones it is uniform.
TEST_P(SchemeLaw, EveryCopyOfTheReferenceContinuesItEquallyOften) {
  if (!scheme().ordered) return;
  const Probs w = {0.1, 0.7, 0.2};
  const auto joint = kit::law_of([&](Source& source) {
    const Offspring born = scheme().draw_given(w, 1, *source.open(Key{}));
    return std::pair{born.parents, born.kept};
  });
  const auto alone = law(w);
  for (const auto& [end, p] : joint) EXPECT_NEAR(p, alone.at(end.first) / (3 * w[1]), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Schemes, SchemeLaw, testing::ValuesIn(scheme_names()),
                         [](const auto& info) { return std::string(info.param); });

TEST(Schemes, UnknownNameIsNull) { EXPECT_EQ(find_scheme("sytematic"), nullptr); }

TEST(Schemes, LowVarianceSchemesKeepWholeCopies) {
  const Probs w = {0.5, 0.25, 0.25};  // k·W = 1.5, 0.75, 0.75
  for (const char* name : {"systematic", "residual"})
    kit::enumerate(
        [&](Source& source) { return find_scheme(name)->draw(w, *source.open(Key{})).parents; },
        [&](const Parents& parents, double) { EXPECT_GE(std::count(parents.begin(), parents.end(), 0), 1); });
}

}  // namespace
}  // namespace pgdlm
