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

// Error{invalid_request} if it does not fit the model.
Canvas make_canvas(const LanguageModel& model, std::string_view prompt, bool chat, const std::vector<Piece>& pieces);

}  // namespace pgdlm
