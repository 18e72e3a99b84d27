#include "eval/diagnostics.h"

#include <set>

namespace pgdlm {

void DiagnosticsSink::emit(const Event& event) {
  if (const auto* weighed = std::get_if<Weighed>(&event)) {
    last_ = *weighed;
    if (spans_.empty()) spans_.push_back({.begin = 0, .reference = weighed->reference});
  } else if (const auto* resampled = std::get_if<Resampled>(&event)) {
    spans_.push_back({resampled->step, resampled->reference, resampled->parents});
  } else if (const auto* selected = std::get_if<Selected>(&event)) {
    SweepFacts facts{.particles = static_cast<int>(last_.log_weights.size()),
                     .conditional = last_.reference >= 0,
                     .ess = last_.ess,
                     .log_z = last_.log_z,
                     .reward = selected->reward};
    facts.renewed = renewed(selected->slot);
    for (std::size_t i = 0; i < kAncestorTimes.size(); ++i) facts.ancestors[i] = ancestors(kAncestorTimes[i]);
    sweeps_.push_back(facts);
    spans_.clear();
  }
}

// Follows the particle in `slot` back to the beginning.
double DiagnosticsSink::renewed(int slot) const {
  int fresh = 0, end = last_.step;
  for (auto span = spans_.rbegin(); span != spans_.rend(); ++span) {
    if (slot != span->reference) fresh += end - span->begin;
    end = span->begin;
    if (!span->parents.empty()) slot = span->parents[static_cast<std::size_t>(slot)];
  }
  return last_.step == 0 ? 1 : static_cast<double>(fresh) / last_.step;
}

// A resampling after the last step only copies finished texts: descendants are those that it found.
int DiagnosticsSink::ancestors(double time) const {
  std::set<int> slots;
  for (std::size_t slot = 0; slot < last_.log_weights.size(); ++slot) slots.insert(static_cast<int>(slot));
  for (auto span = spans_.rbegin(); span != spans_.rend() && span->begin > time * last_.step; ++span) {
    if (span->begin == last_.step) continue;
    std::set<int> before;
    for (const int slot : slots) before.insert(span->parents[static_cast<std::size_t>(slot)]);
    slots = std::move(before);
  }
  return static_cast<int>(slots.size());
}

}  // namespace pgdlm
