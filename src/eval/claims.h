// Whether what a study claims is so: paired differences, question by question. A claim holds beyond two standard
// errors, and so does its opposite; otherwise it is unresolved, and the number of questions is told at which a
// difference of this size would show.
#pragma once

#include "eval/study_run.h"
#include "eval/table.h"

namespace pgdlm {

// A row for each point of each panel where it can be tested; of several, one for all of them together.
Table claims_of(const FinishedStudy& study);

}  // namespace pgdlm
