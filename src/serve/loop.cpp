#include "serve/loop.h"

#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "pgdlm/error.h"

namespace pgdlm::serve {
namespace {

// libevent is C: nothing may be thrown through it. Whoever is answered has caught what is his; this is the rest.
void do_work(const Loop::Work& work) {
  try {
    work();
  } catch (const std::exception& e) {
    fmt::print(stderr, "pgdlm: error: {}\n", e.what());
  }
}

void call(evutil_socket_t, short, void* work) { do_work(*static_cast<Loop::Work*>(work)); }

}  // namespace

Loop::Loop() : base_(event_base_new()), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (base_ != nullptr && wake_ >= 0)
    woken_ = event_new(
        base_, wake_, EV_READ | EV_PERSIST,
        [](evutil_socket_t, short, void* loop) { static_cast<Loop*>(loop)->take_posted(); }, this);
  if (woken_ == nullptr || event_add(woken_, nullptr) != 0)
    throw Error(ErrorCode::exhausted, "the server's event loop could not be made");
}

Loop::~Loop() {
  posted_.clear();  // what it holds may have events of its own
  event_free(woken_);
  event_base_free(base_);
  ::close(wake_);
}

void Loop::run() { event_base_loop(base_, EVLOOP_NO_EXIT_ON_EMPTY); }
void Loop::stop() { event_base_loopbreak(base_); }

void Loop::post(Work work) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(work));
  }
  const std::uint64_t one = 1;
  if (first) [[maybe_unused]]
    const ssize_t written = ::write(wake_, &one, sizeof(one));  // it can only be full, and then the loop is awake
}

void Loop::take_posted() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_, &count, sizeof(count));
  std::vector<Work> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (const Work& one : work) do_work(one);
}

Timer::Timer(Loop& loop, Loop::Work work)
    : work_(std::move(work)), event_(event_new(loop.base(), -1, 0, call, &work_)) {
  if (event_ == nullptr) throw Error(ErrorCode::exhausted, "there is no memory for a timer");
}
Timer::~Timer() { event_free(event_); }

void Timer::set(std::chrono::milliseconds delay) {
  const timeval time{.tv_sec = delay.count() / 1000, .tv_usec = delay.count() % 1000 * 1000};
  event_add(event_, &time);
}
void Timer::cancel() { event_del(event_); }

SignalWatch::SignalWatch(Loop& loop, int number, Loop::Work work)
    : work_(std::move(work)), event_(event_new(loop.base(), number, EV_SIGNAL | EV_PERSIST, call, &work_)) {
  if (event_ == nullptr || event_add(event_, nullptr) != 0)
    throw Error(ErrorCode::exhausted, "signals could not be watched");
}
SignalWatch::~SignalWatch() { event_free(event_); }

}  // namespace pgdlm::serve
