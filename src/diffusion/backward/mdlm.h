// MDLM: its options and its factory are public, see pgdlm/processes.h.
#pragma once

#include "diffusion/backward/common.h"
#include "pgdlm/processes.h"
