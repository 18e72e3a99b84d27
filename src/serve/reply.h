// Replies in OpenAI's form, with ours beside. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "pgdlm/answer.h"
#include "serve/order.h"
#include "serve/written.h"

namespace pgdlm::serve {

// What became of one choice.
struct Result {
  Answer answer;
  std::vector<double> ess;  // of the last weights of each sweep
  Written written;
  std::vector<std::string> warnings;
};

// Who answers.
struct Signature {
  std::string id;
  std::int64_t created = 0;  // seconds since 1970
};

nlohmann::ordered_json whole_reply(const Order& order, const std::vector<Result>& results, const Signature& signature);

// Of a stream: the frame of every message, with no choices; a piece of text; the end of a choice; and what the last
// message has besides.
nlohmann::ordered_json chunk_frame(const Order& order, const Signature& signature);
nlohmann::ordered_json first_chunk(const Order& order, const Signature& signature, int index);  // of a chat
nlohmann::ordered_json text_chunk(const Order& order, const Signature& signature, int index, const std::string& text);
nlohmann::ordered_json last_chunk(const Order& order, const Signature& signature, int index, const Result& result);
void add_summary(nlohmann::ordered_json& reply, const Order& order, const std::vector<Result>& results);
nlohmann::ordered_json usage_of(const Order& order, const std::vector<Result>& results);

}  // namespace pgdlm::serve
