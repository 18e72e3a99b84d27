// Ctrl-C, and kill. While one of these lives, the first SIGINT or SIGTERM calls `cancel` on a thread of its own, so
// that a run can end with the best it has and nothing half-written stays; the second ends the process. Make it before
// any other thread: they inherit that these signals are blocked.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace pgdlm::cli {

inline constexpr int kExitInterrupted = 130;  // as a shell says it

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  void watch(std::function<void()> cancel);  // once
  bool pressed() const { return presses_ > 0; }

 private:
  sigset_t signals_{}, before_{};
  std::atomic<int> presses_{0};
  std::atomic<bool> over_{false};
  std::thread watcher_;
};

}  // namespace pgdlm::cli
