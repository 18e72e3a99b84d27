// pgdlm, the program: parses, runs one command, and maps every error to a message and an exit code.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "cli/commands.h"
#include "cli/printable.h"
#include "options/wording.h"
#include "pgdlm/error.h"

namespace pgdlm::cli {
namespace {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_request:
    case ErrorCode::unsupported: return 2;
    case ErrorCode::cancelled: return 130;
    case ErrorCode::bad_model:
    case ErrorCode::exhausted:
    case ErrorCode::internal: return 1;
  }
  return 1;
}

int run(int argc, const char* const* argv) {
  const Invocation in = parse_command_line(argc, argv);
  switch (in.verb) {
    case Verb::help: return 0;
    case Verb::generate: return generate(in.generate, in.run);
    case Verb::replay: return replay(in.replay);
    case Verb::models: return models();
    case Verb::info: return models_info(in.info);
    case Verb::forward: return forward(in.forward);
    case Verb::tokenize: return tokenize(in.tokenize);
    case Verb::convert: return convert(in.convert);
    case Verb::devices: return devices();
    case Verb::bench: return bench_forward(in.bench);
    case Verb::score: return score(in.score);
    case Verb::perplexity: return perplexity(in.perplexity);
    case Verb::judge: return judge(in.judge);
    case Verb::eval: return eval(in.eval);
    case Verb::study: return study(in.study);
    case Verb::report: return report(in.report);
    case Verb::serve: return serve(in.serve);
    case Verb::runs: return runs(in.runs);
    case Verb::runs_export: return runs_export(in.runs);
    case Verb::runs_compare: return runs_compare(in.runs);
    case Verb::version: fmt::print("pgdlm {}\n", PGDLM_VERSION); return 0;
  }
  return 1;
}

}  // namespace
}  // namespace pgdlm::cli

int main(int argc, char** argv) {
  using namespace pgdlm::cli;
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of write(), as a full disk is
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw pgdlm::Error(pgdlm::ErrorCode::exhausted,
                         fmt::format("standard output cannot be written: {}", std::strerror(errno)));
    return code;
  } catch (const pgdlm::Error& e) {
    fmt::print(stderr, "pgdlm: error: {}\n", printable(pgdlm::with_option_names(e.what())));
    if (!e.hint().empty()) fmt::print(stderr, "hint: {}\n", printable(e.hint()));
    return exit_code(e.code());
  } catch (const std::exception& e) {
    fmt::print(stderr, "pgdlm: error: {}\n", printable(e.what()));
    return 1;
  }
}
