#include "eval/claims.h"

#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

namespace pgdlm {
namespace {

// A claim at one point: by question, what one series has more than the other.
struct Trial {
  std::string where;
  Groups differences;
  double particles = 0, others_particles = 0;  // what both used on average
};

double particles_of(const FinishedStudy& study, const FinishedCell& cell) {
  const std::optional<Measured> used = measured(study, cell, find_gauge("particles_used"));
  return used ? used->mean.value : 0;
}

std::string place_name(const FinishedStudy& study, const Cell& cell) {
  const std::string& panel = study.study.panels[cell.panel].name;
  return panel.empty() ? fmt::format("{:g}", cell.at) : fmt::format("{}: {:g}", panel, cell.at);
}

std::vector<Trial> trials_of(const FinishedStudy& study, const Claim& claim) {
  const Gauge& gauge = find_gauge(claim.of);
  std::vector<Trial> trials;
  for (const FinishedCell& cell : study.cells) {
    if (study.study.series[cell.cell.series] != claim.more || !claim.concerns(cell.cell.at)) continue;
    Trial trial{.where = place_name(study, cell.cell), .particles = particles_of(study, cell)};
    const Groups values = groups_of_cell(study, cell, gauge);
    if (claim.than.empty()) {
      trial.differences = values;
    } else {
      const FinishedCell* other = study.find(cell.cell.panel, claim.than, cell.cell.at);
      if (other == nullptr) continue;
      trial.differences = differences(values, groups_of_cell(study, *other, gauge));
      trial.others_particles = particles_of(study, *other);
    }
    trials.push_back(std::move(trial));
  }
  return trials;
}

// Points and panels of a question are alike, and some share their draws: it counts once.
Trial everywhere(const FinishedStudy& study, std::span<const Trial> trials) {
  Trial all{.where = "all together", .differences = Groups(study.questions.size())};
  for (const Trial& trial : trials) {
    for (std::size_t i = 0; i < all.differences.size(); ++i)
      if (const std::optional<Mean> mean = mean_of_groups({trial.differences[i]}))
        all.differences[i].push_back(mean->value);
    all.particles += trial.particles / static_cast<double>(trials.size());
    all.others_particles += trial.others_particles / static_cast<double>(trials.size());
  }
  return all;
}

std::string verdict_of(const Mean& difference, std::size_t questions) {
  const double error = difference.error.value_or(std::numeric_limits<double>::infinity());
  if (difference.value > 2 * error) return "holds";
  if (difference.value < -2 * error) return "does not hold";
  if (difference.value == 0 || !std::isfinite(error)) return "unresolved";
  return fmt::format("unresolved; about {:.0f} questions would tell",
                     std::ceil(static_cast<double>(questions) * std::pow(2 * error / difference.value, 2)));
}

std::string difference_text(const Mean& difference, const Gauge& gauge) {
  const char* unit = gauge.unit == "%" ? " points" : gauge.kind == Gauge::Kind::logarithm ? " nats" : "";
  return fmt::format("{:+.3g}{}{}", gauge.factor * difference.value,
                     difference.error ? fmt::format(" ± {:.2g}", gauge.factor * *difference.error) : "", unit);
}

}  // namespace

Table claims_of(const FinishedStudy& study) {
  Table table{.head = {"claim", "where", "difference", "verdict", "particles"}};
  for (const Claim& claim : study.study.claims) {
    std::vector<Trial> trials = trials_of(study, claim);
    if (trials.size() > 1) trials.push_back(everywhere(study, trials));
    for (const Trial& trial : trials) {
      std::optional<Mean> d = mean_of_groups(trial.differences);
      if (!d) {
        table.rows.push_back({claim.says, trial.where, "", "no text has this figure", ""});
        continue;
      }
      if (constexpr double kRounding = 1e-12; std::abs(d->value) < kRounding) d->value = 0;
      table.rows.push_back(
          {claim.says, trial.where, difference_text(*d, find_gauge(claim.of)), verdict_of(*d, study.questions.size()),
           claim.than.empty() ? fmt::format("{:.1f}", trial.particles)
                              : fmt::format("{:.1f} : {:.1f}", trial.particles, trial.others_particles)});
    }
  }
  return table;
}

}  // namespace pgdlm
