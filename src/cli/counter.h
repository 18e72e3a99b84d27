// How far something long is: one line on a terminal for as long as it takes, nothing in a pipe.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace pgdlm::cli {

class Counter {
 public:
  explicit Counter(std::string things) : things_(std::move(things)) {}
  ~Counter() {
    if (tty_) fmt::print(stderr, "\r\x1b[K");
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  // What was done before the first call cost no time, so it says nothing about the rest.
  void show(std::size_t done, std::size_t all) {
    if (!tty_) return;
    if (!began_) began_ = true, first_ = done;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    std::string rest;
    if (done > first_ && done < all)
      rest = fmt::format(", {:.0f} s left",
                         seconds * static_cast<double>(all - done) / static_cast<double>(done - first_));
    fmt::print(stderr, "\r\x1b[K{} of {} {}{}", done, all, things_, rest);
    std::fflush(stderr);
  }

 private:
  std::string things_;
  bool tty_ = isatty(STDERR_FILENO) == 1, began_ = false;
  std::size_t first_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace pgdlm::cli
