// The commands of the program. Each prints its result and returns the exit code; mistakes are Errors.
#pragma once

#include "cli/command_line.h"

namespace pgdlm::cli {

int generate(GenerateOptions options, const RunOptions& run);
int replay(const ReplayOptions& options);
int models();
int devices();
int bench_forward(const BenchOptions& options);
int models_info(const InfoOptions& options);
int forward(const ForwardOptions& options);
int tokenize(const TokenizeOptions& options);
int convert(const ConvertOptionsText& options);
int score(const ScoreOptions& options);
int perplexity(const PerplexityOptions& options);
int judge(const JudgeOptions& options);
int eval(const EvalOptions& options);
int study(const StudyOptions& options);
int report(const ReportOptions& options);
int serve(const ServeOptions& options);
int runs(const RunsOptions& options);
int runs_export(const RunsOptions& options);
int runs_compare(const RunsOptions& options);

}  // namespace pgdlm::cli
