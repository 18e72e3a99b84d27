#include "diffusion/schedule.h"

#include "base/check.h"
#include "pgdlm/request.h"

namespace pgdlm {

Frame make_frame(const Canvas& canvas, const Denoiser& denoiser) {
  Frame frame{.mask = denoiser.mask(), .eos = canvas.eos, .vocab = denoiser.vocab(), .prompt = canvas.prompt};
  for (Token token : canvas.tokens) frame.pinned.push_back(token != frame.mask);
  return frame;
}

Schedule make_schedule(const Backward& process, const Frame& frame, int steps, const Settings& settings) {
  const int updates = static_cast<int>(process.times(steps).size()) - 1;  // FK's grid has one more than asked
  const Method method = settings.plan.method;
  if (method == Method::greedy || method == Method::best_of_n) return {{0, updates, true}};

  std::vector<int> ends;
  if (settings.cadence.blocks()) {
    ends = process.block_ends(frame, steps);
  } else {
    for (int end = settings.cadence.every; end < updates; end += settings.cadence.every) ends.push_back(end);
  }
  if (ends.empty() || ends.back() != updates) ends.push_back(updates);

  Schedule schedule;
  int begin = 0;
  for (int end : ends) {
    PGDLM_CHECK(end > begin && end <= updates);
    schedule.push_back({begin, end, true});
    begin = end;
  }
  return schedule;
}

}  // namespace pgdlm
