#include "serve/ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/api_error.h"

namespace pgdlm::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CompletionAsk read(const std::string& body, bool chat = false, std::map<std::string, std::string> headers = {},
                   const GenerateOptions& defaults = {}) {
  HttpRequest request;
  request.body = body;
  request.headers = std::move(headers);
  return read_ask(request, chat, defaults);
}

std::string refusal(const std::string& body, bool chat = false) {
  try {
    read(body, chat);
  } catch (const ApiError& e) {
    return e.body();
  }
  return "accepted";
}

TEST(Ask, AnEmptyBodyIsFine) {
  const CompletionAsk ask = read("{}");
  EXPECT_EQ(ask.n, 1);
  EXPECT_FALSE(ask.seed || ask.budget || ask.stream || ask.options.method);
  EXPECT_TRUE(ask.response_only);
  EXPECT_THAT(ask.warnings, IsEmpty());
}

TEST(Ask, FlatFieldsAndObjectsAreOptions) {
  const CompletionAsk ask = read(R"({"prompt": "a", "max_tokens": 7, "temperature": 0.5, "top_k": 3, "seed": 4,
      "its": {"method": "pg", "particles": 2, "resample_every": "block", "ess_threshold": 0.25, "ancestor_sampling": true},
      "diffusion": {"steps": 9, "algorithm": 3, "temperature": 0.7}})");
  EXPECT_EQ(ask.options.n_predict, 7);
  EXPECT_EQ(ask.options.top_k, 3);
  EXPECT_EQ(ask.options.temp, 0.7) << "the object says it more precisely";
  EXPECT_EQ(ask.options.method, Method::particle_gibbs);
  EXPECT_TRUE(ask.options.resample_every->blocks());
  EXPECT_EQ(ask.options.ess_threshold->share, 0.25);
  EXPECT_EQ(ask.options.ancestor_sampling, true);
  EXPECT_EQ(ask.options.diffusion_steps, 9);
  EXPECT_EQ(ask.options.diffusion_algorithm, "3");
  EXPECT_EQ(ask.seed, 4U);
  EXPECT_TRUE(ask.wants_scaling);
}

TEST(Ask, HeaderBeforeBodyBeforeServer) {
  GenerateOptions defaults;
  defaults.method = Method::smc;
  defaults.particles = 16;
  EXPECT_EQ(read("{}", false, {}, defaults).options.particles, 16);
  EXPECT_FALSE(read("{}", false, {}, defaults).wants_scaling);
  EXPECT_EQ(read(R"({"its": {"method": "bon"}})", false, {}, defaults).options.method, Method::best_of_n);
  const CompletionAsk ask = read(R"({"budget": 6, "its": {"method": "bon", "particles": 5}})", false,
                                 {{"x-its-algorithm", "particle-gibbs"}, {"x-its-budget", "3"}}, defaults);
  EXPECT_EQ(ask.options.method, Method::particle_gibbs);
  EXPECT_EQ(ask.budget, 3);
  EXPECT_EQ(ask.options.particles, std::nullopt);
}

TEST(Ask, MessagesMayHaveParts) {
  const CompletionAsk ask = read(
      R"({"messages": [{"role": "developer", "content": "d"}, {"role": "user", "content": [{"type": "text", "text": "a"},
          {"type": "text", "text": "b"}]}, {"role": "assistant", "content": null}]})",
      true);
  ASSERT_EQ(ask.messages.size(), 3U);
  EXPECT_EQ(ask.messages[0].role, "system");
  EXPECT_EQ(ask.messages[1].content, "ab");
}

TEST(Ask, PromptsInAllTheirForms) {
  EXPECT_EQ(std::get<std::string>(read(R"({"prompt": "a"})").prompts.at(0)), "a");
  EXPECT_EQ(read(R"({"prompt": ["a", "b"]})").prompts.size(), 2U);
  EXPECT_THAT(std::get<TokenPrompt>(read(R"({"prompt": [1, 2]})").prompts.at(0)), ElementsAre(1, 2));
  EXPECT_THAT(std::get<TokenPrompt>(read(R"({"prompt": [[1], [2, 3]]})").prompts.at(1)), ElementsAre(2, 3));
  EXPECT_THAT(refusal(R"({"prompt": []})"), HasSubstr("prompt"));
  EXPECT_THAT(refusal(R"({"prompt": [1, -2]})"), HasSubstr("token"));
}

TEST(Ask, WrappedFieldsYieldToPlainOnes) {
  const CompletionAsk ask = read(R"({"extra_body": {"budget": 4, "seed": 1}, "seed": 2})");
  EXPECT_EQ(ask.budget, 4);
  EXPECT_EQ(ask.seed, 2U);
}

TEST(Ask, WarnsOfWhatItDoesNotKnow) {
  EXPECT_EQ(read(R"({"temprature": 1, "min_p": 0.1, "frequency_penalty": 0})").warnings.size(), 2U);
}

TEST(Ask, NamesWhatIsWrong) {
  for (const auto& [body, param] : std::vector<std::pair<std::string, std::string>>{
           {R"({"n": 0})", "n"},
           {R"({"n": 1.5})", "n"},
           {R"({"stop": [1]})", "stop"},
           {R"({"stream": 1})", "stream"},
           {R"({"seed": "x"})", "seed"},
           {R"({"top_p": 2})", "top_p"},
           {R"({"its": {"beta": "x"}})", "its.beta"},
           {R"({"its": {"ancestor_sampling": 1}})", "its.ancestor_sampling"},
           {R"({"its": {"nope": 1}})", "its.nope"},
           {R"({"its": {"reward": {"type": "prm"}}})", "its.reward"},
           {R"({"its": {"resample": "never"}})", "its.resample"},
           {R"({"diffusion": {"process": "magic"}})", "diffusion.process"},
           {R"({"response_format": {"type": "json_object"}})", "response_format"},
           {R"({"logprobs": true})", "logprobs"},
           {R"({"stream_options": 3})", "stream_options"},
           {R"({"reconnect_seconds": 1e9})", "reconnect_seconds"}})
    EXPECT_THAT(refusal(body), HasSubstr("\"param\":\"" + param + "\"")) << body;
}

TEST(Ask, MethodsHaveManyNames) {
  EXPECT_EQ(method_named("particle-filtering", "f"), "smc");
  EXPECT_EQ(method_named("pg-adapt", "f"), "pg-adapt");
  EXPECT_EQ(method_named("auto", "f"), std::nullopt);
  EXPECT_THROW(method_named("beam", "f"), ApiError);
}

}  // namespace
}  // namespace pgdlm::serve
