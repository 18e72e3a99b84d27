// Reading a trace back: a crash costs the line being written and nothing else; everything else is an error.
#include "events/reader.h"

#include <gtest/gtest.h>

#include <sstream>

#include "events/sinks.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

std::string sample_trace() {
  std::ostringstream out;
  JsonlSink sink(out);
  sink.emit(RunStarted{3, R"({"model":"toy"})", {4, 4}});
  sink.emit(Edited{0, 0, 0, {{0, {1, 2, 0}}}, true, 0.25});
  sink.emit(Weighed{0, 1, {0.25}, {0.5}, 1, 0.5, -1});
  sink.emit(RunFinished{"done", 0.25});
  return out.str();
}

Trace read(const std::string& text) {
  std::istringstream in(text);
  return read_trace(in, "run.jsonl");
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(EventsReader, ReadsBackWhatWasWritten) {
  const Trace trace = read(sample_trace());
  EXPECT_FALSE(trace.truncated);
  std::ostringstream again;
  JsonlSink sink(again);
  for (const Event& event : trace.events) sink.emit(event);
  EXPECT_EQ(again.str(), sample_trace());
}

TEST(EventsReader, SurvivesACutAtEveryByteOfTheLastLine) {
  const std::string text = sample_trace();
  const std::size_t last_line = text.rfind('\n', text.size() - 2) + 1;
  for (std::size_t cut = last_line; cut < text.size(); ++cut) {
    const Trace trace = read(text.substr(0, cut));
    const bool whole = cut == text.size() - 1;  // only the newline is missing
    EXPECT_EQ(trace.events.size(), whole ? 4U : 3U);
    EXPECT_EQ(trace.truncated, !whole && cut != last_line);
  }
}

TEST(EventsReader, RefusesDamageElsewhere) {
  std::string text = sample_trace();
  text.erase(text.find("\"fresh\""), 3);
  EXPECT_EQ(error_of(text).substr(0, 14), "run.jsonl:2: e") << error_of(text);
  EXPECT_EQ(error_of(sample_trace() + "rubbish\n"), "run.jsonl:5: expected a JSON object, found 'rubbish'");
}

TEST(EventsReader, RefusesMissingAndRepeatedLines) {
  const std::string text = sample_trace();
  const std::size_t second = text.find('\n') + 1, third = text.find('\n', second) + 1;
  EXPECT_EQ(error_of(text.substr(0, second) + text.substr(third)), "run.jsonl:2: seq: expected 1, found 2");
  EXPECT_EQ(error_of(text + text), "run.jsonl:5: seq: expected 4, found 0");
}

TEST(EventsReader, RefusesWhatIsNoTrace) {
  EXPECT_EQ(error_of(""), "run.jsonl:1: expected a run_started event, found none");
  EXPECT_EQ(error_of("{\"seq\":0,\"ty"), "run.jsonl:1: expected a run_started event, found none");
  EXPECT_EQ(error_of("{\"seq\":0,\"type\":\"run_finished\",\"status\":\"done\",\"reward\":1}\n"),
            "run.jsonl:1: expected a run_started event, found none");
  EXPECT_THROW(read_trace(std::filesystem::path("/nowhere/at/all.jsonl")), Error);
}

TEST(EventsReader, FindsTheRecordedStages) {
  const Recording recording = recording_of(read(sample_trace()));
  const std::vector<Edited>& stages = recording.edits;
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_EQ(stages[0].edits.at(0).edit, (Edit{1, 2, 0}));
  EXPECT_EQ(stages[0].value, 0.25);
}

}  // namespace
}  // namespace pgdlm
