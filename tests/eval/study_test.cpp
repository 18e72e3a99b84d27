// Study files: what they mean, and what is said of mistakes. Plots and tables: what they show.
#include "eval/study.h"

#include <gmock/gmock.h>

#include "eval/plot.h"
#include "eval/table.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kStudy = R"({
  "title": "Methods", "task": "t", "limit": 4, "options": {"model": "toy", "n_predict": 8, "seed": 3},
  "panels": [{"name": "up", "options": {"reward": "positive"}}, {"name": "down", "options": {"reward": "negative"}}],
  "series": [{"name": "greedy", "options": {"method": "greedy"}, "at": [4]},
             {"name": "pg", "options": {"method": "pg", "n_predict": 9}, "at": [4, 16],
              "vary": {"particles": [2, 4], "iterations": [2, 4]}}],
  "figures": [{"y": "reward"}],
  "claims": [{"says": "more", "more": "pg", "than": "greedy", "of": "reward"}],
  "full": {"limit": 0, "repeats": 3, "options": {"n_predict": 50}}})";

TEST(Study, EverySeriesInEveryPanelAtEachPoint) {
  const Study study = parse_study(kStudy, "s");
  ASSERT_EQ(study.cells.size(), 6U);
  const Cell& cell = study.cells[5];  // down, pg, 16
  EXPECT_EQ(cell.panel, 1U);
  EXPECT_EQ(cell.series, 1U);
  EXPECT_EQ(cell.at, 16);
  EXPECT_EQ(cell.options.reward, "negative");
  EXPECT_EQ(cell.options.particles, 4);
  EXPECT_EQ(cell.options.iterations, 4);
  EXPECT_EQ(cell.options.n_predict, 9);  // the series' wins over the study's
  EXPECT_EQ(cell.options.seed, 3U);
  EXPECT_EQ(study.cells[0].options.n_predict, 8);
}

TEST(Study, FullReplacesSizes) {
  const Study study = parse_study(kStudy, "s", {.full = true, .limit = 2});
  EXPECT_EQ(study.repeats, 3);
  EXPECT_EQ(study.limit, 2);                                                     // the user's word wins
  EXPECT_EQ(study.cells[0].options.n_predict, 50);                               // added to the options,
  EXPECT_EQ(study.cells[0].options.model, "toy");                                // which stay otherwise
  EXPECT_EQ(parse_study(study.definition, "s").cells[0].options.n_predict, 50);  // and it can be read back
}

std::string refused(std::string from, const std::string& to) {
  std::string text = kStudy;
  text.replace(text.find(from), from.size(), to);
  try {
    parse_study(text, "s");
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Study, MistakesNameTheirPlace) {
  EXPECT_THAT(refused("\"title\"", "\"titel\""),
              HasSubstr("study s: there is no field 'titel', allowed: title, about"));
  EXPECT_THAT(refused("\"limit\": 4", "\"limit\": -1"), HasSubstr("study s: limit is -1, expected 0 to 1000000000"));
  EXPECT_THAT(refused("\"limit\": 4", "\"limit\": \"x\""), HasSubstr("limit: expected a number, got \"x\""));
  EXPECT_THAT(refused("[2, 4], \"iter", "[2], \"iter"),
              HasSubstr("series[1]: vary: particles has 1 values for 2 points"));
  EXPECT_THAT(refused("\"method\": \"pg\"", "\"methode\": \"pg\""), HasSubstr("series[1]: unknown option 'methode'"));
  EXPECT_THAT(refused("\"method\": \"pg\"", "\"method\": \"gp\""), HasSubstr("method is 'gp', allowed: greedy"));
  EXPECT_THAT(refused("\"y\": \"reward\"", "\"y\": \"rewards\""), HasSubstr("figure is 'rewards', allowed: accuracy"));
  EXPECT_THAT(refused("\"model\": \"toy\", ", ""), HasSubstr("series[0]: its options name no model"));
  EXPECT_THAT(refused("\"of\": \"reward\"}", "\"of\": \"reward\", \"at\": [16]}"),
              HasSubstr("claims[0]: the series have no point"));
  EXPECT_THAT(refused("\"than\": \"greedy\"", "\"than\": \"it\""), HasSubstr("claims[0]: there is no series 'it'"));
  EXPECT_THAT(refused(kStudy, "[]"), HasSubstr("study s: not a JSON object"));
}

TEST(Table, WordsLeftFiguresRight) {
  const Table table{.title = "T", .head = {"method", "4"}, .rows = {{"SMC", "1.5"}, {"greedy", "12.5 ± 1"}}};
  EXPECT_EQ(to_text(table), "T\nmethod         4\nSMC          1.5\ngreedy  12.5 ± 1\n");
  EXPECT_EQ(to_csv({.head = {"a", "b"}, .rows = {{"", "x, \"y\""}}}), "a,b\n,\"x, \"\"y\"\"\"\n");
  EXPECT_THAT(to_html({.head = {"<a>"}, .rows = {{"b & c"}}}), HasSubstr("b &amp; c"));
}

TEST(Plot, ShowsWhatItsAxesCan) {
  const std::vector<Plot> plots = {{"p & q", {{"a", {{1, 10, 2.0}, {100, 20}}}, {"zero", {{0, 5}}}}}};
  const std::string svg = to_svg(plots, {.x_title = "n", .y_title = "%", .log_x = true});
  EXPECT_THAT(svg, HasSubstr("p &amp; q"));
  EXPECT_THAT(svg, HasSubstr("<path d=\"M"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_THAT(to_svg({{"", {}}}, {}), HasSubstr("</svg>"));  // nothing to show
}

}  // namespace
}  // namespace pgdlm
