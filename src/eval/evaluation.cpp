#include "eval/evaluation.h"

#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "options/config.h"
#include "options/request.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kName = "eval";

// Before anything is computed: one that does not fit would end a long run when it is reached.
void check_questions(const std::string& task, std::span<const Question> questions, GenerateOptions options,
                     const LanguageModel& model) {
  for (std::size_t i = 0; i < questions.size(); ++i) try {
      options.prompt = questions[i].prompt;
      check_prompt(options, model);
    } catch (const Error& e) {
      throw Error(e.code(), fmt::format("task {}, question {}: {}", task, i + 1, e.what()), e.hint());
    }
}

}  // namespace

std::string to_plan(const Evaluation& e) {
  ordered_json questions = ordered_json::array();
  for (const Question& question : e.questions) {
    questions.push_back({{"prompt", question.prompt}});
    if (question.answer) questions.back()["answer"] = *question.answer;
  }
  return ordered_json{{"task", e.task},
                      {"samples", e.samples},
                      {"options", ordered_json::parse(to_config(e.options))},
                      {"files", e.files},
                      {"questions", std::move(questions)}}
      .dump();
}

GenerateOptions repeated(GenerateOptions options, int repeat) {
  constexpr std::uint64_t kSeedsApart = 1'000'000'000;  // more than an evaluation has texts
  options.seed += static_cast<std::uint64_t>(repeat) * kSeedsApart;
  return options;
}

Evaluation plan_evaluation(std::string task, std::vector<Question> questions, int samples, GenerateOptions options,
                           Runner& runner) {
  constexpr std::size_t kMost = 10'000'000;
  if (questions.size() * static_cast<std::size_t>(samples) > kMost)
    throw Error(ErrorCode::invalid_request,
                fmt::format("{} questions of {} samples are more than {} texts", questions.size(), samples, kMost));
  if (options.max_seconds)
    throw Error(ErrorCode::invalid_request, "max-seconds makes texts depend on the machine, so they cannot be kept",
                "limit the work with --max-forwards or --budget");
  options = runner.settled(std::move(options));
  check_questions(task, questions, options, *runner.model(options.model));
  std::string files = runner.files_mark(options);
  return {std::move(task), samples, std::move(options), std::move(files), std::move(questions)};
}

std::vector<GenerateOptions> items_of(const Evaluation& evaluation) {
  std::vector<GenerateOptions> items;
  GenerateOptions item = evaluation.options;
  for (const Question& question : evaluation.questions) {
    item.prompt = question.prompt;
    for (int sample = 0; sample < evaluation.samples; ++sample) {
      items.push_back(item);
      ++item.seed;
    }
  }
  return items;
}

Evaluation evaluation_of(const StoredRun& run) try {
  if (run.name != kName)
    throw Error(ErrorCode::invalid_request, fmt::format("run {} is a {}, expected an eval", run.id, run.name));
  const json plan = json::parse(run.plan);
  Evaluation e{.task = plan.at("task"), .samples = plan.at("samples"), .files = plan.at("files")};
  e.options = from_config(plan.at("options").dump(), fmt::format("run {}", run.id));
  for (const json& question : plan.at("questions"))
    e.questions.push_back({question.at("prompt"), question.contains("answer")
                                                      ? std::optional(question.at("answer").get<std::string>())
                                                      : std::nullopt});
  const bool sound = e.samples > 0 && !e.questions.empty() && e.options.method && e.options.particles &&
                     e.options.preset &&
                     static_cast<std::size_t>(run.items) == e.questions.size() * static_cast<std::size_t>(e.samples);
  if (!sound) throw Error(ErrorCode::invalid_request, fmt::format("run {}: its plan makes no sense", run.id));
  return e;
} catch (const json::exception& e) {
  throw Error(ErrorCode::invalid_request, fmt::format("run {}: its plan cannot be read: {}", run.id, e.what()));
}

StoredRun begin(RunStore& store, const Evaluation& evaluation) {
  const auto items = static_cast<int>(evaluation.questions.size()) * evaluation.samples;
  return store.begin(kName, to_plan(evaluation), items);
}

std::vector<Text> texts_of(const StoredRun& run, const RunStore& store) {
  std::vector<Text> texts;
  for (const auto& [number, item] : store.items(run))
    texts.push_back({.result = result_from_json(item.result),
                     .seconds = item.effort.seconds,
                     .forwards_run = item.effort.forwards_run,
                     .rewards_run = item.effort.rewards_run});
  if (static_cast<int>(texts.size()) < run.items)
    throw Error(ErrorCode::invalid_request, fmt::format("run {} has {} of {} texts", run.id, texts.size(), run.items),
                "give the command that began it again: it goes on where it was");
  return texts;
}

}  // namespace pgdlm
