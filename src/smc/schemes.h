// Resampling schemes: plain functions in a table.
//
// A scheme draws the parents of k slots from normalised weights W so that slot for slot the expected number of copies
// of i is k·W_i. With a reference, parents and the reference's slot are drawn together from the law
//     P(parents, slot) ∝ R(parents) · 1[parents[slot] = reference],
// which is the conditional law of any such scheme R given that a uniformly chosen slot descends from the reference
// (docs/theory.md proves it; tests/laws shows it by enumeration). For systematic resampling this is the form of
// Chopin and Singh (2015), up to the rotation they use to bring the reference back to a fixed slot.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pgdlm/draws.h"
#include "pgdlm/plan.h"

namespace pgdlm {

struct Offspring {
  std::vector<int> parents;
  int kept = -1;  // the slot that continues the reference, -1 without one
};

using DrawFn = Offspring (*)(std::span<const double> probs, Draws&);
using DrawGivenFn = Offspring (*)(std::span<const double> probs, int reference, Draws&);

struct Scheme {
  std::string_view name;
  DrawFn draw;
  DrawGivenFn draw_given;  // null: no proven conditional law, refused with a reference (law 5)
  bool ordered;            // the law depends on the order of the slots: the reference must start in a random one
};

}  // namespace pgdlm
