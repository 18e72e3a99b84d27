#include "kit/processes.h"

#include "pgdlm/processes.h"

namespace pgdlm::kit {
namespace {

constexpr Filter kPlain = {};

// The first step cannot remask, nor can the last: with four of them a token can come, go and come back.
NamedProcess remdm(const char* name, RemdmOptions options, int length = 1, int steps = 4) {
  options.filter = kPlain;
  return {name, make_remdm(options), length, steps};
}

// With three masks the first of two steps reveals ⌊3·(1 - s/t)⌋ = 1 of them: the order matters.
NamedProcess dream(const char* name, DreamOrder order, double alg_temp = 0) {
  return {name, make_dream({.order = order, .filter = {.temperature = 0.7}, .alg_temp = alg_temp}), 3, 2};
}

}  // namespace

std::vector<NamedProcess> law_processes() {
  return {
      {"mdlm", make_mdlm()},
      {"mdlm_3_steps", make_mdlm(), 2, 3},
      {"mdlm_fk_grid", make_mdlm({.fk_grid = true}), 1, 2},
      remdm("remdm_cap", {.schedule = RemdmSchedule::cap, .eta = 0.3}),
      remdm("remdm_rescale", {.schedule = RemdmSchedule::rescale, .eta = 0.6}),
      remdm("remdm_conf", {.schedule = RemdmSchedule::conf}, 2, 3),
      remdm("remdm_loop", {.schedule = RemdmSchedule::loop, .eta = 0.3, .t_on = 0.7, .t_off = 0.4, .alpha_on = 0.6}),
      remdm("remdm_forward_backward", {.schedule = RemdmSchedule::forward_backward}),
      {"remdm_nucleus", make_remdm({.eta = 0.3, .filter = {.top_p = 0.8, .nucleus = Nucleus::remdm}}), 2, 3},
      {"llada_low_confidence", make_llada({.block_length = 2, .temperature = 0.8})},
      {"llada_random", make_llada({.block_length = 2, .remasking = Remasking::random})},
      {"llada_blocks", make_llada({.block_length = 1})},
      {"dream_origin", make_dream({.order = DreamOrder::origin, .filter = {.temperature = 0.7}})},
      dream("dream_maskgit_plus", DreamOrder::maskgit_plus),
      dream("dream_topk_margin", DreamOrder::topk_margin),
      dream("dream_entropy", DreamOrder::entropy),
      dream("dream_alg_temp", DreamOrder::maskgit_plus, 0.5),
  };
}

std::vector<NamedProcess> valuer_processes() {
  return {
      {"mdlm", make_mdlm()},
      {"remdm_cap", make_remdm({.eta = 0.3, .filter = kPlain}), 1, 3},
      {"llada_low_confidence", make_llada({.block_length = 2, .temperature = 0.8})},
  };
}

}  // namespace pgdlm::kit
