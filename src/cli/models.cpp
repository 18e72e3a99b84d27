#include <fmt/format.h>

#include "cli/commands.h"
#include "models/toy.h"

namespace pgdlm::cli {

int models() {
  const ToyModel toy;
  fmt::print(
      "toy   film reviews from a Markov chain over {} words. Its denoiser is exact, so revealing one word at a\n"
      "      time samples the chain itself. Needs no file; up to {} words.\n"
      "      rewards: none, positive, negative, contains:WORD, length:A..B\n"
      "      words:",
      toy.eos(), ToyModel::kMaxLength);
  std::size_t column = 12;
  for (Token word = 0; word < toy.eos(); ++word) {
    const std::string& text = toy.words()[word];
    if (column + 1 + text.size() > 100) {
      fmt::print("\n            ");
      column = 12;
    }
    fmt::print(" {}", text);
    column += 1 + text.size();
  }
  fmt::print("\n");
  return 0;
}

}  // namespace pgdlm::cli
