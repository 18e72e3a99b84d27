// The canvas of a request: the prompt, then masks, or the pieces and gaps of --infill.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/language_model.h"
#include "pgdlm/request.h"

namespace pgdlm {

// "the [MASK:3] was [MASK] ." as pieces of text and gaps in between.
struct Piece {
  std::string text;
  int gap = 0;  // masks after the text
};
std::vector<Piece> parse_infill(std::string_view text);  // Error{invalid_request}; at least one gap
int gap_count(const std::vector<Piece>& pieces);         // masks in all

// [{"role": "user", "content": "..."}, ...] as --messages has it. Error{invalid_request} says what is wrong with it.
std::vector<Message> parse_messages(const std::string& json);

// How a canvas begins: with a conversation, if there is one, and then with a text.
struct Beginning {
  std::string prompt;
  std::vector<Message> conversation;
};
// Error{invalid_request} if it does not fit the model.
Canvas make_canvas(const LanguageModel& model, const Beginning& beginning, const std::vector<Piece>& pieces);

}  // namespace pgdlm
