// All of this is allowed.
#include <nlohmann/json.hpp>

#include "engine/engine.h"
#include "smc/sweep.h"
