#include "serve/texts_api.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "serve/api_error.h"
#include "serve/fields.h"

namespace pgdlm::serve {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMostTexts = 1024, kLongestText = std::size_t{64} << 10;

std::string string_at(const json& body, const char* name, const std::string& otherwise) {
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) return otherwise;
  if (!found->is_string()) throw ApiError(400, fmt::format("{} is {}, expected a string", name, shown(*found)), name);
  return found->get<std::string>();
}

bool flag_at(const json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) return false;
  if (!found->is_boolean())
    throw ApiError(400, fmt::format("{} is {}, expected true or false", name, shown(*found)), name);
  return found->get<bool>();
}

// The reward to score with: named as one, or as a model, as clients of rerankers do.
std::string reward_at(const json& body, const std::string& otherwise) {
  const std::string reward = string_at(body, "reward", string_at(body, "model", otherwise));
  if (reward.empty() || reward == "none")
    throw ApiError(400, "reward is missing, expected an expression such as sentiment:positive or prm", "reward");
  return reward;
}

// A text, a list of texts, or (documents) a list of objects {text}.
std::vector<std::string> texts_at(const json& body, const char* name) {
  const auto refuse = [&](const json& value) {
    throw ApiError(
        400, fmt::format("{} is {}, expected a text or a list of 1 to {} texts", name, shown(value), kMostTexts), name);
  };
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) refuse(json());
  const json list = found->is_string() ? json::array({*found}) : *found;
  if (!list.is_array() || list.empty() || list.size() > kMostTexts) refuse(*found);
  std::vector<std::string> texts;
  for (const json& item : list) {
    const json& text = item.is_object() && item.contains("text") ? item["text"] : item;
    if (!text.is_string()) refuse(item);
    texts.push_back(text.get<std::string>());
  }
  for (const std::string& text : texts)
    if (text.size() > kLongestText)
      throw ApiError(400, fmt::format("{} has a text of {} bytes, allowed: {}", name, text.size(), kLongestText), name);
  return texts;
}

std::vector<Scored> score_texts(TextReward& reward, const std::string& prompt, const std::vector<std::string>& texts) {
  constexpr std::size_t kBatch = 64;
  std::vector<Passage> passages;
  for (const std::string& text : texts) passages.push_back({prompt, text, text});
  std::vector<Scored> all;
  for (std::size_t first = 0; first < passages.size(); first += kBatch) {
    const auto batch = std::span(passages).subspan(first, std::min(kBatch, passages.size() - first));
    for (Scored& scored : reward.score(batch)) all.push_back(std::move(scored));
  }
  return all;
}

}  // namespace

std::string score(const std::string& text, Rewards& rewards, const std::string& default_reward) {
  const json body = parse_body(text);
  const std::string name = reward_at(body, default_reward);
  const bool pairs = body.contains("text_2");  // vLLM's way: text_1 is the query
  const std::vector<std::string> texts = texts_at(body, pairs ? "text_2" : "texts");
  const std::string prompt = string_at(body, pairs ? "text_1" : "prompt", "");
  const std::shared_ptr<TextReward> reward = rewards.open_text(name);
  const std::vector<Scored> scores = score_texts(*reward, prompt, texts);

  ordered_json data = ordered_json::array();
  const std::vector<std::string> labels = reward->labels();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    ordered_json item = {{"index", i}, {"object", "score"}, {"score", scores[i].score}};
    if (labels.empty()) item["steps"] = scores[i].parts;
    for (std::size_t l = 0; l < labels.size(); ++l) item["labels"][labels[l]] = scores[i].parts[l];
    data.push_back(std::move(item));
  }
  return ordered_json({{"object", "list"}, {"model", name}, {"data", std::move(data)}}).dump();
}

std::string rerank(const std::string& text, Rewards& rewards, const std::string& default_reward) {
  const json body = parse_body(text);
  const std::string name = reward_at(body, default_reward);
  const std::vector<std::string> documents = texts_at(body, body.contains("texts") ? "texts" : "documents");
  const std::vector<Scored> scores = score_texts(*rewards.open_text(name), string_at(body, "query", ""), documents);

  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return scores[a].score > scores[b].score; });
  if (const auto top = body.find("top_n"); top != body.end() && !top->is_null()) {
    if (!top->is_number_integer() || *top < 1) throw ApiError(400, "top_n must be a whole number from 1 on", "top_n");
    order.resize(std::min(order.size(), top->get<std::size_t>()));
  }
  const bool with_documents = flag_at(body, "return_documents");
  ordered_json results = ordered_json::array();
  for (const std::size_t i : order) {
    results.push_back({{"index", i}, {"relevance_score", scores[i].score}});
    if (with_documents) results.back()["document"] = {{"text", documents[i]}};
  }
  return ordered_json({{"object", "list"}, {"model", name}, {"results", std::move(results)}}).dump();
}

std::string tokenize(const std::string& text, Models& models) {
  const json body = parse_body(text);
  const auto model = models.open(string_at(body, "model", ""));
  const LanguageModel& language = *model->language();
  const std::string content = string_at(body, "content", string_at(body, "prompt", ""));
  std::vector<Token> tokens = language.encode(content, "content");
  if (flag_at(body, "add_special") || flag_at(body, "add_special_tokens")) {
    const std::vector<Token> opening = language.opening(), closing = language.closing();
    tokens.insert(tokens.begin(), opening.begin(), opening.end());
    tokens.insert(tokens.end(), closing.begin(), closing.end());
  }
  ordered_json list = ordered_json::array();
  const bool pieces = flag_at(body, "with_pieces");
  for (const Token token : tokens)
    list.push_back(pieces ? ordered_json({{"id", token}, {"piece", language.piece(token)}}) : ordered_json(token));
  return ordered_json({{"tokens", std::move(list)}, {"count", tokens.size()}, {"max_model_len", language.max_length()}})
      .dump();
}

std::string detokenize(const std::string& text, Models& models) {
  const json body = parse_body(text);
  const auto found = body.find("tokens");
  if (found == body.end() || !found->is_array())
    throw ApiError(400, "tokens is missing, expected a list of token ids", "tokens");
  const auto model = models.open(string_at(body, "model", ""));
  const LanguageModel& language = *model->language();
  std::vector<Token> tokens;
  for (const json& item : *found) {
    const bool sound = item.is_number_integer() && item >= 0 && item < language.denoiser()->vocab();
    if (!sound)
      throw ApiError(
          400, fmt::format("tokens holds {}, expected ids from 0 to {}", shown(item), language.denoiser()->vocab() - 1),
          "tokens");
    tokens.push_back(item.get<Token>());
  }
  const std::string content = language.read(tokens, 0).reply;
  return ordered_json({{"content", content}, {"prompt", content}}).dump();
}

}  // namespace pgdlm::serve
