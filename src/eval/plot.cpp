#include "eval/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace pgdlm {
namespace {

// Told apart by people who see few colours (Okabe and Ito), darkest first; marks tell them apart in grey, too.
constexpr std::array kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                 "#E69F00", "#000000", "#56B4E9", "#7F7F7F"};
constexpr int kMarks = 5;

constexpr double kWidth = 330, kHeight = 270;                       // of one plot
constexpr double kLeft = 56, kRight = 12, kTop = 30, kBottom = 46;  // around its axes
constexpr std::size_t kPerRow = 3;
constexpr double kLegendLine = 20, kLetter = 6.6;  // pixels; the mean width of a letter

// From values to pixels along one axis.
class Axis {
 public:
  // `finest`: ticks are not closer than this.
  Axis(double low, double high, bool logarithmic, double from, double to, double finest = 0)
      : logarithmic_(logarithmic), from_(from), to_(to), finest_(finest) {
    if (!(low < high) && logarithmic) low /= 2, high *= 2;  // a single value, or none
    if (!(low < high)) low -= 0.5, high += 0.5;
    const double room = 0.06 * (warp(high) - warp(low));
    low_ = warp(low) - room;
    high_ = warp(high) + room;
  }

  double place(double value) const { return from_ + (warp(value) - low_) / (high_ - low_) * (to_ - from_); }

  // About five round numbers.
  std::vector<double> ticks() const {
    std::vector<double> all;
    if (logarithmic_) {
      const double span = high_ - low_;  // decades
      const double step = span > 2.2 ? std::ceil(span / 5) : std::log10(2) * std::ceil(span / std::log10(2) / 6);
      for (double at = std::ceil(low_ / step - 1e-9) * step; at <= high_ + 1e-9; at += step)
        all.push_back(std::pow(10, at));
      return all;
    }
    const double rough = (high_ - low_) / 5, magnitude = std::pow(10, std::floor(std::log10(rough)));
    const double digit = rough / magnitude;
    const double step = std::max(finest_, magnitude * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10));
    for (double at = std::ceil(low_ / step - 1e-9) * step; at <= high_ + 1e-9; at += step) all.push_back(at);
    return all;
  }

 private:
  double warp(double value) const {
    return logarithmic_ ? std::log10(std::max(value, std::numeric_limits<double>::min())) : value;
  }

  bool logarithmic_;
  double from_, to_, finest_, low_ = 0, high_ = 1;
};

std::string number(double value) { return fmt::format("{:.4g}", std::abs(value) < 1e-12 ? 0 : value); }

std::string words(double x, double y, const std::string& text, const char* more) {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" {}>{}</text>)", x, y, more, escape_html(text));
}

std::string mark(int kind, double x, double y, const char* colour) {
  const auto polygon = [&](const std::string& points) {
    return fmt::format(R"(<polygon points="{}" fill="{}"/>)", points, colour);
  };
  switch (kind) {
    case 0: return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.4" fill="{}"/>)", x, y, colour);
    case 1:
      return fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="6.2" height="6.2" fill="{}"/>)", x - 3.1, y - 3.1,
                         colour);
    case 2:
      return polygon(
          fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x, y - 4.2, x - 3.9, y + 3, x + 3.9, y + 3));
    case 3:
      return polygon(fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x, y - 4.6, x + 4.6, y, x,
                                 y + 4.6, x - 4.6, y));
    default:
      return polygon(
          fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x, y + 4.2, x - 3.9, y - 3, x + 3.9, y - 3));
  }
}

// How the n-th line looks.
struct Look {
  const char* colour;
  int mark;
  bool dashed;
};
Look look_of(std::size_t n) {
  return {kColours[n % kColours.size()], static_cast<int>(n % kMarks), n / kColours.size() % 2 == 1};
}

bool drawable(const PlotPoint& p, const PlotStyle& style) {
  return std::isfinite(p.x) && std::isfinite(p.y) && (!style.log_x || p.x > 0) && (!style.log_y || p.y > 0);
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  bool whole = true;  // all are whole numbers

  void take(double value) {
    low = std::min(low, value), high = std::max(high, value);
    whole = whole && value == std::round(value);
  }
  bool empty() const { return low > high; }
};

// The lower end of an error bar; a logarithmic axis has no place for 0.
double bar_end(const PlotPoint& p, const PlotStyle& style) {
  const double low = p.y - p.error.value_or(0);
  return style.log_y ? std::max(low, p.y / 10) : low;
}

std::string draw_line(const PlotLine& line, const Look& look, const Axis& x, const Axis& y, const PlotStyle& style) {
  std::string path, svg;
  for (const PlotPoint& p : line.points) {
    if (!drawable(p, style)) continue;
    const double px = x.place(p.x), py = y.place(p.y);
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : "L", px, py);
    if (line.guide) continue;
    if (p.error && *p.error > 0)
      svg += fmt::format(R"(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" stroke="{3}"/>)", px,
                         y.place(bar_end(p, style)), y.place(p.y + *p.error), look.colour);
    svg += mark(look.mark, px, py, look.colour);
  }
  if (path.empty()) return "";
  const char* dash = line.guide ? R"( stroke-dasharray="2 3")" : look.dashed ? R"( stroke-dasharray="6 3")" : "";
  return fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}"{}/>)", path,
                     line.guide ? "#777" : look.colour, line.guide ? "1.2" : "1.6", dash) +
         svg;
}

std::string draw_axes(const Axis& x, const Axis& y, const Plot& plot, const PlotStyle& style) {
  const double left = kLeft, right = kWidth - kRight, top = kTop, bottom = kHeight - kBottom;
  std::string svg;
  for (const double tick : y.ticks()) {
    const double at = y.place(tick);
    svg += fmt::format(R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", left, right, at, at);
    svg += words(left - 6, at + 4, number(tick), R"(text-anchor="end")");
  }
  for (const double tick : x.ticks()) {
    const double at = x.place(tick);
    svg += fmt::format(R"(<line class="axis" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", at, at, bottom,
                       bottom + 4);
    svg += words(at, bottom + 17, number(tick), R"(text-anchor="middle")");
  }
  svg +=
      fmt::format(R"(<path class="axis" d="M{0:.1f},{1:.1f}V{2:.1f}H{3:.1f}" fill="none"/>)", left, top, bottom, right);
  svg += words((left + right) / 2, 18, plot.title, R"(text-anchor="middle" font-weight="600")");
  svg += words((left + right) / 2, kHeight - 10, style.x_title, R"(text-anchor="middle")");
  svg += words(0, 0, style.y_title,
               fmt::format(R"_(text-anchor="middle" transform="translate(14,{:.1f}) rotate(-90)")_", (top + bottom) / 2)
                   .c_str());
  return svg;
}

// Names in the order in which they first occur, guides last and once.
std::vector<std::string> names_of(const std::vector<Plot>& plots, bool guides) {
  std::vector<std::string> names;
  for (const Plot& plot : plots)
    for (const PlotLine& line : plot.lines)
      if (line.guide == guides && std::ranges::find(names, line.name) == names.end()) names.push_back(line.name);
  return names;
}

// The legend and how high it is.
std::pair<std::string, double> draw_legend(const std::vector<Plot>& plots, double width, double top) {
  std::string svg;
  double x = kLeft, y = top + 12;
  const auto entry = [&](const std::string& name, const std::string& sample) {
    const double room = 36 + kLetter * static_cast<double>(name.size());
    if (x + room > width && x > kLeft) x = kLeft, y += kLegendLine;
    svg += fmt::format(R"_(<g transform="translate({:.1f},{:.1f})">{}{}</g>)_", x, y, sample,
                       words(26, 4, name, R"(text-anchor="start")"));
    x += room;
  };
  const std::vector<std::string> names = names_of(plots, false);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Look look = look_of(i);
    entry(names[i],
          fmt::format(R"(<line x1="0" x2="20" y1="0" y2="0" stroke="{}" stroke-width="1.6"{}/>{})", look.colour,
                      look.dashed ? R"( stroke-dasharray="6 3")" : "", mark(look.mark, 10, 0, look.colour)));
  }
  for (const std::string& name : names_of(plots, true))
    entry(name, R"(<line x1="0" x2="20" y1="0" y2="0" stroke="#777" stroke-dasharray="2 3"/>)");
  return {svg, y + kLegendLine - top};
}

std::string draw_plot(const Plot& plot, const PlotStyle& style, const Range& all_x,
                      const std::vector<std::string>& names) {
  Range all_y;
  for (const PlotLine& line : plot.lines)
    for (const PlotPoint& p : line.points) {
      if (!drawable(p, style)) continue;
      all_y.take(line.guide ? p.y : p.y + p.error.value_or(0));
      all_y.take(line.guide ? p.y : bar_end(p, style));
    }
  if (all_y.empty()) all_y.take(1);
  const Axis x(all_x.low, all_x.high, style.log_x, kLeft, kWidth - kRight, all_x.whole ? 1 : 0);
  const Axis y(all_y.low, all_y.high, style.log_y, kHeight - kBottom, kTop);
  std::string svg = draw_axes(x, y, plot, style);
  for (const PlotLine& line : plot.lines) {
    const auto place = static_cast<std::size_t>(std::ranges::find(names, line.name) - names.begin());
    svg += draw_line(line, look_of(place), x, y, style);
  }
  return svg;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string to_svg(const std::vector<Plot>& plots, const PlotStyle& style) {
  Range all_x;
  for (const Plot& plot : plots)
    for (const PlotLine& line : plot.lines)
      for (const PlotPoint& p : line.points)
        if (drawable(p, style)) all_x.take(p.x);
  if (all_x.empty()) all_x.take(1);
  const std::vector<std::string> names = names_of(plots, false);

  std::string body;
  double left = 0, top = 0, width = kWidth;
  for (std::size_t i = 0; i < plots.size(); ++i) {
    if (i > 0 && i % kPerRow == 0) left = 0, top += kHeight;
    body += fmt::format(R"_(<g transform="translate({:.0f},{:.0f})">{}</g>)_", left, top,
                        draw_plot(plots[i], style, all_x, names));
    left += kWidth;
    width = std::max(width, left);
  }
  const auto [legend, legend_height] = draw_legend(plots, width, top + kHeight);
  const double height = top + kHeight + legend_height,
               zoom = plots.size() == 1 ? 1.5 : 1;  // one has the page to itself
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{4:.0f}" height="{5:.0f}" )"
      R"(font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222" style="background:#fff">)"
      R"(<style>.grid{{stroke:#e3e3e3}}.axis{{stroke:#555}}</style>{2}{3}</svg>)",
      width, height, body, legend, zoom * width, zoom * height);
}

}  // namespace pgdlm
