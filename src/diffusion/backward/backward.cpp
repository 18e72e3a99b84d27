// The defaults of the Backward interface.
#include "pgdlm/plugin.h"

namespace pgdlm {

std::vector<double> Backward::times(int steps) const {
  std::vector<double> grid;
  for (int i = 0; i <= steps; ++i) grid.push_back(static_cast<double>(steps - i) / steps);  // ends are exactly 1 and 0
  return grid;
}

std::vector<int> Backward::block_ends(const Frame&, int steps) const {
  return {static_cast<int>(times(steps).size()) - 1};  // a grid may have more updates than the steps asked for
}

}  // namespace pgdlm
