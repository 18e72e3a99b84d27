// Presets and the checks of a plan.
#include "pgdlm/plan.h"

#include <cmath>
#include <limits>
#include <string>

#include "pgdlm/error.h"
#include "smc/samplers.h"
#include "smc/schemes.h"

namespace pgdlm {
namespace {

constexpr int kUnlimited = std::numeric_limits<int>::max();

// Algorithm 1 as printed: multinomial resampling at every weighing, also after the last one, then exp(r/β) again.
void set_paper(Settings& s) {
  s.plan.scheme = find_scheme("multinomial");
  s.plan.ess_floor = std::nullopt;
  s.plan.max_events = kUnlimited;
  s.plan.start = Start::sampled;
  s.plan.selection = Selection::paper;
}

// FK-Steering's code: resample every 20 steps and at the end, take the best survivor.
void set_fk(Settings& s) {
  set_paper(s);
  s.plan.selection = Selection::argmax_last;
  s.plan.resample_last = true;
  s.plan.arithmetic = Arithmetic::fk;
  s.valuing = {.estimator = Estimator::random, .phi = 4, .lag = true, .redraw_unchanged = true, .beta_inside = false};
  s.cadence.every = 20;
}

bool gibbs(const Plan& plan) {
  return plan.method == Method::particle_gibbs || plan.method == Method::particle_gibbs_adaptive;
}

// A greedy start may be all there is; every other run needs a sweep of k.
int least_budget(const Plan& plan) {
  const bool greedy = plan.method == Method::greedy || (gibbs(plan) && plan.start == Start::greedy);
  return greedy ? 1 : plan.particles;
}

void require(bool holds, const std::string& field, const std::string& value, const std::string& allowed) {
  if (!holds) throw Error(ErrorCode::invalid_request, field + " is " + value + ", allowed: " + allowed);
}

template <class T>
void require_at_least(T value, T least, const std::string& field) {
  require(value >= least, field, std::to_string(value), "at least " + std::to_string(least));
}

}  // namespace

Settings preset(Preset preset, Method method) {
  Settings s;
  s.plan.method = method;
  s.plan.scheme = find_scheme("systematic");
  if (preset == Preset::paper) set_paper(s);
  if (preset == Preset::fk) set_fk(s);

  if (method == Method::particle_gibbs_adaptive) s.plan.start = Start::greedy;
  // Best-of-n returns the best; the paper compares with an SMC that does so too.
  const bool returns_best = method == Method::best_of_n || (method == Method::smc && preset == Preset::paper);
  if (returns_best) s.plan.selection = Selection::argmax_last;
  if (method == Method::best_of_n) s.plan.resample_last = false;
  return s;
}

void check_plan(const Plan& plan) {
  require_at_least(plan.particles, 1, "particles");
  if (gibbs(plan) && plan.particles < 2)
    throw Error(ErrorCode::invalid_request, "particles is 1 with particle Gibbs, allowed: at least 2",
                "one slot is taken by the reference, so a sweep of one particle returns it unchanged");
  require_at_least(plan.iterations, 1, "iterations");
  require(plan.beta > 0 && std::isfinite(plan.beta), "beta", std::to_string(plan.beta), "a finite number > 0");
  if (plan.ess_floor)
    require(*plan.ess_floor >= 0 && std::isfinite(*plan.ess_floor), "ess-threshold", std::to_string(*plan.ess_floor),
            "a share of the particles, 0 (never) to 1");
  require_at_least(plan.max_events, -1, "max-events");
  require(!std::isnan(plan.threshold), "threshold", "NaN", "a reward");
  require(plan.max_particles >= least_budget(plan), "budget", std::to_string(plan.max_particles),
          "at least " + std::to_string(least_budget(plan)) + ", what the first sweep takes");
  require_at_least(plan.max_forwards, std::int64_t{1}, "max-forwards");
  require(plan.max_seconds > 0, "max-seconds", std::to_string(plan.max_seconds), "a number > 0");

  if (gibbs(plan) && plan.scheme && !plan.scheme->draw_given)
    throw Error(ErrorCode::invalid_request,
                "scheme is " + std::string(plan.scheme->name) + ", which has no proven conditional law",
                "with a reference use multinomial, stratified, systematic or residual");
  if (plan.ancestor_sampling && plan.arithmetic == Arithmetic::fk)
    throw Error(ErrorCode::invalid_request, "ancestor-sampling needs exact arithmetic, the fk preset clamps weights",
                "use --preset exact or paper");
}

}  // namespace pgdlm
