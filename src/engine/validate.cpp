#include "engine/validate.h"

#include <algorithm>
#include <string>

#include "diffusion/schedule.h"
#include "pgdlm/error.h"
#include "smc/samplers.h"

namespace pgdlm {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& allowed, const std::string& hint = "") {
  throw Error(ErrorCode::invalid_request, what + ", allowed: " + allowed, hint);
}

void require_at_least(int value, int least, const std::string& field) {
  if (value < least) refuse(field + " is " + std::to_string(value), "at least " + std::to_string(least));
}

std::string vocabulary(const Denoiser& denoiser) {
  return "0 to " + std::to_string(denoiser.vocab() - 1) + " and the mask " + std::to_string(denoiser.mask());
}

bool is_token(Token token, const Denoiser& denoiser) {
  return (token >= 0 && token < denoiser.vocab()) || token == denoiser.mask();
}

void check_canvas(const Canvas& canvas, const Denoiser& denoiser) {
  const auto length = static_cast<int>(canvas.tokens.size());
  require_at_least(length, 1, "length");
  if (canvas.prompt < 0 || canvas.prompt > length) {
    refuse("prompt is " + std::to_string(canvas.prompt) + " tokens long",
           "0 to the length of the canvas, " + std::to_string(length), "raise --length or shorten the prompt");
  }
  for (int l = 0; l < length; ++l) {
    const Token token = canvas.tokens[static_cast<std::size_t>(l)];
    const std::string what = "token at position " + std::to_string(l) + " is " + std::to_string(token);
    if (!is_token(token, denoiser)) refuse(what, vocabulary(denoiser));
    if (l < canvas.prompt && token == denoiser.mask()) refuse(what + ", the mask, in the prompt", "given tokens only");
  }
  if (std::find(canvas.tokens.begin(), canvas.tokens.end(), denoiser.mask()) == canvas.tokens.end()) {
    refuse("canvas holds no mask token (" + std::to_string(denoiser.mask()) + "), so there is nothing to generate",
           "at least one mask", "raise --length beyond the prompt, or check that the mask is this model's");
  }
  if (canvas.eos != -1 && (!is_token(canvas.eos, denoiser) || canvas.eos == denoiser.mask())) {
    refuse("eos is " + std::to_string(canvas.eos),
           "-1 (none) or a token from 0 to " + std::to_string(denoiser.vocab() - 1));
  }
}

void check_valuing(const Request& request) {
  const Valuing& valuing = request.settings.valuing;
  require_at_least(valuing.phi, 1, "phi");
  require_at_least(valuing.tau, 1, "tau");
  if (valuing.lag && request.settings.plan.ancestor_sampling) {
    refuse("lag is on together with ancestor-sampling", "one of them",
           "a lagging value belongs to the parent, so it cannot be compared between ancestors");
  }
  if (valuing.estimator == Estimator::prefix && request.reward && !request.reward->accepts_prefixes()) {
    refuse("estimator is prefix, but this reward scores complete texts only", "random, beam",
           "they complete the canvas before they ask the reward");
  }
}

// Edits of a trace are written into the canvas as they stand, so a file from elsewhere must not get through.
void check_recorded(const Request& request, const Frame& frame, const Denoiser& denoiser) {
  const int updates = static_cast<int>(request.process->times(request.steps).size()) - 1;
  for (const Edited& stage : request.recorded.edits) {
    const std::string where = "resume: sweep " + std::to_string(stage.sweep) + ", step " + std::to_string(stage.step) +
                              ", slot " + std::to_string(stage.slot) + ": ";
    int step = stage.step;
    if (step < 0 || step >= updates) refuse(where + "no such step", "0 to " + std::to_string(updates - 1));
    for (const TimedEdit& timed : stage.edits) {
      const std::string edit =
          where + "edit of position " + std::to_string(timed.edit.position) + " at step " + std::to_string(timed.step);
      if (timed.step < step || timed.step >= updates) refuse(edit, "steps in ascending order, within the schedule");
      step = timed.step;
      const Position l = timed.edit.position;
      if (l < 0 || l >= frame.length() || frame.pinned[static_cast<std::size_t>(l)] != 0) {
        refuse(edit, "positions that are to be generated", "the trace belongs to another canvas");
      }
      if (!is_token(timed.edit.token, denoiser)) {
        refuse(edit + " writes token " + std::to_string(timed.edit.token), vocabulary(denoiser));
      }
    }
  }
}

}  // namespace

void validate(const Request& request, const Denoiser& denoiser) {
  if (!request.process) refuse("process is missing", "a backward process");
  check_canvas(request.canvas, denoiser);
  require_at_least(request.steps, 1, "diffusion-steps");
  check_plan(request.settings.plan);
  check_valuing(request);
  require_at_least(request.settings.cadence.every, 0, "resample-every");
  if (request.settings.plan.ancestor_sampling && !request.process->scores_transitions()) {
    refuse("ancestor-sampling is on, but this process cannot score its transitions",
           "a process that can, such as mdlm or remdm");
  }
  const Plan& plan = request.settings.plan;
  if (plan.method != Method::greedy && plan.particles > 1 && request.process->deterministic()) {
    refuse("temp is 0, so all " + std::to_string(plan.particles) + " particles would be the same", "temp > 0",
           "with temperature 0 use --method greedy, or one particle");
  }
  const Frame frame = make_frame(request.canvas, denoiser);
  request.process->validate(frame, request.steps);
  check_recorded(request, frame, denoiser);
}

}  // namespace pgdlm
