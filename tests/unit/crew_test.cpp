// A crew does every job once, on several threads, and hands on what goes wrong.
#include "base/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace pgdlm {
namespace {

TEST(Crew, DoesEveryJobOnce) {
  for (const int workers : {1, 2, 5}) {
    Crew crew(workers);
    EXPECT_EQ(crew.workers(), workers);
    for (const int jobs : {0, 1, 3, 100}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(jobs));
      crew.run(jobs, [&](int job) { ++done[static_cast<std::size_t>(job)]; });
      for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
    }
  }
}

// Each job waits for the others: only as many threads can bring this to an end.
TEST(Crew, WorksAtTheSameTime) {
  Crew crew(3);
  std::latch together(3);
  std::vector<std::thread::id> by(3);
  crew.run(3, [&](int job) {
    together.arrive_and_wait();
    by[static_cast<std::size_t>(job)] = std::this_thread::get_id();
  });
  EXPECT_EQ(std::set(by.begin(), by.end()).size(), 3U);
}

TEST(Crew, ThrowsOnAndGoesOn) {
  for (const int workers : {1, 2}) {
    Crew crew(workers);
    std::atomic<int> begun = 0;
    const auto failing = [&](int job) {
      ++begun;
      if (job == 3) throw std::runtime_error("job 3");
    };
    EXPECT_THROW(crew.run(1000, failing), std::runtime_error);
    if (workers == 1) EXPECT_EQ(begun, 4);  // none begins after the fault is known
    begun = 0;
    crew.run(3, failing);
    EXPECT_EQ(begun, 3);
  }
}

}  // namespace
}  // namespace pgdlm
