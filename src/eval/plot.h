// Line plots as SVG, several side by side with one legend. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pgdlm {

struct PlotPoint {
  double x = 0, y = 0;
  std::optional<double> error;  // a bar of so much up and down
};

struct PlotLine {
  std::string name;
  std::vector<PlotPoint> points;
  bool guide = false;  // thin, without marks or a place in the order of colours
};

struct Plot {
  std::string title;
  std::vector<PlotLine> lines;
};

struct PlotStyle {
  std::string x_title, y_title;
  bool log_x = false, log_y = false;
};

// The plots share their x axis. Points that a logarithmic axis cannot show are left out.
std::string to_svg(const std::vector<Plot>& plots, const PlotStyle& style);

std::string escape_html(std::string_view text);

}  // namespace pgdlm
