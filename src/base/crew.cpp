#include "base/crew.h"

#include <sched.h>

#include <utility>

namespace pgdlm {

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

Crew::Crew(int workers) {
  for (int worker = 1; worker < workers; ++worker) helpers_.emplace_back([this, worker] { help(worker); });
}

Crew::~Crew() {
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
  work(lock, 0);
  done_.wait(lock, [this] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Crew::help(int worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return closing_ || next_ < count_; });
    if (closing_) return;
    work(lock, worker);
  }
}

// Takes jobs while there are any. The lock is held but for the jobs themselves.
void Crew::work(std::unique_lock<std::mutex>& lock, int worker) {
  while (next_ < count_) {
    const int mine = next_++;
    ++busy_;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      (*job_)(mine, worker);
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
