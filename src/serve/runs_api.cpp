#include "serve/runs_api.h"

#include <map>
#include <system_error>

#include <fmt/format.h>

#include "catalog/shelf.h"
#include "eval/evaluation.h"
#include "eval/store.h"
#include "eval/study_run.h"
#include "eval/study_view.h"
#include "events/json.h"
#include "events/reader.h"
#include "pgdlm/error.h"
#include "serve/api_error.h"
#include "text/text_file.h"

namespace pgdlm::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::map<std::string, fs::path> find_traces(const Archive& archive) {
  std::vector<fs::path> folders;
  if (!archive.traces.empty()) folders.push_back(archive.traces);
  if (const auto results = results_of_source_tree()) folders.push_back(*results / "traces");
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : folders) {
    std::error_code failed;
    for (auto entry = fs::directory_iterator(folder, failed); !failed && entry != fs::directory_iterator();
         entry.increment(failed))
      if (entry->path().extension() == ".jsonl") found.emplace(entry->path().stem().string(), entry->path());
  }
  return found;
}

bool has_store(const Archive& archive) {
  std::error_code ignored;
  return !archive.store.empty() && fs::is_regular_file(archive.store, ignored);
}

std::string what_of(const StoredRun& run) {
  try {
    return run.name == "eval" ? "eval " + evaluation_of(run).task : describe_study_run(run);
  } catch (const Error& e) {  // of another version; the others are still of use
    return e.what();
  }
}

// The texts of all tokens that a trace names, if its model is served here.
ordered_json pieces_of(const Trace& trace, const LanguageModel& language) {
  ordered_json pieces = ordered_json::object();
  const auto add = [&](Token token) {
    const std::string key = std::to_string(token);
    if (!pieces.contains(key)) pieces[key] = language.piece(token);
  };
  for (const Event& event : trace.events) {
    if (const auto* started = std::get_if<RunStarted>(&event))
      for (const Token token : started->canvas) add(token);
    if (const auto* edited = std::get_if<Edited>(&event))
      for (const TimedEdit& timed : edited->edits) add(timed.edit.token);
  }
  return pieces;
}

}  // namespace

ordered_json traces_in(const Archive& archive) {
  ordered_json list = ordered_json::array();
  for (const auto& [name, path] : find_traces(archive)) {
    std::error_code ignored;
    list.push_back({{"name", name}, {"bytes", fs::file_size(path, ignored)}});
  }
  return list;
}

ordered_json studies_in(const Archive& archive) {
  ordered_json list = ordered_json::array();
  if (!has_store(archive)) return list;
  const RunStore store(archive.store, RunStore::Access::read);
  for (const StoredRun& run : store.runs())
    list.push_back({{"id", run.id},
                    {"name", run.name},
                    {"done", run.done},
                    {"items", run.items},
                    {"begun", run.begun},
                    {"what", what_of(run)}});
  return list;
}

std::string trace_json(const std::string& name, const Archive& archive, Models& models) {
  const std::map<std::string, fs::path> traces = find_traces(archive);
  const auto found = traces.find(name);
  if (found == traces.end())
    throw ApiError(404, fmt::format("there is no trace '{}' here", name), "", "trace_not_found");
  const Trace trace = read_trace(found->second);
  ordered_json reply = {{"name", name}, {"pieces", ordered_json::object()}, {"mask", nullptr}};
  const ordered_json config = ordered_json::parse(std::get<RunStarted>(trace.events.front()).config);
  try {
    const auto model = models.open(config.value("model", std::string()));
    reply["pieces"] = pieces_of(trace, *model->language());
    reply["mask"] = model->language()->mask();
  } catch (const ApiError&) {  // the model is not served here: tokens stay numbers
  }
  ordered_json events = ordered_json::array();
  for (std::size_t i = 0; i < trace.events.size(); ++i)
    events.push_back(ordered_json::parse(to_json_line(trace.events[i], static_cast<std::int64_t>(i))));
  reply["events"] = std::move(events);
  return reply.dump();
}

std::string report_page(const Archive& archive) {
  std::vector<FinishedStudy> studies;
  if (has_store(archive)) {
    const RunStore store(archive.store, RunStore::Access::read);
    for (const auto& [name, run] : finished_studies(store)) try {
        studies.push_back(read_finished(run, store));
      } catch (const Error&) {  // of another version
        continue;
      }
  }
  if (!studies.empty()) return html_report(studies, "this server");
  const auto results = results_of_source_tree();
  if (!results) throw ApiError(404, fmt::format("there are no finished studies in '{}'", archive.store.string()));
  return read_text_file((*results / "report.html").string(), "report");
}

}  // namespace pgdlm::serve
