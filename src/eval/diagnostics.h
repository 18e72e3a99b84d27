// What the sweeps of a request did, beyond the text they led to: whether weights were even, how much of the reference's
// path was renewed, how many particles of earlier times have descendants (algorithms.md 7.5). Heard on the
// coordinator's thread, like any sink.
#pragma once

#include <array>
#include <vector>

#include "pgdlm/events.h"

namespace pgdlm {

inline constexpr std::array<double, 4> kAncestorTimes = {0, 0.25, 0.5, 0.75};  // shares of the steps

struct SweepFacts {
  int particles = 0;
  bool conditional = false;  // it had a reference
  double ess = 0;            // of the last weights, before anything is drawn from them
  double log_z = 0;          // log evidence
  double reward = 0;         // of the text that was drawn
  double renewed = 1;        // share of the steps at which its path is not the old reference's
  std::array<int, kAncestorTimes.size()> ancestors{};  // so many particles at those times have descendants in the end

  bool operator==(const SweepFacts&) const = default;
};

class DiagnosticsSink final : public EventSink {
 public:
  void emit(const Event& event) override;

  const std::vector<SweepFacts>& sweeps() const { return sweeps_; }

 private:
  // From one resampling to the next the particles stay in their slots.
  struct Span {
    int begin = 0;             // step
    int reference = -1;        // its slot
    std::vector<int> parents;  // slots of the span before; of the first one: none
  };

  double renewed(int slot) const;
  int ancestors(double time) const;

  std::vector<Span> spans_;
  Weighed last_;
  std::vector<SweepFacts> sweeps_;
};

}  // namespace pgdlm
