// How --help looks: one column of names, one of sentences, wrapped.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace pgdlm::cli {

class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override { return "\n" + app->get_footer() + "\n"; }
};

extern const char* const kProgramFooter;
extern const char* const kGenerateFooter;
extern const char* const kReplayFooter;
extern const char* const kConvertFooter;
extern const char* const kForwardFooter;
extern const char* const kModelsFooter;
extern const char* const kTokenizeFooter;
extern const char* const kBenchFooter;
extern const char* const kScoreFooter;
extern const char* const kPerplexityFooter;
extern const char* const kJudgeFooter;
extern const char* const kEvalFooter;
extern const char* const kStudyFooter;
extern const char* const kReportFooter;
extern const char* const kServeFooter;
extern const char* const kRunsFooter;

}  // namespace pgdlm::cli
