#include "eval/measurement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/philox.h"
#include "catalog/language_model.h"
#include "catalog/shelf.h"
#include "eval/judge.h"
#include "eval/mark.h"
#include "eval/nelbo.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kName = "measure";
constexpr std::size_t kBatch = 64;  // texts measured together: the same ones after an interruption

// "sentiment:positive" as its two words.
std::pair<std::string, std::string> split(const std::string& text, const char* field) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    throw Error(ErrorCode::invalid_request, fmt::format("{} is '{}', expected NAME:LABEL", field, text));
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// Which of the labels is meant. Error{invalid_request} lists them.
template <class Labels>
std::size_t place_of(const std::string& label, const Labels& labels, const std::string& text, const char* field) {
  const auto found = std::ranges::find(labels, label);
  if (found == labels.end())
    throw Error(ErrorCode::invalid_request,
                fmt::format("{} is '{}', allowed labels: {}", field, text, fmt::join(labels, ", ")));
  return static_cast<std::size_t>(found - labels.begin());
}

// A text and what is found out about it; nothing yet.
struct Sheet {
  std::string text;
  ordered_json found = ordered_json::object();
};

}  // namespace

struct Measurer::Tools {
  Runner& runner;
  RewardOptions options;
  std::map<std::string, std::unique_ptr<TextReward>> classifiers;  // by CLASSIFIER:LABEL
  std::map<std::string, Judge> judges;                             // by name

  TextReward& classifier(const std::string& label) {
    std::unique_ptr<TextReward>& reward = classifiers[label];
    if (!reward) reward = open_text_reward(label, options);
    return *reward;
  }
  const Judge& judge(const std::string& name) {
    const auto known = judges.find(name);
    return known != judges.end() ? known->second : judges.emplace(name, Judge::load(find_judge(name))).first->second;
  }

  void label(std::span<Sheet> sheets, const std::string& wanted) {
    TextReward& reward = classifier(wanted);
    const std::vector<std::string> labels = reward.labels();
    const std::size_t place = place_of(split(wanted, "label").second, labels, wanted, "label");
    std::vector<Passage> passages;
    for (const Sheet& sheet : sheets) passages.push_back({"", sheet.text, sheet.text});
    const std::vector<Scored> scored = reward.score(passages);
    for (std::size_t i = 0; i < sheets.size(); ++i)
      sheets[i].found["label"] =
          std::ranges::max_element(scored[i].parts) - scored[i].parts.begin() == static_cast<std::ptrdiff_t>(place);
  }

  void ask(std::span<Sheet> sheets, const std::string& wanted) {
    const auto [name, label] = split(wanted, "judge");
    const bool second = place_of(label, judge(name).labels(), wanted, "judge") == 1;
    for (Sheet& sheet : sheets) sheet.found["judge"] = (judge(name).log_odds(sheet.text) > 0) == second;
  }

  // A text that is empty, or does not fit the model's canvas, has no bound.
  void bound(std::span<Sheet> sheets, const std::string& model, int draws, std::uint64_t seed) {
    const std::shared_ptr<const LanguageModel> writer = runner.model(model);
    std::vector<Sheet*> fitting;
    std::vector<BoundText> texts;
    for (Sheet& sheet : sheets) {
      if (writer->encode(sheet.text, "a finished text").empty()) continue;
      BoundText text = bound_text(*writer, sheet.text, "a finished text");
      if (text.tokens.size() > static_cast<std::size_t>(writer->max_length())) continue;
      texts.push_back(std::move(text));
      fitting.push_back(&sheet);
    }
    PhiloxSource source;
    const BoundOptions how{.draws = draws, .seed = seed, .batch_tokens = options.models.max_tokens};
    const std::vector<Bound> found = bounds(*writer->denoiser(), texts, how, source);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (std::isfinite(found[i].nats)) fitting[i]->found["nats"] = found[i].nats / found[i].tokens;
  }
};

Measurer::Measurer(Runner& runner, RewardOptions options)
    : tools_(std::make_unique<Tools>(Tools{.runner = runner, .options = std::move(options)})) {}
Measurer::~Measurer() = default;

void Measurer::check(const Measurement& m) {
  std::vector<Sheet> sheet = {{"A text."}};
  if (!m.label.empty()) tools_->label(sheet, m.label);
  if (!m.judge.empty()) tools_->ask(sheet, m.judge);
}

StoredRun Measurer::measure(const Measurement& m, const Evaluation& evaluation, const StoredRun& run, RunStore& store,
                            const std::stop_token& stop) {
  const ordered_json plan = {{"label", m.label},
                             {"judge", m.judge},
                             {"perplexity", m.perplexity},
                             {"files", files_mark(m)},
                             {"of", text_mark(run.plan)}};
  const StoredRun measured = store.begin(kName, plan.dump(), run.items);
  const std::map<int, StoredItem> known = store.items(measured);
  std::vector<Sheet> sheets;
  for (const Text& text : texts_of(run, store)) sheets.push_back({text.result.text});
  for (std::size_t first = 0; first < sheets.size() && !stop.stop_requested(); first += kBatch) {
    const auto batch = std::span(sheets).subspan(first, std::min(kBatch, sheets.size() - first));
    const auto missing = [&](std::size_t i) { return !known.contains(static_cast<int>(first + i)); };
    bool any = false;
    for (std::size_t i = 0; i < batch.size(); ++i) any = any || missing(i);
    if (!any) continue;
    if (!m.label.empty()) tools_->label(batch, m.label);
    if (!m.judge.empty()) tools_->ask(batch, m.judge);
    if (m.perplexity > 0) tools_->bound(batch, evaluation.options.model, m.perplexity, first);
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (missing(i)) store.add(measured, static_cast<int>(first + i), {batch[i].found.dump(), {}});
  }
  return store.begin(kName, plan.dump(), run.items);
}

std::string files_mark(const Measurement& m) {
  std::string files;
  if (!m.label.empty())
    for (const std::filesystem::path& path : reward_files(m.label)) files += file_mark(path) + ", ";
  if (!m.judge.empty()) files += file_mark(find_judge(split(m.judge, "judge").first));
  return files;
}

void add_measured(std::span<Text> texts, const StoredRun& run, const RunStore& store) try {
  const std::map<int, StoredItem> items = store.items(run);
  if (items.size() < texts.size())
    throw Error(ErrorCode::invalid_request,
                fmt::format("run {} has measured {} of {} texts", run.id, items.size(), texts.size()),
                "give the command that began it again: it goes on where it was");
  for (const auto& [number, item] : items) {
    const json found = json::parse(item.result);
    Text& text = texts[static_cast<std::size_t>(number)];
    if (found.contains("label")) text.labelled = found["label"].get<bool>();
    if (found.contains("judge")) text.judged = found["judge"].get<bool>();
    if (found.contains("nats")) text.nats = found["nats"].get<double>();
  }
} catch (const json::exception& e) {
  throw Error(ErrorCode::invalid_request, fmt::format("run {}: what it measured cannot be read: {}", run.id, e.what()));
}

}  // namespace pgdlm
