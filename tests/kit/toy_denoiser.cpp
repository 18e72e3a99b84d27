#include "kit/toy_denoiser.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

namespace pgdlm::kit {
namespace {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) { return Key{0, hash}.child(word).path; }

std::uint64_t hash_of(std::uint64_t seed, std::span<const Token> tokens) {
  std::uint64_t hash = mix(0, seed);
  for (Token v : tokens) hash = mix(hash, static_cast<std::uint64_t>(v));
  return hash;
}

double to_uniform(std::uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

}  // namespace

double toy_uniform(std::uint64_t seed, std::span<const Token> tokens, std::uint64_t label) {
  return to_uniform(mix(hash_of(seed, tokens), label));
}

Frame toy_frame(int length, int tokens, std::vector<Position> pinned, int prompt) {
  Frame frame{.mask = tokens, .vocab = tokens + 1, .prompt = prompt};
  frame.pinned.assign(static_cast<std::size_t>(length), 0);
  for (Position l : pinned) frame.pinned[static_cast<std::size_t>(l)] = 1;
  for (Position l = 0; l < prompt; ++l) frame.pinned[static_cast<std::size_t>(l)] = 1;
  return frame;
}

std::vector<Token> toy_canvas(const Frame& frame) {
  std::vector<Token> tokens(frame.pinned.size(), frame.mask);
  for (std::size_t l = 0; l < tokens.size(); ++l)
    if (frame.pinned[l]) tokens[l] = static_cast<Token>(l) % frame.mask;
  return tokens;
}

std::vector<PredictionPtr> ToyDenoiser::predict(std::span<const StateView> states) {
  ++batches_run_;
  states_run_ += static_cast<std::int64_t>(states.size());
  std::vector<PredictionPtr> predictions;
  for (const StateView& x : states) {
    std::uint64_t hash = hash_of(options_.seed, x.tokens);
    if (options_.time_dependent) hash = mix(hash, std::bit_cast<std::uint64_t>(x.time));
    std::vector<float> table;
    table.reserve(x.tokens.size() * static_cast<std::size_t>(vocab()));
    for (std::size_t l = 0; l < x.tokens.size(); ++l) {
      for (Token v = 0; v < options_.tokens; ++v) {
        const std::uint64_t cell = mix(hash, l * 64 + static_cast<std::uint64_t>(v));
        table.push_back(static_cast<float>(options_.scale * (2 * to_uniform(cell) - 1)));
      }
      if (options_.mask_in_vocab) table.push_back(static_cast<float>(options_.scale + 1));
    }
    predictions.push_back(std::make_shared<TablePrediction>(vocab(), std::move(table)));
  }
  return predictions;
}

double ToyReward::of(std::span<const Token> tokens) const {
  if (!options_.nan_for.empty() && std::ranges::equal(tokens, options_.nan_for))
    return std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t hash = mix(hash_of(options_.seed, tokens), 1);
  if (options_.forbidden_one_in > 0 && mix(hash, 2) % static_cast<std::uint64_t>(options_.forbidden_one_in) == 0)
    return -std::numeric_limits<double>::infinity();
  return options_.scale * (2 * to_uniform(hash) - 1);
}

std::vector<double> ToyReward::score(std::span<const Candidate> candidates) {
  texts_run_ += static_cast<std::int64_t>(candidates.size());
  std::vector<double> rewards;
  for (const Candidate& candidate : candidates) rewards.push_back(of(candidate.tokens));
  return rewards;
}

}  // namespace pgdlm::kit
