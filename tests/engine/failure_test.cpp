// Failures stay where they happen: an exception ends the requests of its batch, never a bystander, never the engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "harness.h"

namespace pgdlm::testkit {
namespace {

using testing::HasSubstr;

// Refuses any batch in which a canvas begins with this token.
class PickyDenoiser final : public Denoiser {
 public:
  explicit PickyDenoiser(Token refused) : refused_(refused) {}
  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    for (const StateView& state : states) {
      if (state.tokens[0] == refused_) throw Error(ErrorCode::bad_model, "out of memory, say");
    }
    return inner_->predict(states);
  }
  int vocab() const override { return inner_->vocab(); }
  Token mask() const override { return inner_->mask(); }

 private:
  Token refused_;
  std::shared_ptr<kit::ToyDenoiser> inner_ = toy_denoiser();
};

struct ForgetfulDenoiser final : Denoiser {
  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    auto predictions = inner->predict(states);
    predictions.pop_back();
    return predictions;
  }
  int vocab() const override { return inner->vocab(); }
  Token mask() const override { return inner->mask(); }
  std::shared_ptr<kit::ToyDenoiser> inner = toy_denoiser();
};

struct BrokenReward final : Reward {
  std::vector<double> score(std::span<const Candidate>) override { throw std::runtime_error("the scorer is gone"); }
};
struct ForgetfulReward final : Reward {
  std::vector<double> score(std::span<const Candidate>) override { return {}; }
};
struct NanReward final : Reward {
  std::vector<double> score(std::span<const Candidate> c) override {
    return std::vector<double>(c.size(), std::numeric_limits<double>::quiet_NaN());
  }
};

// Breaks beside the logits (or before them), on the lane's thread.
class BrokenProcess final : public Backward {
 public:
  explicit BrokenProcess(bool early) : early_(early) {}
  Decision decide(StateView x, Step step, Draws& draws) const override {
    if (early_) throw std::runtime_error("no decision");
    return inner_->decide(x, step, draws);
  }
  Move fill(StateView, const Decision&, const Prediction&, Step, Draws&) const override {
    throw std::runtime_error("no tokens");
  }
  int greedy_quota(StateView x, Step step) const override { return inner_->greedy_quota(x, step); }
  Move greedy(StateView x, const Prediction& p, Step step) const override { return inner_->greedy(x, p, step); }

 private:
  bool early_;
  std::shared_ptr<const Backward> inner_ = make_mdlm();
};

// Gives up after so many events.
class FullSink final : public EventSink {
 public:
  explicit FullSink(int room) : room_(room) {}
  void emit(const Event&) override {
    if (room_-- == 0) throw Error(ErrorCode::exhausted, "disk full");
  }

 private:
  int room_;
};

class Failure : public testing::TestWithParam<int> {
 protected:
  EngineOptions options() const { return {.threads = GetParam()}; }

  // Runs `bad` between two sound requests; those must not notice.
  std::string failure_of(const Request& bad) {
    Engine engine(toy_denoiser(), options());
    Submission before, broken, after;
    before.submit(engine, toy_request(1));
    broken.submit(engine, bad);
    after.submit(engine, toy_request(2));
    engine.run_until_idle();
    EXPECT_TRUE(before.succeeded()) << before.failure();
    EXPECT_TRUE(after.succeeded()) << after.failure();
    EXPECT_TRUE(broken.finished);
    const auto end = broken.stream.all<RunFinished>();
    EXPECT_EQ(end.size(), 1U);
    EXPECT_EQ(end.empty() ? "" : end[0].status, "failed");
    EXPECT_EQ(broken.stream.all<Spent>().size(), 1U);
    EXPECT_TRUE(engine.generate(toy_request(1)).tokens == before.answer.tokens) << "the engine goes on";
    return broken.failure();
  }
};

TEST_P(Failure, OfARewardIsItsRequests) {
  Request bad = toy_request(3);
  bad.reward = std::make_shared<BrokenReward>();
  EXPECT_EQ(failure_of(bad), "the scorer is gone");
}

TEST_P(Failure, OfACountIsAnError) {
  Request bad = toy_request(3);
  bad.reward = std::make_shared<ForgetfulReward>();
  EXPECT_THAT(failure_of(bad), HasSubstr("Reward::score was asked about"));
}

TEST_P(Failure, OfNanRewardsIsAnErrorOutsideFk) {
  Request bad = toy_request(3);
  bad.reward = std::make_shared<NanReward>();
  EXPECT_THAT(failure_of(bad), HasSubstr("nan"));

  bad.settings = preset(Preset::fk, Method::smc);
  Engine engine(toy_denoiser(), options());
  EXPECT_NO_THROW(engine.generate(bad));
}

TEST_P(Failure, OfAProcessBesideTheLogitsIsItsRequests) {
  Request bad = toy_request(3);
  bad.process = std::make_shared<BrokenProcess>(false);
  EXPECT_EQ(failure_of(bad), "no tokens");
}

TEST_P(Failure, OfAProcessBeforeTheLogitsIsItsRequests) {
  Request bad = toy_request(3);
  bad.process = std::make_shared<BrokenProcess>(true);
  EXPECT_EQ(failure_of(bad), "no decision");
}

TEST_P(Failure, OfABatchIsThatOfExactlyItsRequests) {
  Engine engine(std::make_shared<PickyDenoiser>(0), {.threads = GetParam(), .max_batch = 1});
  std::vector<std::unique_ptr<Submission>> all;
  for (Token first = 0; first < 4; ++first) {
    Request request = toy_request(7);
    request.canvas.tokens[0] = first;
    all.push_back(std::make_unique<Submission>());
    all.back()->submit(engine, request);
  }
  engine.run_until_idle();
  EXPECT_EQ(all[0]->failure(), "out of memory, say");
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_TRUE(all[i]->succeeded()) << all[i]->failure();
}

TEST_P(Failure, OfASharedBatchReachesEveryoneInIt) {
  Engine engine(std::make_shared<PickyDenoiser>(1), options());
  Submission a, b;  // the same states: the same batch, whenever they come
  a.submit(engine, toy_request(7));
  b.submit(engine, toy_request(7));
  engine.run_until_idle();
  EXPECT_EQ(a.failure(), "out of memory, say");
  EXPECT_EQ(b.failure(), "out of memory, say");
}

TEST_P(Failure, OfADenoisersCountIsAnError) {
  Engine engine(std::make_shared<ForgetfulDenoiser>(), options());
  Submission a;
  a.submit(engine, toy_request(7));
  engine.run_until_idle();
  EXPECT_THAT(a.failure(), HasSubstr("Denoiser::predict was asked about"));
}

TEST_P(Failure, OfASinkIsItsRequests) {
  for (int room = 0; room < 12; ++room) {
    Engine engine(toy_denoiser(), options());
    FullSink full(room);
    std::string failure;
    Submission sound;
    sound.submit(engine, toy_request(1));
    engine.submit(toy_request(2), full, [&](Ticket, const std::exception_ptr& error, const Answer&) {
      try {
        std::rethrow_exception(error);
      } catch (const Error& e) {
        failure = e.what();
      }
    });
    engine.run_until_idle();
    EXPECT_EQ(failure, "disk full");
    EXPECT_TRUE(sound.succeeded()) << sound.failure();
  }
}

TEST_P(Failure, GenerateThrowsIt) {
  Engine engine(toy_denoiser(), options());
  Request bad = toy_request(3);
  bad.reward = std::make_shared<BrokenReward>();
  EXPECT_THROW(engine.generate(bad), std::runtime_error);
  EXPECT_NO_THROW(engine.generate(toy_request(3)));
}

INSTANTIATE_TEST_SUITE_P(Threads, Failure, testing::Values(1, 2));

TEST(Degenerate, AllTextsForbiddenIsNoError) {
  struct Forbidding final : Reward {
    std::vector<double> score(std::span<const Candidate> c) override {
      return std::vector<double>(c.size(), -std::numeric_limits<double>::infinity());
    }
  };
  for (const Method method : {Method::smc, Method::particle_gibbs, Method::best_of_n, Method::greedy}) {
    Request request = toy_request(1, method);
    request.reward = std::make_shared<Forbidding>();
    Engine engine(toy_denoiser(), {});
    const Answer answer = engine.generate(request);
    EXPECT_EQ(answer.status, Status::degenerate);
    EXPECT_EQ(answer.tokens.size(), request.canvas.tokens.size());
    EXPECT_EQ(std::count(answer.tokens.begin(), answer.tokens.end(), kMask), 0);
    for (const ScoredText& text : answer.candidates)
      EXPECT_EQ(text.log_weight, -std::numeric_limits<double>::infinity());
  }
}

TEST(Answers, WeightsAreNormalised) {
  Engine engine(toy_denoiser(), {});
  const Answer answer = engine.generate(toy_request(1));
  double total = 0;
  for (const ScoredText& text : answer.candidates) total += std::exp(text.log_weight);
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_EQ(answer.candidates.size(), 4U);
  EXPECT_EQ(answer.sweeps, 3);
  EXPECT_EQ(answer.seed, 1U);
}

}  // namespace
}  // namespace pgdlm::testkit
