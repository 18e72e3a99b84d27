// Prints the table of laws for docs/theory.md (`make theory`): every preset, scheme, start and process, each figure
// found by enumerating production code. Figures are rounded up to a power of ten: their last digits are rounding.
#include <cmath>
#include <cstdio>
#include <string>

#include "kit/broken.h"
#include "kit/diffusion_lab.h"
#include "kit/enumerate.h"
#include "kit/processes.h"

namespace pgdlm::kit {
namespace {

std::string up_to(double error) {
  error = std::abs(error);
  if (error == 0) return "0";
  if (error > 1e-9) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4f", error);
    return text;
  }
  return "≤ 1e" + std::to_string(static_cast<int>(std::ceil(std::log10(error))));
}

Settings settings(Preset which, const Scheme* scheme) {
  Settings s = preset(which, Method::particle_gibbs);
  s.plan.particles = 2;
  s.plan.beta = 1;
  s.plan.scheme = scheme;
  return s;
}

double power_of(Preset which) { return which == Preset::exact ? 1 : 2; }
const char* name_of(Preset which) { return which == Preset::exact ? "exact" : "paper"; }

DiffusionSetup setup(const NamedProcess& p, const Settings& s) {
  return {.process = p.process, .length = p.length, .steps = p.steps, .settings = s};
}

// A start is valid if the kernel could have drawn it: the probability of the greedy path under the process.
double greedy_probability(const NamedProcess& p, Settings s) {
  s.plan.ancestor_sampling = true;  // values as functions of the state, so that paths compare
  DiffusionLab lab(setup(p, s));
  Plan greedy = lab.plan();
  greedy.method = Method::greedy;
  const Law base = base_of(lab.lab(), lab.plan()).law;
  double probability = 0;
  for (const auto& [path, certain] : output_law(lab.lab(), greedy)) {
    const auto found = base.find(path);
    if (found != base.end()) probability += found->second;
  }
  return probability;
}

void print_processes() {
  std::printf(
      "| process | preset | scheme | TV, preset's rule | TV, always | E[1/Ẑ]·Z − 1 | start smc: E[Ẑ]/Z − 1 | start "
      "greedy: its probability |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const NamedProcess& p : law_processes())
    for (Preset which : {Preset::exact, Preset::paper})
      for (std::string_view scheme : scheme_names()) {
        const Settings s = settings(which, find_scheme(scheme));
        DiffusionLab lab(setup(p, s));
        Plan always = lab.plan();
        always.ess_floor = std::nullopt;
        const double as_offered = invariance(lab.lab(), lab.plan(), power_of(which)).tv;
        const Finding finding = invariance(lab.lab(), always, power_of(which));
        Plan smc = always;
        smc.method = Method::smc;
        smc.selection = Selection::draw;
        std::printf("| %s | %s | %s | %s | %s | %s | %s | %.2g |\n", p.name.c_str(), name_of(which),
                    std::string(scheme).c_str(), up_to(as_offered).c_str(), up_to(finding.tv).c_str(),
                    up_to(finding.evidence_error).c_str(), up_to(evidence_bias(lab.lab(), smc)).c_str(),
                    greedy_probability(p, s));
      }
}

void print_starts() {
  std::printf("\n| start | scheme | k | whole run against start · kernel, TV |\n|---|---|---|---|\n");
  const Table table{.steps = 2};
  for (Start start : {Start::sampled, Start::greedy, Start::smc})
    for (std::string_view scheme : scheme_names()) {
      Plan plan = settings(Preset::exact, find_scheme(scheme)).plan;
      plan.ess_floor = std::nullopt;
      Plan only = plan, whole = plan;
      only.method = start == Start::greedy ? Method::greedy : Method::smc;
      if (start == Start::sampled) only.particles = 1;
      whole.start = start;
      whole.iterations = start == Start::smc ? 2 : 1;
      const Lab lab = table_lab(table);
      const double tv = total_variation(output_law(lab, whole), after(kernel_of(table, plan), output_law(lab, only)));
      const char* names[] = {"sampled", "greedy", "smc"};
      std::printf("| %s | %s | 2 | %s |\n", names[static_cast<int>(start)], std::string(scheme).c_str(),
                  up_to(tv).c_str());
    }
}

void print_broken() {
  std::printf("\n| broken variant | k | TV after one sweep |\n|---|---|---|\n");
  const Table two{.steps = 2}, three{.steps = 3};
  Plan plan = settings(Preset::exact, find_scheme("multinomial")).plan;
  plan.ess_floor = std::nullopt;
  const auto row = [](const char* name, int k, double tv) {
    std::printf("| %s | %d | %s |\n", name, k, up_to(tv).c_str());
  };

  Plan twice = plan;
  twice.selection = Selection::paper;
  row("double-counted final weights, judged against p*", 2, invariance(table_lab(three), twice).tv);

  const Lab forgetful = table_lab(three, TableWorld::Habit::reestimates_parents);
  std::map<std::vector<int>, double> target, reached;
  for (const auto& [trail, p] : base_of(table_lab(three), plan).target(1)) target[trail.states] += p;
  for (const auto& [trail, p] : base_of(forgetful, plan).target(1)) reached[trail.states] += p;
  row("parent value estimated again (what it leaves invariant, against p*)", 2, total_variation(target, reached));

  for (const Scheme* scheme : {&kSortedMultinomial, &kPinnedSystematic, &kFixedFirstSlot}) {
    Plan broken = plan;
    broken.particles = 3;
    broken.scheme = scheme;
    row(std::string(scheme->name).c_str(), 3, invariance(table_lab(two), broken).tv);
  }
  Plan refreshed = plan;
  refreshed.ancestor_sampling = true;
  row("ancestor weights without the potential", 2,
      invariance(table_lab(three, TableWorld::Habit::forgets_potential), refreshed).tv);
}

}  // namespace
}  // namespace pgdlm::kit

int main() {
  pgdlm::kit::print_processes();
  pgdlm::kit::print_starts();
  pgdlm::kit::print_broken();
}
