// A lane on its own, with a trade that writes down what it was asked: sharing, fairness, buckets, failures.
#include "engine/lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <stdexcept>
#include <string>

namespace pgdlm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// What the trade did, and how it is to misbehave.
struct Diary {
  std::vector<std::vector<int>> batches;
  int refused = -1;               // a run with this number in it throws
  bool strike = false;            // nothing is delivered at all
  std::latch* entered = nullptr;  // the first run counts this down, then waits for `leave`
  std::latch* leave = nullptr;
};

// Squares numbers.
struct Squares {
  struct Job {
    int number;
    int* square;
    bool throws = false;  // on delivery
  };
  using Value = int;
  Diary* diary;

  MemoKey key(const Job& job) const { return MemoKey({job.number}); }
  std::vector<int> run(const std::vector<Job>& jobs) {
    std::vector<int> numbers, squares;
    for (const Job& job : jobs) numbers.push_back(job.number);
    for (const int number : numbers) squares.push_back(number * number);
    diary->batches.push_back(numbers);
    if (diary->entered != nullptr && diary->batches.size() == 1) {
      diary->entered->count_down();
      diary->leave->wait();
    }
    if (std::ranges::count(numbers, diary->refused) > 0) throw std::runtime_error("refused");
    return squares;
  }
  std::size_t prepare(std::span<const Handing<Job, Value>> handings) const { return handings.size(); }
  std::vector<std::exception_ptr> deliver(std::span<const Handing<Job, Value>> handings) {
    if (diary->strike) throw std::runtime_error("strike");
    std::vector<std::exception_ptr> failures(handings.size());
    for (std::size_t i = 0; i < handings.size(); ++i) {
      *handings[i].job->square = *handings[i].value;
      if (handings[i].job->throws) failures[i] = std::make_exception_ptr(std::runtime_error("cannot deliver"));
    }
    return failures;
  }
  void charge(const Job&, Cost& cost) const { ++cost.forwards_run; }
  std::size_t bytes(int) const { return sizeof(int); }
};

// One request with one call.
struct Client {
  Call call;
  std::vector<int> numbers, squares;
  int fragile = -1;  // delivery of this number throws

  Client(std::uint64_t request, std::vector<int> n, std::uint64_t bucket = 0)
      : call{.request = request, .bucket = bucket}, numbers(std::move(n)), squares(numbers.size(), 0) {}

  void ask(Lane<Squares>& lane) {
    std::vector<Squares::Job> jobs;
    for (std::size_t i = 0; i < numbers.size(); ++i) jobs.push_back({numbers[i], &squares[i], numbers[i] == fragile});
    lane.enqueue(call, jobs);
  }
  bool served() const {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (squares[i] != numbers[i] * numbers[i]) return false;
    }
    return call.open == 0 && !call.error;
  }
};

class LaneTest : public testing::Test {
 protected:
  Lane<Squares> make(LaneOptions options) {
    return {Squares{&diary}, options, [this](Call& call) { settled.push_back(call.request); }};
  }
  static LaneOptions with(std::size_t max_batch, bool memo = true) {
    return {.max_batch = max_batch, .memo = memo, .memo_bytes = 1 << 20};
  }

  Diary diary;
  std::vector<std::uint64_t> settled;
};

std::vector<int> upto(int count, int first = 0) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(first + i);
  return numbers;
}

TEST_F(LaneTest, IdleLaneHasNothingToDo) {
  auto lane = make(with(4));
  EXPECT_FALSE(lane.work());
  EXPECT_THAT(diary.batches, IsEmpty());
}

TEST_F(LaneTest, WithoutDeliveryAllFail) {
  auto lane = make(with(8));
  Client a(1, {1, 2}), b(2, {3});
  a.ask(lane);
  b.ask(lane);
  diary.strike = true;
  EXPECT_TRUE(lane.work());
  for (const Client* client : {&a, &b}) {
    EXPECT_EQ(client->call.open, 0U);
    EXPECT_NE(client->call.error, nullptr);
  }
}

TEST_F(LaneTest, TakesWhateverWaits) {
  auto lane = make(with(8));
  Client a(1, {1, 2}), b(2, {3});
  a.ask(lane);
  b.ask(lane);
  EXPECT_TRUE(lane.work());
  EXPECT_THAT(diary.batches, ElementsAre(UnorderedElementsAre(1, 2, 3)));
  EXPECT_TRUE(a.served() && b.served());
  EXPECT_THAT(settled, UnorderedElementsAre(1, 2));
  EXPECT_FALSE(lane.work());
}

TEST_F(LaneTest, EqualJobsShareOneRun) {
  auto lane = make(with(8));
  Client a(1, {5, 5, 6}), b(2, {6, 5});
  a.ask(lane);
  b.ask(lane);
  while (lane.work()) {
  }
  EXPECT_THAT(diary.batches, ElementsAre(UnorderedElementsAre(5, 6)));
  EXPECT_TRUE(a.served() && b.served());
  EXPECT_EQ(a.call.cost.forwards_run, 2) << "charged to who asked first";
  EXPECT_EQ(b.call.cost.forwards_run, 0);
}

TEST_F(LaneTest, KnownValuesAreNotRunAgain) {
  auto lane = make(with(2));
  Client a(1, {5, 6});
  a.ask(lane);
  lane.work();
  Client b(2, {6, 5, 6, 7, 5});  // more jobs than a batch may hold, but only one to run
  b.ask(lane);
  EXPECT_TRUE(lane.work());
  EXPECT_THAT(diary.batches, ElementsAre(ElementsAre(5, 6), ElementsAre(7)));
  EXPECT_TRUE(b.served());
  EXPECT_EQ(b.call.cost.forwards_run, 1);
}

TEST_F(LaneTest, WithoutMemoNothingIsShared) {
  auto lane = make(with(8, false));
  Client a(1, {5, 5}), b(2, {5});
  a.ask(lane);
  b.ask(lane);
  while (lane.work()) {
  }
  Client c(3, {5});
  c.ask(lane);
  while (lane.work()) {
  }
  EXPECT_THAT(diary.batches, ElementsAre(ElementsAre(5, 5, 5), ElementsAre(5)));
  EXPECT_TRUE(a.served() && b.served() && c.served());
  EXPECT_EQ(a.call.cost.forwards_run, 2);
  EXPECT_EQ(b.call.cost.forwards_run, 1);
  EXPECT_EQ(c.call.cost.forwards_run, 1);
}

TEST_F(LaneTest, BatchesAreCapped) {
  auto lane = make(with(4));
  Client a(1, upto(10));
  a.ask(lane);
  while (lane.work()) {
  }
  EXPECT_THAT(diary.batches, ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7), ElementsAre(8, 9)));
  EXPECT_TRUE(a.served());
  EXPECT_THAT(settled, ElementsAre(1)) << "once, when all of it is done";
}

TEST_F(LaneTest, SmallRequestsDoNotWaitForABigOne) {
  auto lane = make(with(4));
  Client big(1, upto(100)), small(2, {1000}), other(3, {2000});
  big.ask(lane);
  small.ask(lane);
  other.ask(lane);
  lane.work();
  EXPECT_THAT(diary.batches, ElementsAre(ElementsAre(0, 1000, 2000, 1)));
  EXPECT_TRUE(small.served() && other.served());
  EXPECT_FALSE(big.served());
}

// Whoever waits for a state at the end of a long line gets it at its own turn.
TEST_F(LaneTest, SharedJobsComeAtTheEarliestTurn) {
  auto lane = make(with(2));
  Client big(1, upto(100)), small(2, {99});
  big.ask(lane);
  small.ask(lane);
  lane.work();
  EXPECT_THAT(diary.batches, ElementsAre(ElementsAre(0, 99)));
  EXPECT_TRUE(small.served());
  while (lane.work()) {
  }
  EXPECT_TRUE(big.served());
  EXPECT_EQ(big.call.cost.forwards_run, 100);
}

TEST_F(LaneTest, FullBatchesGoRound) {
  auto lane = make(with(2));
  Client a(1, upto(4, 10)), b(2, upto(4, 20)), c(3, upto(4, 30));
  a.ask(lane);
  b.ask(lane);
  c.ask(lane);
  for (int i = 0; i < 3; ++i) lane.work();
  EXPECT_THAT(diary.batches, ElementsAre(ElementsAre(10, 20), ElementsAre(30, 11), ElementsAre(21, 31)));
}

TEST_F(LaneTest, BucketsAreNotMixedAndNoneStarves) {
  auto lane = make(with(2));
  Client a(1, upto(6, 10), 1), b(2, upto(2, 20), 2), c(3, upto(6, 30), 1);
  a.ask(lane);
  b.ask(lane);
  c.ask(lane);
  lane.work();
  lane.work();
  EXPECT_THAT(diary.batches, ElementsAre(ElementsAre(10, 30), ElementsAre(20, 21)));
  while (lane.work()) {
  }
  for (const auto& batch : diary.batches) {
    const auto in_b = std::ranges::count_if(batch, [](int n) { return n / 10 == 2; });
    EXPECT_TRUE(in_b == 0 || in_b == static_cast<std::ptrdiff_t>(batch.size()));
  }
  EXPECT_TRUE(a.served() && b.served() && c.served());
}

TEST_F(LaneTest, FailedRunFailsOnlyWhoAskedForWhatFailed) {
  auto lane = make(with(2));
  Client earlier(1, {7});
  earlier.ask(lane);
  lane.work();
  diary.refused = 13;
  Client a(2, {13}), b(3, {1}), known(4, {7}), later(5, {2});
  for (Client* client : {&a, &b, &known, &later}) client->ask(lane);
  while (lane.work()) {
  }
  EXPECT_TRUE(a.call.error);
  EXPECT_TRUE(b.served()) << "it was in the same batch";
  EXPECT_TRUE(known.served() && later.served());
  EXPECT_THAT(settled, UnorderedElementsAre(1, 2, 3, 4, 5));

  diary.refused = -1;  // a failure is not remembered
  Client again(6, {13});
  again.ask(lane);
  while (lane.work()) {
  }
  EXPECT_TRUE(again.served());
}

TEST_F(LaneTest, FailedCallLosesWhatItHasInLine) {
  auto lane = make(with(2));
  diary.refused = 1;
  Client doomed(1, upto(50)), other(2, {49});  // 49 is wanted by somebody else, too
  doomed.ask(lane);
  other.ask(lane);
  while (lane.work()) {
  }
  EXPECT_TRUE(doomed.call.error);
  EXPECT_EQ(doomed.call.open, 0U);
  EXPECT_TRUE(other.served());
  EXPECT_THAT(diary.batches, ElementsAre(ElementsAre(0, 49), ElementsAre(1, 2)));
  EXPECT_THAT(settled, ElementsAre(2, 1));
}

TEST_F(LaneTest, FailedDeliveryFailsItsCallAlone) {
  auto lane = make(with(4));
  Client a(1, {3, 4}), b(2, {3});
  a.fragile = 3;
  a.ask(lane);
  b.ask(lane);
  while (lane.work()) {
  }
  EXPECT_TRUE(a.call.error);
  EXPECT_EQ(a.call.open, 0U);
  EXPECT_TRUE(b.served());
}

// No memory at all: sharing in flight does not depend on the memo's budget.
TEST(LaneThread, JobsInFlightAreShared) {
  Diary diary;
  std::latch entered(1), leave(1), done(2);
  diary.entered = &entered;
  diary.leave = &leave;
  Client a(1, {5}), b(2, {5, 5});
  {
    Lane<Squares> lane(Squares{&diary}, {.memo_bytes = 0, .own_thread = true}, [&](Call&) { done.count_down(); });
    a.ask(lane);
    entered.wait();  // the run has begun
    b.ask(lane);
    leave.count_down();
    done.wait();
  }
  EXPECT_THAT(diary.batches, ElementsAre(ElementsAre(5)));
  EXPECT_TRUE(a.served() && b.served());
}

TEST(LaneThread, MayGoWhileJobsWait) {
  Diary diary;
  std::latch entered(1), leave(1);
  diary.entered = &entered;
  diary.leave = &leave;
  Client a(1, upto(1000));
  Lane<Squares> lane(Squares{&diary}, {.max_batch = 1, .memo_bytes = 1 << 20, .own_thread = true}, [](Call&) {});
  a.ask(lane);
  entered.wait();
  leave.count_down();
}

TEST(LaneThread, ServesManyCalls) {
  Diary diary;
  constexpr int kClients = 200;
  std::latch done(kClients);
  std::vector<std::unique_ptr<Client>> clients;
  {
    Lane<Squares> lane(Squares{&diary}, {.max_batch = 8, .memo_bytes = 2000, .own_thread = true},
                       [&](Call&) { done.count_down(); });
    for (int i = 0; i < kClients; ++i) {
      clients.push_back(std::make_unique<Client>(static_cast<std::uint64_t>(i + 1), upto(1 + i % 20, i % 50)));
      clients.back()->ask(lane);
    }
    done.wait();
  }
  std::int64_t charged = 0, run = 0;
  for (const auto& client : clients) {
    EXPECT_TRUE(client->served());
    charged += client->call.cost.forwards_run;
  }
  for (const auto& batch : diary.batches) run += static_cast<std::int64_t>(batch.size());
  EXPECT_EQ(charged, run) << "every run is charged to somebody, once";
}

}  // namespace
}  // namespace pgdlm
