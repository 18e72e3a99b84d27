// argv to options, with CLI11. Every mistake is an Error{invalid_request}; no other side effect than --help's text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/texts.h"
#include "models/model.h"
#include "options/options.h"

namespace pgdlm::cli {

enum class Verb {
  help,
  generate,
  replay,
  models,
  info,
  forward,
  tokenize,
  convert,
  devices,
  bench,
  score,
  perplexity,
  judge,
  eval,
  study,
  report,
  serve,
  runs,
  runs_export,
  runs_compare,
  version
};  // help: has been printed

// How `generate` is run.
struct RunOptions {
  std::string file;   // the prompt is read from here
  int n_samples = 1;  // seeds seed, seed + 1, ...
  bool json = false;
  bool visual = false;  // the canvas as it fills, on a terminal
  std::string trace, resume;
  bool allow_exec = false;  // a resumed trace may start programs
  bool no_memo = false;
  ModelOptions model;           // how a GGUF file is loaded
  double reward_patience = 60;  // seconds for an answer of a program or server
};

struct ReplayOptions {
  std::string file;
  int delay_ms = 60;  // on a terminal, per weighing
};

struct InfoOptions {
  std::string file;
  ModelOptions model;
};

struct ForwardOptions {
  std::string file;
  std::vector<std::string> ids;  // one text of comma-separated ids per row
  std::string out;               // prefix of the files written
  ModelOptions model;
};

struct TokenizeOptions {
  std::string file, text;
  bool special = false;  // with what the model expects around a text, and markers in the text taken as such
  bool ids = false;      // the ids alone, comma-separated
};

struct BenchOptions {
  std::string file;
  std::vector<int> batches = {1, 4, 16}, lengths = {32, 128};
  int repeats = 5;
  ModelOptions model;
};

struct ConvertOptionsText {
  std::string dir, out, type = "f16";
  std::string tokenizer;  // a folder; empty: dir
};

struct ScoreOptions {
  std::string reward, prompt;
  TextsOptions input;
  std::string jsonl;  // a file, instead of input and prompt
  bool json = false;
  ModelOptions model;
  double reward_patience = 60;
};

struct PerplexityOptions {
  std::string model;
  TextsOptions input;
  int draws = 8;  // per text
  std::uint64_t seed = 0;
  bool json = false;
  ModelOptions device;  // how a GGUF file is loaded
};

struct JudgeOptions {
  std::string name;
  TextsOptions input;
  bool json = false;
  bool list = false;  // instead of judging
};

struct EvalOptions {
  std::string task;
  GenerateOptions generate;  // but for prompt and infill
  int samples = 1;           // of each question
  int repeats = 1;           // of all that, with other seeds
  int limit = 0;             // questions; 0: all
  std::string store = "pgdlm-runs.db";
  bool json = false;
  bool list = false;  // the tasks there are, instead of running one
  ModelOptions model;
  double reward_patience = 60;
};

struct StudyOptions {
  std::string study;
  bool full = false, dry_run = false;
  bool allow_exec = false;                     // the study may start programs
  std::optional<int> limit, samples, repeats;  // instead of the study's
  std::string store = "pgdlm-runs.db";
  std::string traces;  // a folder; empty: none are written
  bool list = false;   // the studies there are, instead of running one
  ModelOptions model;
  double reward_patience = 60;
};

struct ReportOptions {
  std::vector<std::string> studies;  // none: all
  std::string store = "pgdlm-runs.db", out = "report.html", csv, texts, figures, traces;
};

struct ServeOptions {
  std::string host = "127.0.0.1";
  int port = 8080;
  std::vector<std::string> models;  // none: all there are
  GenerateOptions generate;         // what a request does not say
  std::string api_key;
  std::vector<std::string> allow_origin;
  int parallel = 64, queue = 256;
  int limit_tokens = 4096, limit_particles = 256;
  std::int64_t limit_forwards = 1'000'000;
  double limit_seconds = 600;
  int max_body_mb = 8;
  double patience = 30, grace = 10;
  std::string traces, store = "pgdlm-runs.db";
  bool allow_exec = false;
  ModelOptions model;
  double reward_patience = 60;
};

struct RunsOptions {
  std::string store = "pgdlm-runs.db";
  std::string format = "csv";    // of export: csv or jsonl
  std::vector<std::string> ids;  // of export: one; of compare: two
};

struct Invocation {
  Verb verb = Verb::help;
  GenerateOptions generate;
  RunOptions run;
  ReplayOptions replay;
  InfoOptions info;
  ForwardOptions forward;
  TokenizeOptions tokenize;
  ConvertOptionsText convert;
  BenchOptions bench;
  ScoreOptions score;
  PerplexityOptions perplexity;
  JudgeOptions judge;
  EvalOptions eval;
  StudyOptions study;
  ReportOptions report;
  ServeOptions serve;
  RunsOptions runs;
};

int threads_of(const ModelOptions& options);  // as given, or one for each core

Invocation parse_command_line(int argc, const char* const* argv);

}  // namespace pgdlm::cli
