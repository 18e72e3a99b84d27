// A canvas that fills before the reader's eyes: a line of figures and the text below it, drawn over and over in the
// same place, and wiped at the end. With several particles it is the most promising one. Nothing in a pipe.
#pragma once

#include <chrono>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "catalog/language_model.h"
#include "events/sinks.h"

namespace pgdlm::cli {

struct TerminalSize {
  int columns = 80, rows = 24;
};
TerminalSize terminal_size();  // of standard error

class CanvasSink final : public EventSink {
 public:
  CanvasSink(std::ostream& out, ProgressOptions options, const LanguageModel& model, TerminalSize size)
      : out_(out), options_(options), model_(model), size_(size) {}
  void emit(const Event& event) override;

 private:
  using Clock = std::chrono::steady_clock;

  void on(const Drafted& drafted);
  void on(const Weighed& weighed);
  void on(const Resampled& resampled);
  void on(const Selected&) { canvases_.clear(), leader_ = 0; }  // the next sweep begins with masks
  void on(const RunFinished&) { wipe(); }
  void on(const auto&) {}
  void draw(int sweep, int step);
  void wipe();

  std::ostream& out_;
  ProgressOptions options_;
  const LanguageModel& model_;
  TerminalSize size_;
  std::map<int, std::vector<Token>> canvases_;  // by slot
  int leader_ = 0;                              // the most promising slot
  std::string guess_;                           // what its text is thought to be worth
  int rows_ = 0;                                // on the screen now
  Clock::time_point shown_;
};

}  // namespace pgdlm::cli
