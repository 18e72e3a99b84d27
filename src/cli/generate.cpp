#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "cli/answer_text.h"
#include "cli/canvas_view.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/notes.h"
#include "cli/trace_file.h"
#include "events/reader.h"
#include "options/config.h"
#include "options/process.h"
#include "options/request.h"
#include "pgdlm/engine.h"
#include "rewards/open_reward.h"
#include "text/text_file.h"
#include "text/utf8.h"

namespace pgdlm::cli {
namespace {

// The newline that editors put at the end is not meant.
std::string read_prompt(const std::string& path) {
  std::string text = read_text_file(path, "file");
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text != valid_utf8(text))
    throw Error(ErrorCode::invalid_request, fmt::format("file '{}' is no text: expected UTF-8", path));
  return text;
}

// One text that was asked for, and what became of it.
struct Sample {
  Request request;
  Ticket ticket = 0;
  std::vector<EventSink*> listeners;
  TeeSink events{{}};
  std::exception_ptr error;
  Answer answer;
};

// A run as it is set up from the command line or from a trace.
struct Job {
  GenerateOptions options;
  Recording recorded;
  std::size_t known_events = 0;  // in the trace to be resumed
  std::string trace;             // file, may be empty
};

Job new_job(GenerateOptions options, const RunOptions& run) {
  if (!run.file.empty()) options.prompt = read_prompt(run.file);
  return {.options = std::move(options), .trace = run.trace};
}

// A trace is data that people pass on: it runs no program and asks no server unless the user says so.
void check_commands(const GenerateOptions& options, const RunOptions& run) {
  if (run.allow_exec || !reaches_outside(options.reward)) return;
  throw Error(ErrorCode::invalid_request,
              fmt::format("resume: the reward in '{}' runs a program or asks a server: {}", run.resume, options.reward),
              "if you trust it, add --allow-exec");
}

Job resumed_job(const std::string& path) {
  const Trace trace = read_trace(path);
  const auto* started = trace.events.empty() ? nullptr : std::get_if<RunStarted>(&trace.events.front());
  if (started == nullptr)
    throw Error(ErrorCode::invalid_request, fmt::format("resume: '{}' does not begin with run_started", path),
                "a trace is written by generate --trace");
  const auto* ending = std::get_if<RunFinished>(&trace.events.back());
  if (ending != nullptr && ending->status == name_of(Status::budget_spent))
    throw Error(ErrorCode::invalid_request, fmt::format("resume: the run in '{}' has finished: budget_spent", path),
                "look at it with pgdlm replay, or start a new run with a larger budget");
  const bool finished = ending != nullptr;
  const std::size_t endings = finished ? 2 : 0;  // spent, run_finished: of a cancelled run they come too early
  return {.options = from_config(started->config, path),
          .recorded = recording_of(trace),
          .known_events = trace.events.size() - std::min(endings, trace.events.size() - 1),
          .trace = path};
}

ProgressOptions progress(const GenerateOptions& options) {
  const bool fixed = *options.method == Method::particle_gibbs;
  const bool extra = fixed && *options.start != Start::smc;  // the first reference has a sweep of its own
  return {.tty = isatty(STDERR_FILENO) == 1,
          .steps = *options.diffusion_steps,
          .sweeps = *options.method == Method::particle_gibbs_adaptive ? 0
                    : fixed                                            ? *options.iterations + extra
                                                                       : 1};
}

std::vector<Sample> make_samples(const Job& job, const RunOptions& run, const LanguageModel& model,
                                 const std::shared_ptr<Reward>& reward) {
  std::vector<Sample> samples(run.n_samples);
  GenerateOptions options = job.options;
  for (Sample& sample : samples) {
    sample.request = make_request(options, model, reward);
    sample.request.trace = !job.trace.empty();
    sample.request.live = run.visual && &sample == &samples.front();
    sample.request.recorded = job.recorded;
    ++options.seed;
  }
  return samples;
}

void submit(Engine& engine, std::vector<Sample>& samples) {
  for (Sample& sample : samples) {
    sample.events = TeeSink(sample.listeners);
    sample.ticket = engine.submit(std::move(sample.request), sample.events,
                                  [&sample](Ticket, std::exception_ptr error, Answer answer) {
                                    sample.error = std::move(error);
                                    sample.answer = std::move(answer);
                                  });
  }
}

void print(const std::vector<Answer>& answers, const GenerateOptions& options, const LanguageModel& model, bool json) {
  if (json) {
    fmt::print("{}\n", json_report(answers, options, model));
    return;
  }
  for (const Answer& answer : answers) {
    fmt::print("{}\n", model.read(answer.tokens, answer.prompt).text);
    std::fflush(stdout);  // the text before its summary, also when both go to one file
    fmt::print(stderr, "{}", summary(answer, options));
  }
}

}  // namespace

int generate(GenerateOptions given, const RunOptions& run) {
  Job job = run.resume.empty() ? new_job(std::move(given), run) : resumed_job(run.resume);
  if (!run.resume.empty()) check_commands(job.options, run);
  Interrupt interrupt;
  const std::shared_ptr<const LanguageModel> opened = open_language_model(job.options.model, run.model);
  const LanguageModel& model = *opened;
  const std::shared_ptr<Reward> reward =
      open_reward(job.options.reward, opened, {.models = run.model, .patience = run.reward_patience});
  if (run.resume.empty()) note_without_effect(without_effect(job.options, model.defaults(), reward.get()));
  job.options = settled(std::move(job.options), model.defaults(), reward.get());
  std::vector<Sample> samples = make_samples(job, run, model, reward);

  const int threads = threads_of(run.model);
  Engine engine(make_denoiser(job.options, model), {.threads = threads, .memo = !run.no_memo});
  const ProgressOptions shown = progress(job.options);
  TerminalSink line(std::cerr, shown);
  CanvasSink canvas(std::cerr, shown, model, terminal_size());
  samples.front().listeners.push_back(run.visual ? static_cast<EventSink*>(&canvas) : &line);
  TraceFile trace(job.trace, job.known_events);
  if (!job.trace.empty()) samples.front().listeners.push_back(&trace);

  submit(engine, samples);  // refuses what is not valid
  if (!job.trace.empty()) trace.open();
  interrupt.watch([&] {
    for (const Sample& sample : samples) engine.cancel(sample.ticket);
  });
  engine.run_until_idle();

  std::vector<Answer> answers;
  std::exception_ptr error;
  bool cancelled = false;
  for (Sample& sample : samples) {
    if (sample.error && !error) error = sample.error;
    if (sample.error) continue;
    cancelled = cancelled || sample.answer.status == Status::cancelled;
    answers.push_back(std::move(sample.answer));
  }
  if (!answers.empty()) print(answers, job.options, model, run.json);
  if (error) std::rethrow_exception(error);  // what is finished is not lost
  return interrupt.pressed() && cancelled ? kExitInterrupted : 0;
}

}  // namespace pgdlm::cli
