#include "options/process.h"

#include <cmath>

#include "diffusion/guidance.h"

namespace pgdlm {
namespace {

void settle_filter(GenerateOptions& o, Filter& filter) {
  settle(o.temp, filter.temperature);
  settle(o.top_p, filter.top_p);
  settle(o.top_k, filter.top_k);
  settle(o.nucleus, filter.nucleus);
}

std::shared_ptr<const Backward> mdlm(GenerateOptions& o) {
  MdlmOptions options{.fk_grid = o.preset == Preset::fk};
  settle_filter(o, options.filter);
  return make_mdlm(options);
}

std::shared_ptr<const Backward> remdm(GenerateOptions& o) {
  RemdmOptions options;
  settle(o.remdm_schedule, options.schedule);
  settle(o.eta, options.eta);
  settle(o.remdm_t_on, options.t_on);
  settle(o.remdm_t_off, options.t_off);
  settle(o.remdm_alpha_on, options.alpha_on);
  settle_filter(o, options.filter);
  return make_remdm(options);
}

std::shared_ptr<const Backward> llada(GenerateOptions& o, Token eot) {
  LladaOptions options{.block_length = 0, .eot = eot};
  if (!o.diffusion_algorithm) o.diffusion_algorithm = name_of(options.remasking);
  options.remasking = parse_value<Remasking>("diffusion-algorithm", *o.diffusion_algorithm);
  settle(o.diffusion_block_length, options.block_length);
  settle(o.temp, options.temperature);
  settle(o.logits_eos_inf, options.logits_eos_inf);
  settle(o.confidence_eos_eot_inf, options.confidence_eos_eot_inf);
  settle(o.stop_at_eos, options.stop_at_eos);
  return make_llada(options);
}

// A name, or llama-diffusion-cli's number for it.
DreamOrder dream_order(const std::string& text) {
  for (std::size_t i = 0; i < kNames<DreamOrder>.size(); ++i)
    if (text == std::to_string(i)) return kNames<DreamOrder>[i].value;
  return parse_value<DreamOrder>("diffusion-algorithm", text);
}

std::shared_ptr<const Backward> dream(GenerateOptions& o) {
  DreamOptions options;
  if (o.diffusion_algorithm) options.order = dream_order(*o.diffusion_algorithm);
  o.diffusion_algorithm = name_of(options.order);
  settle(o.diffusion_alg_temp, options.alg_temp);
  settle(o.diffusion_eps, options.eps);
  settle_filter(o, options.filter);
  return make_dream(options);
}

}  // namespace

std::shared_ptr<const Backward> settle_process(GenerateOptions& options, Token eot) {
  switch (*options.process) {
    case Process::mdlm: return mdlm(options);
    case Process::remdm: return remdm(options);
    case Process::llada: return llada(options, eot);
    case Process::dream: return dream(options);
  }
  throw Error(ErrorCode::internal, "unknown process");
}

std::shared_ptr<Denoiser> make_denoiser(const GenerateOptions& options, const LanguageModel& model) {
  const double scale = options.diffusion_cfg_scale.value_or(0);
  if (scale < 0 || !std::isfinite(scale)) bad_value("diffusion-cfg-scale", std::to_string(scale), "0 (off) or more");
  return scale > 0 ? make_guided(model.denoiser(), scale) : model.denoiser();
}

std::set<std::string> unused_by_process(Process process) {
  std::set<std::string> unused = {"diffusion-block-length",
                                  "diffusion-algorithm",
                                  "diffusion-alg-temp",
                                  "diffusion-eps",
                                  "nucleus",
                                  "remdm-schedule",
                                  "eta",
                                  "remdm-t-on",
                                  "remdm-t-off",
                                  "remdm-alpha-on",
                                  "logits-eos-inf",
                                  "confidence-eos-eot-inf",
                                  "stop-at-eos"};
  const auto used = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) unused.erase(name);
  };
  if (process != Process::llada)
    used({"nucleus"});
  else
    unused.insert({"top-p", "top-k"});
  if (process == Process::llada)
    used({"diffusion-block-length", "diffusion-algorithm", "logits-eos-inf", "confidence-eos-eot-inf", "stop-at-eos"});
  if (process == Process::dream) used({"diffusion-algorithm", "diffusion-alg-temp", "diffusion-eps"});
  if (process == Process::remdm) used({"remdm-schedule", "eta", "remdm-t-on", "remdm-t-off", "remdm-alpha-on"});
  return unused;
}

}  // namespace pgdlm
