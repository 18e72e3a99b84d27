// Task<T>: a lazy coroutine with one awaiter. It starts when awaited (or by start()), resumes its awaiter when
// it ends, and carries a value or an exception. No executor inside: whoever holds a suspended leaf resumes it.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "base/check.h"

namespace pgdlm {

template <class T>
class Task;

namespace detail {

// What all promises share: who waits, and what went wrong.
struct PromiseBase {
  std::coroutine_handle<> awaiter = std::noop_coroutine();
  std::exception_ptr error;

  struct ResumeAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> ended) const noexcept {
      return ended.promise().awaiter;
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  ResumeAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() { error = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  void return_value(T v) { value.emplace(std::move(v)); }
  T take() {
    if (error) std::rethrow_exception(error);
    return std::move(*value);
  }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void take() const {
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // For the owner of a whole run: start it, see whether it has ended, take what it returned.
  void start() { handle_.resume(); }
  bool done() const { return handle_.done(); }
  T take() { return handle_.promise().take(); }

  auto operator co_await() && {
    struct Awaiter {
      Handle callee;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
        callee.promise().awaiter = caller;
        return callee;
      }
      T await_resume() const { return callee.promise().take(); }
    };
    return Awaiter{handle_};
  }

 private:
  Handle handle_;
};

template <class T>
Task<T> detail::Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

// Runs a task that never has to wait for another thread (tests, toys, inline compute).
template <class T>
T run_inline(Task<T> task) {
  task.start();
  PGDLM_CHECK(task.done());
  return task.take();
}

}  // namespace pgdlm
