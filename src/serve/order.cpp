#include "serve/order.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "options/canvas.h"
#include "options/config.h"
#include "options/request.h"
#include "pgdlm/error.h"
#include "rewards/open_reward.h"
#include "serve/api_error.h"

namespace pgdlm::serve {
namespace {

// Beyond any sense, and small enough that nothing overflows or takes the memory.
constexpr int kMostSteps = 16'384, kMostPhi = 64, kMostTau = 1'024, kMostIterations = 100'000;

template <class T>
void require_at_most(const std::optional<T>& value, T most, const char* field) {
  if (value && *value > most)
    throw ApiError(400, fmt::format("{} is {}, allowed: at most {} on this server", field, *value, most), field);
}

void check_limits(const GenerateOptions& options, const RequestLimits& limits) {
  require_at_most(options.particles, limits.particles, "its.particles");
  require_at_most(options.iterations, kMostIterations, "its.iterations");
  require_at_most(options.phi, kMostPhi, "its.phi");
  require_at_most(options.tau, kMostTau, "its.tau");
  require_at_most(options.diffusion_steps, kMostSteps, "diffusion.steps");
}

void require_positive(const std::optional<int>& value, const char* field) {
  if (value && *value < 1) throw ApiError(400, fmt::format("{} is {}, allowed: at least 1", field, *value), field);
}

// n = m k, as its_hub counts: a sweep of n particles, or sweeps of fewer; of an adaptive run it is the most.
void spend_budget(GenerateOptions& options, int budget) {
  constexpr int kSweeps = 4;
  require_positive(options.particles, "its.particles");
  require_positive(options.iterations, "its.iterations");
  if (!options.method && options.reward != "none")
    options.method = options.threshold    ? Method::particle_gibbs_adaptive
                     : options.iterations ? Method::particle_gibbs
                     : budget > 1         ? Method::smc
                                          : Method::best_of_n;
  const bool gibbs = options.method == Method::particle_gibbs || options.method == Method::particle_gibbs_adaptive;
  if (!gibbs) {
    if (!options.particles) options.particles = budget;
    return;
  }
  const bool fixed = options.method == Method::particle_gibbs;
  if (!options.particles) options.particles = std::max(2, budget / options.iterations.value_or(kSweeps));
  if (!options.iterations) options.iterations = fixed ? std::max(1, budget / *options.particles) : kMostIterations;
  options.budget = budget;
}

// Clients that send a temperature of 0 with every request do not mean to forbid what the server was started for.
void settle_temperature(CompletionAsk& ask) {
  GenerateOptions& o = ask.options;
  const bool scaled = o.reward != "none" || o.particles.value_or(1) > 1;
  if (o.temp != 0.0 || !scaled || o.method == Method::greedy) return;
  if (ask.wants_scaling)
    throw ApiError(400, "temperature is 0, so all particles would be the same, allowed: more than 0, or method greedy",
                   "temperature");
  o.temp.reset();
  ask.warnings.emplace_back("temperature 0 would make all particles the same: the model's own is used");
}

std::string joined(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& message : messages) text += (text.empty() ? "" : "\n") + message.content;
  return text;
}

std::string to_json(const std::vector<Message>& messages) {
  nlohmann::json list = nlohmann::json::array();
  for (const Message& message : messages) list.push_back({{"role", message.role}, {"content", message.content}});
  return list.dump();
}

// How one text begins: by options, and where a client sent tokens, by these.
struct Opening {
  GenerateOptions options;
  TokenPrompt tokens;
};

// A base model reads a conversation as one text.
std::vector<Opening> openings(const CompletionAsk& ask, const ServedModel& model) {
  std::vector<Opening> all;
  if (ask.chat) {
    all.push_back({ask.options, {}});
    if (model.language()->defaults().chat)
      all.back().options.messages = to_json(ask.messages);
    else
      all.back().options.prompt = joined(ask.messages);
  }
  for (const Prompt& prompt : ask.prompts) {
    all.push_back({ask.options, {}});
    all.back().options.chat = false;
    if (const auto* text = std::get_if<std::string>(&prompt))
      all.back().options.prompt = *text;
    else
      all.back().tokens = std::get<TokenPrompt>(prompt);
  }
  for (Opening& opening : all) opening.options.model = model.name();
  return all;
}

// A request whose canvas begins as the client said. `options` are settled.
Request request_of(const Opening& opening, const LanguageModel& model, std::shared_ptr<Reward> reward) {
  const int vocab = model.denoiser()->vocab();
  for (const Token token : opening.tokens)
    if (token >= vocab || token == model.mask())
      throw ApiError(400, fmt::format("prompt holds token {}, allowed: 0 to {}, and no mask", token, vocab - 1),
                     "prompt");
  Request request = make_request(opening.options, model, std::move(reward));
  Canvas& canvas = request.canvas;
  canvas.tokens.insert(canvas.tokens.begin() + static_cast<std::ptrdiff_t>(model.opening().size()),
                       opening.tokens.begin(), opening.tokens.end());
  canvas.prompt += static_cast<int>(opening.tokens.size());
  if (canvas.tokens.size() > static_cast<std::size_t>(model.max_length()))
    throw ApiError(400,
                   fmt::format("the prompt and what follows it have {} tokens, allowed: {} in all",
                               canvas.tokens.size(), model.max_length()),
                   "prompt", "context_length_exceeded");
  return request;
}

// The shortest canvas there is: what is given, and one mask.
Canvas shortest_canvas(Opening opening, const LanguageModel& model) {
  opening.options.infill.reset();
  opening.options.n_predict = 1;
  opening.options.diffusion_steps = opening.options.diffusion_block_length = std::nullopt;
  opening.options.process.reset();
  opening.options = settled(opening.options, model.defaults(), nullptr);
  return request_of(opening, model, nullptr).canvas;
}

// max_tokens is a bound: what does not fit the canvas is cut, and whole blocks are kept whole.
void fit_length(Opening& opening, const LanguageModel& model, const RequestLimits& limits, Order& order) {
  GenerateOptions& options = opening.options;
  if (options.infill) {
    const int gaps = gap_count(parse_infill(*options.infill));
    if (gaps > limits.tokens)
      throw ApiError(400, fmt::format("diffusion.infill has {} masks, allowed: {}", gaps, limits.tokens),
                     "diffusion.infill");
    return;
  }
  const ModelDefaults defaults = model.defaults();
  const int room = model.max_length() - static_cast<int>(shortest_canvas(opening, model).tokens.size()) + 1;
  if (room < 1)
    throw ApiError(400, fmt::format("the prompt fills the whole canvas of this model, {} tokens", model.max_length()),
                   order.ask.chat ? "messages" : "prompt", "context_length_exceeded");
  const int most = std::min(room, limits.tokens);
  const int wished = options.n_predict.value_or(std::min(defaults.length, most));
  options.n_predict = wished;
  if (wished <= most) return;
  const int block = options.diffusion_block_length.value_or(defaults.block_length.value_or(1));
  options.n_predict = block > 0 && most >= block ? most / block * block : most;
  order.warnings.push_back(fmt::format("max_tokens is {}, of which {} fit", wished, *options.n_predict));
}

// The gap between prompt and suffix, where a client wants one filled.
void add_suffix(GenerateOptions& options, const std::string& suffix) {
  if (suffix.empty()) return;
  if (options.infill) throw ApiError(400, "suffix and diffusion.infill both say what follows: give one", "suffix");
  if (suffix.find("[MASK") != std::string::npos)
    throw ApiError(400, "suffix holds '[MASK', which would be a gap", "suffix");
  options.infill = fmt::format("[MASK:{}]{}", *options.n_predict, suffix);
  options.n_predict.reset();
}

Choice make_choice(const Opening& opening, const ServedModel& model, std::shared_ptr<Reward> reward, const Order& order,
                   const RequestLimits& limits) {
  Choice choice{.options = opening.options, .request = request_of(opening, *model.language(), std::move(reward))};
  const Canvas& canvas = choice.request.canvas;
  const auto masks = static_cast<int>(std::ranges::count(canvas.tokens, model.language()->mask()));
  const bool infill = opening.options.infill && order.ask.suffix.empty();  // its words are part of the text
  choice.given = infill ? shortest_canvas(opening, *model.language()).prompt : canvas.prompt;
  choice.length = order.ask.suffix.empty() ? static_cast<int>(canvas.tokens.size()) - choice.given : masks;
  for (const Token token : opening.tokens) choice.options.prompt += model.language()->piece(token);  // to be shown
  choice.request.deterministic = order.ask.deterministic;
  choice.request.limits = {.forwards = limits.forwards, .seconds = limits.seconds};
  choice.request.live = order.ask.stream;
  choice.request.trace = order.ask.stream_events || order.ask.trace;
  return choice;
}

void check_streaming(const CompletionAsk& ask, std::size_t choices, const OrderDesk& desk) {
  if ((ask.stream_events || ask.trace) && choices > 1)
    throw ApiError(400, "stream_events and trace are for one text, n and the prompts ask for several", "n");
  if (ask.trace && desk.traces.empty())
    throw ApiError(400, "trace is true, but this server has no folder for traces (--traces)", "trace");
}

// What fails while a reward is opened is the client's mistake, unless the reward is out of reach just now.
std::shared_ptr<Reward> open_reward_of(Order& order, const OrderDesk& desk) {
  const std::string& expression = order.ask.options.reward;
  try {
    return desk.rewards.open(expression, order.model->language(), order.ask.deterministic ? "" : order.model->name());
  } catch (const Error& e) {
    if (!reaches_outside(expression))
      throw ApiError(400, e.what() + (e.hint().empty() ? "" : " (" + e.hint() + ")"), "its.reward");
    if (order.ask.strict) throw ApiError(502, e.what(), "its.reward", "reward_failed");
    order.warnings.push_back(fmt::format("steering failed, this is one plain sample: {}", e.what()));
    return nullptr;
  }
}

void forget_scaling(GenerateOptions& options) {
  options.reward = "none";
  options.method = Method::best_of_n;
  options.particles = 1;
  options.preset.reset();
  options.selection.reset();
  options.estimator.reset();
  options.budget.reset();
}

}  // namespace

Order make_order(CompletionAsk ask, const OrderDesk& desk, std::uint64_t any_seed) {
  Order order{.ask = std::move(ask), .model = nullptr, .choices = {}, .warnings = {}};
  order.model = desk.models.open(order.ask.model);
  const LanguageModel& language = *order.model->language();
  if (order.ask.options.diffusion_cfg_scale != desk.defaults.diffusion_cfg_scale)
    throw ApiError(400,
                   "diffusion.cfg_scale is the same for all requests of a server: start it with --diffusion-cfg-scale",
                   "diffusion.cfg_scale");
  if (order.ask.budget) spend_budget(order.ask.options, *order.ask.budget);
  settle_temperature(order.ask);
  if (order.ask.n > 1 && !order.ask.options.selection && order.ask.options.reward != "none")
    order.ask.options.selection = Selection::draw;
  const std::shared_ptr<Reward> reward = open_reward_of(order, desk);
  if (!reward && order.ask.options.reward != "none") forget_scaling(order.ask.options);
  check_limits(order.ask.options, desk.limits);

  std::uint64_t seed = order.ask.seed.value_or(any_seed);
  for (Opening& opening : openings(order.ask, *order.model)) {
    fit_length(opening, language, desk.limits, order);
    add_suffix(opening.options, order.ask.suffix);
    for (const std::string& name : without_effect(opening.options, language.defaults(), reward.get()))
      if (order.choices.empty()) order.warnings.push_back(fmt::format("{} has no effect here", name));
    opening.options = settled(opening.options, language.defaults(), reward.get());
    check_limits(opening.options, desk.limits);
    for (int i = 0; i < order.ask.n; ++i) {
      opening.options.seed = seed++;
      order.choices.push_back(make_choice(opening, *order.model, reward, order, desk.limits));
    }
  }
  check_streaming(order.ask, order.choices.size(), desk);
  order.warnings.insert(order.warnings.begin(), order.ask.warnings.begin(), order.ask.warnings.end());
  return order;
}

Choice plain_choice(const Choice& choice, const ServedModel& model) {
  Choice plain = choice;
  forget_scaling(plain.options);
  plain.options = settled(plain.options, model.language()->defaults(), nullptr);
  GenerateOptions bare = plain.options;  // the canvas is there already
  bare.prompt.clear();
  bare.messages.reset();
  bare.chat = false;
  const Request unsteered = make_request(bare, *model.language(), nullptr);
  plain.request.reward = nullptr;
  plain.request.process = unsteered.process;
  plain.request.settings = unsteered.settings;
  plain.request.config = to_config(plain.options);
  return plain;
}

}  // namespace pgdlm::serve
