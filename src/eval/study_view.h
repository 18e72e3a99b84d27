// What a finished study shows: its figures, the tables behind them, and all numbers for other programs. Pure.
#pragma once

#include <string>
#include <vector>

#include "eval/study_run.h"
#include "eval/table.h"

namespace pgdlm {

// Curves: one for three panels; otherwise one for each.
std::vector<Table> tables_of(const FinishedStudy& study, const FigureSpec& figure);
std::string svg_of(const FinishedStudy& study, const FigureSpec& figure);  // empty: it is a table only

// Every cell with every figure that it has, in the unit people read. What differs from one day to another is apart:
// all else is the same bytes after any interruption.
Table overview_of(const FinishedStudy& study);
Table efforts_of(const FinishedStudy& study);
// For other programs: a line for each figure of each cell, and one for each text.
Table numbers_of(const FinishedStudy& study);
Table text_numbers_of(const FinishedStudy& study);

// A self-contained page. `machine` says where it was made.
struct Traces {
  std::filesystem::path folder;  // those that are there are linked; empty: none
  std::string link;              // how the page calls the folder
};
std::string html_report(const std::vector<FinishedStudy>& studies, const std::string& machine,
                        const Traces& traces = {});

}  // namespace pgdlm
