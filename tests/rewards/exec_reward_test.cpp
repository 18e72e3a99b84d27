// A program as a reward: it answers, it dies, it is silent, it talks nonsense.
#include "rewards/exec_reward.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "kit/scratch.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Exec : testing::Test {
  // A Python program; `body` is run for each line, with the texts in `texts`.
  std::string program(const std::string& body) {
    const std::filesystem::path path = folder / ("score" + std::to_string(++made) + ".py");
    std::ofstream(path) << "import json, os, sys\nfor line in sys.stdin:\n    texts = json.loads(line)['texts']\n    "
                        << body << "\n    sys.stdout.flush()\n";
    return "python3 -S '" + path.string() + "'";
  }
  static std::vector<double> scores(TextReward& reward, const std::vector<Passage>& texts) {
    std::vector<double> found;
    for (const Scored& scored : reward.score(texts)) found.push_back(scored.score);
    return found;
  }
  static std::string failure(TextReward& reward, const std::vector<Passage>& texts) {
    try {
      reward.score(texts);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  const Scratch folder{"exec"};
  int made = 0;
  const std::vector<Passage> texts = {{"p", "abc", "pabc"}, {"", "\xff\n\"", "\xff\n\""}};
};

TEST_F(Exec, ScoresInOrder) {
  const auto reward = make_exec_reward(program("print(json.dumps({'scores': [len(t['reply']) for t in texts]}))"));
  EXPECT_THAT(scores(*reward, texts), ElementsAre(3, 3));  // the broken byte is one character
  EXPECT_THAT(scores(*reward, {}), ElementsAre());
  const std::vector<Passage> long_one = {{"", std::string(3'000'000, 'x'), ""}};  // more than a pipe holds
  EXPECT_THAT(scores(*reward, long_one), ElementsAre(3'000'000));
}

TEST_F(Exec, NullForbids) {
  const auto reward = make_exec_reward(program("print('{\"scores\": [null, -1.5]}')"));
  EXPECT_THAT(scores(*reward, texts), ElementsAre(-std::numeric_limits<double>::infinity(), -1.5));
}

TEST_F(Exec, ALineTooManyIsNeverTheNextAnswer) {
  const auto twice = make_exec_reward(program("sys.stdout.write('{\"scores\": [1, 1]}\\n' * 2)"));  // in one piece
  EXPECT_THAT(failure(*twice, texts), HasSubstr("said more than it was asked"));
  const auto behind = make_exec_reward(program("print(json.dumps({'id': 1, 'scores': [1, 1]}))"));
  EXPECT_THAT(scores(*behind, texts), ElementsAre(1, 1));
  EXPECT_THAT(failure(*behind, texts), HasSubstr("answered question 1, expected 2"));
  EXPECT_THAT(scores(*make_exec_reward("read x; printf '{\"scores\": [1, 2]}'"), texts), ElementsAre(1, 2));  // no end
}

TEST_F(Exec, IsStartedAgainWhenItHasDied) {
  const auto reward =
      make_exec_reward(program("print(json.dumps({'scores': [os.getpid()] * 2})); sys.stdout.flush(); sys.exit()"));
  const auto first = scores(*reward, texts), second = scores(*reward, texts);
  EXPECT_NE(first, second);
}

TEST_F(Exec, FailuresAreNamed) {
  EXPECT_THAT(failure(*make_exec_reward("exit 3"), texts), HasSubstr("exec:exit 3 ended without an answer, twice"));
  EXPECT_THAT(failure(*make_exec_reward("./no-such-program 2>/dev/null"), texts), HasSubstr("ended without an answer"));
  EXPECT_THAT(failure(*make_exec_reward("read x; echo hello"), texts), HasSubstr("answered 'hello', expected JSON"));
  EXPECT_THAT(failure(*make_exec_reward("read x; echo '{\"scores\": [1]}'"), texts),
              HasSubstr("gave 1 scores for 2 texts"));
  EXPECT_THAT(failure(*make_exec_reward("read x; echo '{\"scores\": [1, \"x\"]}'"), texts),
              HasSubstr("gave the score \"x\""));
  EXPECT_THAT(failure(*make_exec_reward("yes"), texts), HasSubstr("said more than it was asked"));
  EXPECT_THAT(failure(*make_exec_reward("cat /dev/zero", std::chrono::milliseconds(100)), texts),
              testing::AnyOf(HasSubstr("did not answer"), HasSubstr("said more than it was asked")));
  const auto silent = make_exec_reward("cat >/dev/null", std::chrono::milliseconds(50));
  EXPECT_THAT(failure(*silent, texts), HasSubstr("did not answer within 0.05 s"));
  EXPECT_THAT(failure(*silent, texts), HasSubstr("did not answer"));  // and again, without hanging
}

}  // namespace
}  // namespace pgdlm
