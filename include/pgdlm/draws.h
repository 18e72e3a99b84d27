// All randomness enters here. A draw has an address (a Key), not a history: batching, threads and other
// requests cannot change it. Production opens Philox streams; the laws enumerate every outcome instead.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace pgdlm {

// An address in the tree of random streams: seed, then a path of labels (request, sweep, stage, slot, purpose).
struct Key {
  std::uint64_t seed = 0;
  std::uint64_t path = 0;

  // The finaliser of splitmix64 over (path, label): a bijection of the label for a given path.
  constexpr Key child(std::uint64_t label) const {
    std::uint64_t z = path * 0x9e3779b97f4a7c15u + label + 0x632be59bd9b4e019u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return {seed, z ^ (z >> 31)};
  }
  friend constexpr bool operator==(Key, Key) = default;
};

// One stream. Everything random is a draw from finitely many outcomes, so that everything can be enumerated:
// a scheme that needs a point in [0, 1) draws the cell between its breakpoints instead.
class Draws {
 public:
  virtual ~Draws() = default;

  // An index with probability proportional to its weight. At least one weight is positive, all are finite.
  virtual int categorical(std::span<const double> weights) = 0;

  bool coin(double probability) {
    if (probability <= 0) return false;
    if (probability >= 1) return true;
    const std::array<double, 2> sides = {1 - probability, probability};
    return categorical(sides) == 1;
  }
};

class Source {
 public:
  virtual ~Source() = default;
  virtual std::unique_ptr<Draws> open(Key key) = 0;  // any thread
};

}  // namespace pgdlm
