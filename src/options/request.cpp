#include "options/request.h"

#include <algorithm>
#include <set>
#include <utility>

#include "options/canvas.h"
#include "options/config.h"
#include "options/process.h"

namespace pgdlm {
namespace {

constexpr int kDefaultSteps = 512;  // most of them reveal nothing on a short canvas, and are free

// A limit that was not given stays out of the stored configuration.
template <class T>
void limit(const std::optional<T>& option, T& field) {
  if (option) field = *option;
}

Settings settle_settings(GenerateOptions& o) {
  Settings s = preset(*o.preset, *o.method);
  settle(o.particles, s.plan.particles);
  settle(o.iterations, s.plan.iterations);
  settle(o.beta, s.plan.beta);
  settle(o.estimator, s.valuing.estimator);
  settle(o.phi, s.valuing.phi);
  settle(o.tau, s.valuing.tau);
  settle(o.resample_every, s.cadence);
  if (o.ess_threshold)
    s.plan.ess_floor = o.ess_threshold->share;
  else
    o.ess_threshold = EssFloor{s.plan.ess_floor};
  settle(o.scheme, s.plan.scheme);
  settle(o.start, s.plan.start);
  settle(o.selection, s.plan.selection);
  settle(o.potential, s.plan.potential);
  settle(o.ancestor_sampling, s.plan.ancestor_sampling);
  settle(o.resample_last, s.plan.resample_last);
  settle(o.max_events, s.plan.max_events);
  limit(o.threshold, s.plan.threshold);
  limit(o.budget, s.plan.max_particles);
  limit(o.max_forwards, s.plan.max_forwards);
  limit(o.max_seconds, s.plan.max_seconds);
  return s;
}

void require_positive(int value, const char* field) {
  if (value < 1) bad_value(field, std::to_string(value), "at least 1");
}

// A conversation that ends with the assistant's message is continued there.
Beginning beginning_of(const GenerateOptions& o) {
  if (o.messages) {
    Beginning beginning{.conversation = parse_messages(*o.messages)};
    if (!beginning.conversation.empty() && beginning.conversation.back().role == "assistant") {
      beginning.prompt = beginning.conversation.back().content;
      beginning.conversation.pop_back();
    }
    return beginning;
  }
  if (*o.chat) return {.conversation = {{"user", o.prompt}}};
  return {.prompt = o.prompt};
}

std::vector<Piece> pieces_of(const GenerateOptions& o) {
  if (!o.infill) return {Piece{"", *o.n_predict}};
  return parse_infill(*o.infill);
}

// Steps and blocks. A process that reveals a fixed number of positions at each step needs no more steps than positions;
// the others have many that change nothing, and those are free. A block length is the model's wish only where it fits.
void settle_grid(GenerateOptions& o, const ModelDefaults& model) {
  const int gap = gap_count(pieces_of(o));
  const bool one_by_one = o.process == Process::llada || o.process == Process::dream;
  if (o.process == Process::llada && !o.diffusion_block_length && gap % model.block_length.value_or(gap) == 0)
    o.diffusion_block_length = model.block_length;
  if (!o.diffusion_steps && !one_by_one) o.diffusion_steps = model.steps.value_or(kDefaultSteps);
  // Nobody reads what follows the end of the text, and in blocks it cannot change what comes before.
  if (o.process == Process::llada && !o.stop_at_eos)
    o.stop_at_eos = model.has_eos && !o.infill && o.diffusion_block_length.value_or(0) > 0;
  const int blocks = o.diffusion_block_length.value_or(0) > 0 ? std::max(1, gap / *o.diffusion_block_length) : 1;
  const int wished = std::min(gap, model.steps.value_or(gap));
  if (!o.diffusion_steps) o.diffusion_steps = wished % blocks == 0 ? wished : gap;
}

// The model's own wishes for drawing words. One that wants the likeliest word everywhere would make all particles the
// same, so it has its way only where there is one. Among several the best is wanted, and under LLaDA's process cooler
// words are better ones (docs/results).
void settle_words(GenerateOptions& o, const ModelDefaults& model) {
  const bool one = *o.method == Method::greedy || o.particles == 1;
  constexpr double kCool = 0.5;
  if (!o.temp && (one || model.temperature != 0.0)) o.temp = model.temperature;
  if (!o.temp && !one && *o.process == Process::llada) o.temp = kCool;
  if (!o.top_p && *o.process != Process::llada) o.top_p = model.top_p;
}

// A reward that can judge a beginning is asked about finished blocks.
void settle_reading(GenerateOptions& o, const Reward* reward) {
  const bool blocks = *o.process == Process::llada && o.diffusion_block_length.value_or(0) > 0;
  if (reward == nullptr || !reward->accepts_prefixes() || !blocks || o.estimator) return;
  o.estimator = Estimator::prefix;
  if (!o.resample_every) o.resample_every = Cadence{.every = 0};
}

// The method that the other options speak of; else SMC: among equal numbers of particles one sweep finds the best texts
// (docs/results).
void settle_method(GenerateOptions& o) {
  constexpr int kParticles = 16;
  if (o.method) return;
  const bool sweeps = o.iterations || o.start || o.ancestor_sampling || o.budget || o.max_forwards || o.max_seconds;
  if (o.reward == "none") {
    o.method = Method::best_of_n;
    o.particles = o.particles.value_or(1);
  } else if (o.threshold) {
    o.method = Method::particle_gibbs_adaptive;
  } else if (sweeps || o.preset == Preset::paper) {
    o.method = Method::particle_gibbs;
  } else {
    o.method = Method::smc;
    o.particles = o.particles.value_or(kParticles);
  }
}

// Who names no preset wants no law but a good text: the exact one's sampler, and the best that it found.
void settle_preset(GenerateOptions& o) {
  if (o.preset) return;
  o.preset = Preset::exact;
  if (o.selection || *o.method == Method::greedy || *o.method == Method::best_of_n) return;
  o.selection = *o.method == Method::smc ? Selection::argmax_last : Selection::argmax_all;
}

// Under ReMDM nearly every step changes something: looking at each would cost more rewards than forwards. The other
// presets say how often.
void settle_cadence(GenerateOptions& o) {
  constexpr int kLooks = 32;
  if (o.process == Process::remdm && o.preset == Preset::exact && !o.resample_every)
    o.resample_every = Cadence{.every = std::max(1, *o.diffusion_steps / kLooks)};
}

// Which options are set, in the order of the list.
struct Given {
  std::vector<std::string> names;

  void group(const char*) {}
  template <class T>
  void operator()(const OptionInfo&, const T&) {}
  template <class T>
  void operator()(const OptionInfo& info, const std::optional<T>& field) {
    if (field) names.emplace_back(info.name);
  }
};

std::set<std::string> unused_by_method(Method method) {
  std::set<std::string> unused;
  const auto add = [&](std::initializer_list<const char*> names) { unused.insert(names.begin(), names.end()); };
  const bool gibbs = method == Method::particle_gibbs || method == Method::particle_gibbs_adaptive;
  if (method == Method::greedy) add({"particles"});
  if (!gibbs) add({"iterations", "start", "ancestor-sampling", "budget", "max-forwards", "max-seconds"});
  if (method != Method::particle_gibbs_adaptive) add({"threshold"});
  if (method == Method::greedy || method == Method::best_of_n)
    add({"estimator", "phi", "tau", "resample-every", "ess-threshold", "max-events", "scheme", "potential",
         "resample-last"});
  return unused;
}

}  // namespace

GenerateOptions settled(GenerateOptions o, const ModelDefaults& model, const Reward* reward) {
  if (o.infill && o.n_predict)
    throw Error(ErrorCode::invalid_request, "infill and n-predict both say how long the text is", "give one of them");
  if (o.messages && (!o.prompt.empty() || o.chat == false))
    throw Error(ErrorCode::invalid_request, "messages are given together with a prompt or --no-chat",
                "put the prompt into the last message");
  if (o.messages) o.chat = true;
  if (!o.infill) o.n_predict = o.n_predict.value_or(model.length);
  if (o.n_predict) require_positive(*o.n_predict, "n-predict");

  settle_method(o);
  settle_preset(o);
  if (!o.process) o.process = parse_value<Process>("the model's diffusion.process", model.process);
  if (!o.chat) o.chat = model.chat;
  settle_words(o, model);
  settle_grid(o, model);
  require_positive(*o.diffusion_steps, "diffusion-steps");
  settle_reading(o, reward);
  settle_cadence(o);
  settle_settings(o);
  settle_process(o, -1);
  return o;
}

Request make_request(const GenerateOptions& options, const LanguageModel& model, std::shared_ptr<Reward> reward) {
  GenerateOptions o = options;
  Request request{.canvas = make_canvas(model, beginning_of(o), pieces_of(o)), .steps = *o.diffusion_steps};
  request.process = settle_process(o, model.eot());
  request.reward = std::move(reward);
  request.settings = settle_settings(o);
  request.seed = o.seed;
  request.config = to_config(o);
  return request;
}

void check_prompt(const GenerateOptions& options, const LanguageModel& model) {
  make_canvas(model, beginning_of(options), pieces_of(options));
}

std::vector<std::string> without_effect(const GenerateOptions& options, const ModelDefaults& model,
                                        const Reward* reward) {
  Given given;
  visit_options(options, given);
  const GenerateOptions chosen = settled(options, model, reward);
  std::set<std::string> unused = unused_by_method(*chosen.method);
  unused.merge(unused_by_process(*chosen.process));
  std::vector<std::string> names;
  for (const std::string& name : given.names)
    if (unused.contains(name)) names.push_back(name);
  return names;
}

}  // namespace pgdlm
