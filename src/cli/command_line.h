// argv to options, with CLI11. Every mistake is an Error{invalid_request}; no other side effect than --help's text.
#pragma once

#include <string>

#include "cli/options.h"

namespace pgdlm::cli {

enum class Verb { help, generate, replay, models, version };  // help: has been printed

struct ReplayOptions {
  std::string file;
  int delay_ms = 60;  // on a terminal, per weighing
};

struct Invocation {
  Verb verb = Verb::help;
  GenerateOptions generate;
  RunOptions run;
  ReplayOptions replay;
};

Invocation parse_command_line(int argc, const char* const* argv);

}  // namespace pgdlm::cli
