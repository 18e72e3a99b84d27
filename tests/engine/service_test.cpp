// What a server needs of the engine: requests that share batches and yet do not wait long for each other, hard limits,
// a cancel that acts at once, and runs whose shapes are their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/harness.h"

namespace pgdlm::testkit {
namespace {

// Remembers the shape of every forward, and for whom its rows were: a request's prompt begins with its number.
class ShapeDenoiser final : public Denoiser {
 public:
  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    std::vector<Token> rows;
    for (const StateView& state : states) rows.push_back(state.tokens[0]);
    batches.push_back(rows);
    return toy_->predict(states);
  }
  int vocab() const override { return toy_->vocab(); }
  Token mask() const override { return toy_->mask(); }

  std::vector<std::vector<Token>> batches;

 private:
  std::shared_ptr<kit::ToyDenoiser> toy_ = toy_denoiser();
};

// A request whose rows can be told from others' by their first token.
Request numbered(Token number, int particles, Method method = Method::smc) {
  Request request = toy_request(static_cast<std::uint64_t>(number), method);
  request.canvas.tokens[0] = number;
  request.settings.plan.particles = particles;
  return request;
}

constexpr EngineOptions kAlone{.threads = 1};

TEST(Service, BatchesMixRowsOfSeveralRequests) {
  const auto denoiser = std::make_shared<ShapeDenoiser>();
  Engine engine(denoiser, kAlone);
  Submission a, b;
  a.submit(engine, numbered(1, 4));
  b.submit(engine, numbered(2, 4));
  engine.run_until_idle();
  const auto mixed = std::ranges::count_if(denoiser->batches, [](const std::vector<Token>& rows) {
    return std::set<Token>(rows.begin(), rows.end()).size() > 1;
  });
  EXPECT_GT(mixed, 0);
  EXPECT_EQ(engine.stats().predict.mixed_batches, mixed);
  EXPECT_EQ(engine.stats().predict.batches, static_cast<std::int64_t>(denoiser->batches.size()));
  EXPECT_GT(engine.stats().predict.mixed_rows, mixed);
}

TEST(Service, OneRequestAloneHasNoMixedBatches) {
  Engine engine(toy_denoiser(), kAlone);
  engine.generate(numbered(1, 4));
  EXPECT_EQ(engine.stats().predict.mixed_batches, 0);
  EXPECT_GT(engine.stats().predict.rows, 0);
  EXPECT_EQ(engine.stats().requests, 0);
}

TEST(Service, LargeRequestTakesNoMoreThanItsShareWhileOthersRun) {
  const auto denoiser = std::make_shared<ShapeDenoiser>();
  Engine engine(denoiser, {.threads = 1, .share = 3});
  Submission large, small;
  large.submit(engine, numbered(1, 32));
  small.submit(engine, numbered(2, 1));
  engine.run_until_idle();
  std::size_t last_small = 0;
  for (std::size_t i = 0; i < denoiser->batches.size(); ++i)
    if (std::ranges::count(denoiser->batches[i], 2) > 0) last_small = i;
  std::ptrdiff_t most_beside = 0, most_alone = 0;
  for (std::size_t i = 0; i < denoiser->batches.size(); ++i)
    (i <= last_small ? most_beside : most_alone) =
        std::max(i <= last_small ? most_beside : most_alone, std::ranges::count(denoiser->batches[i], 1));
  EXPECT_EQ(most_beside, 3);
  EXPECT_GT(most_alone, 3) << "alone it may take all";
}

TEST(Service, DeterministicRequestsRunInShapesOfTheirOwn) {
  const auto denoiser = std::make_shared<ShapeDenoiser>();
  Engine engine(denoiser, kAlone);
  Submission a, b;
  Request request = numbered(1, 4);
  request.deterministic = true;
  a.submit(engine, std::move(request));
  b.submit(engine, numbered(2, 4));
  engine.run_until_idle();
  ASSERT_TRUE(a.succeeded() && b.succeeded());
  for (const std::vector<Token>& rows : denoiser->batches)
    if (std::ranges::count(rows, 1) > 0) EXPECT_EQ(rows.size(), 1U);
  EXPECT_GT(std::ranges::count_if(denoiser->batches, [](const auto& rows) { return rows.size() > 1; }), 0);
}

TEST(Service, LimitOfForwardsEndsARun) {
  Engine engine(toy_denoiser(), kAlone);
  Request request = toy_request(1);
  request.settings.plan.iterations = 100'000;
  request.limits.forwards = 50;
  const Answer answer = engine.generate(std::move(request));
  EXPECT_EQ(answer.status, Status::budget_spent);
  EXPECT_GE(answer.cost.forwards_asked, 50);
  EXPECT_LT(answer.cost.forwards_asked, 60) << "at most the batch that reached it";
}

TEST(Service, LimitThatIsJustEnoughDoesNoHarm) {
  Engine engine(toy_denoiser(), kAlone);
  const Answer free = engine.generate(toy_request(1, Method::best_of_n));
  Request request = toy_request(1, Method::best_of_n);
  request.limits.forwards = free.cost.forwards_asked;
  const Answer limited = engine.generate(std::move(request));
  EXPECT_EQ(limited.status, Status::done);
  EXPECT_EQ(limited.tokens, free.tokens);
}

// A plain sample is one stage from mask to text: a cancel must not wait for its end.
TEST(Service, CancelActsInTheMiddleOfAStage) {
  class Canceller final : public EventSink {
   public:
    explicit Canceller(Engine& engine) : engine_(engine) {}
    void emit(const Event& event) override {
      if (std::holds_alternative<Drafted>(event) && ++drafts == 2) engine_.cancel(ticket);
    }
    Ticket ticket = 0;
    int drafts = 0;

   private:
    Engine& engine_;
  };
  Engine engine(toy_denoiser(), kAlone);
  Canceller sink(engine);
  Request request = toy_request(1, Method::best_of_n);
  request.settings.plan.particles = 1;
  request.steps = 64;
  request.live = true;
  Answer answer;
  sink.ticket = engine.submit(std::move(request), sink,
                              [&](Ticket, const std::exception_ptr&, Answer a) { answer = std::move(a); });
  engine.run_until_idle();
  EXPECT_EQ(answer.status, Status::cancelled);
  const auto masks = std::ranges::count(answer.tokens, kMask);
  EXPECT_GT(masks, 0) << "it stopped on the way";
  EXPECT_LT(masks, 10) << "what was revealed is returned";
}

}  // namespace
}  // namespace pgdlm::testkit
