// Events survive the way to a JSON line and back, bit for bit.
#include "events/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Writing what was read gives the same line: nothing is lost and nothing is added.
void expect_round_trip(const Event& event) {
  const std::string line = to_json_line(event, 41);
  const NumberedEvent back = from_json_line(line);
  EXPECT_EQ(back.seq, 41);
  EXPECT_EQ(back.event.index(), event.index());
  EXPECT_EQ(to_json_line(back.event, 41), line);
}

std::string error_of(const std::string& line) {
  try {
    from_json_line(line);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_request);
    return error.what();
  }
  return "no error";
}

TEST(EventsJson, LinesAreWhatTheDocumentationSays) {
  EXPECT_EQ(to_json_line(RunStarted{7, R"({"model":"toy","beta":0.1})", {2, 0, 3}}, 0),
            R"({"seq":0,"type":"run_started","seed":7,"config":{"model":"toy","beta":0.1},"canvas":[2,0,3]})");
  EXPECT_EQ(to_json_line(Weighed{1, 8, {0.5, -kInf}, {0.25, -kInf}, 1.0, -0.125, 1}, 3),
            R"({"seq":3,"type":"weighed","sweep":1,"step":8,"values":[0.5,"-inf"],"log_weights":[0.25,"-inf"],)"
            R"("ess":1.0,"log_z":-0.125,"reference":1})");
  EXPECT_EQ(to_json_line(Resampled{1, 8, {0, 0}, -1}, 4),
            R"({"seq":4,"type":"resampled","sweep":1,"step":8,"parents":[0,0],"reference":-1})");
  EXPECT_EQ(to_json_line(Edited{0, 2, 1, {{2, {5, 9, 0}}, {3, {6, 1, 0.5F}}}, true, kNan}, 5),
            R"({"seq":5,"type":"edited","sweep":0,"step":2,"slot":1,"edits":[[2,5,9],[3,6,1,0.5]],"fresh":true,)"
            R"("value":"nan"})");
  EXPECT_EQ(to_json_line(Selected{0, 3, kInf, false}, 6),
            R"({"seq":6,"type":"selected","sweep":0,"slot":3,"reward":"inf","reference":false})");
  EXPECT_EQ(to_json_line(Spent{{.forwards_asked = 10,
                                .forwards_run = 4,
                                .tokens_run = 200,
                                .rewards_asked = 8,
                                .rewards_run = 6,
                                .seconds = 0.5}},
                         7),
            R"({"seq":7,"type":"spent","forwards_asked":10,"forwards_run":4,"tokens_run":200,"rewards_asked":8,)"
            R"("rewards_run":6,"seconds":0.5})");
  EXPECT_EQ(to_json_line(RunFinished{"done", 0.75}, 8),
            R"({"seq":8,"type":"run_finished","status":"done","reward":0.75})");
}

TEST(EventsJson, RoundTrips) {
  expect_round_trip(RunStarted{~std::uint64_t{0}, R"({"z":1,"a":{"nested":[1,2,"x"]}})", {-1, 0, 126081}});
  expect_round_trip(RunStarted{});
  expect_round_trip(Weighed{1, 2, {0.1, 1e-300, kInf, -kInf, kNan}, {-0.0, 1.0 / 3}, 2.5, -kInf, -1});
  expect_round_trip(Weighed{});
  expect_round_trip(Resampled{0, 4, {3, 3, 0, 1}, 2});
  expect_round_trip(Edited{0, 1, 2, {{1, {0, 5, 0.1F}}, {1, {1, 7, -0.0F}}, {2, {3, 1, 0}}}, false, -1.5});
  expect_round_trip(Drafted{1, 4, 2, {7, 0, 5}});
  expect_round_trip(Selected{2, 0, -kInf, true});
  expect_round_trip(Spent{{.forwards_asked = 1,
                           .forwards_run = 2,
                           .tokens_run = std::int64_t{1} << 60,
                           .rewards_asked = 4,
                           .rewards_run = 5,
                           .seconds = 6.75}});
  expect_round_trip(RunFinished{"budget_spent", 1});
}

TEST(EventsJson, DoublesKeepEveryBit) {
  std::vector<double> values = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789.12345679, 1e22};
  for (std::uint64_t i = 1; i < 2000; ++i) {  // bit patterns from everywhere
    const double value = std::bit_cast<double>(i * 0x9e3779b97f4a7c15u);
    if (value == value) values.push_back(value);
  }
  const auto back = std::get<Weighed>(from_json_line(to_json_line(Weighed{.values = values}, 0)).event);
  ASSERT_EQ(back.values.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back.values[i]), std::bit_cast<std::uint64_t>(values[i])) << values[i];
  }
}

TEST(EventsJson, NotesKeepEveryBit) {
  for (const float note : {0.1F, -0.0F, 1e-45F, 3.4e38F, std::numeric_limits<float>::infinity()}) {
    const auto back = std::get<Edited>(from_json_line(to_json_line(Edited{.edits = {{0, {1, 2, note}}}}, 0)).event);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(back.edits.at(0).edit.note), std::bit_cast<std::uint32_t>(note));
  }
}

TEST(EventsJson, ConfigIsAnObject) {
  EXPECT_EQ(std::get<RunStarted>(from_json_line(to_json_line(RunStarted{.config = "{ \"b\": 1, \"a\": 2 }"}, 0)).event)
                .config,
            R"({"b":1,"a":2})");
  for (const char* config : {"not json", "[1]", "\"text\"", "{\"a\":"}) {
    EXPECT_THROW(to_json_line(RunStarted{.config = config}, 0), Error) << config;
  }
}

TEST(EventsJson, ErrorsNameTheFieldAndWhatWasExpected) {
  EXPECT_EQ(error_of("42"), "expected a JSON object, found '42'");
  EXPECT_EQ(error_of(R"({"seq":0)"), R"(expected a JSON object, found '{"seq":0')");
  EXPECT_EQ(error_of(R"({"type":"spent"})"), "expected the field 'seq', found none");
  EXPECT_EQ(error_of(R"({"seq":0,"type":"paused"})"),
            "type: expected one of run_started, weighed, resampled, edited, drafted, selected, spent, run_finished, "
            "found 'paused'");
  EXPECT_EQ(error_of(R"({"seq":0,"type":"run_finished","status":"done","reward":"high"})"),
            R"(reward: expected a number, "inf", "-inf" or "nan", found "high")");
  EXPECT_EQ(error_of(R"({"seq":0,"type":"resampled","sweep":0,"step":1.5,"parents":[],"reference":-1})"),
            "step: expected a whole number from -2147483648 to 2147483647, found 1.5");
  EXPECT_EQ(error_of(R"({"seq":0,"type":"resampled","sweep":0,"step":1,"parents":[4294967296],"reference":-1})"),
            "parents: expected a whole number from -2147483648 to 2147483647, found 4294967296");
  EXPECT_EQ(error_of(R"({"seq":0,"type":"run_started","seed":-1,"config":{},"canvas":[]})"),
            "seed: expected a whole number from 0 to 18446744073709551615, found -1");
  EXPECT_EQ(error_of(R"({"seq":0,"type":"run_started","seed":1,"config":"{}","canvas":[]})"),
            R"(config: expected an object, found "{}")");
  EXPECT_EQ(error_of(R"({"seq":0,"type":"edited","sweep":0,"step":0,"slot":0,"edits":[[1,2]],"fresh":true,"value":0})"),
            "edits: expected [step, position, token] or with a note, found [1,2]");
  EXPECT_EQ(error_of(R"({"seq":0,"type":"selected","sweep":0,"slot":0,"reward":0,"reference":1})"),
            "reference: expected true or false, found 1");
}

TEST(EventsJson, UnknownFieldsAreSkipped) {
  const auto back = from_json_line(R"({"seq":2,"type":"run_finished","status":"done","reward":1,"mood":"good"})");
  EXPECT_EQ(std::get<RunFinished>(back.event).reward, 1);
}

}  // namespace
}  // namespace pgdlm
