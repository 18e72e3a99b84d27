#include "eval/study.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "catalog/shelf.h"
#include "eval/gauges.h"
#include "options/config.h"
#include "pgdlm/error.h"
#include "text/text_file.h"

namespace pgdlm {
namespace {

using nlohmann::ordered_json;

// An object of the file, with its place for messages.
class Fields {
 public:
  Fields(const ordered_json& object, std::string where, std::initializer_list<const char*> known)
      : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail(fmt::format("expected an object, got {}", object.dump()));
    for (const auto& [key, value] : object.items())
      if (std::ranges::find(known, key) == known.end())
        fail(fmt::format("there is no field '{}', allowed: {}", key, fmt::join(known, ", ")));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::invalid_request, fmt::format("{}: {}", where_, what),
                "docs/studies.md says what a study file holds");
  }
  const std::string& where() const { return where_; }
  bool has(const char* key) const { return object_.contains(key); }

  std::string text(const char* key, std::optional<std::string> otherwise = std::nullopt) const {
    return get<std::string>(key, "a text", std::move(otherwise), &ordered_json::is_string);
  }
  bool flag(const char* key) const { return get<bool>(key, "true or false", false, &ordered_json::is_boolean); }
  int number(const char* key, int least, int otherwise) const {
    constexpr int kMost = 1'000'000'000;
    const auto value = get<std::int64_t>(key, "a number", otherwise, &ordered_json::is_number_integer);
    if (value < least || value > kMost) fail(fmt::format("{} is {}, expected {} to {}", key, value, least, kMost));
    return static_cast<int>(value);
  }
  std::vector<double> numbers(const char* key) const {
    std::vector<double> values;
    for (const ordered_json& value : list(key)) {
      if (!value.is_number()) fail(fmt::format("{}: expected numbers, got {}", key, value.dump()));
      values.push_back(value);
    }
    return values;
  }
  const ordered_json& list(const char* key) const {
    static const ordered_json nothing = ordered_json::array();
    if (!has(key)) return nothing;
    if (!object_[key].is_array()) fail(fmt::format("{}: expected a list, got {}", key, object_[key].dump()));
    return object_[key];
  }
  ordered_json object(const char* key) const {
    if (!has(key)) return ordered_json::object();
    if (!object_[key].is_object()) fail(fmt::format("{}: expected an object, got {}", key, object_[key].dump()));
    return object_[key];
  }

 private:
  template <class T>
  T get(const char* key, const char* expected, std::optional<T> otherwise,
        bool (ordered_json::*is)() const noexcept) const {
    if (!has(key) && otherwise) return *otherwise;
    if (!has(key)) fail(fmt::format("{} is missing", key));
    if (!(object_[key].*is)()) fail(fmt::format("{}: expected {}, got {}", key, expected, object_[key].dump()));
    return object_[key].get<T>();
  }

  const ordered_json& object_;
  std::string where_;
};

// The points of a series: what each adds to the options, and where it is on the axis.
struct Point {
  double at = 0;
  ordered_json options;
};

std::vector<Point> points_of(const Fields& series) {
  const ordered_json vary = series.object("vary");
  std::vector<double> at = series.numbers("at");
  for (const auto& [key, values] : vary.items()) {
    if (!values.is_array() || values.empty()) series.fail(fmt::format("vary: {}: expected a list", key));
    if (at.empty())
      for (const ordered_json& value : values)
        if (value.is_number()) at.push_back(value);
    if (values.size() != at.size())
      series.fail(fmt::format("vary: {} has {} values for {} points; without numbers, 'at' says where they are", key,
                              values.size(), at.size()));
  }
  if (at.empty()) at = {1};
  if (std::set<double>(at.begin(), at.end()).size() < at.size())
    series.fail(fmt::format("two points are at the same place: {}; say with 'at' where they are", fmt::join(at, ", ")));
  std::vector<Point> points;
  for (std::size_t i = 0; i < at.size(); ++i) {
    points.push_back({at[i], ordered_json::object()});
    for (const auto& [key, values] : vary.items()) points.back().options[key] = values[i];
  }
  return points;
}

void require_gauge(const std::string& name, const Fields& fields) {
  try {
    find_gauge(name);
  } catch (const Error& e) {
    fields.fail(e.what());
  }
}

FigureSpec figure_of(const ordered_json& object, const std::string& where, const Study& study) {
  const Fields fields(object, where, {"kind", "title", "x", "x_title", "y", "log_x", "log_y", "guide"});
  FigureSpec figure{.title = fields.text("title", ""),
                    .x = fields.text("x", "at"),
                    .y = fields.text("y", ""),
                    .x_title = fields.text("x_title", ""),
                    .log_x = fields.flag("log_x"),
                    .log_y = fields.flag("log_y"),
                    .guide = fields.text("guide", "")};
  const std::string kind = fields.text("kind", "curve");
  if (kind == "curve") {
    if (figure.x != "at") require_gauge(figure.x, fields);
    require_gauge(figure.y, fields);
  } else if (kind == "sweeps") {
    figure.kind = FigureSpec::Kind::sweeps;
    if (figure.y != "ess" && figure.y != "reward" && figure.y != "renewed")
      fields.fail(fmt::format("y is '{}', allowed for sweeps: ess, reward, renewed", figure.y));
  } else if (kind == "times") {
    figure.kind = FigureSpec::Kind::times;
    if (!figure.y.empty() && figure.y != "ancestors" && figure.y != "renewed")
      fields.fail(fmt::format("y is '{}', allowed for times: ancestors, renewed", figure.y));
  } else if (kind == "texts") {
    figure.kind = FigureSpec::Kind::texts;
  } else {
    fields.fail(fmt::format("kind is '{}', allowed: curve, sweeps, times, texts", kind));
  }
  if (!figure.guide.empty() && std::ranges::find(study.series, figure.guide) == study.series.end())
    fields.fail(fmt::format("guide: there is no series '{}'", figure.guide));
  return figure;
}

Claim claim_of(const ordered_json& object, const std::string& where, const Study& study) {
  const Fields fields(object, where, {"says", "more", "than", "of", "at"});
  Claim claim{fields.text("says"), fields.text("more"), fields.text("than", ""), fields.text("of"),
              fields.numbers("at")};
  require_gauge(claim.of, fields);
  for (const std::string& name : {claim.more, claim.than.empty() ? claim.more : claim.than})
    if (std::ranges::find(study.series, name) == study.series.end())
      fields.fail(fmt::format("there is no series '{}', allowed: {}", name, fmt::join(study.series, ", ")));
  const auto has_point = [&](const std::string& series, double at) {
    return std::ranges::any_of(study.cells,
                               [&](const Cell& cell) { return study.series[cell.series] == series && cell.at == at; });
  };
  const bool testable = std::ranges::any_of(study.cells, [&](const Cell& cell) {
    return study.series[cell.series] == claim.more && claim.concerns(cell.at) &&
           (claim.than.empty() || has_point(claim.than, cell.at));
  });
  if (!testable) fields.fail("the series have no point in common where it could be tested");
  return claim;
}

// Replaces what `changes` names; options are added one by one.
ordered_json changed(ordered_json study, const ordered_json& changes) {
  for (const auto& [key, value] : changes.items()) {
    if (key == "options" && study.contains(key) && study[key].is_object() && value.is_object())
      study[key].update(value);
    else
      study[key] = value;
  }
  return study;
}

ordered_json at_full_size(ordered_json study) {
  const ordered_json full = study.contains("full") ? study["full"] : ordered_json::object();
  study.erase("full");
  return full.is_object() ? changed(std::move(study), full) : study;
}

struct Part {  // of a grid: a panel or a series
  std::string where;
  ordered_json options;
  std::vector<Point> points;
};

void require_distinct(const std::vector<std::string>& names, const std::string& where) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::ranges::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      throw Error(ErrorCode::invalid_request, fmt::format("{}: there are two of the name '{}'", where, names[i]));
}

GenerateOptions options_of(const ordered_json& common, const Part& panel, const Part& series, const Point& point) {
  ordered_json all = common;
  for (const ordered_json* more : {&panel.options, &series.options, &point.options}) all.update(*more);
  if (!all.contains("model"))
    throw Error(ErrorCode::invalid_request, fmt::format("{}: its options name no model", series.where));
  return from_config(all.dump(), series.where);
}

ordered_json parse_object(std::string_view text, const std::string& name) {
  std::string fault = "not a JSON object";
  try {
    ordered_json object = ordered_json::parse(text, nullptr, true, true);
    if (object.is_object()) return object;
  } catch (const ordered_json::exception& e) {
    fault = e.what();
  }
  throw Error(ErrorCode::invalid_request, fmt::format("study {}: {}", name, fault),
              "docs/studies.md says what a study file holds");
}

Study study_of(ordered_json object, const std::string& name, const StudySizes& sizes) {
  if (sizes.full) object = at_full_size(std::move(object));
  if (sizes.limit) object["limit"] = *sizes.limit;
  if (sizes.samples) object["samples"] = *sizes.samples;
  if (sizes.repeats) object["repeats"] = *sizes.repeats;
  const Fields fields(object, "study " + name,
                      {"title", "about", "task", "limit", "samples", "repeats", "perplexity", "options", "panels",
                       "series", "figures", "claims", "full"});
  object.erase("full");  // the rest is the study
  Study study{.name = name,
              .title = fields.text("title"),
              .about = fields.text("about", ""),
              .task = fields.text("task"),
              .limit = fields.number("limit", 0, 0),
              .samples = fields.number("samples", 1, 1),
              .repeats = fields.number("repeats", 1, 1),
              .perplexity = fields.number("perplexity", 0, 0),
              .definition = object.dump()};
  const auto place = [&](const char* list, std::size_t i) {
    return fmt::format("{}: {}[{}]", fields.where(), list, i);
  };
  std::vector<Part> panels, series;
  for (const ordered_json& given : fields.list("panels")) {
    const Fields panel(given, place("panels", panels.size()), {"name", "options", "label", "judge"});
    study.panels.push_back({panel.text("name"), panel.text("label", ""), panel.text("judge", "")});
    panels.push_back({panel.where(), panel.object("options"), {}});
  }
  if (panels.empty()) study.panels.emplace_back(), panels.push_back({fields.where(), ordered_json::object(), {}});
  for (const ordered_json& given : fields.list("series")) {
    const Fields one(given, place("series", series.size()), {"name", "options", "at", "vary"});
    study.series.push_back(one.text("name"));
    series.push_back({one.where(), one.object("options"), points_of(one)});
  }
  if (series.empty()) fields.fail("series: expected at least one");
  std::vector<std::string> panel_names;
  for (const Panel& panel : study.panels) panel_names.push_back(panel.name);
  require_distinct(panel_names, fields.where() + ": panels");
  require_distinct(study.series, fields.where() + ": series");
  for (std::size_t p = 0; p < panels.size(); ++p)
    for (std::size_t s = 0; s < series.size(); ++s)
      for (const Point& point : series[s].points)
        study.cells.push_back({p, s, point.at, options_of(fields.object("options"), panels[p], series[s], point)});
  for (const ordered_json& given : fields.list("figures"))
    study.figures.push_back(figure_of(given, place("figures", study.figures.size()), study));
  for (const ordered_json& given : fields.list("claims"))
    study.claims.push_back(claim_of(given, place("claims", study.claims.size()), study));
  return study;
}

}  // namespace

Study parse_study(std::string_view text, const std::string& name, const StudySizes& sizes) {
  return study_of(parse_object(text, name), name, sizes);
}

Study read_study(const std::filesystem::path& file, const StudySizes& sizes) {
  const std::string name = file.stem().string();
  ordered_json object = parse_object(read_text_file(file, "study"), name);
  if (const auto like = object.find("like"); like != object.end()) {
    if (!like->is_string())
      throw Error(ErrorCode::invalid_request,
                  fmt::format("study {}: like: expected a name, got {}", name, like->dump()));
    const std::filesystem::path base = find_study(like->get<std::string>());
    object.erase("like");
    object = changed(at_full_size(parse_object(read_text_file(base, "study"), base.stem().string())), object);
  }
  return study_of(std::move(object), name, sizes);
}

}  // namespace pgdlm
