#include "cli/canvas_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "cli/printable.h"
#include "text/utf8.h"

namespace pgdlm::cli {
namespace {

// A text as rows of at most `width` columns, each character taken for one.
std::vector<std::string> rows_of(std::string_view text, int width) {
  std::vector<std::string> rows = {""};
  for (int column = 0; !text.empty(); ++column) {
    const std::size_t length = read_utf8(text).length;
    const bool newline = text.front() == '\n';
    if (newline || column == width) rows.emplace_back(), column = newline ? -1 : 0;
    if (!newline) rows.back() += text.substr(0, length);
    text.remove_prefix(length);
  }
  return rows;
}

}  // namespace

TerminalSize terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void CanvasSink::emit(const Event& event) {
  if (options_.tty) std::visit([this](const auto& e) { on(e); }, event);
}

void CanvasSink::on(const Drafted& drafted) {
  canvases_[drafted.slot] = drafted.canvas;
  if (drafted.slot == leader_) draw(drafted.sweep, drafted.step);
}

void CanvasSink::on(const Weighed& weighed) {
  const auto value = [&](int slot) { return weighed.values[static_cast<std::size_t>(slot)]; };
  leader_ = weighed.reference == 0 ? 1 : 0;  // the reference is known: the others are to be seen
  for (int slot = leader_; slot < static_cast<int>(weighed.values.size()); ++slot)
    if (slot != weighed.reference && value(slot) > value(leader_)) leader_ = slot;
  if (leader_ < static_cast<int>(weighed.values.size())) guess_ = fmt::format("  best {:.4g}", value(leader_));
  draw(weighed.sweep, weighed.step);
}

void CanvasSink::on(const Resampled& resampled) {
  std::map<int, std::vector<Token>> next;
  for (std::size_t slot = 0; slot < resampled.parents.size(); ++slot)
    if (const auto parent = canvases_.find(resampled.parents[slot]); parent != canvases_.end())
      next[static_cast<int>(slot)] = parent->second;
  canvases_ = std::move(next);
  const auto heir = std::ranges::find(resampled.parents, leader_);
  leader_ = heir == resampled.parents.end() ? 0 : static_cast<int>(heir - resampled.parents.begin());
}

void CanvasSink::draw(int sweep, int step) {
  const Clock::time_point now = Clock::now();
  const auto canvas = canvases_.find(leader_);
  if (canvas == canvases_.end() || now - shown_ < std::chrono::milliseconds(options_.every_ms)) return;
  shown_ = now;
  wipe();
  const auto of = [](int total) { return total > 0 ? fmt::format("/{}", total) : std::string(); };
  const std::string figures =
      fmt::format("sweep {}{}  step {}{}{}\n", sweep + 1, of(options_.sweeps), step, of(options_.steps), guess_);
  std::vector<std::string> rows = rows_of(figures + model_.show(canvas->second), std::max(1, size_.columns));
  const auto fitting = static_cast<std::size_t>(std::max(2, size_.rows - 1));  // what scrolled away cannot be wiped
  if (rows.size() > fitting) rows.erase(rows.begin() + 1, rows.end() - static_cast<std::ptrdiff_t>(fitting - 1));
  for (const std::string& row : rows) out_ << printable(row) << '\n';
  out_ << std::flush;
  rows_ = static_cast<int>(rows.size());
}

void CanvasSink::wipe() {
  if (rows_ > 0) out_ << fmt::format("\r\x1b[{}A\x1b[J", rows_) << std::flush;
  rows_ = 0;
}

}  // namespace pgdlm::cli
