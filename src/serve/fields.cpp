#include "serve/fields.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "options/options.h"
#include "serve/api_error.h"

namespace pgdlm::serve {
namespace {

using nlohmann::json;

constexpr auto kFields = std::to_array<Field>({
    {"model", "string", "one of /v1/models; without it the server's default"},
    {"prompt", "string|array", "how the text begins: a text, a list of texts, or the same as token ids",
     Endpoint::completions},
    {"suffix", "string", "what follows the text: the model fills the gap", Endpoint::completions},
    {"echo", "boolean", "begin the text with its prompt", Endpoint::completions},
    {"best_of", "integer", "of so many samples the best by the reward: budget, with best of n", Endpoint::completions},
    {"messages", "array", "the conversation; one that ends with the assistant's message is continued", Endpoint::chat},
    {"max_tokens", "integer", "tokens to generate; shorter texts end early"},
    {"max_completion_tokens", "integer", "the same"},
    {"n_predict", "integer", "the same, as llama.cpp calls it"},
    {"n", "integer", "so many texts, independent draws of one posterior"},
    {"n_cmpl", "integer", "the same, as llama.cpp calls it"},
    {"temperature", "number", "of the words"},
    {"top_p", "number", "keep the most probable words up to this mass"},
    {"top_k", "integer", "keep so many of the most probable words; 0: all"},
    {"seed", "integer", "same seed, same randomness; without it a new one for each request (the reply says which)"},
    {"stop", "string|array", "the text ends before the first of these"},
    {"stream", "boolean", "send events while the text is made"},
    {"stream_options", "object", "include_usage: a last chunk with usage"},
    {"stream_mode", "string", "block_append: committed text only; denoise, best: diffusion_frame events too"},
    {"stream_events", "boolean", "the engine's own events too"},
    {"reconnect_seconds", "number", "go on for so long after the connection broke; see /runs/ID/events"},
    {"budget", "integer", "particles in all"},
    {"return_response_only", "boolean", "false: the reply has metadata"},
    {"return_tokens", "boolean", "each choice has its tokens"},
    {"its", "object", "inference-time scaling: the method, its reward and how hard to try"},
    {"diffusion", "object", "how texts are denoised"},
    {"deterministic", "boolean", "forwards in shapes of their own: the same bits alone and under load"},
    {"trace", "boolean", "record the run in the server's folder of traces, as ID.jsonl"},
    {"extra_body", "object", "further fields, as some clients wrap them; the outer ones win"},
    // Understood, and refused where it would change the reply.
    {"logprobs", "boolean|integer", "not supported: null, false or 0"},
    {"top_logprobs", "integer", "not supported: 0"},
    {"tools", "array", "not supported: empty"},
    {"functions", "array", "not supported: empty"},
    {"response_format", "object", "type text only"},
    {"modalities", "array", "text only"},
    // Understood, and without effect.
    {"frequency_penalty", "number", "no effect"},
    {"presence_penalty", "number", "no effect"},
    {"logit_bias", "object", "no effect"},
    {"min_p", "number", "no effect"},
    {"tool_choice", "string|object", "no effect"},
    {"function_call", "string|object", "no effect"},
    {"parallel_tool_calls", "boolean", "no effect"},
    {"user", "string", "no effect"},
    {"safety_identifier", "string", "no effect"},
    {"prompt_cache_key", "string", "no effect"},
    {"cache_prompt", "boolean", "no effect"},
    {"store", "boolean", "no effect"},
    {"metadata", "object", "no effect"},
    {"service_tier", "string", "no effect"},
    {"reasoning_effort", "string", "no effect"},
    {"verbosity", "string", "no effect"},
    {"add_generation_prompt", "boolean", "no effect: the last message decides"},
    {"continue_final_message", "boolean", "no effect: the last message decides"},
    {"include_stop_str_in_output", "boolean", "no effect"},
});

// Where an option of `pgdlm generate` belongs in a body.
struct Sorter {
  std::vector<OptionField>& its;
  std::vector<OptionField>& diffusion;
  bool process = false;

  void group(std::string_view title) { process = title == "Denoising process"; }
  template <class T>
  void operator()(const OptionInfo& info, const T&) {
    static const std::set<std::string> elsewhere = {"prompt", "n-predict", "chat", "messages", "model", "seed"};
    if (elsewhere.contains(info.name)) return;
    std::string option = info.name;
    std::ranges::replace(option, '-', '_');
    std::string name = option;
    if (option == "temp") name = "temperature";
    if (option.starts_with("diffusion_")) name = option.substr(std::string("diffusion_").size());
    (process || option == "infill" ? diffusion : its).push_back({name, option, info.help});
  }
};

std::pair<std::vector<OptionField>, std::vector<OptionField>> sorted_options() {
  std::pair<std::vector<OptionField>, std::vector<OptionField>> sorted;
  const GenerateOptions options;
  visit_options(options, Sorter{sorted.first, sorted.second});
  return sorted;
}

[[noreturn]] void wrong_type(const char* name, const json& value, const std::string& expected) {
  throw ApiError(400, fmt::format("{} is {}, expected {}", name, shown(value), expected), name);
}

// Brackets outside of strings. The parser itself has no bound.
bool too_deep(std::string_view text) {
  constexpr int kDeepest = 64;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{'))
      ++depth;
    else if (!quoted && (c == ']' || c == '}'))
      --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

}  // namespace

std::span<const Field> completion_fields() { return kFields; }
std::vector<OptionField> its_fields() { return sorted_options().first; }
std::vector<OptionField> diffusion_fields() { return sorted_options().second; }

std::string shown(const json& value) {
  constexpr std::size_t kMost = 60;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);  // ASCII: it can be cut anywhere
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

json parse_body(const std::string& text) {
  if (too_deep(text)) throw ApiError(400, "the body is nested too deeply");
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) throw ApiError(400, "the body is not well-formed JSON in UTF-8");
  if (!object.is_object()) throw ApiError(400, fmt::format("the body is {}, expected a JSON object", shown(object)));
  return object;
}

const json* Body::find(const char* name) const {
  PGDLM_CHECK(std::ranges::any_of(kFields, [&](const Field& field) { return std::string_view(field.name) == name; }));
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Body::text(const char* name) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) wrong_type(name, *value, "a string");
  return value->get<std::string>();
}

std::optional<bool> Body::flag(const char* name) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) wrong_type(name, *value, "true or false");
  return value->get<bool>();
}

std::optional<int> Body::whole(const char* name, int least, int most) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const std::string expected = fmt::format("a whole number from {} to {}", least, most);
  if (!value->is_number()) wrong_type(name, *value, expected);
  const double number = value->get<double>();  // 8.0 is what some clients make of 8
  if (!(number >= least && number <= most) || number != std::floor(number)) wrong_type(name, *value, expected);
  return static_cast<int>(number);
}

std::optional<double> Body::number(const char* name, double least, double most) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const bool sound = value->is_number() && value->get<double>() >= least && value->get<double>() <= most;
  if (!sound) wrong_type(name, *value, fmt::format("a number from {} to {}", least, most));
  return value->get<double>();
}

std::vector<std::string> Body::texts(const char* name, std::size_t most) const {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (value->is_string()) return {value->get<std::string>()};
  const bool sound = value->is_array() && value->size() <= most &&
                     std::ranges::all_of(*value, [](const json& item) { return item.is_string(); });
  if (!sound) wrong_type(name, *value, fmt::format("a string or a list of at most {} strings", most));
  return value->get<std::vector<std::string>>();
}

}  // namespace pgdlm::serve
