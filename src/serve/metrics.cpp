#include "serve/metrics.h"

#include <fmt/format.h>

namespace pgdlm::serve {
namespace {

template <class Number>
void add(std::string& page, const char* name, const char* kind, const char* help, Number value) {
  page += fmt::format("# HELP pgdlm_{0} {1}\n# TYPE pgdlm_{0} {2}\npgdlm_{0} {3}\n", name, help, kind, value);
}

void add_lane(std::string& page, const std::string& model, const char* lane, const LaneStats& stats) {
  const std::string labels = fmt::format("{{model=\"{}\",lane=\"{}\"}}", model, lane);
  page +=
      fmt::format("pgdlm_batches_total{} {}\npgdlm_batch_rows_total{} {}\n", labels, stats.batches, labels, stats.rows);
  page += fmt::format("pgdlm_mixed_batches_total{} {}\npgdlm_mixed_batch_rows_total{} {}\n", labels,
                      stats.mixed_batches, labels, stats.mixed_rows);
}

}  // namespace

void Metrics::count_text(const Result& result) {
  const Answer& answer = result.answer;
  ++texts_;
  tokens_ += result.written.tokens;
  particles_ += answer.particles;
  sweeps_ += answer.sweeps;
  forwards_asked_ += answer.cost.forwards_asked;
  forwards_run_ += answer.cost.forwards_run;
  rewards_asked_ += answer.cost.rewards_asked;
  rewards_run_ += answer.cost.rewards_run;
  seconds_ += answer.cost.seconds;
  if (!result.ess.empty()) ess_ = result.ess.back();
}

std::string Metrics::text(const Load& load, const Models& models) const {
  std::string page = "# HELP pgdlm_replies_total replies by status\n# TYPE pgdlm_replies_total counter\n";
  for (const auto& [status, count] : replies_)
    page += fmt::format("pgdlm_replies_total{{status=\"{}\"}} {}\n", status, count);
  add(page, "requests_running", "gauge", "completions in the engine", load.running);
  add(page, "requests_waiting", "gauge", "completions that wait for their turn", load.waiting);
  add(page, "connections", "gauge", "open connections", load.connections);
  add(page, "texts_total", "counter", "texts made", texts_);
  add(page, "cancelled_total", "counter", "completions whose client left", cancelled_);
  add(page, "tokens_total", "counter", "tokens of these texts", tokens_);
  add(page, "particles_total", "counter", "particles used, as the paper counts them", particles_);
  add(page, "sweeps_total", "counter", "sweeps run", sweeps_);
  add(page, "forwards_asked_total", "counter", "forwards that were asked for", forwards_asked_);
  add(page, "forwards_run_total", "counter", "forwards that were run", forwards_run_);
  add(page, "forwards_saved_total", "counter", "forwards that were known already", forwards_asked_ - forwards_run_);
  add(page, "rewards_asked_total", "counter", "rewards that were asked for", rewards_asked_);
  add(page, "rewards_run_total", "counter", "rewards that were run", rewards_run_);
  add(page, "run_seconds_total", "counter", "seconds that texts took", seconds_);
  add(page, "ess", "gauge", "effective sample size of the last weights of the last text", ess_);
  page += "# HELP pgdlm_batches_total runs of a lane\n# TYPE pgdlm_batches_total counter\n";
  for (const auto& model : models.opened()) {
    const EngineStats stats = model->engine().stats();
    add_lane(page, model->name(), "predict", stats.predict);
    add_lane(page, model->name(), "score", stats.score);
  }
  return page;
}

}  // namespace pgdlm::serve
