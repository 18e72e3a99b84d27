// Threads that wait for work, for jobs that need nothing of each other. Owned by whoever has such jobs; one thread
// calls `run` at a time.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pgdlm {

int usable_cores();  // that this process may run on

class Crew {
 public:
  using Job = std::function<void(int job)>;

  explicit Crew(int workers);  // the caller of `run` is one of them; Error{exhausted} if there cannot be so many
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int workers() const { return static_cast<int>(helpers_.size()) + 1; }

  // Jobs 0 .. count-1, each once, by whichever worker is free; returns when all are done. If one throws, no further
  // jobs begin, and the first exception is thrown on.
  void run(int count, const Job& job);

 private:
  void dismiss();
  void help();
  void work(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Job* job_ = nullptr;  // of the present run
  int next_ = 0, count_ = 0, busy_ = 0;
  bool closing_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> helpers_;
};

}  // namespace pgdlm
