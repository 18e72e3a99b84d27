// Where a request's events go. A sink is owned by whoever submits the request and must live until it has finished;
// it is called on the coordinator's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "pgdlm/events.h"

namespace pgdlm {

class NullSink final : public EventSink {
 public:
  void emit(const Event&) override {}
};

// One JSON line per event, flushed at once: a crash loses at most the line being written.
class JsonlSink final : public EventSink {
 public:
  explicit JsonlSink(std::ostream& out) : out_(out) {}
  void emit(const Event& event) override;  // Error{exhausted} if the stream refuses

 private:
  std::ostream& out_;
  std::int64_t next_seq_ = 0;
};

// What the progress line must be told, because events do not say how much is still to come.
struct ProgressOptions {
  bool tty = false;             // false: never prints
  int steps = 0;                // per sweep; 0: unknown
  int sweeps = 0;               // 0: unknown (adaptive), so there is no ETA
  std::int64_t every_ms = 100;  // at most one rewrite per so many milliseconds
};

// One line, rewritten in place and wiped at the end of the run.
class TerminalSink final : public EventSink {
 public:
  TerminalSink(std::ostream& out, ProgressOptions options) : out_(out), options_(options) {}
  void emit(const Event& event) override;

 private:
  using Clock = std::chrono::steady_clock;

  void show(const Weighed& weighed);
  void wipe();

  std::ostream& out_;
  ProgressOptions options_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point shown_;  // the epoch, long ago: the first line is not held back
  double best_ = 0;          // of the finished texts
  bool any_finished_ = false;
  bool visible_ = false;
};

class TeeSink final : public EventSink {
 public:
  explicit TeeSink(std::vector<EventSink*> sinks) : sinks_(std::move(sinks)) {}
  void emit(const Event& event) override {
    for (EventSink* sink : sinks_) sink->emit(event);
  }

 private:
  std::vector<EventSink*> sinks_;
};

}  // namespace pgdlm
