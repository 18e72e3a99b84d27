// Scoring growing texts: the same probabilities as from scratch, and only new tokens are read.
#include "models/step_scorer.h"
#include "models/each_device.h"
#include "parity/random_gguf.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 30;

struct Prm : testing::TestWithParam<Where> {
  std::shared_ptr<Model> model = load(tiny("qwen2-prm"), GetParam());
  Token step = model->step_token();
  std::vector<Token> question = {3, 14, 15, 92, 65, 35};

  std::vector<Token> text(std::initializer_list<Token> rest) const {
    std::vector<Token> row = question;
    row.insert(row.end(), rest.begin(), rest.end());
    return row;
  }
  void expect_same(const std::vector<std::vector<double>>& got, const std::vector<std::vector<Token>>& rows) {
    ASSERT_EQ(got.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto alone = step_probabilities(*model, std::span(rows).subspan(i, 1)).front();
      ASSERT_EQ(got[i].size(), alone.size());
      for (std::size_t s = 0; s < alone.size(); ++s)
        EXPECT_NEAR(got[i][s], alone[s], GetParam() == Where::cpu ? 0 : 1e-5);
    }
  }
};

TEST_P(Prm, ParticlesShareTheQuestion) {
  const std::vector<std::vector<Token>> rows = {text({1, 2, step}), text({1, 3, step}), text({9, step, 8, step}),
                                                text({1, 2, step})};
  StepScorer scorer(*model, kPlenty);
  expect_same(scorer.score(rows), rows);
  EXPECT_EQ(scorer.tokens_run(), 6 + 3 + 2 + 4);  // the question once; of the second 1 is shared too; the last is known
}

TEST_P(Prm, AGrowingTextIsReadOnce) {
  StepScorer scorer(*model, kPlenty);
  const std::vector<std::vector<Token>> first = {text({1, 2, step})};
  // The trailing step token was there to be scored only: the text goes on in its place.
  const std::vector<std::vector<Token>> second = {text({1, 2, 7, 7, step}), text({1, 2, step, 4, step})};
  expect_same(scorer.score(first), first);
  EXPECT_EQ(scorer.tokens_run(), 9);
  expect_same(scorer.score(second), second);
  EXPECT_EQ(scorer.tokens_run(), 9 + 3 + 2);
  expect_same(scorer.score(first), first);  // a prefix of what is known
  EXPECT_EQ(scorer.tokens_run(), 14);
}

TEST_P(Prm, AFullCacheForgetsTheOldest) {
  StepScorer scorer(*model, 1);
  const std::vector<std::vector<Token>> rows = {text({1, step})};
  expect_same(scorer.score(rows), rows);
  expect_same(scorer.score(rows), rows);
  EXPECT_EQ(scorer.tokens_run(), 16);
}

TEST_P(Prm, ATextWithoutStepsHasNone) {
  StepScorer scorer(*model, kPlenty);
  const std::vector<std::vector<Token>> rows = {text({1, 2}), text({1, 2, step})};
  const auto got = scorer.score(rows);
  EXPECT_TRUE(got[0].empty());
  EXPECT_EQ(got[1].size(), 1U);
}

TEST_P(Prm, AnErrorLeavesNothingHalfRead) {
  StepScorer scorer(*model, kPlenty);
  std::vector<std::vector<Token>> rows = {text({1, 2, step}), text({-1, step})};
  EXPECT_THROW(scorer.score(rows), Error);
  rows.pop_back();
  expect_same(scorer.score(rows), rows);
  EXPECT_THROW(StepScorer(*Model::load(tiny("llada")), kPlenty), Error);
}

// As many layers as a real one, and every particle with a past of its own.
TEST_P(Prm, ADeepModelAndManyParticles) {
  const auto path = scratch() / "deep.gguf";
  parity::write_random_gguf(path, {.architecture = "qwen2",
                                   .layers = 28,
                                   .embedding = 32,
                                   .heads = 4,
                                   .kv_heads = 2,
                                   .feed_forward = 32,
                                   .vocab = 400});
  const auto deep = load(path, GetParam());
  StepScorer scorer(*deep, kPlenty);
  std::vector<std::vector<Token>> rows;
  for (Token i = 0; i < 40; ++i) rows.push_back({1, 2, 3, i, deep->step_token()});
  scorer.score(rows);
  for (Token i = 0; i < 40; ++i)
    rows[static_cast<std::size_t>(i)].insert(rows[static_cast<std::size_t>(i)].end() - 1, i);
  for (const auto& steps : scorer.score(rows)) EXPECT_FALSE(steps.empty());
}

TEST_P(Prm, ATokenCapChangesNothing) {
  const auto capped = load(tiny("qwen2-prm"), GetParam(), {.max_tokens = 4});
  StepScorer scorer(*capped, kPlenty);
  const std::vector<std::vector<Token>> rows = {text({1, 2, step}), text({1, 3, step}), text({9, step, 8, step})};
  expect_same(scorer.score(rows), rows);
}

INSTANTIATE_TEST_SUITE_P(Devices, Prm, testing::Values(Where::cpu, Where::rpc),
                         [](const auto& info) { return std::string(where_name(info.param)); });

}  // namespace
}  // namespace pgdlm
