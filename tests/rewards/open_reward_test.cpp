// Rewards by name, and a whole steered run with them.
#include "rewards/open_reward.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "models/devices.h"
#include "models/fixture.h"
#include "pgdlm/engine.h"
#include "pgdlm/error.h"
#include "pgdlm/processes.h"
#include "rewards/roomy_prm.h"

namespace pgdlm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct OpenReward : testing::Test {
  OpenReward() {
    namespace fs = std::filesystem;
    const fs::path shelf = scratch() / "shelf";
    fs::create_directories(shelf);
    const auto put = [&](const fs::path& file, const char* name) {
      fs::copy_file(file, shelf / name, fs::copy_options::overwrite_existing);
    };
    put(tiny("roberta-classifier"), "mood-nano.gguf");
    put(tiny("bert-classifier"), "mood-large.gguf");
    put(roomy_prm(), "steps-nano.gguf");
    put(tiny("mdlm"), "writer.gguf");
    setenv("PGDLM_MODELS", shelf.c_str(), 1);
  }
  ~OpenReward() override { unsetenv("PGDLM_MODELS"); }

  std::string refusal(const std::string& name, const std::shared_ptr<const LanguageModel>& model) const {
    try {
      open_reward(name, model, one_thread);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  const RewardOptions one_thread = {.models = {.device = {.threads = 1}}};
  std::shared_ptr<const LanguageModel> toy = make_toy_language_model();
  std::shared_ptr<const LanguageModel> writer = make_gguf_language_model(load(tiny("llada"), Where::cpu));
};

TEST_F(OpenReward, ByNameFileAndLabel) {
  EXPECT_EQ(open_reward("none", writer, one_thread), nullptr);
  EXPECT_NE(open_reward("positive", toy, one_thread), nullptr);
  const std::vector<Token> text = writer->encode("one two three", "test");
  const auto score = [&](const std::string& name) {
    const Candidate candidate{text, 1};
    return open_reward(name, writer, one_thread)->score({&candidate, 1})[0];
  };
  const auto labels = load(tiny("roberta-classifier"), Where::cpu)->labels();
  EXPECT_EQ(score("mood"), score("mood-nano:" + labels.back()));
  EXPECT_EQ(score("mood:" + labels.front()), score(tiny("roberta-classifier").string() + ":" + labels.front()));
  EXPECT_NE(score("mood:" + labels.front()), score("mood:" + labels.back()));
  EXPECT_NE(score("mood"), score("mood-large"));
  EXPECT_NEAR(score("mood@p"), std::exp(score("mood")), 1e-12);
  EXPECT_NEAR(score("mood-nano:" + labels.back() + "@logit"), std::log(score("mood@p") / (1 - score("mood@p"))), 1e-9);
  EXPECT_NEAR(score("steps@log"), std::log(score("steps")), 1e-12);
  EXPECT_NEAR(score("2*mood@p - steps"), 2 * score("mood@p") - score("steps"), 1e-12);
}

TEST_F(OpenReward, AProcessRewardJoinsItsStepsAsItsFileSays) {
  const std::vector<Token> text = writer->encode("a; one two; three; four five", "test");
  const Candidate candidate{text, 1};
  const auto score = [&](const std::string& name) {
    return open_reward(name, writer, one_thread)->score({&candidate, 1})[0];
  };
  EXPECT_EQ(score("steps"), score("steps:min"));
  EXPECT_NE(score("steps:min"), score("steps:mean"));
  EXPECT_EQ(load(tiny("qwen2-prm"), Where::cpu)->step_join(), "last");  // a file that says nothing
}

TEST_F(OpenReward, WhatThereIsNotIsRefused) {
  EXPECT_THAT(refusal("positive", writer),
              AllOf(HasSubstr("reward is 'positive', allowed: none, "), HasSubstr("steps, MODEL:LABEL")));
  EXPECT_THAT(refusal("happy", toy), AllOf(HasSubstr("reward is 'happy'"), HasSubstr("none, positive, negative, "),
                                           HasSubstr(":LABEL_0|LABEL_1")));
  EXPECT_THAT(refusal("", toy), HasSubstr("expected a reward"));
  EXPECT_THROW(open_text_reward("positive"), Error);
  EXPECT_THAT(refusal("steps:max", writer), HasSubstr("'max', allowed: last, min, prod, mean, model"));
  EXPECT_THAT(refusal("writer", writer), HasSubstr("is a denoiser, expected a classifier or a process reward"));
  EXPECT_THAT(refusal("mood@q", writer), HasSubstr("'q', allowed: log, p, logit"));
  EXPECT_THAT(refusal("/no/such.gguf", writer), HasSubstr("/no/such.gguf"));
}

TEST_F(OpenReward, TheToysOwnCanBePartOfASum) {
  const std::vector<Token> text = toy->encode("it was great .", "test");
  const Candidate candidate{text, 1};
  const auto score = [&](const std::string& name) {
    return open_reward(name, toy, one_thread)->score({&candidate, 1})[0];
  };
  EXPECT_NEAR(score("2*positive + contains:great"), 2 * score("positive") + 1, 1e-12);
}

TEST_F(OpenReward, SteersARun) {
  const auto reward = open_reward("steps", writer, one_thread);
  Request request{
      .canvas = {.prompt = 2, .eos = writer->eos()}, .steps = 8, .process = make_llada({.block_length = 4})};
  request.canvas.tokens = writer->encode("ab", "test");
  request.canvas.prompt = static_cast<int>(request.canvas.tokens.size());
  request.canvas.tokens.resize(request.canvas.tokens.size() + 8, writer->mask());
  request.reward = reward;
  request.settings = preset(Preset::exact, Method::smc);
  request.settings.valuing.estimator = Estimator::prefix;
  request.settings.cadence.every = 0;
  Engine engine(writer->denoiser(), {.threads = 1});
  const Answer answer = engine.generate(request);
  const Candidate candidate{answer.tokens, request.canvas.prompt};
  EXPECT_NEAR(answer.reward, reward->score({&candidate, 1})[0], 1e-12);
  EXPECT_LE(answer.cost.rewards_asked, 2 * request.settings.plan.particles);  // one for each finished block
}

TEST(ReachesOutside, WhateverTheSpelling) {
  for (const char* outside :
       {"exec:x", "http://h/x", "http:\"//h/x\"", "http:/h/x", "0.5*https://h/x", "json + exec:x"})
    EXPECT_TRUE(reaches_outside(outside)) << outside;
  for (const char* inside : {"none", "json", "contains:exec:x", "regex:/http:/"})
    EXPECT_FALSE(reaches_outside(inside)) << inside;
}

}  // namespace
}  // namespace pgdlm
