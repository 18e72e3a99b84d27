// Every backward process with settings under which all its branches are reached on a tiny canvas.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pgdlm/plugin.h"

namespace pgdlm::kit {

struct NamedProcess {
  std::string name;
  std::shared_ptr<const Backward> process;
  int length = 2, steps = 2;
};

std::vector<NamedProcess> law_processes();     // one for each process, schedule and order
std::vector<NamedProcess> valuer_processes();  // one of each kind: coins, remasking, confidence

}  // namespace pgdlm::kit
