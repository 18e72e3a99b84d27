// Turns states into values: r̂(x_t) = β log mean exp(r(x̃0)/β) over φ completions x̃0 (Eq. 5; Algorithm 1, line 9), or the
// reward of the finished prefix. A finished canvas has the value r(x0) itself. One per World.
#pragma once

#include <memory>
#include <vector>

#include "diffusion/compute.h"
#include "diffusion/tree.h"
#include "pgdlm/plan.h"

namespace pgdlm {

// A state to be valued, and the address of its draws.
struct Valuand {
  State state;
  double time = 0;
  bool last = false;  // x0 itself: its value is r(x0), not a guess
  Key key;
};

class Valuer {
 public:
  Valuer(const Frame& frame, const Settings& settings, Compute& compute, Source& source);
  Task<std::vector<double>> values(std::vector<Valuand> valuands);

 private:
  // A canvas on its way to completion: looked ahead, then filled. Random estimates with τ > 1 need φ of them each.
  struct Strand {
    std::size_t owner = 0;  // index of its valuand
    State state;
    double time = 0;
    std::unique_ptr<Draws> draws;
    std::vector<std::vector<Token>> texts;
  };

  std::vector<Strand> strands(const std::vector<Valuand>& valuands) const;
  Task<void> complete(std::vector<Strand>& strands) const;
  PredictJob job(Strand& strand, int left) const;
  std::vector<Token> finished_prefix(const State& state) const;
  double estimate(std::vector<double> rewards, bool last) const;
  std::vector<Position> masked(const State& state) const;

  const Frame& frame_;
  Valuing valuing_;
  double beta_;
  bool lenient_;  // fk arithmetic lives with NaN and -inf
  Compute& compute_;
  Source& source_;
};

}  // namespace pgdlm
