// The thread that owns all connections: libevent's loop, and a way in for other threads.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

struct event;
struct event_base;

namespace pgdlm::serve {

// Owned by whoever runs it; everything but `post` is for that thread.
class Loop {
 public:
  using Work = std::function<void()>;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();            // until stopped
  void stop();           // after what is at work
  void post(Work work);  // any thread; in order

  event_base* base() const { return base_; }

 private:
  void take_posted();

  event_base* base_;
  int wake_ = -1;  // an eventfd
  event* woken_ = nullptr;
  std::mutex mutex_;
  std::vector<Work> posted_;
};

// Calls back once, after a while, on the loop's thread; not if it was destroyed or set anew before.
class Timer {
 public:
  Timer(Loop& loop, Loop::Work work);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void set(std::chrono::milliseconds delay);
  void cancel();

 private:
  Loop::Work work_;
  event* event_;
};

// Calls back on the loop's thread whenever the process gets this signal.
class SignalWatch {
 public:
  SignalWatch(Loop& loop, int number, Loop::Work work);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  Loop::Work work_;
  event* event_;
};

}  // namespace pgdlm::serve
