// How a request is sampled: everything the samplers and the valuer may be told. Plain data with defaults;
// preset() sets all of it at once, every single field may then be changed.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace pgdlm {

struct Scheme;                                     // a resampling scheme, see smc/schemes.h
const Scheme* find_scheme(std::string_view name);  // nullptr: there is none of this name
std::vector<std::string_view> scheme_names();

enum class Method { greedy, best_of_n, smc, particle_gibbs, particle_gibbs_adaptive };
enum class Preset { exact, paper, fk };

enum class Proposal { sample, greedy };
enum class Potential { diff, max, add, rt };  // FK-Steering's four; in exact arithmetic all target p*
enum class Arithmetic { exact, fk };          // fk: float32, clamp at 1e10, NaN -> 0, all zero -> uniform
enum class Start { sampled, greedy, smc };    // where the first reference comes from
enum class Selection { draw, paper, argmax_last, argmax_all };
// Complete the canvas by draws, by its likeliest words, or hand over what is finished to a reward that accepts
// prefixes.
enum class Estimator { random, beam, prefix };

// One sampler run. k, beta and the resampling rule of a sweep; iterations, start and limits of particle Gibbs.
struct Plan {
  Method method = Method::particle_gibbs;
  int particles = 8;   // k
  int iterations = 4;  // m; with Start::smc the first sweep is the SMC start
  double beta = 0.1;   // β of p*(x0) ∝ p(x0) exp(r(x0)/β)  (Eq. 4)

  const Scheme* scheme = nullptr;         // nullptr: systematic
  std::optional<double> ess_floor = 0.5;  // resample when ESS < ess_floor·k; nothing: at every weighing
  int max_events = -1;                    // at most so many resamplings per sweep; -1: k of them
  bool resample_last = false;             // also after the last weighing (law 4 says no)
  bool ancestor_sampling = false;         // redraw the reference's ancestor at resampling events

  Proposal proposal = Proposal::sample;
  Potential potential = Potential::diff;
  Arithmetic arithmetic = Arithmetic::exact;
  Start start = Start::smc;
  Selection selection = Selection::draw;

  double threshold = std::numeric_limits<double>::infinity();  // adaptive: stop when the reward reaches it
  int max_particles =
      std::numeric_limits<int>::max();  // budget n: k a sweep, 1 for a greedy start, 0 for a sampled one
  std::int64_t max_forwards = std::numeric_limits<std::int64_t>::max();  // of forwards asked: the same in any batch
  double max_seconds = std::numeric_limits<double>::infinity();
};

// How r̂(x_t) is estimated (Eq. 5; Algorithm 1, line 9).
struct Valuing {
  Estimator estimator = Estimator::beam;
  int phi = 1;                    // φ completions per estimate
  int tau = 1;                    // τ look-ahead steps per completion
  bool lag = false;               // FK: complete from the prediction of the state before the last update
  bool redraw_unchanged = false;  // FK: estimate again although the state did not change
  bool beta_inside = true;        // β·log mean exp(r/β); FK leaves β out: log mean exp(r)
};

// When weights are looked at: after every n-th step, or at the ends of the process's blocks (0). Always at the end.
struct Cadence {
  int every = 1;
  bool blocks() const { return every == 0; }
};

struct Settings {
  Plan plan;
  Valuing valuing;
  Cadence cadence;
};

// `exact` leaves p* invariant; `paper` is Algorithm 1 as printed (it targets β/2); `fk` is FK-Steering's code.
Settings preset(Preset, Method);

}  // namespace pgdlm
