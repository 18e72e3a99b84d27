#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <vector>

#include "base/crew.h"
#include "catalog/shelf.h"
#include "cli/adder.h"
#include "cli/help.h"
#include "cli/nearest.h"

namespace pgdlm::cli {

void add_mask_option(Adder add, ModelOptions& model) {
  add({"mask-token", "", "id of the mask, for GGUF files that do not name it", "ID"}, model.mask);
}

void add_model_options(Adder add, ModelOptions& model) {
  add({"device", "", "where a GGUF model runs; `pgdlm devices` lists them (cpu)", "NAME"}, model.device.device);
  add({"rpc", "",
       "run on the first device of a ggml RPC server instead; if the server is lost on the way, this program ends",
       "HOST:PORT"},
      model.device.rpc);
  add({"max-tokens", "", "tokens per forward, which bounds the memory of a batch (4096)"}, model.max_tokens);
  add_mask_option(add, model);
}

void add_device_options(Adder add, ModelOptions& model) {
  add({"threads", "-t", "threads of the CPU device; 0: one for each core (0)"}, model.device.threads);
  add_model_options(add, model);
}

void add_patience(Adder add, double& seconds) {
  add({"reward-patience", "", "seconds to wait for an answer of a program or server that scores (60)"}, seconds);
}

void check_threads(const ModelOptions& options) {
  if (const int threads = options.device.threads; threads < 0)
    bad_value("threads", std::to_string(threads), "0 or more");
}

void check_patience(double seconds) {
  constexpr double kMost = 86'400;
  if (!(seconds > 0 && seconds <= kMost))
    bad_value("reward-patience", fmt::format("{}", seconds), fmt::format("more than 0, at most {} seconds", kMost));
}

namespace {

void add_run_options(Adder add, RunOptions& run) {
  add({"file", "-f", "read the prompt from this file", "FILE"}, run.file);
  add({"n-samples", "", "independent texts with seeds seed, seed + 1, ..., batched together (1)"}, run.n_samples);
  add({"json", "", "print one JSON object instead of the text"}, run.json);
  add({"diffusion-visual", "", "on a terminal, show the most promising canvas while it fills"}, run.visual);
  add({"trace", "", "write every event as a JSON line, for replay and --resume", "FILE"}, run.trace);
  add({"resume", "", "continue an interrupted trace; all other settings come from it", "FILE"}, run.resume);
  add({"allow-exec", "", "with --resume: run the programs and ask the servers that the trace's reward names"},
      run.allow_exec);
  add({"threads", "-t", "threads that compute; 0: one for each core (0)"}, run.model.device.threads);
  add_model_options(add, run.model);
  add_patience(add, run.reward_patience);
  add({"no-memo", "", "compute equal states again; the text is the same"}, run.no_memo);
}

std::vector<std::string> long_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& known,
                         const std::string& otherwise) {
  const auto guess = nearest(typed, known);
  return guess ? fmt::format("did you mean {}?", *guess) : otherwise;
}

// The innermost command that was given: of "runs export" the second.
const CLI::App& given_command(const CLI::App& app) {
  const std::vector<CLI::App*> inner = app.get_subcommands();
  return inner.empty() ? app : given_command(*inner.front());
}

// What CLI11 had no place for: further texts, where a command takes any number of them, or mistakes.
void take_extras(const CLI::App& command, TextsOptions* texts) {
  std::vector<std::string> extras = command.remaining();
  if (extras.empty()) return;
  std::string path = command.get_name();
  for (const CLI::App* outer = command.get_parent(); outer != nullptr; outer = outer->get_parent())
    path = outer->get_name() + " " + path;
  const std::string help = fmt::format("see {} --help", path);
  const auto plain = std::find(extras.begin(), extras.end(), "--");  // behind it nothing is an option
  for (auto extra = extras.begin(); extra != plain; ++extra)
    if (extra->starts_with('-'))
      throw Error(ErrorCode::invalid_request, fmt::format("unknown option {}", *extra),
                  did_you_mean(extra->substr(0, extra->find('=')), long_options(command), help));
  if (plain != extras.end()) extras.erase(plain);
  if (texts == nullptr)
    throw Error(ErrorCode::invalid_request, fmt::format("unexpected argument '{}'", extras[0]),
                command.get_name() == "generate" ? "put a prompt of several words in quotes" : help);
  texts->texts.insert(texts->texts.end(), extras.begin(), extras.end());
}

// What a trace already says must not be said again.
void check_resume(const CLI::App& generate, const RunOptions& run) {
  if (run.resume.empty()) return;
  const std::set<std::string> allowed = {
      "--resume",     "--json",       "--threads",    "--no-memo",         "--device",          "--rpc",
      "--max-tokens", "--mask-token", "--allow-exec", "--reward-patience", "--diffusion-visual"};
  for (const CLI::Option* option : generate.parse_order())
    if (!allowed.contains(option->get_name()))
      throw Error(ErrorCode::invalid_request,
                  fmt::format("resume takes its settings from {}, but {} is given too", run.resume, option->get_name()),
                  "leave it out; only how it is run may change: --json, --threads, --no-memo, --device, ...");
}

void check_run(const RunOptions& run) {
  check_patience(run.reward_patience);
  if (run.n_samples < 1) bad_value("n-samples", std::to_string(run.n_samples), "at least 1");
  check_threads(run.model);
  if (run.n_samples > 1 && !run.trace.empty())
    throw Error(ErrorCode::invalid_request, fmt::format("trace records one text, n-samples is {}", run.n_samples),
                "trace one of them with --seed and without --n-samples");
}

void check_verb(int argc, const char* const* argv, const CLI::App& app) {
  std::vector<std::string> verbs;
  for (const CLI::App* command : app.get_subcommands(nullptr)) verbs.push_back(command->get_name());
  const std::string typed = argc > 1 ? argv[1] : "";
  const std::set<std::string> flags = {"-h", "--help", "--version"};
  if (flags.contains(typed) || std::find(verbs.begin(), verbs.end(), typed) != verbs.end()) return;
  throw Error(ErrorCode::invalid_request, fmt::format("command is '{}', allowed: {}", typed, fmt::join(verbs, ", ")),
              did_you_mean(typed, verbs, "see pgdlm --help"));
}

// CLI11's words for a missing or repeated value ("--beta: 1 required X missing") in ours.
Error mismatch(const CLI::ArgumentMismatch& e) {
  const std::string what = e.what(), name = what.substr(0, what.find(':'));
  const bool missing = what.find("missing") != std::string::npos;
  return Error(ErrorCode::invalid_request, name + (missing ? " needs a value" : " is given more than once"));
}

Verb parsed_verb(const CLI::App& app) {
  const std::string name = app.get_subcommands().front()->get_name();
  if (name == "generate") return Verb::generate;
  if (name == "replay") return Verb::replay;
  if (name == "forward") return Verb::forward;
  if (name == "tokenize") return Verb::tokenize;
  if (name == "convert") return Verb::convert;
  if (name == "devices") return Verb::devices;
  if (name == "bench") return Verb::bench;
  if (name == "score") return Verb::score;
  if (name == "perplexity") return Verb::perplexity;
  if (name == "judge") return Verb::judge;
  if (name == "eval") return Verb::eval;
  if (name == "study") return Verb::study;
  if (name == "report") return Verb::report;
  if (name == "serve") return Verb::serve;
  if (name == "runs") {
    const std::vector<CLI::App*> inner = app.get_subcommands().front()->get_subcommands();
    return inner.empty() ? Verb::runs : inner.front()->get_name() == "export" ? Verb::runs_export : Verb::runs_compare;
  }
  if (name == "models") return app.get_subcommands().front()->get_subcommands().empty() ? Verb::models : Verb::info;
  return Verb::version;
}

void add_convert(CLI::App& app, ConvertOptionsText& options) {
  CLI::App* convert = app.add_subcommand("convert", "Make a GGUF file of a Hugging Face folder.");
  convert->add_option("DIR", options.dir, "a folder with config.json, weights (safetensors or .bin) and a tokeniser")
      ->required();
  convert->add_option("OUT", options.out, "the GGUF file to write")->required();
  Adder add{*convert, "Options"};
  add({"type", "", "of the matrices: f32, f16, bf16, q8_0, q4_k, ... (f16)", "TYPE"}, options.type);
  add({"tokenizer", "", "take the tokeniser's files from this folder (DIR)", "FOLDER"}, options.tokenizer);
  convert->footer(kConvertFooter);
}

void add_models(CLI::App& app, InfoOptions& options) {
  CLI::App* models = app.add_subcommand("models", "List the models, their words and their rewards.");
  models->footer(kModelsFooter);
  CLI::App* info = models->add_subcommand("info", "Say what a GGUF file is: sizes, types, tokeniser, defaults.");
  info->add_option("FILE", options.file, "a GGUF file, or a name that `pgdlm models` lists")->required();
  add_mask_option({*info, "Options"}, options.model);
  info->formatter(app.get_formatter());
  info->footer(kModelsFooter);
}

void add_forward(CLI::App& app, ForwardOptions& options) {
  CLI::App* forward = app.add_subcommand("forward", "Write what the network itself says of rows of tokens, as .npy.");
  forward->add_option("FILE", options.file, "a GGUF file, or a name that `pgdlm models` lists")->required();
  forward->add_option("--ids", options.ids, "a row of token ids, comma-separated; may be repeated")
      ->required()
      ->allow_extra_args(false)  // the word after it may be FILE
      ->type_name("ID,ID,...")
      ->group("Options");
  Adder add{*forward, "Options"};
  add({"out", "", "row i is written to OUT.i.npy", "OUT"}, options.out);
  add_device_options(add, options.model);
  forward->footer(kForwardFooter);
}

void add_tokenize(CLI::App& app, TokenizeOptions& options) {
  CLI::App* tokenize = app.add_subcommand("tokenize", "Print the tokens of a text: ids and pieces.");
  tokenize->add_option("FILE", options.file, "a GGUF file, or a name that `pgdlm models` lists")->required();
  tokenize->add_option("TEXT", options.text, "the text")->required();
  Adder add{*tokenize, "Options"};
  add({"special", "", "add what the model expects around a text, and read markers such as <mask> in it"},
      options.special);
  add({"ids", "", "print the ids alone, comma-separated, as forward takes them"}, options.ids);
  tokenize->footer(kTokenizeFooter);
}

void add_bench(CLI::App& app, BenchOptions& options) {
  CLI::App* bench = app.add_subcommand("bench", "Measure this machine.");
  bench->require_subcommand(1);
  bench->footer(kBenchFooter);
  CLI::App* speed = bench->add_subcommand("forward", "Positions and GFLOP per second, beside the machine's own peak.");
  speed->formatter(app.get_formatter());
  speed->footer(kBenchFooter);
  speed->add_option("FILE", options.file, "a GGUF file, or a name that `pgdlm models` lists")->required();
  Adder add{*speed, "Options"};
  add({"batch", "", "rows per forward (1,4,16)"}, options.batches);
  add({"length", "", "tokens per row (32,128)"}, options.lengths);
  add({"repeats", "", "of each measurement (5)"}, options.repeats);
  add_device_options(add, options.model);
}

TextsOptions* texts_of(Invocation& in) {
  switch (in.verb) {
    case Verb::score: return &in.score.input;
    case Verb::perplexity: return &in.perplexity.input;
    case Verb::judge: return &in.judge.input;
    default: return nullptr;
  }
}

}  // namespace

int threads_of(const ModelOptions& options) {
  return options.device.threads > 0 ? options.device.threads : usable_cores();
}

Invocation parse_command_line(int argc, const char* const* argv) {
  Invocation in;
  in.generate.model = in.eval.generate.model = in.perplexity.model = default_model();
  CLI::App app("pgdlm: particle Gibbs and SMC for diffusion language models", "pgdlm");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", "pgdlm " PGDLM_VERSION);
  app.require_subcommand(1);
  app.footer(kProgramFooter);

  CLI::App* generate = app.add_subcommand("generate", "Steer a model towards a reward and print the text.");
  visit_options(in.generate, Adder{*generate, ""});
  add_run_options({*generate, "Run"}, in.run);
  generate->footer(kGenerateFooter);
  CLI::App* replay = app.add_subcommand("replay", "Play a trace: weights, ESS and the best canvas, stage by stage.");
  replay->add_option("FILE", in.replay.file, "a file written by generate --trace")->required();
  Adder{*replay, "Options"}({"delay", "", "milliseconds per stage on a terminal (60)"}, in.replay.delay_ms);
  replay->footer(kReplayFooter);
  add_models(app, in.info);
  add_convert(app, in.convert);
  add_forward(app, in.forward);
  add_tokenize(app, in.tokenize);
  add_bench(app, in.bench);
  add_eval_commands(app, in);
  add_serve_command(app, in.serve);
  app.add_subcommand("devices", "List the devices a GGUF model can run on.");
  app.add_subcommand("version", "Print the version.");
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    command->allow_extras();
    for (CLI::App* inner : command->get_subcommands(nullptr)) inner->allow_extras();
  }

  check_verb(argc, argv, app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help, --version
    app.exit(help);
    return in;
  } catch (const CLI::ArgumentMismatch& e) {
    throw mismatch(e);
  } catch (const CLI::ParseError& e) {
    throw Error(ErrorCode::invalid_request, e.what(), "see pgdlm --help");
  }
  in.verb = parsed_verb(app);
  take_extras(given_command(app), texts_of(in));
  if (in.verb == Verb::forward && in.forward.out.empty())
    throw Error(ErrorCode::invalid_request, "out is missing", "say where to write: --out logits");
  check_run(in.run);
  check_eval_commands(in);
  check_serve_command(in.serve);
  check_resume(*generate, in.run);
  if (!in.run.file.empty() && generate->get_option("--prompt")->count() > 0)
    throw Error(ErrorCode::invalid_request, "file and prompt both say how the text begins", "give one of them");
  return in;
}

}  // namespace pgdlm::cli
