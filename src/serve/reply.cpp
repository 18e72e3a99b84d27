#include "serve/reply.h"

#include <algorithm>
#include <cmath>

#include "options/config.h"

namespace pgdlm::serve {
namespace {

using nlohmann::ordered_json;

const char* finish_reason(const Written& written) { return written.stopped ? "stop" : "length"; }

// The prompt in front, where the client wants it back.
std::string text_of(const Order& order, int index, const Result& result) {
  const Choice& choice = order.choices[static_cast<std::size_t>(index)];
  return (order.ask.echo ? choice.options.prompt : "") + result.written.text;
}

ordered_json choice_of(const Order& order, int index, const Result& result) {
  ordered_json choice = {{"index", index}};
  if (order.ask.chat)
    choice["message"] = {{"role", "assistant"}, {"content", text_of(order, index, result)}, {"refusal", nullptr}};
  else
    choice["text"] = text_of(order, index, result);
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = finish_reason(result.written);
  if (order.ask.return_tokens) {
    const Choice& own = order.choices[static_cast<std::size_t>(index)];
    choice["tokens"] = std::vector<Token>(result.answer.tokens.begin() + own.given, result.answer.tokens.end());
  }
  return choice;
}

ordered_json metadata_of(const Order& order, int index, const Result& result) {
  const Choice& choice = order.choices[static_cast<std::size_t>(index)];
  const Answer& answer = result.answer;
  ordered_json responses = ordered_json::array(), rewards = ordered_json::array(), weights = ordered_json::array();
  ordered_json selected;
  for (std::size_t i = 0; i < answer.candidates.size(); ++i) {
    const ScoredText& candidate = answer.candidates[i];
    responses.push_back(written(candidate.tokens, choice, order.ask, *order.model->language()).text);
    rewards.push_back(candidate.reward);
    weights.push_back(candidate.log_weight);
    if (selected.is_null() && candidate.tokens == answer.tokens) selected = i;
  }
  return {{"method", name_of(*choice.options.method)},
          {"selected_index", std::move(selected)},
          {"responses", std::move(responses)},
          {"rewards", std::move(rewards)},
          {"log_weights", std::move(weights)},
          {"ess", result.ess},
          {"log_z", answer.log_z},
          {"iterations_used", answer.sweeps},
          {"particles_used", answer.particles},
          {"forwards_asked", answer.cost.forwards_asked},
          {"forwards_run", answer.cost.forwards_run},
          {"rewards_asked", answer.cost.rewards_asked},
          {"rewards_run", answer.cost.rewards_run},
          {"status", name_of(answer.status)},
          {"selection", order.ask.vote ? "vote" : name_of(answer.selection)},
          {"reward", answer.reward},
          {"seed", answer.seed},
          {"config", ordered_json::parse(choice.request.config)}};
}

ordered_json timings_of(const std::vector<Result>& results) {
  Cost cost;
  int tokens = 0;
  for (const Result& result : results) {
    cost.forwards_asked += result.answer.cost.forwards_asked;
    cost.forwards_run += result.answer.cost.forwards_run;
    cost.tokens_run += result.answer.cost.tokens_run;
    cost.seconds = std::max(cost.seconds, result.answer.cost.seconds);  // they ran side by side
    tokens += result.written.tokens;
  }
  const double seconds = std::max(cost.seconds, 1e-9);
  return {{"predicted_n", tokens},
          {"predicted_ms", 1000 * cost.seconds},
          {"predicted_per_second", tokens / seconds},
          {"forwards_asked", cost.forwards_asked},
          {"forwards_run", cost.forwards_run},
          {"positions_per_second", static_cast<double>(cost.tokens_run) / seconds}};
}

}  // namespace

ordered_json usage_of(const Order& order, const std::vector<Result>& results) {
  int prompt = 0, completion = 0;
  for (std::size_t i = 0; i < order.choices.size(); i += static_cast<std::size_t>(order.ask.n))
    prompt += order.choices[i].given;
  for (const Result& result : results) completion += result.written.tokens;
  return {{"prompt_tokens", prompt}, {"completion_tokens", completion}, {"total_tokens", prompt + completion}};
}

void add_summary(ordered_json& reply, const Order& order, const std::vector<Result>& results) {
  reply["timings"] = timings_of(results);
  reply["seed"] = results.front().answer.seed;
  ordered_json warnings = order.warnings;
  for (const Result& result : results)
    for (const std::string& warning : result.warnings) warnings.push_back(warning);
  if (!warnings.empty()) reply["warnings"] = std::move(warnings);
  if (order.ask.response_only) return;
  ordered_json metadata = ordered_json::array();
  for (std::size_t i = 0; i < results.size(); ++i)
    metadata.push_back(metadata_of(order, static_cast<int>(i), results[i]));
  reply["metadata"] = metadata.size() == 1 ? metadata.front() : metadata;
}

ordered_json whole_reply(const Order& order, const std::vector<Result>& results, const Signature& signature) {
  ordered_json reply = {{"id", signature.id},
                        {"object", order.ask.chat ? "chat.completion" : "text_completion"},
                        {"created", signature.created},
                        {"model", order.model->name()},
                        {"choices", ordered_json::array()}};
  for (std::size_t i = 0; i < results.size(); ++i)
    reply["choices"].push_back(choice_of(order, static_cast<int>(i), results[i]));
  reply["usage"] = usage_of(order, results);
  add_summary(reply, order, results);
  return reply;
}

ordered_json chunk_frame(const Order& order, const Signature& signature) {
  return {{"id", signature.id},
          {"object", order.ask.chat ? "chat.completion.chunk" : "text_completion"},
          {"created", signature.created},
          {"model", order.model->name()},
          {"choices", ordered_json::array()}};
}

ordered_json first_chunk(const Order& order, const Signature& signature, int index) {
  ordered_json chunk = chunk_frame(order, signature);
  chunk["choices"].push_back(
      {{"index", index}, {"delta", {{"role", "assistant"}, {"content", ""}}}, {"finish_reason", nullptr}});
  return chunk;
}

ordered_json text_chunk(const Order& order, const Signature& signature, int index, const std::string& text) {
  ordered_json chunk = chunk_frame(order, signature), choice = {{"index", index}};
  if (order.ask.chat)
    choice["delta"] = {{"content", text}};
  else
    choice["text"] = text;
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = nullptr;
  chunk["choices"].push_back(std::move(choice));
  return chunk;
}

ordered_json last_chunk(const Order& order, const Signature& signature, int index, const Result& result) {
  ordered_json chunk = chunk_frame(order, signature), choice = {{"index", index}};
  if (order.ask.chat)
    choice["delta"] = ordered_json::object();
  else
    choice["text"] = "";
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = finish_reason(result.written);
  chunk["choices"].push_back(std::move(choice));
  return chunk;
}

}  // namespace pgdlm::serve
