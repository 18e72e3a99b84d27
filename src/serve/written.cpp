#include "serve/written.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "rewards/rules.h"

namespace pgdlm::serve {
namespace {

// The first stop sequence in a text, or its end.
std::size_t stop_in(const std::string& text, const std::vector<std::string>& stop) {
  std::size_t end = std::string::npos;
  for (const std::string& word : stop) end = std::min(end, text.find(word));
  return end;
}

std::string reply_of(std::span<const Token> tokens, const Choice& choice, const LanguageModel& language) {
  const auto end = std::min(tokens.size(), static_cast<std::size_t>(choice.given + choice.length));
  return language.read(tokens.first(end), choice.given).reply;
}

// How many of the tokens it takes to write so many bytes.
int tokens_of(std::size_t bytes, std::span<const Token> tokens, const Choice& choice, const LanguageModel& language) {
  int low = 0, high = choice.length;
  while (low < high) {
    const int middle = (low + high) / 2;
    const auto end = static_cast<std::size_t>(choice.given + middle);
    if (language.read(tokens.first(end), choice.given).reply.size() >= bytes)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

Written written(std::span<const Token> tokens, const Choice& choice, const CompletionAsk& ask,
                const LanguageModel& language) {
  Written result{.text = reply_of(tokens, choice, language)};
  const auto own = tokens.subspan(static_cast<std::size_t>(choice.given), static_cast<std::size_t>(choice.length));
  const auto end = std::ranges::find_if(
      own, [&](Token token) { return token >= 0 && (token == language.eos() || token == language.eot()); });
  result.stopped = end != own.end() || choice.options.infill.has_value();
  result.tokens = static_cast<int>(std::count_if(own.begin(), end, [&](Token t) { return t != language.mask(); }));
  if (const std::size_t at = stop_in(result.text, ask.stop); at != std::string::npos) {
    result.text.resize(at);
    result.stopped = true;
    result.tokens = tokens_of(at, tokens, choice, language);
  }
  return result;
}

std::string certain_text(std::span<const Token> tokens, const Choice& choice, const CompletionAsk& ask,
                         const LanguageModel& language) {
  constexpr std::string_view kUnfinished = "\xef\xbf\xbd";  // U+FFFD stands for bytes that are no character yet
  std::string text = reply_of(tokens, choice, language);
  if (const std::size_t at = stop_in(text, ask.stop); at != std::string::npos) return text.substr(0, at);
  while (text.ends_with(kUnfinished)) text.resize(text.size() - kUnfinished.size());
  std::size_t held = 0;
  for (const std::string& word : ask.stop)
    for (std::size_t length = std::min(word.size() - 1, text.size()); length > held; --length)
      if (text.ends_with(std::string_view(word).substr(0, length))) held = length;
  text.resize(text.size() - held);
  return text;
}

int voted(const Answer& answer, const Choice& choice, const LanguageModel& language) {
  std::map<std::string, double> votes;
  std::vector<std::string> says;
  for (const ScoredText& candidate : answer.candidates) {
    const std::string reply = reply_of(candidate.tokens, choice, language);
    says.push_back(final_number(reply).value_or(reply));
    votes[says.back()] += std::exp(candidate.log_weight);
  }
  int best = -1;
  for (int i = 0; i < static_cast<int>(says.size()); ++i) {
    const auto worth = [&](int at) { return std::pair(votes[says[at]], answer.candidates[at].reward); };
    if (best < 0 || worth(i) > worth(best)) best = i;
  }
  return best;
}

}  // namespace pgdlm::serve
