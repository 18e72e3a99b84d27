// Judges against arithmetic by hand, against the Python that trains them, and fed with files that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <nlohmann/json.hpp>

#include "catalog/shelf.h"
#include "eval/judge.h"
#include "kit/scratch.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kFolder = PGDLM_SOURCE_DIR "/tests/data/judge/";

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

json small() {
  return {{"kind", "logistic-ngrams"},
          {"labels", {"bad", "good"}},
          {"lowercase", true},
          {"word", "[a-z0-9]+(?:'[a-z]+)?|[*#@$&]+|[.,!?;:]"},
          {"frequent_words", json::array()},
          {"ngrams", {1, 2}},
          {"power", 0.5},
          {"bias", 0.25},
          {"unknown", {{"1", -0.5}, {"2", 0.125}}},
          {"weights", {{"good", 2.0}, {"good film", 3.0}, {"<s> good", 1.0}, {".", -1.0}, {"~ms", 4.0}}}};
}

double log_odds(const json& judge, const std::string& text) { return Judge::parse(judge.dump(), "x").log_odds(text); }

// The message of the Error{bad_model} that a file gives; empty if it is sound.
std::string complaint(const std::string& file) {
  try {
    Judge::parse(file, "x.json");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::bad_model) << e.what();
    return e.what();
  }
  return "";
}

TEST(Judge, CountsAsByHand) {
  // <s> good film . </s>: of 5 words `good` and `.` are known, of 4 pairs `<s> good` and `good film`.
  const double sum = (2.0 - 1.0 - 3 * 0.5) + (1.0 + 3.0 + 2 * 0.125);
  EXPECT_NEAR(log_odds(small(), "Good FILM."), 0.25 + sum / 3, 1e-12);
  EXPECT_NEAR(log_odds(small(), ""), 0.25 + (-2 * 0.5 + 0.125) / std::sqrt(3.0), 1e-12);
  json judge = small();
  judge["power"] = 0;
  EXPECT_NEAR(log_odds(judge, "Good FILM."), 0.25 + sum, 1e-12);
}

TEST(Judge, RarerWordsAreTheirEndings) {
  json judge = small();
  judge["frequent_words"] = json::array({"good"});
  judge["ngrams"] = json::array({1});
  judge["power"] = 1;
  // <s> good ~ms ~x </s>
  EXPECT_NEAR(log_odds(judge, "good films x"), 0.25 + (2 + 4 - 3 * 0.5) / 5, 1e-12);
}

TEST(Judge, ATextTooShortForAnyNgramSaysNothing) {
  json judge = small();
  judge["ngrams"] = json::array({3});
  judge["unknown"]["3"] = 7;
  EXPECT_EQ(log_odds(judge, ""), 0.25);
}

TEST(Judge, AgreesWithThePythonThatTrainsIt) {
  const Judge judge = Judge::load(kFolder + "tiny.json");
  EXPECT_EQ(judge.labels()[1], "good");
  const json pairs = json::parse(content_of(kFolder + "pairs.json"));
  ASSERT_EQ(pairs.size(), 20U);
  for (const json& pair : pairs)
    EXPECT_NEAR(judge.log_odds(pair[0].get<std::string>()), pair[1].get<double>(), 1e-6) << pair[0];
}

TEST(Judge, BrokenTextIsOnlyASeparator) {
  EXPECT_EQ(log_odds(small(), "good\xff\x66ilm\xc4"), log_odds(small(), "good\u00a0film"));
  EXPECT_EQ(log_odds(small(), std::string("good\0film", 9)), log_odds(small(), "good film"));
}

TEST(Judge, EveryFieldIsNeededAndChecked) {
  EXPECT_EQ(complaint(small().dump()), "");
  const std::vector<std::string> fields = {"kind",   "labels", "lowercase", "word",    "frequent_words",
                                           "ngrams", "power",  "bias",      "unknown", "weights"};
  for (const std::string& field : fields) {
    json judge = small();
    judge.erase(field);
    EXPECT_EQ(complaint(judge.dump()), "x.json: " + field + " is missing");
    for (const json& wrong :
         {json(nullptr), json("x"), json(-1e300), json::array(), json::array({json()}), json::object()}) {
      if (field == "bias" && wrong.is_number()) continue;
      if (field == "frequent_words" && wrong == json::array()) continue;
      judge[field] = wrong;
      EXPECT_THAT(complaint(judge.dump()),
                  HasSubstr(field == "unknown" && wrong == json::object() ? "1 is missing" : "x.json: " + field))
          << field << " " << wrong;
    }
  }
}

TEST(Judge, SaysWhatWasExpected) {
  const auto with = [](const char* field, const json& value) {
    json judge = small();
    judge[field] = value;
    return complaint(judge.dump());
  };
  EXPECT_EQ(with("kind", "forest"), "x.json: kind: expected \"logistic-ngrams\", got \"forest\"");
  EXPECT_EQ(with("labels", {"a", "b", "c"}), "x.json: labels: expected two, got 3");
  EXPECT_EQ(with("power", 2), "x.json: power: expected a number from 0 to 1, got 2");
  EXPECT_EQ(with("weights", {{"good", "much"}}), "x.json: weights[good]: expected a number, got \"much\"");
  for (const json& ngrams : {json::array({0}), json::array({17}), json::array({1, 1}), json::array({1.5}),
                             json::array({18446744073709551615U})})
    EXPECT_THAT(with("ngrams", ngrams), HasSubstr("expected a list of different integers from 1 to 16")) << ngrams;
  EXPECT_THAT(complaint(""), HasSubstr("x.json: not valid JSON"));
  EXPECT_THAT(complaint("[]"), HasSubstr("expected a JSON object, got array"));
  EXPECT_THAT(complaint(std::string(200'000, '[')), HasSubstr("not valid JSON"));
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_THAT(complaint("{\"kind\":" + deep + "}"), HasSubstr("got an array"));
}

TEST(Judge, DamagedFilesNeverCrash) {
  const std::string sound = content_of(kFolder + "tiny.json");
  std::mt19937 random(5);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string file = sound;
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
      const std::size_t at = below(file.size());
      if (below(3) == 0)
        file.erase(at, 1 + below(20));
      else if (below(2) == 0)
        file[at] = static_cast<char>(below(256));
      else
        file.insert(at, sound.substr(below(sound.size()), below(20)));
      if (file.empty()) file = "{";
    }
    try {
      Judge::parse(file, "x").log_odds("A great film, I loved it.");
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_model) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(Judge, HasANameOnAShelf) {
  const Scratch shelf("judges");
  std::filesystem::create_directories(shelf / "judges");
  shelf.file("judges/taste.json", small().dump());
  shelf.file("judges/notes.txt", "no judge");
  shelf.file("stray.json", small().dump());
  ::setenv("PGDLM_MODELS", shelf.path().c_str(), 1);
  EXPECT_EQ(find_judge("taste"), shelf / "judges/taste.json");
  EXPECT_EQ(find_judge("some/where"), "some/where");
  EXPECT_EQ(find_judge("mine.json"), "mine.json");
  EXPECT_THAT(judges_on_shelves(), testing::Contains(shelf / "judges/taste.json"));
  try {
    find_judge("stray");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_request);
    EXPECT_THAT(e.what(), HasSubstr("judge is 'stray', allowed: the path of a JSON file"));
    EXPECT_THAT(e.what(), HasSubstr(", taste"));
  }
  ::unsetenv("PGDLM_MODELS");
  EXPECT_THROW(Judge::load(shelf / "none.json"), Error);
  EXPECT_THROW(Judge::load(shelf.path()), Error);
}

}  // namespace
}  // namespace pgdlm
