// What a client reads of an answer: its text, where it ends and why. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pgdlm/answer.h"
#include "serve/order.h"

namespace pgdlm::serve {

// What was written behind a prompt.
struct Written {
  std::string text;
  bool stopped = false;  // by the model's end of text, or by a stop sequence
  int tokens = 0;        // up to that end
};
Written written(std::span<const Token> tokens, const Choice& choice, const CompletionAsk& ask,
                const LanguageModel& language);

// As much of it as cannot change any more: an unfinished character and the possible beginning of a stop sequence are
// held back.
std::string certain_text(std::span<const Token> tokens, const Choice& choice, const CompletionAsk& ask,
                         const LanguageModel& language);

// Of an answer's candidates, one that says what most of them say: the same final number, else the same text. -1: none.
int voted(const Answer& answer, const Choice& choice, const LanguageModel& language);

}  // namespace pgdlm::serve
