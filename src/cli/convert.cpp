#include "convert/convert.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stop_token>

#include "cli/commands.h"
#include "cli/interrupt.h"

namespace pgdlm::cli {
namespace {

// One line that fills up, drawn at most ten times a second; nothing in a pipe.
class Bar {
 public:
  Bar() = default;
  ~Bar() {  // before the result, or before what went wrong
    if (drawn_ != std::chrono::steady_clock::time_point()) fmt::print(stderr, "\r\x1b[K");
  }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;

  void show(const ConvertProgress& p) {
    const auto now = std::chrono::steady_clock::now();
    const bool due = now - drawn_ > std::chrono::milliseconds(100) || p.done == p.total;
    if (!tty_ || !due || p.total == 0) return;
    drawn_ = now;
    constexpr int kWidth = 30;
    const double share = static_cast<double>(p.done) / static_cast<double>(p.total);
    const double spent = std::chrono::duration<double>(now - started_).count();
    const int full = static_cast<int>(share * kWidth);
    fmt::print(stderr, "\r[{:#<{}}{:.<{}}] {:3.0f} %  {:.1f} of {:.1f} GB, {:.0f} s left  {:<28.28}", "", full, "",
               kWidth - full, 100 * share, static_cast<double>(p.done) / 1e9, static_cast<double>(p.total) / 1e9,
               share > 0 ? spent * (1 - share) / share : 0.0, p.tensor);
    std::fflush(stderr);
  }

 private:
  bool tty_ = isatty(STDERR_FILENO) == 1;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now(), drawn_;
};

ConvertReport convert_shown(const ConvertOptionsText& options, ggml_type type) {
  Interrupt interrupt;
  std::stop_source stop;
  interrupt.watch([&] { stop.request_stop(); });
  Bar bar;
  return pgdlm::convert(options.dir, options.out,
                        {.type = type,
                         .tokenizer = options.tokenizer,
                         .progress = [&](const ConvertProgress& p) { bar.show(p); },
                         .cancel = stop.get_token()});
}

}  // namespace

int convert(const ConvertOptionsText& options) {
  const ConvertReport report = convert_shown(options, parse_weight_type(options.type));
  fmt::print("{}: {}, {} tensors, {:.1f} MB\n", options.out, report.architecture, report.tensors,
             static_cast<double>(report.bytes) / 1e6);
  for (const std::string& fallback : report.fallbacks)
    fmt::print("  {} (its rows do not fit {})\n", fallback, options.type);
  return 0;
}

}  // namespace pgdlm::cli
