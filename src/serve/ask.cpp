#include "serve/ask.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "options/config.h"
#include "pgdlm/error.h"
#include "serve/api_error.h"

namespace pgdlm::serve {
namespace {

using nlohmann::json;

constexpr int kLongest = 1 << 20;  // tokens; the model's canvas is the true bound
constexpr int kLargestBudget = 100'000;

// Names of others for the methods, and for how a text is selected.
const std::map<std::string, std::string> kAlgorithms = {
    {"best-of-n", "bon"},        {"best_of_n", "bon"},
    {"self-consistency", "bon"}, {"particle-filtering", "smc"},
    {"particle-filter", "smc"},  {"fk-steering", "smc"},
    {"particle-gibbs", "pg"},    {"particle-gibbs-adaptive", "pg-adapt"}};
const std::map<std::string, std::string> kSelections = {{"argmax", "argmax-all"}, {"sample", "draw"}};

// A configuration (options/config.h) that is put together, and where in the body each option came from.
struct Config {
  json options = json::object();
  std::map<std::string, std::string> origin;

  void set(const std::string& option, json value, const std::string& from) {
    options[option] = std::move(value);
    origin[option] = from;
  }
};

[[noreturn]] void refuse(const std::string& field, const json& value, const std::string& allowed) {
  throw ApiError(400, fmt::format("{} is {}, allowed: {}", field, shown(value), allowed), field);
}

std::string renamed(const std::map<std::string, std::string>& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

std::string text_of(const json& value, const std::string& field) {
  if (!value.is_string()) refuse(field, value, "a string");
  return value.get<std::string>();
}

// A reward: its expression, or a list [{"type": "prm", "weight": 1}, ...].
std::string reward_of(const json& value) {
  const std::string field = "its.reward";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array() || value.empty()) refuse(field, value, "an expression or a list of {type, weight}");
  std::string expression;
  for (const json& term : value) {
    const bool sound = term.is_object() && term.contains("type") && term["type"].is_string() &&
                       (!term.contains("weight") || term["weight"].is_number());
    if (!sound) refuse(field, term, "an object {type, weight}");
    const double weight = term.contains("weight") ? term["weight"].get<double>() : 1;
    expression += fmt::format("{}{}*{}", expression.empty() ? "" : kPlus, weight, term["type"].get<std::string>());
  }
  return expression;
}

// its_hub's ways to say when weights are looked at.
void read_resample(const json& value, Config& config) {
  const std::string field = "its.resample", when = text_of(value, field);
  if (when == "block")
    config.set("resample_every", "block", field);
  else if (when == "step")
    config.set("ess_threshold", "always", field);
  else if (when != "ess")  // our own default
    refuse(field, value, "block, step, ess");
}

void read_its(const json& its, CompletionAsk& ask, Config& config) {
  std::set<std::string> known;
  for (const OptionField& field : its_fields()) known.insert(field.name);
  for (const auto& [name, value] : its.items()) {
    const std::string field = "its." + name;
    if (value.is_null()) continue;
    if (name == "method" || name == "algorithm") {
      if (const auto method = method_named(text_of(value, field), field)) config.set("method", *method, field);
      if (value == "self-consistency") ask.vote = true;
    } else if (name == "reward") {
      config.set("reward", reward_of(value), field);
    } else if (name == "selection" || name == "select") {
      ask.vote = value == "vote";
      if (!ask.vote) config.set("selection", renamed(kSelections, text_of(value, field)), field);
    } else if (name == "budget") {
      ask.budget = Body(its).whole("budget", 1, kLargestBudget);
    } else if (name == "strict") {
      if (!value.is_boolean()) refuse(field, value, "true, false");
      ask.strict = value.get<bool>();
    } else if (name == "stop_reward") {
      config.set("threshold", value, field);
    } else if (name == "resampling") {
      config.set("scheme", value, field);
    } else if (name == "resample") {
      read_resample(value, config);
    } else if (name == "max_nfe") {
      config.set("max_forwards", value, field);
    } else if (known.contains(name)) {
      config.set(name, value, field);
    } else {
      throw ApiError(400, fmt::format("{} is unknown; its may have: {}", field, fmt::join(known, ", ")), field);
    }
  }
}

void read_diffusion(const json& diffusion, Config& config) {
  std::map<std::string, std::string> known;
  for (const OptionField& field : diffusion_fields()) known[field.name] = field.option;
  for (const auto& [name, value] : diffusion.items()) {
    const std::string field = "diffusion." + name;
    if (value.is_null()) continue;
    const auto found = std::ranges::find_if(known, [&](const auto& k) { return k.first == name || k.second == name; });
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const auto& [each, option] : known) names.push_back(each);
      throw ApiError(400, fmt::format("{} is unknown; diffusion may have: {}", field, fmt::join(names, ", ")), field);
    }
    const bool number_of_order = found->second == "diffusion_algorithm" && value.is_number_integer();
    config.set(found->second, number_of_order ? json(value.dump()) : value, field);
  }
}

const json& object_at(const Body& body, const char* name) {
  static const json nothing = json::object();
  const json* value = body.find(name);
  if (value == nullptr) return nothing;
  if (!value->is_object()) throw ApiError(400, fmt::format("{} is {}, expected an object", name, shown(*value)), name);
  return *value;
}

TokenPrompt tokens_of(const json& list) {
  TokenPrompt tokens;
  for (const json& item : list) {
    if (!item.is_number_integer() || item < 0 || item > std::numeric_limits<Token>::max())
      refuse("prompt", item, "a token id in a list of token ids");
    tokens.push_back(item.get<Token>());
  }
  return tokens;
}

// "text", ["text", ...], [1, 2, ...] or [[1, 2], ...]
std::vector<Prompt> read_prompts(const Body& body) {
  const json* value = body.find("prompt");
  if (value == nullptr) return {std::string()};
  if (value->is_string()) return {value->get<std::string>()};
  const char* allowed = "a text, a list of texts, or the same as token ids";
  if (!value->is_array() || value->empty()) refuse("prompt", *value, allowed);
  if (value->front().is_number()) return {tokens_of(*value)};
  if (value->size() > kMostChoices) refuse("prompt", *value, fmt::format("at most {} prompts", kMostChoices));
  std::vector<Prompt> prompts;
  for (const json& item : *value) {
    if (item.is_string())
      prompts.emplace_back(item.get<std::string>());
    else if (item.is_array())
      prompts.emplace_back(tokens_of(item));
    else
      refuse("prompt", item, allowed);
  }
  return prompts;
}

// A text, or parts that are texts.
std::string content_of(const json& message, const std::string& field) {
  const auto found = message.find("content");
  if (found == message.end() || found->is_null()) return "";
  if (found->is_string()) return found->get<std::string>();
  std::string content;
  const bool list = found->is_array();
  for (const json& part : list ? *found : json::array()) {
    if (!part.is_object() || !part.contains("text") || !part["text"].is_string())
      refuse(field + ".content", part, "parts of type text");
    content += part["text"].get<std::string>();
  }
  if (!list) refuse(field + ".content", *found, "a string or a list of parts of type text");
  return content;
}

std::vector<Message> read_messages(const Body& body) {
  const json* value = body.find("messages");
  if (value == nullptr || !value->is_array() || value->empty())
    throw ApiError(400, "messages is missing, expected a list of {role, content}", "messages");
  std::vector<Message> messages;
  for (std::size_t i = 0; i < value->size(); ++i) {
    const json& message = (*value)[i];
    const std::string field = fmt::format("messages[{}]", i);
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string())
      refuse(field, message, "an object {role, content}");
    std::string role = message["role"].get<std::string>();
    if (role == "developer") role = "system";
    if (role != "system" && role != "user" && role != "assistant")
      refuse(field + ".role", role, "system, developer, user, assistant");
    messages.push_back({role, content_of(message, field)});
  }
  return messages;
}

void refuse_unsupported(const Body& body) {
  const auto unsupported = [](const char* name, const std::string& what) {
    throw ApiError(400, fmt::format("{}: {} not supported by diffusion models", name, what), name, "unsupported");
  };
  const auto given = [](const json* value) {
    return value != nullptr && *value != false && *value != 0 && !value->empty();
  };
  if (given(body.find("logprobs")) || given(body.find("top_logprobs")))
    unsupported("logprobs", "log probabilities are");
  if (given(body.find("tools"))) unsupported("tools", "tools are");
  if (given(body.find("functions"))) unsupported("functions", "functions are");
  if (const json* format = body.find("response_format"))
    if (!format->is_object() || format->value("type", json("text")) != "text")
      throw ApiError(400,
                     "response_format must be {\"type\": \"text\"}; to steer towards JSON use its.reward: \"json\"",
                     "response_format", "unsupported");
  if (const json* modalities = body.find("modalities"))
    if (*modalities != json::array({"text"})) unsupported("modalities", "anything but text is");
}

// Fields that would have changed something elsewhere are told; harmless ones are not.
void note_ignored(const json& object, CompletionAsk& ask) {
  const auto neutral = [](const json& value) {
    return value.is_null() || value == 0 || value == false || (value.is_structured() && value.empty());
  };
  for (const char* name :
       {"frequency_penalty", "presence_penalty", "logit_bias", "min_p", "include_stop_str_in_output"})
    if (object.contains(name) && !neutral(object[name]))
      ask.warnings.push_back(fmt::format("{} has no effect here", name));
  std::vector<std::string> unknown;
  for (const auto& [name, value] : object.items()) {
    const auto found =
        std::ranges::find_if(completion_fields(), [&](const Field& field) { return name == field.name; });
    if (found == completion_fields().end()) unknown.push_back(name);
  }
  constexpr std::size_t kTold = 5;
  for (std::size_t i = 0; i < std::min(kTold, unknown.size()); ++i)
    ask.warnings.push_back(fmt::format("{} is no field that is known here: ignored", shown(unknown[i])));
}

std::optional<std::uint64_t> read_seed(const Body& body) {
  const json* value = body.find("seed");
  if (value == nullptr || *value == -1) return std::nullopt;  // llama.cpp's "any"
  if (!value->is_number_integer() || (value->is_number() && !value->is_number_unsigned()))
    refuse("seed", *value, "a whole number from 0 on");
  return value->get<std::uint64_t>();
}

void read_stream(const Body& body, CompletionAsk& ask) {
  ask.stream = body.flag("stream").value_or(false);
  const json& options = object_at(body, "stream_options");
  if (const auto usage = options.find("include_usage"); usage != options.end() && !usage->is_null()) {
    if (!usage->is_boolean()) refuse("stream_options.include_usage", *usage, "true, false");
    ask.include_usage = usage->get<bool>();
  }
  ask.stream_events = body.flag("stream_events").value_or(false);
  ask.reconnect_seconds = body.number("reconnect_seconds", 0, kLongestReconnect).value_or(0);
  const std::string mode = body.text("stream_mode").value_or("block_append");
  constexpr std::array<const char*, 3> kModes = {"block_append", "denoise", "best"};
  const auto found = std::ranges::find(kModes, mode);
  if (found == kModes.end()) refuse("stream_mode", mode, fmt::format("{}", fmt::join(kModes, ", ")));
  ask.stream_mode = static_cast<StreamMode>(found - kModes.begin());
}

// The flat fields that are options.
void read_flat(const Body& body, CompletionAsk& ask, Config& config) {
  for (const char* name : {"n_predict", "max_tokens", "max_completion_tokens"})
    if (const auto length = body.whole(name, 1, kLongest)) config.set("n_predict", *length, name);
  if (const auto t = body.number("temperature", 0, 100)) config.set("temp", *t, "temperature");
  if (const auto p = body.number("top_p", 0, 1)) config.set("top_p", *p, "top_p");
  if (const auto k = body.whole("top_k", 0, kLongest)) config.set("top_k", *k, "top_k");
  ask.budget = body.whole("budget", 1, kLargestBudget);
  if (const auto best_of = body.whole("best_of", 1, kLargestBudget); best_of.value_or(1) > 1) {
    config.set("method", "bon", "best_of");
    ask.budget = best_of;
  }
}

void read_headers(const HttpRequest& request, CompletionAsk& ask, Config& config) {
  if (const std::string algorithm = request.header("x-its-algorithm"); !algorithm.empty()) {
    if (const auto method = method_named(algorithm, "X-ITS-Algorithm"))
      config.set("method", *method, "X-ITS-Algorithm");
    ask.vote = algorithm == "self-consistency";
  }
  if (const std::string budget = request.header("x-its-budget"); !budget.empty()) {
    int value = 0;
    const auto [end, error] = std::from_chars(budget.data(), budget.data() + budget.size(), value);
    if (error != std::errc() || end != budget.data() + budget.size() || value < 1 || value > kLargestBudget)
      refuse("X-ITS-Budget", budget, fmt::format("1 to {}", kLargestBudget));
    ask.budget = value;
    config.options.erase("particles");
  }
}

GenerateOptions options_of(const Config& given, GenerateOptions defaults, bool budget) {
  if (budget) defaults.particles.reset();  // it says how many
  json merged = json::parse(to_config(defaults));
  merged.update(given.options);
  try {
    return from_config(merged.dump(), "");
  } catch (const Error& e) {  // ": particles is 'x', allowed: ..."
    std::string message = std::string(e.what()).substr(2);
    std::string field = message.substr(0, message.find(" is "));
    const auto found = given.origin.find(field);
    if (found == given.origin.end()) throw ApiError(400, message);
    throw ApiError(400, found->second + message.substr(field.size()), found->second);
  }
}

}  // namespace

std::optional<std::string> method_named(const std::string& algorithm, const std::string& field) {
  if (algorithm == "auto") return std::nullopt;
  const std::string name = renamed(kAlgorithms, algorithm);
  for (const Named<Method>& method : kNames<Method>)
    if (method.name == name) return name;
  std::string others;
  for (const auto& [other, ours] : kAlgorithms) others += ", " + other;
  refuse(field, algorithm, "auto, " + joined_names<Method>(", ") + others);
}

CompletionAsk read_ask(const HttpRequest& request, bool chat, const GenerateOptions& defaults) {
  json object = parse_body(request.body);
  if (const auto wrapped = object.find("extra_body"); wrapped != object.end() && wrapped->is_object()) {
    json outer = std::move(object);
    object = outer["extra_body"];
    object.update(outer);
  }
  const Body body(object);
  refuse_unsupported(body);

  CompletionAsk ask{.chat = chat};
  Config config;
  ask.model = body.text("model").value_or("");
  if (chat)
    ask.messages = read_messages(body);
  else
    ask.prompts = read_prompts(body);
  ask.suffix = body.text("suffix").value_or("");
  ask.echo = body.flag("echo").value_or(false);
  ask.seed = read_seed(body);
  ask.n = body.whole("n", 1, kMostChoices).value_or(body.whole("n_cmpl", 1, kMostChoices).value_or(1));
  ask.stop = body.texts("stop", 16);
  std::erase(ask.stop, "");
  read_stream(body, ask);
  ask.response_only = body.flag("return_response_only").value_or(true);
  ask.return_tokens = body.flag("return_tokens").value_or(false);
  ask.deterministic = body.flag("deterministic").value_or(false);
  ask.trace = body.flag("trace").value_or(false);
  read_flat(body, ask, config);
  read_diffusion(object_at(body, "diffusion"), config);
  read_its(object_at(body, "its"), ask, config);
  read_headers(request, ask, config);
  for (const char* option : {"method", "particles", "iterations", "reward"})
    ask.wants_scaling = ask.wants_scaling || config.options.contains(option);
  ask.wants_scaling = ask.wants_scaling || ask.budget;
  ask.options = options_of(config, defaults, ask.budget.has_value());
  note_ignored(object, ask);
  if (ask.n * static_cast<int>(std::max<std::size_t>(1, ask.prompts.size())) > kMostChoices)
    refuse("n", ask.n, fmt::format("at most {} texts in all", kMostChoices));
  return ask;
}

}  // namespace pgdlm::serve
