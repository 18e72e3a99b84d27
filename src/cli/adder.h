// How commands get their options. Not for others than command_line*.cpp.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace pgdlm::cli {

// Adds options to a CLI11 command. Values are parsed by parse_value, not by CLI11, so that the same text means the
// same in a stored configuration, and mistakes read the same.
struct Adder {
  CLI::App& command;
  std::string title;

  void group(const char* name) { title = name; }
  template <class T>
  void operator()(const OptionInfo& info, T& field) {
    add<T>(info, field);
  }
  template <class T>
  void operator()(const OptionInfo& info, std::optional<T>& field) {
    add<T>(info, field);
  }
  void operator()(const OptionInfo& info, bool& field) { add_flag(info, field); }
  void operator()(const OptionInfo& info, std::optional<bool>& field) { add_flag(info, field); }

  template <class T, class Field>
  void add(const OptionInfo& info, Field& field) {
    const auto parse = [name = std::string(info.name), &field](const std::string& text) {
      field = parse_value<T>(name, text);
    };
    const auto parse_all = [parse, joint = info.joint](const std::vector<std::string>& texts) {
      parse(fmt::format("{}", fmt::join(texts, joint)));
    };
    CLI::Option* option =
        *info.joint ? command.add_option_function(flags(info), std::function(parse_all), info.help)->expected(1)
                    : command.add_option_function<std::string>(flags(info), parse, info.help);
    option->group(title)->type_name(*info.value ? info.value : value_hint<T>());
    // A script may append to a line of options: the last one wins. But a text has one beginning.
    const auto policy = *info.joint ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::TakeLast;
    if (!option->get_positional()) option->multi_option_policy(policy);
    option->allow_extra_args(false);
  }
  void add_flag(const OptionInfo& info, auto& field) {
    const auto set = [&field](std::int64_t times) { field = times > 0; };  // fewer than 0: --no-...
    command.add_flag_function(flags(info), set, info.help)->group(title);
  }

  static std::string flags(const OptionInfo& info) {
    return fmt::format("{}{}--{}", info.extra, *info.extra ? "," : "", info.name);
  }
};

// The options of generate, but for some that a command says in another way: a task has its own prompts.
struct Except {
  Adder add;
  std::set<std::string_view> left_out;

  void group(const char* name) { add.group(name); }
  template <class Field>
  void operator()(const OptionInfo& info, Field& field) {
    if (!left_out.contains(info.name)) add(info, field);
  }
};

void add_mask_option(Adder add, ModelOptions& model);
void add_model_options(Adder add, ModelOptions& model);   // where it runs
void add_device_options(Adder add, ModelOptions& model);  // the same, and threads
void add_patience(Adder add, double& seconds);
void check_patience(double seconds);
void check_threads(const ModelOptions& options);

// Commands that look at texts or make many: score, perplexity, judge, eval, study, report, runs.
void add_eval_commands(CLI::App& app, Invocation& in);
void check_eval_commands(const Invocation& in);

void add_serve_command(CLI::App& app, ServeOptions& options);
void check_serve_command(const ServeOptions& options);

}  // namespace pgdlm::cli
