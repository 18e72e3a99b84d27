#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "base/log_math.h"
#include "cli/commands.h"
#include "cli/playback.h"
#include "events/reader.h"
#include "options/config.h"
#include "options/request.h"

namespace pgdlm::cli {
namespace {

// Prints a run stage by stage. Stages in which nothing changed are left out.
class Player {
 public:
  Player(const RunStarted& started, const std::string& path, int delay_ms)
      : options_(from_config(started.config, path)),
        model_(open_language_model(options_.model)),
        playback_(started),
        tty_(isatty(STDOUT_FILENO) == 1),
        delay_ms_(delay_ms) {
    options_ = settled(options_, model_->defaults(), nullptr);
    fmt::print("model {}, process {}, method {}, preset {}, reward {}, seed {}\n", options_.model,
               name_of(*options_.process), name_of(*options_.method), name_of(*options_.preset), options_.reward,
               started.seed);
  }

  void show(const Event& event) {
    playback_.apply(event);
    std::visit([this](const auto& e) { print(e); }, event);
  }

  bool finished() const { return finished_; }

 private:
  template <class Other>
  void print(const Other&) {}

  void print(const Weighed& e) {
    if (!playback_.changed()) return;
    const auto best = std::max_element(e.log_weights.begin(), e.log_weights.end()) - e.log_weights.begin();
    fmt::print("sweep {} step {:>4}  ess {:>5.2f}/{}  log_z {:>8.3f}  {}  {}\n", e.sweep, e.step, e.ess,
               e.values.size(), e.log_z, weights(e.log_weights), text(playback_.canvas(static_cast<int>(best))));
    std::fflush(stdout);
    if (tty_) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms_));
  }
  void print(const Resampled& e) {
    fmt::print("sweep {} step {:>4}  resampled: parents {}{}\n", e.sweep, e.step, fmt::join(e.parents, " "),
               e.reference < 0 ? "" : fmt::format(", reference in slot {}", e.reference));
  }
  void print(const Selected& e) {
    fmt::print("sweep {} chose slot {}{}, reward {:.4f}: {}\n", e.sweep, e.slot, e.reference ? " (the reference)" : "",
               e.reward, text(playback_.canvas(e.slot)));
  }
  void print(const RunFinished& e) {
    finished_ = true;
    fmt::print("{}, reward {:.4f}\n{}\n", e.status, e.reward, text(playback_.answer(*options_.selection)));
  }

  // Bars on a terminal, percentages elsewhere; each particle's share of the weight.
  std::string weights(const std::vector<double>& log_weights) const {
    constexpr std::array kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const double total = log_sum_exp(log_weights);
    std::string shown;
    for (double w : log_weights) {
      const double share = std::isfinite(total) ? std::exp(w - total) : 0;
      if (tty_)
        shown += kBars[static_cast<std::size_t>(std::lround(share * (kBars.size() - 1)))];
      else
        shown += fmt::format("{}{:.0f}%", shown.empty() ? "" : " ", 100 * share);
    }
    return shown;
  }

  std::string text(const std::vector<Token>& canvas) const { return model_->show(canvas); }

  GenerateOptions options_;
  std::shared_ptr<const LanguageModel> model_;
  Playback playback_;
  bool tty_;
  int delay_ms_;
  bool finished_ = false;
};

}  // namespace

int replay(const ReplayOptions& options) {
  if (options.delay_ms < 0) bad_value("delay", std::to_string(options.delay_ms), "0 or more");
  const Trace trace = read_trace(std::filesystem::path(options.file));
  const auto* started = trace.events.empty() ? nullptr : std::get_if<RunStarted>(&trace.events.front());
  if (started == nullptr)
    throw Error(ErrorCode::invalid_request, fmt::format("'{}' does not begin with run_started", options.file),
                "a trace is written by generate --trace");
  Player player(*started, options.file, options.delay_ms);
  for (const Event& event : trace.events) player.show(event);
  if (!player.finished()) fmt::print("the trace ends here; continue with: pgdlm generate --resume {}\n", options.file);
  return 0;
}

}  // namespace pgdlm::cli
