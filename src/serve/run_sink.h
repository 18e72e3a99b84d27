// The events of one run in the engine, on the coordinator's thread: kept, recorded, and passed on to whoever watches.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <vector>

#include "events/sinks.h"
#include "pgdlm/error.h"

namespace pgdlm::serve {

class RunSink final : public EventSink {
 public:
  using Watch = std::function<void(const Event&)>;

  // `trace`: a file to record in, or empty. `watch`: called for every event, may be null.
  RunSink(const std::filesystem::path& trace, Watch watch) : watch_(std::move(watch)) {
    if (trace.empty()) return;
    file_.open(trace, std::ios::trunc);
    lines_.emplace(file_);
  }

  void emit(const Event& event) override {
    if (const auto* weighed = std::get_if<Weighed>(&event)) {
      ess_.resize(static_cast<std::size_t>(weighed->sweep) + 1);
      ess_.back() = weighed->ess;
    }
    if (lines_ && !std::holds_alternative<Drafted>(event)) record(event);
    if (watch_) watch_(event);
  }

  // After the run.
  const std::vector<double>& ess() const { return ess_; }
  bool lost_trace() const { return lost_trace_; }

 private:
  void record(const Event& event) {
    try {
      lines_->emit(event);
    } catch (const Error&) {  // a full disk is no reason to lose the text
      lines_.reset();
      lost_trace_ = true;
    }
  }

  Watch watch_;
  std::vector<double> ess_;  // of the last weights of each sweep
  std::ofstream file_;
  std::optional<JsonlSink> lines_;
  bool lost_trace_ = false;
};

}  // namespace pgdlm::serve
