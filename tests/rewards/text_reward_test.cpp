// Rewards of networks say what the networks say, on every device, and keep the contract of a reward.
#include "rewards/text_reward.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "models/each_device.h"
#include "pgdlm/conformance.h"
#include "pgdlm/error.h"
#include "rewards/roomy_prm.h"
#include "text/prm.h"
#include "text/tokenizer.h"

namespace pgdlm {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Passage reply(std::string text) { return {"How many?", text, text}; }

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

using ClassifierOn = EachDevice;

TEST_P(ClassifierOn, ARewardIsTheLogProbabilityOfALabel) {
  const auto classifier = model();
  const auto tokenizer = Tokenizer::make(read_vocabulary(*classifier->file()));
  const std::vector<Passage> texts = {reply("A fine day."), reply(""), {"It", "was bad", "It was bad"}};
  std::vector<std::vector<Token>> rows;
  for (const Passage& text : texts) rows.push_back(tokenizer->encode(text.text, {.add_special = true}));
  const std::vector<std::vector<float>> logits = classify(*classifier, rows);
  for (std::size_t label = 0; label < classifier->labels().size(); ++label) {
    const std::vector<Scored> scored = make_classifier_reward(classifier, classifier->labels()[label])->score(texts);
    ASSERT_EQ(scored.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      double sum = 0;
      for (const float logit : logits[i]) sum += std::exp(static_cast<double>(logit));
      EXPECT_NEAR(scored[i].score, static_cast<double>(logits[i][label]) - std::log(sum), 1e-5);
      EXPECT_EQ(scored[i].parts.at(label), scored[i].score);
    }
  }
  const auto last = make_classifier_reward(classifier, classifier->labels().back());
  EXPECT_EQ(make_classifier_reward(classifier, "")->score(texts)[0].score, last->score(texts)[0].score);
  EXPECT_EQ(last->labels(), classifier->labels());
}

TEST_P(ClassifierOn, ALongTextIsCutAndAnUnknownLabelRefused) {
  const auto classifier = model();
  std::string endless;
  for (int i = 0; i < 4000; ++i) endless += "word ";
  const std::vector<Passage> texts = {reply(endless), reply(endless + "more")};
  const std::vector<Scored> scored = make_classifier_reward(classifier, "")->score(texts);
  EXPECT_EQ(scored[0].score, scored[1].score);
  EXPECT_TRUE(std::isfinite(scored[0].score));
  EXPECT_THAT(refusal([&] { make_classifier_reward(classifier, "happy"); }),
              HasSubstr("no label 'happy', allowed: " + classifier->labels().front()));
  EXPECT_THAT(refusal([&] { make_process_reward(classifier, Aggregation::last); }),
              HasSubstr("is a classifier, expected a process reward"));
}

INSTANTIATE_TEST_SUITE_P(Models, ClassifierOn, everywhere("bert-classifier", "roberta-classifier"), device_test_name);

struct ProcessRewardOn : testing::TestWithParam<Where> {
  std::shared_ptr<Model> prm = load(roomy_prm(), GetParam());
};

TEST_P(ProcessRewardOn, StepsBecomeOneNumber) {
  const auto tokenizer = Tokenizer::make(read_vocabulary(*prm->file()));
  const std::vector<std::string> steps = {"One.", "Two\n\nlines.", "Three."};
  const PrmPage page = encode_prm(*tokenizer, prm->step_token(), "How many?", steps);
  const std::vector<double> p = step_probabilities(*prm, {&page.tokens, 1}).front();
  ASSERT_EQ(p.size(), 3U);
  const std::vector<Passage> texts = {reply(" ;\n;"), reply("One.;Two\n\nlines.;;Three.\n"), reply("")};
  const auto of = [&](Aggregation aggregation) {
    std::vector<double> scores;
    for (const Scored& scored : make_process_reward(prm, aggregation)->score(texts)) scores.push_back(scored.score);
    return scores;
  };
  const auto around = [](double expected) { return ElementsAre(0.0, DoubleNear(expected, 1e-5), 0.0); };
  EXPECT_THAT(of(Aggregation::last), around(p[2]));
  EXPECT_THAT(of(Aggregation::min), around(*std::ranges::min_element(p)));
  EXPECT_THAT(of(Aggregation::prod), around(p[0] * p[1] * p[2]));
  EXPECT_THAT(of(Aggregation::mean), around((p[0] + p[1] + p[2]) / 3));
  const auto reward = make_process_reward(prm, Aggregation::last);
  EXPECT_THAT(reward->score({}), IsEmpty());
  EXPECT_THAT(reward->score(texts)[1].parts,
              ElementsAre(DoubleNear(p[0], 1e-5), DoubleNear(p[1], 1e-5), DoubleNear(p[2], 1e-5)));
}

TEST_P(ProcessRewardOn, APageIsCutWhereItNoLongerFits) {
  std::string endless;
  for (int i = 0; i < prm->sizes().context; ++i) endless += "word ";
  const std::vector<Passage> texts = {reply("One.;Two."), reply("One.;Two.;" + endless), reply(endless)};
  const std::vector<Scored> scored = make_process_reward(prm, Aggregation::last)->score(texts);
  EXPECT_EQ(scored[0].parts.size(), 2U);
  EXPECT_NEAR(scored[1].score, scored[0].score, 1e-9);
  EXPECT_EQ(scored[2].score, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, ProcessRewardOn, testing::Values(Where::cpu, Where::rpc),
                         [](const auto& info) { return std::string(where_name(info.param)); });

// What another model wrote, read and scored.
TEST(PassageReward, KeepsTheContractOfAReward) {
  const auto writer = make_gguf_language_model(load(tiny("llada"), Where::cpu));
  std::vector<std::vector<Token>> texts;
  for (const char* text : {"one two three", "a", "one two;four five six seven", ";;;;;;"})
    texts.push_back(writer->encode(text, "test"));
  for (const std::filesystem::path& path : {tiny("roberta-classifier"), roomy_prm()}) {
    const auto model = load(path, Where::cpu);
    const auto reward =
        make_passage_reward(writer, model->role() == Role::classifier ? make_classifier_reward(model, "")
                                                                      : make_process_reward(model, Aggregation::min));
    EXPECT_EQ(reward->accepts_prefixes(), model->role() == Role::process_reward);
    EXPECT_THAT(check_reward(*reward, texts, 1), IsEmpty()) << path;
  }
}

}  // namespace
}  // namespace pgdlm
