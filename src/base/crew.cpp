#include "base/crew.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "pgdlm/error.h"

namespace pgdlm {

namespace {

// Of processor time, in cores, as containers are given it; 0: no limit.
int quota() {
  double granted = 0, period = 0;  // the file says "max" where there is no limit
  std::ifstream limits("/sys/fs/cgroup/cpu.max");
  return limits >> granted >> period && period > 0 ? std::max(1, static_cast<int>(std::ceil(granted / period))) : 0;
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  if (const int granted = quota(); granted > 0) cores = std::min(cores, granted);
  return std::max(1, cores);
}

Crew::Crew(int workers) {
  try {
    for (int worker = 1; worker < workers; ++worker) helpers_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {
    dismiss();
    throw Error(ErrorCode::exhausted, "cannot start " + std::to_string(workers) + " threads",
                "use fewer with --threads");
  }
}

Crew::~Crew() { dismiss(); }

void Crew::dismiss() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void Crew::run(int count, const Job& job) {
  std::unique_lock lock(mutex_);
  job_ = &job;
  next_ = 0;
  count_ = count;
  wake_.notify_all();
  work(lock);
  done_.wait(lock, [this] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Crew::help() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return closing_ || next_ < count_; });
    if (closing_) return;
    work(lock);
  }
}

// Takes jobs while there are any. The lock is held but for the jobs themselves.
void Crew::work(std::unique_lock<std::mutex>& lock) {
  while (next_ < count_) {
    const int mine = next_++;
    ++busy_;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      (*job_)(mine);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    --busy_;
    if (thrown) {
      if (!failure_) failure_ = std::move(thrown);
      next_ = count_;
    }
  }
  if (busy_ == 0) done_.notify_one();
}

}  // namespace pgdlm
