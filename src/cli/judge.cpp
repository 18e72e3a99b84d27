#include "eval/judge.h"

#include <fmt/format.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "catalog/shelf.h"
#include "cli/commands.h"
#include "cli/printable.h"

namespace pgdlm::cli {
namespace {

struct Verdict {
  double log_odds;  // of the second label
  std::string label;
  double probability;  // of that label
};

Verdict verdict(const Judge& judge, const std::string& text) {
  const double x = judge.log_odds(text);
  return {x, judge.labels()[x > 0 ? 1 : 0], 1 / (1 + std::exp(-std::abs(x)))};
}

void print_json(const Judge& judge, const std::string& name, const std::vector<std::string>& texts) {
  nlohmann::ordered_json verdicts = nlohmann::ordered_json::array();
  for (const std::string& text : texts) {
    const Verdict v = verdict(judge, text);
    verdicts.push_back({{"text", text}, {"label", v.label}, {"probability", v.probability}, {"log_odds", v.log_odds}});
  }
  const nlohmann::ordered_json object = {{"judge", name}, {"labels", judge.labels()}, {"texts", std::move(verdicts)}};
  fmt::print("{}\n", object.dump(2));
}

// A file that is no judge says so in its place.
std::string describe(const std::filesystem::path& path) {
  try {
    const Judge judge = Judge::load(path);
    return fmt::format("{} or {}", judge.labels()[0], judge.labels()[1]);
  } catch (const Error& e) {
    return e.what();
  }
}

int list_judges() {
  for (const std::filesystem::path& path : judges_on_shelves())
    fmt::print("{:<16} {}\n", printable(path.stem().string()), printable(describe(path)));
  return 0;
}

}  // namespace

int judge(const JudgeOptions& options) {
  if (options.list) return list_judges();
  const Judge judge = Judge::load(find_judge(options.name));
  const std::vector<std::string> texts = read_texts(options.input);
  if (options.json) {
    print_json(judge, options.name, texts);
    return 0;
  }
  for (const std::string& text : texts) {
    const Verdict v = verdict(judge, text);
    fmt::print("{}\t{:.4f}\n", printable(v.label), v.probability);
  }
  return 0;
}

}  // namespace pgdlm::cli
