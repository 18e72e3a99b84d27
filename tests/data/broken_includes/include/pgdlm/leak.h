// The public API may not show what is inside.
#include "base/task.h"
#include "pgdlm/error.h"
