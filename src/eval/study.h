// A study: a task asked in many ways, and what to draw of the answers. It is a JSON object:
//
//   {"title": "...", "about": "...", "task": "math", "limit": 100, "samples": 1, "repeats": 3,
//    "options": {"model": "llada-nano-math", "reward": "prm"},        as in a trace: long options with underscores
//    "panels": [{"name": "...", "options": {...}, "label": "sentiment:positive", "judge": "sentiment:positive"}],
//    "series": [{"name": "SMC", "options": {"method": "smc"}, "at": [4, 16], "vary": {"particles": [4, 16]}}],
//    "figures": [{"kind": "curve", "x": "particles_used", "y": "accuracy"}],
//    "claims": [{"says": "SMC beats best of n", "more": "SMC", "than": "best of n", "of": "accuracy"}],
//    "perplexity": 4,
//    "full": {"limit": 0, "options": {...}}}
//
// Every series is run in every panel at each of its points; later options win over earlier ones. A point's options are
// the i-th of each list in "vary", its place on the axis is the i-th of "at" (if not given, of the first list).
// Repeats differ in their seeds. "full" replaces what it names, and adds to "options". A file with {"like": "control"}
// is that study at its full size, with what the file itself names replaced and added in the same way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options/options.h"

namespace pgdlm {

struct Panel {
  std::string name;   // empty: the study has only one
  std::string label;  // CLASSIFIER:LABEL that the texts should have; empty: none is asked for
  std::string judge;  // JUDGE:LABEL
};

// One way of asking: a point of a series in a panel.
struct Cell {
  std::size_t panel = 0, series = 0;
  double at = 0;
  GenerateOptions options;
};

struct FigureSpec {
  enum class Kind {
    curve,   // y against x, a line for each series, a plot for each panel
    sweeps,  // y of each sweep, a line for each point
    times,   // at times of denoising: how many particles have descendants, or whether the reference is new
    texts    // no figure, but a text of each question
  };
  Kind kind = Kind::curve;
  std::string title;
  std::string x, y;  // gauges; x may be "at"
  std::string x_title;
  bool log_x = false, log_y = false;
  std::string guide;  // of this series: the law 1/x through its first point
};

struct Claim {
  std::string says;
  std::string more, than;  // series; without `than`: more than nothing
  std::string of;          // gauge
  std::vector<double> at;  // empty: wherever both are

  bool concerns(double point) const { return at.empty() || std::ranges::find(at, point) != at.end(); }
};

struct Study {
  std::string name, title, about, task;
  int limit = 0;  // questions; 0: all
  int samples = 1, repeats = 1;
  int perplexity = 0;  // draws of the bound for each text; 0: not measured
  std::vector<Panel> panels;
  std::vector<std::string> series;
  std::vector<Cell> cells;
  std::vector<FigureSpec> figures;
  std::vector<Claim> claims;
  std::string asked;       // behind `pgdlm study`: its name or file, and sizes
  std::string definition;  // the object it was read from, sizes applied
};

// What a user may want otherwise than the file says.
struct StudySizes {
  bool full = false;
  std::optional<int> limit, samples, repeats;
};

// Error{invalid_request} names the file and the field. A text cannot be like another study, a file can.
Study parse_study(std::string_view text, const std::string& name, const StudySizes& sizes = {});
Study read_study(const std::filesystem::path& file, const StudySizes& sizes = {});

}  // namespace pgdlm
