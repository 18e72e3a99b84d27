// Broken on purpose: tests/unit runs scripts/check_includes.py on this folder and expects its complaints.
#include <ggml.h>
#include <nlohmann/json.hpp>

#include "base/ours.h"
#include "pgdlm/error.h"
#include "smc/sweep.h"
#include "task.h"
