#include "cli/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

namespace pgdlm::cli {

Interrupt::Interrupt() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

Interrupt::~Interrupt() {
  over_ = true;
  if (watcher_.joinable()) {
    pthread_kill(watcher_.native_handle(), SIGINT);  // wakes sigwait
    watcher_.join();
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupt::watch(std::function<void()> cancel) {
  watcher_ = std::thread([this, cancel = std::move(cancel)] {
    for (int signal = 0; sigwait(&signals_, &signal) == 0 && !over_;) {
      if (++presses_ > 1) _exit(kExitInterrupted);
      // A program or server that gives a reward is waited for.
      if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\x1b[Kstopping; once more ends it at once\n");
      cancel();
    }
  });
}

}  // namespace pgdlm::cli
