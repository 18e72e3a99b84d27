// A thread with a queue in front of it, for what takes longer than the loop may stand still. Owned by whoever hands it
// work; what waits when it is destroyed is not done.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace pgdlm::serve {

class Worker {
 public:
  Worker() : thread_([this](const std::stop_token& stop) { work(stop); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Any thread; jobs do not throw. False: too many wait already.
  bool post(std::function<void()> job) {
    constexpr std::size_t kMost = 1024;
    {
      const std::lock_guard lock(mutex_);
      if (jobs_.size() >= kMost) return false;
      jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
    return true;
  }

 private:
  void work(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, stop, [this] { return !jobs_.empty(); });
      if (stop.stop_requested()) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::function<void()>> jobs_;
  std::jthread thread_;  // last: joined before the queue goes
};

}  // namespace pgdlm::serve
