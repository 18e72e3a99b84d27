#include "cli/adder.h"
#include "cli/help.h"

namespace pgdlm::cli {
namespace {

// CLI11 would take "[a, b]" in a list of arguments for two: so it gets the first text, and the others are extras.
void add_texts(Adder add, TextsOptions& input) {
  const auto first = [&input](const std::string& text) { input.texts.push_back(text); };
  add.command.add_option_function<std::string>("TEXT", first, "a text; others may follow");
  add({"file", "-f", "a file of texts instead, one per line; - is standard input", "FILE"}, input.file);
}

void add_score(CLI::App& app, ScoreOptions& options) {
  CLI::App* score = app.add_subcommand("score", "Score texts with a reward.");
  Adder add{*score, "Options"};
  add_texts(add, options.input);
  add({"reward", "", "as for generate: sentiment:positive, prm, 0.7*sentiment:positive + 0.3*cola, regex:/.../, ...",
       "EXPRESSION", kPlus},
      options.reward);
  add({"prompt", "-p", "what the texts answer, for a process reward"}, options.prompt);
  add({"jsonl", "", "texts with their prompts: a file of lines {\"text\": ..., \"prompt\": ...}", "FILE"},
      options.jsonl);
  add({"json", "", "print one JSON object per text, with all labels or steps"}, options.json);
  add_patience(add, options.reward_patience);
  add_device_options(add, options.model);
  score->footer(kScoreFooter);
}

void add_perplexity(CLI::App& app, PerplexityOptions& options) {
  CLI::App* perplexity = app.add_subcommand("perplexity", "Measure how well a denoiser knows texts.");
  Adder add{*perplexity, "Options"};
  add_texts(add, options.input);
  add({"model", "-m",
       "the denoiser: toy, a GGUF file, or a name that `pgdlm models` lists ($PGDLM_MODEL or mdlm-nano)"},
      options.model);
  add({"draws", "", "random ways of hiding tokens, averaged for each text (8)"}, options.draws);
  add({"seed", "", "same seed, same figures, whatever the batch (0)"}, options.seed);
  add({"json", "", "print one JSON object, with the figures of each text"}, options.json);
  add_device_options(add, options.device);
  perplexity->footer(kPerplexityFooter);
}

void add_judge(CLI::App& app, JudgeOptions& options) {
  CLI::App* judge = app.add_subcommand("judge", "Say what texts are like, by a model that steers nothing.");
  judge->add_option("NAME", options.name, "a judge that --list lists, or the path of its JSON file");
  Adder add{*judge, "Options"};
  add_texts(add, options.input);
  add({"json", "", "print one JSON object, with the log-odds of each text"}, options.json);
  add({"list", "", "list the judges and their labels"}, options.list);
  judge->footer(kJudgeFooter);
}

void add_eval(CLI::App& app, EvalOptions& options) {
  CLI::App* eval = app.add_subcommand("eval", "Ask a model all questions of a task and count what it cost.");
  eval->add_option("TASK", options.task, "math, control, ...: what --list lists, or a file of JSON lines");
  visit_options(options.generate, Except{{*eval, ""}, {"prompt", "infill", "messages"}});
  Adder add{*eval, "Run"};
  add({"samples", "", "texts for each question (1)"}, options.samples);
  add({"repeats", "", "all of it so many times with other seeds; sd is the standard deviation over them (1)"},
      options.repeats);
  add({"limit", "", "so many of the questions, from the first on (0: all)"}, options.limit);
  add({"store", "", "where finished texts are kept (pgdlm-runs.db)", "FILE"}, options.store);
  add({"json", "", "print one JSON object instead of a table"}, options.json);
  add({"list", "", "list the tasks that have names"}, options.list);
  add_patience(add, options.reward_patience);
  add_device_options(add, options.model);
  eval->footer(kEvalFooter);
}

void add_study(CLI::App& app, StudyOptions& options) {
  CLI::App* study = app.add_subcommand("study", "Ask in many ways, and draw what came of it.");
  study->add_option("STUDY", options.study, "math, control, ...: what --list lists, or the path of a JSON file");
  Adder add{*study, "Run"};
  add({"full", "", "the paper's sizes instead of those that fit an hour or two"}, options.full);
  add({"dry-run", "", "print the plan, its expected forwards and time, and do nothing"}, options.dry_run);
  add({"limit", "", "so many of the questions, from the first on, whatever the study says"}, options.limit);
  add({"samples", "", "texts for each question, whatever the study says"}, options.samples);
  add({"repeats", "", "so many seeds, whatever the study says"}, options.repeats);
  add({"store", "", "where finished texts are kept (pgdlm-runs.db)", "FILE"}, options.store);
  add({"allow-exec", "", "run the programs and ask the servers that the study's rewards name"}, options.allow_exec);
  add({"traces", "", "in the end, write a trace of the first text of each cell into this folder", "FOLDER"},
      options.traces);
  add({"list", "", "list the studies that have names"}, options.list);
  add_patience(add, options.reward_patience);
  add_device_options(add, options.model);
  study->footer(kStudyFooter);
}

void add_report(CLI::App& app, ReportOptions& options) {
  CLI::App* report = app.add_subcommand("report", "Make one HTML page of the studies in a store.");
  report->add_option("STUDY", options.studies, "names of studies; all that are finished, if none is given");
  Adder add{*report, "Options"};
  add({"out", "", "the page (report.html)", "FILE"}, options.out);
  add({"csv", "", "also write every figure of every cell here", "FILE"}, options.csv);
  add({"csv-texts", "", "and the figures of every text here", "FILE"}, options.texts);
  add({"figures", "", "also write the figures into this folder, as STUDY-1.svg, STUDY-2.svg, ...", "FOLDER"},
      options.figures);
  add({"traces", "", "link the traces that study --traces has written into this folder", "FOLDER"}, options.traces);
  add({"store", "", "a file that study has written (pgdlm-runs.db)", "FILE"}, options.store);
  report->footer(kReportFooter);
}

void add_runs(CLI::App& app, RunsOptions& options) {
  CLI::App* runs = app.add_subcommand("runs", "List what a store holds, compare it, write it out.");
  runs->require_subcommand(0, 1);
  runs->footer(kRunsFooter);
  const auto add_store = [&](CLI::App& command) {
    Adder{command, "Options"}({"store", "", "a file that eval or study has written (pgdlm-runs.db)", "FILE"},
                              options.store);
  };
  add_store(*runs);
  const auto add = [&](const char* name, const char* what) {
    CLI::App* command = runs->add_subcommand(name, what);
    command->formatter(app.get_formatter());
    command->footer(kRunsFooter);
    command->add_option("RUN", options.ids, "a number that `pgdlm runs` lists; compare takes two");
    add_store(*command);
    return command;
  };
  CLI::App* out = add("export", "Print every text of a run, with its figures.");
  Adder{*out, "Options"}({"format", "", "csv or jsonl (csv)"}, options.format);
  add("compare", "Print what one run gives more than another.");
}

void check_task(const Invocation& in) {
  const EvalOptions& eval = in.eval;
  check_patience(eval.reward_patience);
  if (eval.samples < 1) bad_value("samples", std::to_string(eval.samples), "at least 1");
  if (eval.repeats < 1) bad_value("repeats", std::to_string(eval.repeats), "at least 1");
  if (eval.limit < 0) bad_value("limit", std::to_string(eval.limit), "0 (all) or more");
  check_threads(eval.model);
  if (in.verb == Verb::eval && eval.task.empty() && !eval.list)
    throw Error(ErrorCode::invalid_request, "TASK is missing", "pgdlm eval --list lists the tasks that have names");
}

void check_study(const Invocation& in) {
  const StudyOptions& study = in.study;
  check_patience(study.reward_patience);
  if (study.limit && *study.limit < 0) bad_value("limit", std::to_string(*study.limit), "0 (all) or more");
  if (study.samples && *study.samples < 1) bad_value("samples", std::to_string(*study.samples), "at least 1");
  if (study.repeats && *study.repeats < 1) bad_value("repeats", std::to_string(*study.repeats), "at least 1");
  check_threads(study.model);
  if (in.verb == Verb::study && study.study.empty() && !study.list)
    throw Error(ErrorCode::invalid_request, "STUDY is missing", "pgdlm study --list lists the studies that have names");
}

}  // namespace

void add_eval_commands(CLI::App& app, Invocation& in) {
  add_score(app, in.score);
  add_perplexity(app, in.perplexity);
  add_judge(app, in.judge);
  add_eval(app, in.eval);
  add_study(app, in.study);
  add_report(app, in.report);
  add_runs(app, in.runs);
}

void check_eval_commands(const Invocation& in) {
  check_task(in);
  check_study(in);
  if (in.runs.format != "csv" && in.runs.format != "jsonl") bad_value("format", in.runs.format, "csv, jsonl");
  constexpr int kMostDraws = 100'000;
  if (in.perplexity.draws < 1 || in.perplexity.draws > kMostDraws)
    bad_value("draws", std::to_string(in.perplexity.draws), fmt::format("1 to {}", kMostDraws));
  check_threads(in.perplexity.device);
  check_patience(in.score.reward_patience);
  check_threads(in.score.model);
  if (in.verb == Verb::score && in.score.reward.empty())
    throw Error(ErrorCode::invalid_request, "reward is missing", "name one: --reward sentiment:positive");
  if (in.verb == Verb::judge && in.judge.name.empty() && !in.judge.list)
    throw Error(ErrorCode::invalid_request, "NAME is missing", "pgdlm judge --list lists the judges");
}

}  // namespace pgdlm::cli
