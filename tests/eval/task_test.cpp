// Tasks, and results as they are stored.
#include "eval/task.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "eval/result.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using testing::HasSubstr;

std::string refused(const std::string& text) {
  try {
    parse_task(text, "t.jsonl");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Task, ReadsPromptsAndGsm8k) {
  const std::vector<Question> questions = parse_task(
      "{\"prompt\": \"The movie\"}\r\n\n{\"question\": \"1 + 1?\", \"answer\": \"It is\\n#### 1,002\"}\n"
      "{\"prompt\": \"a\", \"answer\": 3.50, \"part\": 1}",
      "t.jsonl");
  ASSERT_EQ(questions.size(), 3U);
  EXPECT_EQ(questions[0].prompt, "The movie");
  EXPECT_FALSE(questions[0].answer);
  EXPECT_EQ(questions[1].answer, "1002");
  EXPECT_TRUE(is_right(questions[1], "so 2 * 501 = 1002\n#### 1002"));
  EXPECT_FALSE(is_right(questions[1], "#### 1003"));
  EXPECT_FALSE(is_right(questions[1], "no idea"));
  EXPECT_TRUE(is_right(questions[2], "it is 3.5"));
  EXPECT_EQ(parse_task("{\"prompt\": \"\", \"answer\": 1e21}", "t")[0].answer, "1000000000000000000000");
  EXPECT_EQ(parse_task("{\"prompt\": \"\", \"answer\": 0.00001}", "t")[0].answer, "0.00001");
}

TEST(Task, MistakesNameTheirLine) {
  EXPECT_THAT(refused("{\"prompt\": \"a\"}\n{\"prompt\": 3}"),
              HasSubstr("t.jsonl: line 2: expected the text 'prompt'"));
  EXPECT_THAT(refused("\n\n[1]"), HasSubstr("line 3: expected a JSON object"));
  EXPECT_THAT(refused("{\"prompt\": \"a\""), HasSubstr("line 1"));
  EXPECT_THAT(refused("{\"prompt\": \"a\", \"answer\": \"none\"}"), HasSubstr("there is no number in the answer"));
  EXPECT_THAT(refused("{\"prompt\": \"a\", \"answer\": []}"), HasSubstr("expected a text or a number"));
  EXPECT_THAT(refused("\n"), HasSubstr("there is no question"));
}

TEST(Result, JsonAndBack) {
  const Result result = {.text = "a \"b\"\n",
                         .reply = "b",
                         .status = "done",
                         .reward = -std::numeric_limits<double>::infinity(),
                         .log_z = 0.1 + 0.2,
                         .particles = 24,
                         .forwards_asked = 1'000'000'000'000,
                         .forwards_needed = 5,
                         .rewards_asked = 6,
                         .rewards_needed = 7,
                         .by_sweep = {{.particles = 4,
                                       .conditional = true,
                                       .ess = 2.5,
                                       .log_z = -1,
                                       .reward = 0.1 + 0.2,
                                       .ancestors = {1, 1, 2, 3}}}};
  const std::string text = to_json(result);
  EXPECT_THAT(text, HasSubstr("\"reward\":null"));
  EXPECT_EQ(to_json(result_from_json(text)), text);
  EXPECT_EQ(result_from_json(text).log_z, 0.1 + 0.2);
  EXPECT_EQ(result_from_json(text).by_sweep, result.by_sweep);
}

}  // namespace
}  // namespace pgdlm
