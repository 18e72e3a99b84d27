// Sinks: what reaches the file and the terminal, and when.
#include "events/sinks.h"

#include <gtest/gtest.h>

#include <sstream>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

TEST(EventsSinks, JsonlNumbersItsLines) {
  std::ostringstream out;
  JsonlSink sink(out);
  sink.emit(Selected{0, 1, 0.5, false});
  sink.emit(RunFinished{"done", 0.5});
  EXPECT_EQ(out.str(),
            "{\"seq\":0,\"type\":\"selected\",\"sweep\":0,\"slot\":1,\"reward\":0.5,\"reference\":false}\n"
            "{\"seq\":1,\"type\":\"run_finished\",\"status\":\"done\",\"reward\":0.5}\n");
}

// What reached the stream's buffer at each flush.
class Flushes final : public std::stringbuf {
 public:
  std::vector<std::string> seen;

 private:
  int sync() override {
    seen.push_back(str());
    return 0;
  }
};

TEST(EventsSinks, EveryLineIsFlushedWhole) {
  Flushes buffer;
  std::ostream out(&buffer);
  JsonlSink sink(out);
  sink.emit(RunFinished{"done", 1});
  sink.emit(RunFinished{"done", 2});
  ASSERT_EQ(buffer.seen.size(), 2U);
  for (const std::string& text : buffer.seen) EXPECT_EQ(text.back(), '\n');
}

TEST(EventsSinks, FullDiskIsAnError) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  JsonlSink sink(out);
  EXPECT_THROW(sink.emit(RunFinished{}), Error);
}

TEST(EventsSinks, TerminalIsSilentWithoutATerminal) {
  std::ostringstream out;
  TerminalSink sink(out, {.tty = false, .steps = 4, .sweeps = 2, .every_ms = 0});
  sink.emit(RunStarted{});
  sink.emit(Weighed{0, 4, {1.0}, {0.0}, 1, 0, -1});
  sink.emit(RunFinished{"done", 1});
  EXPECT_EQ(out.str(), "");
}

TEST(EventsSinks, TerminalShowsProgressAndWipesIt) {
  std::ostringstream out;
  TerminalSink sink(out, {.tty = true, .steps = 4, .sweeps = 2, .every_ms = 0});
  sink.emit(RunStarted{});
  sink.emit(Weighed{0, 2, {0.25, -1.0}, {0, 0}, 1.5, 0, -1});
  EXPECT_NE(out.str().find("\r\033[Ksweep 1/2  step 2/4  ESS 1.5/2  best guess 0.25  ETA "), std::string::npos)
      << out.str();
  out.str("");
  sink.emit(Weighed{0, 4, {0.5, -1.0}, {0, 0}, 2, 0, -1});
  EXPECT_NE(out.str().find("best 0.5  ETA"), std::string::npos) << out.str();
  out.str("");
  sink.emit(Weighed{1, 2, {9.0, -1.0}, {0, 0}, 2, 0, 0});  // a guess is no reward
  EXPECT_NE(out.str().find("sweep 2/2  step 2/4  ESS 2.0/2  best 0.5  ETA"), std::string::npos) << out.str();
  out.str("");
  sink.emit(RunFinished{"done", 0.5});
  EXPECT_EQ(out.str(), "\r\033[K");
}

TEST(EventsSinks, TerminalPromisesNoEndItCannotKnow) {
  std::ostringstream out;
  TerminalSink sink(out, {.tty = true, .steps = 4, .every_ms = 0});
  sink.emit(Weighed{2, 2, {0.25}, {0}, 1, 0, -1});
  EXPECT_EQ(out.str(), "\r\033[Ksweep 3  step 2/4  ESS 1.0/1  best guess 0.25");
}

TEST(EventsSinks, TerminalIsNotRewrittenTooOften) {
  std::ostringstream out;
  TerminalSink sink(out, {.tty = true, .steps = 1000, .sweeps = 1, .every_ms = 3'600'000});
  for (int step = 1; step <= 1000; ++step) sink.emit(Weighed{0, step, {0.0}, {0.0}, 1, 0, -1});
  EXPECT_EQ(out.str().find("step 1/1000"), out.str().rfind("step ")) << "the first line only";
}

TEST(EventsSinks, TeeTellsEveryone) {
  std::ostringstream a, b;
  JsonlSink first(a), second(b);
  NullSink nobody;
  TeeSink tee({&first, &nobody, &second});
  tee.emit(RunFinished{"done", 1});
  EXPECT_FALSE(a.str().empty());
  EXPECT_EQ(a.str(), b.str());
}

}  // namespace
}  // namespace pgdlm
