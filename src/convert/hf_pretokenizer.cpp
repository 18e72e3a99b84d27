#include "convert/hf_pretokenizer.h"

#include <array>
#include <optional>
#include <vector>

#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using nlohmann::json;

struct Rule {
  std::string_view name, pattern;
};

constexpr std::array kRules = {
    Rule{"gpt-2", R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    Rule{"qwen2", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                  R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    Rule{"llama-bpe", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    // LLaDA's, which it has from Ling (Bailing): the same cuts as qwen2 in another spelling.
    Rule{"bailingmoe", R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}|)"
                       R"( ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"},
};

std::string type_of(const json& step) {
  const auto type = step.is_object() ? step.find("type") : step.end();
  return step.is_object() && type != step.end() && type->is_string() ? type->get<std::string>() : "";
}

bool flag(const json& step, const char* name, bool otherwise) {
  const auto found = step.find(name);
  return found != step.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

// The name of a Split step's pattern, if its matches are the words.
std::optional<std::string> split_name(const json& step) {
  const std::string behaviour = step.contains("behavior") && step["behavior"].is_string() ? step["behavior"] : "";
  const bool words = (behaviour == "Isolated" && !flag(step, "invert", false)) ||
                     (behaviour == "Removed" && flag(step, "invert", false));
  if (!words || !step.contains("pattern") || !step["pattern"].is_object() || !step["pattern"].contains("Regex"))
    return std::nullopt;
  for (const Rule& rule : kRules)
    if (step["pattern"]["Regex"] == rule.pattern) return std::string(rule.name);
  return std::nullopt;
}

std::optional<std::string> recognise(const json& pre_tokenizer) {
  std::vector<json> steps = {pre_tokenizer};
  if (type_of(pre_tokenizer) == "Sequence") {
    const auto inner = pre_tokenizer.find("pretokenizers");
    if (inner == pre_tokenizer.end() || !inner->is_array()) return std::nullopt;
    steps = inner->get<std::vector<json>>();
  }
  if (steps.size() == 1 && type_of(steps[0]) == "ByteLevel" && flag(steps[0], "use_regex", true)) return "gpt-2";
  const bool split_then_bytes = steps.size() == 2 && type_of(steps[0]) == "Split" && type_of(steps[1]) == "ByteLevel" &&
                                !flag(steps[1], "use_regex", true) &&
                                !flag(steps[1], "add_prefix_space", false);  // it would be before every word
  return split_then_bytes ? split_name(steps[0]) : std::nullopt;
}

}  // namespace

std::string recognise_pretokenizer(const json& pre_tokenizer, std::string_view family, const std::string& source) {
  const std::optional<std::string> name = recognise(pre_tokenizer);
  if (name == "gpt-2" && family == "roberta-bpe") return "roberta-bpe";
  if (name) return *name;
  throw Error(ErrorCode::unsupported,
              source + ": pre_tokenizer is " + pre_tokenizer.dump() +
                  ", supported: ByteLevel with its own regex, or the Split of Qwen2, Llama 3 or LLaDA before ByteLevel "
                  "without add_prefix_space",
              "another rule would cut text into other tokens than the model was trained on");
}

}  // namespace pgdlm
