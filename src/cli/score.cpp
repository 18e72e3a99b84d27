#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "options/names.h"
#include "rewards/open_reward.h"
#include "text/utf8.h"

namespace pgdlm::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kBatch = 64;  // texts at a time: results come while the rest is still to be done

// One line of --jsonl: {"text": "...", "prompt": "..."}.
Passage parse_line(const std::string& line, const std::string& where) {
  const ordered_json object = ordered_json::parse(line, nullptr, false);
  const auto field = [&](const char* name, bool required) -> std::string {
    const auto found = object.is_object() ? object.find(name) : object.end();
    if (found == object.end() && !required) return "";
    if (found == object.end() || !found->is_string())
      throw Error(ErrorCode::invalid_request, fmt::format("{}: expected an object with the text '{}'", where, name),
                  R"(a line is {"text": "...", "prompt": "..."})");
    return found->get<std::string>();
  };
  const std::string text = field("text", true);
  return {field("prompt", false), text, text};
}

std::vector<Passage> read_jsonl(const std::string& path) {
  std::vector<Passage> passages;
  int number = 0;
  for (const std::string& line : lines_of_file(path)) {
    ++number;
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    passages.push_back(parse_line(line, fmt::format("{}: line {}", path, number)));
  }
  if (passages.empty()) throw Error(ErrorCode::invalid_request, fmt::format("there is no text in file '{}'", path));
  return passages;
}

std::vector<Passage> read_passages(const ScoreOptions& options) {
  if (options.jsonl.empty()) {
    std::vector<Passage> passages;
    for (const std::string& text : read_texts(options.input)) passages.push_back({options.prompt, text, text});
    return passages;
  }
  if (!options.input.file.empty() || !options.input.texts.empty() || !options.prompt.empty())
    throw Error(ErrorCode::invalid_request, "jsonl says what to look at, but texts, a file or a prompt are given too",
                "give one of them");
  return read_jsonl(options.jsonl);
}

void print(const Scored& scored, const std::vector<std::string>& labels, bool json) {
  if (!json) {
    fmt::print("{:.6g}\n", scored.score);
    return;
  }
  ordered_json object = {{"score", scored.score}};
  if (labels.empty()) object["steps"] = scored.parts;
  for (std::size_t i = 0; i < labels.size(); ++i) object["labels"][valid_utf8(labels[i])] = scored.parts[i];
  fmt::print("{}\n", object.dump());
}

}  // namespace

int score(const ScoreOptions& options) {
  const std::vector<Passage> passages = read_passages(options);
  const std::unique_ptr<TextReward> reward =
      open_text_reward(options.reward, {.models = options.model, .patience = options.reward_patience});
  for (std::size_t first = 0; first < passages.size(); first += kBatch) {
    const auto batch = std::span(passages).subspan(first, std::min(kBatch, passages.size() - first));
    for (const Scored& scored : reward->score(batch)) print(scored, reward->labels(), options.json);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace pgdlm::cli
