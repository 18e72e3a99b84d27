// Schemes that look right and are not. The laws must catch every one of them.
#pragma once

#include "smc/schemes.h"

namespace pgdlm::kit {

extern const Scheme kSortedMultinomial;  // k sorted draws, slot 0 overwritten by the reference
extern const Scheme
    kPinnedSystematic;                // unconditional systematic for the others, the reference pinned in the last slot
extern const Scheme kFixedFirstSlot;  // stratified as it should be, but the reference always starts in the last slot
extern const Scheme kUnconditional;   // no conditional law at all: must be refused

}  // namespace pgdlm::kit
