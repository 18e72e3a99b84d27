#include "events/sinks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "events/json.h"
#include "pgdlm/error.h"

namespace pgdlm {

void JsonlSink::emit(const Event& event) {
  out_ << to_json_line(event, next_seq_) << '\n' << std::flush;
  if (!out_) throw Error(ErrorCode::exhausted, "trace: event " + std::to_string(next_seq_) + " could not be written");
  ++next_seq_;
}

void TerminalSink::emit(const Event& event) {
  if (!options_.tty) return;
  if (std::holds_alternative<RunStarted>(event)) started_ = Clock::now();
  if (const auto* weighed = std::get_if<Weighed>(&event)) show(*weighed);
  if (std::holds_alternative<RunFinished>(event)) wipe();
}

void TerminalSink::show(const Weighed& weighed) {
  double top = -std::numeric_limits<double>::infinity();
  for (const double value : weighed.values) top = std::max(top, value);
  if (options_.steps > 0 && weighed.step >= options_.steps) {  // only here are values the rewards themselves
    best_ = any_finished_ ? std::max(best_, top) : top;
    any_finished_ = true;
  }

  const Clock::time_point now = Clock::now();
  if (now - shown_ < std::chrono::milliseconds(options_.every_ms)) return;
  shown_ = now;

  const auto of = [](int total) { return total > 0 ? fmt::format("/{}", total) : std::string(); };
  std::string line = fmt::format("sweep {}{}  step {}{}  ESS {:.1f}/{}", weighed.sweep + 1, of(options_.sweeps),
                                 weighed.step, of(options_.steps), weighed.ess, weighed.values.size());
  line += any_finished_ ? fmt::format("  best {:.4g}", best_) : fmt::format("  best guess {:.4g}", top);
  if (options_.steps > 0 && options_.sweeps > 0) {
    const double done = static_cast<double>(weighed.sweep) * options_.steps + weighed.step;
    const double left = static_cast<double>(options_.sweeps) * options_.steps - done;
    const double elapsed = std::chrono::duration<double>(now - started_).count();
    if (done > 0) line += fmt::format("  ETA {:.0f} s", std::max(0.0, elapsed * left / done));
  }
  out_ << "\r\033[K" << line << std::flush;
  visible_ = true;
}

void TerminalSink::wipe() {
  if (visible_) out_ << "\r\033[K" << std::flush;
  visible_ = false;
}

}  // namespace pgdlm
