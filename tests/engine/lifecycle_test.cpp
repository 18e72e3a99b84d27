// Requests come, are cancelled, and go, from any thread; an engine may go while its requests wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "harness.h"

namespace pgdlm::testkit {
namespace {

Request endless_request(std::uint64_t seed) {
  Request request = toy_request(seed);
  request.settings.plan.iterations = 1'000'000;
  request.trace = false;
  return request;
}

// Cancels its own request after so many finished sweeps.
class Canceller final : public EventSink {
 public:
  explicit Canceller(Engine& engine) : engine_(engine) {}
  void emit(const Event& event) override {
    stream.emit(event);
    if (std::holds_alternative<Selected>(event) && ++sweeps_ == 3) engine_.cancel(ticket);
  }
  Ticket ticket = 0;
  Stream stream;

 private:
  Engine& engine_;
  int sweeps_ = 0;
};

class Lifecycle : public testing::TestWithParam<int> {
 protected:
  EngineOptions options() const { return {.threads = GetParam()}; }
};

TEST_P(Lifecycle, CancelledBeforeItsStartComputesNothing) {
  const auto denoiser = toy_denoiser();
  Engine engine(denoiser, options());
  Submission cancelled, other;
  cancelled.submit(engine, toy_request(1));
  engine.cancel(cancelled.ticket);
  engine.run_until_idle();
  ASSERT_TRUE(cancelled.succeeded()) << cancelled.failure();
  EXPECT_EQ(cancelled.answer.status, Status::cancelled);
  EXPECT_EQ(cancelled.answer.tokens, toy_request(1).canvas.tokens) << "the best there is";
  EXPECT_EQ(denoiser->states_run(), 0);
  other.submit(engine, toy_request(2));
  engine.run_until_idle();
  EXPECT_TRUE(other.succeeded());
}

TEST_P(Lifecycle, CancelledOnTheWayAnswersWithTheBestSoFar) {
  Engine engine(toy_denoiser(), options());
  Canceller sink(engine);
  Answer answer;
  sink.ticket = engine.submit(endless_request(1), sink, [&](Ticket, const std::exception_ptr& error, Answer a) {
    EXPECT_FALSE(error);
    answer = std::move(a);
  });
  engine.run_until_idle();
  EXPECT_EQ(answer.status, Status::cancelled);
  EXPECT_GE(answer.sweeps, 3);
  EXPECT_EQ(std::count(answer.tokens.begin(), answer.tokens.end(), kMask), 0);
  EXPECT_EQ(answer.reward, kit::ToyReward().of(answer.tokens));
  const auto end = sink.stream.all<RunFinished>();
  ASSERT_EQ(end.size(), 1U);
  EXPECT_EQ(end[0].status, "cancelled");
}

TEST_P(Lifecycle, UnknownTicketsAreIgnored) {
  Engine engine(toy_denoiser(), options());
  engine.cancel(12345);
  Submission a;
  a.submit(engine, toy_request(1));
  engine.run_until_idle();
  engine.cancel(a.ticket);
  engine.run_until_idle();
  EXPECT_EQ(a.answer.status, Status::done);
}

TEST_P(Lifecycle, EngineMayGoBeforeItWasRun) {
  Submission a;
  {
    Engine engine(toy_denoiser(), options());
    a.submit(engine, toy_request(1));
  }
  EXPECT_FALSE(a.finished);
}

// Stopped in mid-run, with coroutines suspended and jobs in both lanes.
TEST_P(Lifecycle, EngineMayGoWhileRequestsWait) {
  std::vector<std::unique_ptr<Submission>> all;
  {
    Engine engine(toy_denoiser(), options());
    std::stop_source stop;
    for (int i = 0; i < 8; ++i) {
      all.push_back(std::make_unique<Submission>());
      all.back()->submit(engine, endless_request(static_cast<std::uint64_t>(i)));
    }
    class StopAfter final : public EventSink {
     public:
      explicit StopAfter(std::stop_source& stop) : stop_(stop) {}
      void emit(const Event&) override {
        if (++events_ == 20) stop_.request_stop();
      }

     private:
      std::stop_source& stop_;
      int events_ = 0;
    } sink(stop);
    engine.submit(endless_request(9), sink, [](Ticket, const std::exception_ptr&, const Answer&) {});
    engine.run(stop.get_token());
  }
  for (const auto& submission : all) EXPECT_FALSE(submission->finished);
}

TEST_P(Lifecycle, ServesSubmittersOfOtherThreads) {
  Engine engine(toy_denoiser(), options());
  std::jthread coordinator([&](const std::stop_token& stop) { engine.run(stop); });
  std::vector<std::string> texts(4);
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> submitters;
    for (std::size_t t = 0; t < texts.size(); ++t) {
      submitters.emplace_back([&, t] {
        for (int i = 0; i < 5; ++i) {
          Stream stream;
          std::promise<void> finished;
          engine.submit(toy_request(t), stream, [&](Ticket, const std::exception_ptr& error, const Answer&) {
            EXPECT_FALSE(error);
            ++done;
            finished.set_value();
          });
          finished.get_future().wait();
          EXPECT_TRUE(i == 0 || stream.text == texts[t]);
          texts[t] = stream.text;
        }
      });
    }
  }
  EXPECT_EQ(done, 20);
}

TEST_P(Lifecycle, CancelsFromOtherThreads) {
  Engine engine(toy_denoiser(), options());
  std::jthread coordinator([&](const std::stop_token& stop) { engine.run(stop); });
  for (int i = 0; i < 10; ++i) {
    Stream stream;
    std::promise<Status> status;
    const Ticket ticket =
        engine.submit(endless_request(static_cast<std::uint64_t>(i)), stream,
                      [&](Ticket, const std::exception_ptr&, const Answer& a) { status.set_value(a.status); });
    engine.cancel(ticket);
    EXPECT_EQ(status.get_future().get(), Status::cancelled);
  }
}

TEST_P(Lifecycle, FinishedMaySubmitTheNext) {
  Engine engine(toy_denoiser(), options());
  Submission second;
  Stream stream;
  engine.submit(toy_request(1), stream,
                [&](Ticket, const std::exception_ptr&, const Answer&) { second.submit(engine, toy_request(2)); });
  engine.run_until_idle();
  EXPECT_TRUE(second.succeeded()) << second.failure();
}

TEST_P(Lifecycle, WhatFinishedThrowsReachesTheCallerOfRun) {
  Engine engine(toy_denoiser(), options());
  std::vector<std::unique_ptr<Submission>> others;
  Stream stream;
  engine.submit(toy_request(1), stream,
                [](Ticket, const std::exception_ptr&, const Answer&) { throw std::runtime_error("caller's own"); });
  for (int i = 0; i < 4; ++i) {
    others.push_back(std::make_unique<Submission>());
    others.back()->submit(engine, toy_request(1));
  }
  EXPECT_THROW(engine.run_until_idle(), std::runtime_error);
  engine.run_until_idle();
  for (const auto& other : others) EXPECT_TRUE(other->succeeded()) << other->failure();
}

TEST_P(Lifecycle, ThereIsOneCoordinator) {
  Engine engine(toy_denoiser(), options());
  bool refused = false;
  Stream stream;
  engine.submit(toy_request(1), stream, [&](Ticket, const std::exception_ptr&, const Answer&) {
    try {
      engine.generate(toy_request(2));
    } catch (const Error& error) {
      refused = error.code() == ErrorCode::invalid_request;
    }
  });
  engine.run_until_idle();
  EXPECT_TRUE(refused);
  EXPECT_NO_THROW(engine.generate(toy_request(2)));
}

// The big one has been there first, and each of its stages is many batches long.
TEST_P(Lifecycle, SmallRequestOvertakesABigOne) {
  Engine engine(toy_denoiser(), {.threads = GetParam(), .max_batch = 4});
  std::vector<std::string> order;
  Stream big_events, small_events;
  const auto note = [&order](const char* name) {
    return [&order, name](Ticket, const std::exception_ptr&, const Answer&) { order.emplace_back(name); };
  };
  Request big = toy_request(1);
  big.settings.plan.particles = 200;
  engine.submit(big, big_events, note("big"));
  engine.submit(toy_request(2), small_events, note("small"));
  engine.run_until_idle();
  EXPECT_EQ(order, (std::vector<std::string>{"small", "big"}));
}

TEST_P(Lifecycle, BudgetsEndARequest) {
  Engine engine(toy_denoiser(), options());
  Request request = endless_request(1);
  request.settings.plan.max_forwards = 200;
  const Answer answer = engine.generate(request);
  EXPECT_EQ(answer.status, Status::budget_spent);
  EXPECT_GE(answer.cost.forwards_asked, 200);
  request = endless_request(1);
  request.settings.plan.max_seconds = 0.05;
  EXPECT_EQ(engine.generate(request).status, Status::budget_spent);
}

TEST_P(Lifecycle, StreamBeginsAndEndsAsPromised) {
  Engine engine(toy_denoiser(), options());
  Stream stream;
  Request request = toy_request(5);
  request.config = R"({"model":"toy"})";
  const Answer answer = engine.generate(request, stream);
  const auto& events = stream.events;
  const auto* started = std::get_if<RunStarted>(&events.front());
  ASSERT_NE(started, nullptr);
  EXPECT_EQ(started->seed, 5U);
  EXPECT_EQ(started->config, request.config);
  EXPECT_EQ(started->canvas, request.canvas.tokens);
  EXPECT_TRUE(std::holds_alternative<Spent>(events[events.size() - 2]));
  const auto* ended = std::get_if<RunFinished>(&events.back());
  ASSERT_NE(ended, nullptr);
  EXPECT_EQ(ended->status, "done");
  EXPECT_EQ(ended->reward, answer.reward);
  EXPECT_EQ(stream.all<Selected>().size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Threads, Lifecycle, testing::Values(1, 2));

}  // namespace
}  // namespace pgdlm::testkit
