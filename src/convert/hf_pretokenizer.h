// Which of llama.cpp's named pre-tokenisers the one of a tokenizer.json is.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace pgdlm {

// `family` is the name for GPT-2's rule in this family of models ("gpt-2" or "roberta-bpe": they differ in what is
// added around a text). Error{unsupported} prints a rule that is none of them. `source` is for messages.
std::string recognise_pretokenizer(const nlohmann::json& pre_tokenizer, std::string_view family,
                                   const std::string& source);

}  // namespace pgdlm
