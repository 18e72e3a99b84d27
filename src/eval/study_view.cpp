#include "eval/study_view.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <span>

#include <fmt/format.h>

#include "eval/plot.h"

namespace pgdlm {
namespace {

constexpr const char* kNothing = "–";

std::string plus_minus(double value, const std::optional<double>& error, int digits) {
  return error ? fmt::format("{:.{}f} ± {:.{}f}", value, digits, *error, digits)
               : fmt::format("{:.{}f}", value, digits);
}
// Small figures have more digits.
std::string plus_minus(double value, const std::optional<double>& error) {
  const double size = std::max(std::abs(value), error.value_or(0));
  return plus_minus(value, error, size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
std::string plus_minus(const Measured& m, const Gauge& gauge) {
  const std::optional<double>& error = m.deviation ? m.deviation : m.mean.error;
  return gauge.unit == "%" ? plus_minus(m.mean.value, error, 1) : plus_minus(m.mean.value, error);
}

std::string title_of(const Gauge& gauge) {
  return gauge.unit.empty() ? gauge.title : fmt::format("{} ({})", gauge.title, gauge.unit);
}

std::string titled(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() ? one + other : one + ": " + other;
}

std::vector<const FinishedCell*> cells_of(const FinishedStudy& study, std::size_t panel) {
  std::vector<const FinishedCell*> cells;
  for (const FinishedCell& cell : study.cells)
    if (cell.cell.panel == panel) cells.push_back(&cell);
  return cells;
}

std::string name_of(const FinishedStudy& study, const FinishedCell& cell) {
  return study.study.series[cell.cell.series];
}
// With its place, where the series has several.
std::string full_name(const FinishedStudy& study, const FinishedCell& cell) {
  const bool alone = std::ranges::count_if(study.cells, [&](const FinishedCell& other) {
                       return other.cell.panel == cell.cell.panel && other.cell.series == cell.cell.series;
                     }) == 1;
  return alone ? name_of(study, cell) : fmt::format("{}, {:g}", name_of(study, cell), cell.cell.at);
}

// ---- curves ----

struct Place {  // of a cell in a plot
  double x = 0;
  Measured y;
};
std::optional<Place> place_of(const FinishedStudy& study, const FinishedCell& cell, const FigureSpec& figure) {
  const std::optional<Measured> y = measured(study, cell, find_gauge(figure.y));
  if (!y) return std::nullopt;
  if (figure.x == "at") return Place{cell.cell.at, *y};
  const std::optional<Measured> x = measured(study, cell, find_gauge(figure.x));
  return x ? std::optional(Place{x->mean.value, *y}) : std::nullopt;
}

// The largest of each column, but for one of a single row.
void mark_best(Table& table, const std::vector<std::vector<double>>& values) {
  table.best.assign(table.rows.size(), std::vector<bool>(table.head.size(), false));
  for (std::size_t column = 1; column < table.head.size(); ++column) {
    double best = -std::numeric_limits<double>::infinity();
    std::size_t known = 0;
    for (const std::vector<double>& row : values)
      if (std::isfinite(row[column])) best = std::max(best, row[column]), ++known;
    for (std::size_t row = 0; row < values.size() && known > 1; ++row)
      table.best[row][column] = values[row][column] == best;
  }
}

// Columns are the panels' points.
struct Column {
  std::size_t panel = 0;
  double at = 0;
};

Table curve_table(const FinishedStudy& study, const FigureSpec& figure, std::span<const std::size_t> panels) {
  const Gauge& gauge = find_gauge(figure.y);
  Table table{.title = title_of(gauge), .head = {"method"}};
  std::vector<Column> columns;
  for (const std::size_t panel : panels) {
    std::set<double> places;
    for (const FinishedCell* cell : cells_of(study, panel)) places.insert(cell->cell.at);
    for (const double at : places) columns.push_back({panel, at}), table.head.push_back(fmt::format("{:g}", at));
    if (const std::string& name = study.study.panels[panel].name; !name.empty())
      table.groups.push_back({name, places.size()});
  }
  std::vector<std::vector<double>> values;
  for (const std::string& series : study.study.series) {
    std::vector<std::string> row = {series};
    std::vector<double> numbers = {0};
    for (const auto& [panel, at] : columns) {
      const FinishedCell* cell = study.find(panel, series, at);
      const std::optional<Place> place = cell != nullptr ? place_of(study, *cell, figure) : std::nullopt;
      row.push_back(place ? plus_minus(place->y, gauge) : kNothing);
      if (place && figure.x == "particles_used" && std::abs(place->x - at) > 0.01 * at)
        row.back() += fmt::format(" ({:.1f})", place->x);  // what it really used, as in the paper's table
      numbers.push_back(place ? place->y.mean.value : std::nan(""));
    }
    table.rows.push_back(std::move(row));
    values.push_back(std::move(numbers));
  }
  if (gauge.unit == "%") mark_best(table, values);
  return table;
}

Plot curve_plot(const FinishedStudy& study, const FigureSpec& figure, std::size_t panel) {
  Plot plot{.title = study.study.panels[panel].name};
  for (std::size_t series = 0; series < study.study.series.size(); ++series) {
    PlotLine line{.name = study.study.series[series]};
    for (const FinishedCell* cell : cells_of(study, panel)) {
      if (cell->cell.series != series) continue;
      if (const std::optional<Place> place = place_of(study, *cell, figure))
        line.points.push_back({place->x, place->y.mean.value, place->y.mean.error});
    }
    std::ranges::sort(line.points, {}, &PlotPoint::x);
    if (line.name == figure.guide && !line.points.empty()) {
      PlotLine law{.name = "1/x through " + line.name, .points = line.points, .guide = true};
      for (PlotPoint& p : law.points) p.y = line.points.front().y * line.points.front().x / p.x;
      plot.lines.push_back(std::move(law));
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

// ---- sweeps and times: figures of a cell that are lists ----

struct Entry {
  double x = 0;
  Mean y;
};
using Profile = std::function<std::vector<double>(const Text&)>;

double fact(const SweepFacts& s, const std::string& name) {
  return name == "ess" ? s.ess : name == "reward" ? s.reward : 100 * s.renewed;
}

// Of each text the sweeps, without a start of a single particle.
Profile sweeps_of(const std::string& fact_name) {
  return [fact_name](const Text& text) {
    std::vector<double> values;
    for (const SweepFacts& sweep : text.result.by_sweep)
      if (sweep.particles > 1) values.push_back(fact(sweep, fact_name));
    return values;
  };
}
// Of the last sweep. A path joins the old one at one time, and is the same before: what share is new says where.
Profile times_of(bool renewed) {
  return [renewed](const Text& text) {
    std::vector<double> values;
    if (text.result.by_sweep.empty() || text.result.by_sweep.back().particles < 2) return values;
    const SweepFacts& last = text.result.by_sweep.back();
    for (std::size_t i = 0; i < kAncestorTimes.size(); ++i)
      values.push_back(renewed ? 100.0 * (1 - last.renewed <= kAncestorTimes[i]) : last.ancestors[i]);
    return values;
  };
}

std::vector<Entry> entries_of(const FinishedStudy& study, const FinishedCell& cell, const Profile& profile,
                              const std::function<double(std::size_t)>& place) {
  std::vector<std::vector<double>> lists;
  std::size_t longest = 0;
  for (const Text& text : cell.texts) {
    lists.push_back(profile(text));
    longest = std::max(longest, lists.back().size());
  }
  const std::size_t samples = cell.texts.size() / study.questions.size();
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < longest; ++i) {
    Groups groups(study.questions.size());
    for (std::size_t text = 0; text < lists.size(); ++text)
      if (i < lists[text].size() && std::isfinite(lists[text][i])) groups[text / samples].push_back(lists[text][i]);
    if (const std::optional<Mean> mean = mean_of_groups(groups)) entries.push_back({place(i), *mean});
  }
  return entries;
}

std::vector<Entry> entries_of(const FinishedStudy& study, const FinishedCell& cell, const FigureSpec& figure) {
  if (figure.kind == FigureSpec::Kind::times)
    return entries_of(study, cell, times_of(figure.y == "renewed"), [](std::size_t i) { return kAncestorTimes[i]; });
  return entries_of(study, cell, sweeps_of(figure.y), [](std::size_t i) { return static_cast<double>(i + 1); });
}

std::string profile_title(const FigureSpec& figure) {
  if (figure.kind == FigureSpec::Kind::times)
    return figure.y == "renewed" ? "references that are new at this time (%)" : "particles with descendants";
  return figure.y == "renewed" ? "path renewed (%)" : find_gauge(figure.y).title;
}

Table profile_table(const FinishedStudy& study, const FigureSpec& figure, std::size_t panel) {
  Table table{.title = titled(study.study.panels[panel].name, profile_title(figure)), .head = {"setting"}};
  std::size_t longest = 0;
  for (const FinishedCell* cell : cells_of(study, panel)) {
    table.rows.push_back({full_name(study, *cell)});
    const std::vector<Entry> entries = entries_of(study, *cell, figure);
    for (const Entry& entry : entries) {
      if (table.rows.back().size() > longest)
        table.head.push_back(figure.kind == FigureSpec::Kind::times ? fmt::format("after {:g} %", 100 * entry.x)
                                                                    : fmt::format("iteration {:g}", entry.x)),
            ++longest;
      table.rows.back().push_back(plus_minus(entry.y.value, entry.y.error));
    }
  }
  for (std::vector<std::string>& row : table.rows) row.resize(table.head.size(), kNothing);
  return table;
}

Plot profile_plot(const FinishedStudy& study, const FigureSpec& figure, std::size_t panel) {
  Plot plot{.title = study.study.panels[panel].name};
  for (const FinishedCell* cell : cells_of(study, panel)) {
    PlotLine line{.name = full_name(study, *cell)};
    for (const Entry& entry : entries_of(study, *cell, figure))
      line.points.push_back({entry.x, entry.y.value, entry.y.error});
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

// ---- texts ----

Table texts_table(const FinishedStudy& study, std::size_t panel) {
  Table table{.title = study.study.panels[panel].name, .head = {"method", "reward", "text"}};
  const std::size_t questions = study.questions.size();
  for (const FinishedCell* cell : cells_of(study, panel)) {
    const std::size_t samples = cell->texts.size() / questions;
    for (std::size_t i = 0; i < questions; ++i) {
      const Result& result = cell->texts[i * samples].result;
      std::string text = result.text;
      std::ranges::replace(text, '\n', ' ');
      table.rows.push_back({full_name(study, *cell), fmt::format("{:.3f}", result.reward), text});
    }
  }
  return table;
}

// ---- all figures ----

Table table_of(const FinishedStudy& study, const std::function<bool(const Gauge&)>& wanted) {
  std::vector<const Gauge*> shown;
  for (const Gauge& gauge : gauges())
    if (wanted(gauge) && std::ranges::any_of(study.cells, [&](const FinishedCell& cell) {
          return measured(study, cell, gauge).has_value();
        }))
      shown.push_back(&gauge);
  Table table{.head = {"panel", "method", "at"}};
  for (const Gauge* gauge : shown) table.head.push_back(title_of(*gauge));
  for (const FinishedCell& cell : study.cells) {
    table.rows.push_back(
        {study.study.panels[cell.cell.panel].name, name_of(study, cell), fmt::format("{:g}", cell.cell.at)});
    for (const Gauge* gauge : shown) {
      const std::optional<Measured> m = measured(study, cell, *gauge);
      table.rows.back().push_back(m ? plus_minus(*m, *gauge) : kNothing);
    }
  }
  return table;
}

}  // namespace

std::vector<Table> tables_of(const FinishedStudy& study, const FigureSpec& figure) {
  constexpr std::size_t kWidest = 3;  // panels side by side
  std::vector<std::size_t> panels(study.study.panels.size());
  std::iota(panels.begin(), panels.end(), 0);
  std::vector<Table> tables;
  if (figure.kind == FigureSpec::Kind::curve) {
    for (std::size_t first = 0; first < panels.size(); first += kWidest)
      tables.push_back(
          curve_table(study, figure, std::span(panels).subspan(first, std::min(kWidest, panels.size() - first))));
    return tables;
  }
  for (const std::size_t panel : panels) {
    switch (figure.kind) {
      case FigureSpec::Kind::curve: break;
      case FigureSpec::Kind::sweeps:
      case FigureSpec::Kind::times: tables.push_back(profile_table(study, figure, panel)); break;
      case FigureSpec::Kind::texts: tables.push_back(texts_table(study, panel)); break;
    }
  }
  return tables;
}

std::string svg_of(const FinishedStudy& study, const FigureSpec& figure) {
  if (figure.kind == FigureSpec::Kind::texts) return "";
  const bool curve = figure.kind == FigureSpec::Kind::curve;
  std::vector<Plot> plots;
  for (std::size_t panel = 0; panel < study.study.panels.size(); ++panel)
    plots.push_back(curve ? curve_plot(study, figure, panel) : profile_plot(study, figure, panel));
  PlotStyle style{.x_title = figure.x_title,
                  .y_title = curve ? title_of(find_gauge(figure.y)) : profile_title(figure),
                  .log_x = figure.log_x,
                  .log_y = figure.log_y};
  if (style.x_title.empty() && curve) style.x_title = figure.x == "at" ? "n" : title_of(find_gauge(figure.x));
  if (style.x_title.empty())
    style.x_title = figure.kind == FigureSpec::Kind::times ? "share of the steps" : "iteration";
  return to_svg(plots, style);
}

Table overview_of(const FinishedStudy& study) {
  return table_of(study, [](const Gauge& gauge) { return gauge.kind != Gauge::Kind::effort; });
}

Table efforts_of(const FinishedStudy& study) {
  return table_of(study, [](const Gauge& gauge) { return gauge.kind == Gauge::Kind::effort; });
}

Table numbers_of(const FinishedStudy& study) {
  Table table{
      .head = {"study", "panel", "series", "at", "figure", "value", "error", "deviation", "texts", "questions"}};
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; };
  for (const FinishedCell& cell : study.cells)
    for (const Gauge& gauge : gauges())
      if (const std::optional<Measured> m = measured(study, cell, gauge); m && gauge.kind != Gauge::Kind::effort)
        table.rows.push_back({study.study.name, study.study.panels[cell.cell.panel].name, name_of(study, cell),
                              fmt::format("{:g}", cell.cell.at), gauge.name, number(m->mean.value),
                              number(m->mean.error), number(m->deviation), std::to_string(cell.texts.size()),
                              std::to_string(study.questions.size())});
  return table;
}

Table text_numbers_of(const FinishedStudy& study) {
  std::vector<const Gauge*> shown;
  for (const Gauge& gauge : gauges())
    if (gauge.kind == Gauge::Kind::plain || gauge.kind == Gauge::Kind::logarithm) shown.push_back(&gauge);
  Table table{.head = {"study", "panel", "series", "at", "question", "text"}};
  for (const Gauge* gauge : shown) table.head.push_back(gauge->name);
  for (const FinishedCell& cell : study.cells) {
    const std::size_t samples = cell.texts.size() / study.questions.size();
    for (std::size_t i = 0; i < cell.texts.size(); ++i) {
      table.rows.push_back({study.study.name, study.study.panels[cell.cell.panel].name, name_of(study, cell),
                            fmt::format("{:g}", cell.cell.at), std::to_string(i / samples),
                            std::to_string(i % samples)});
      for (const Gauge* gauge : shown) {
        const std::vector<double> value =
            gauge->of_question(study.questions[i / samples], std::span(cell.texts).subspan(i, 1));
        table.rows.back().push_back(value.empty() ? "" : fmt::format("{}", readable(*gauge, {value.front()}).value));
      }
    }
  }
  return table;
}

}  // namespace pgdlm
