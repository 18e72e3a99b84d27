#include "diffusion/memo.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

namespace pgdlm {
namespace {

// The finaliser of splitmix64: every bit of the input reaches every bit of the output.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void append(std::vector<std::int32_t>& words, std::uint64_t value) {
  words.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
  words.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(value >> 32)));
}

}  // namespace

Hash128 hash_words(std::span<const std::int32_t> words) {
  Hash128 h{0x243f6a8885a308d3u, 0x13198a2e03707344u ^ words.size()};
  for (const std::int32_t word : words) {
    const auto w = static_cast<std::uint64_t>(static_cast<std::uint32_t>(word));
    h.low = mix(h.low ^ (w + 0x9e3779b97f4a7c15u));
    h.high = mix((h.high + w) * 0xd6e8feb86659fd93u);
  }
  return h;
}

MemoKey prediction_key(StateView state, bool time_dependent) {
  std::vector<std::int32_t> words;
  words.reserve(state.tokens.size() + 4);
  words.assign(state.tokens.begin(), state.tokens.end());
  words.push_back(state.frame.prompt);
  words.push_back(std::min<Position>(state.horizon, static_cast<Position>(state.tokens.size())));
  if (time_dependent) append(words, std::bit_cast<std::uint64_t>(state.time));
  return MemoKey(std::move(words));
}

MemoKey reward_key(std::uint64_t id, const Reward& reward, const Candidate& candidate) {
  std::vector<std::int32_t> words;
  if (const std::optional<std::string> read = reward.reads(candidate)) {
    words.resize((read->size() + 3) / 4);
    std::memcpy(words.data(), read->data(), read->size());
    append(words, read->size());
  } else {
    words.assign(candidate.tokens.begin(), candidate.tokens.end());
    words.push_back(candidate.prompt);
    words.push_back(candidate.complete ? 1 : 0);
  }
  append(words, id);
  return MemoKey(std::move(words));
}

}  // namespace pgdlm
