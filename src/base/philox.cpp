#include "base/philox.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/check.h"
#include "base/exp_sum.h"

namespace pgdlm {
namespace {

// One draw uses one block of the counter: 53 random bits, then inverse CDF in double.
class PhiloxDraws final : public Draws {
 public:
  explicit PhiloxDraws(Key key) : key_(key) {}

  // A vocabulary is walked block by block, then within one block.
  int categorical(std::span<const double> weights) override {
    sums_.clear();
    double total = 0;
    for (std::size_t i = 0; i < weights.size(); i += kBlock) total += sums_.emplace_back(sum_of(block(weights, i)));
    PGDLM_CHECK(total > 0);
    double left = uniform() * total;
    std::size_t last = 0;  // block with any weight; rounding may leave a crumb beyond it
    for (std::size_t b = 0; b < sums_.size(); ++b) {
      if (sums_[b] <= 0) continue;
      last = b * kBlock;
      if (left < sums_[b]) return static_cast<int>(last) + within(block(weights, last), left);
      left -= sums_[b];
    }
    return static_cast<int>(last) + within(block(weights, last), total);
  }

 private:
  static constexpr std::size_t kBlock = 256;

  static int within(std::span<const double> weights, double left) {
    int last_positive = -1;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] <= 0) continue;
      last_positive = static_cast<int>(i);
      if (left < weights[i]) break;
      left -= weights[i];
    }
    return last_positive;
  }
  static std::span<const double> block(std::span<const double> weights, std::size_t first) {
    return weights.subspan(first, std::min(kBlock, weights.size() - first));
  }

  double uniform() {
    const auto lo = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    const auto hi = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
    const auto bits =
        philox4x32({lo(count_), hi(count_), lo(key_.path), hi(key_.path)}, {lo(key_.seed), hi(key_.seed)});
    ++count_;
    const std::uint64_t word = (std::uint64_t{bits[0]} << 32) | bits[1];
    return static_cast<double>(word >> 11) * 0x1p-53;
  }

  Key key_;
  std::uint64_t count_ = 0;
  std::vector<double> sums_;  // of the blocks, kept for its memory
};

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

std::unique_ptr<Draws> PhiloxSource::open(Key key) { return std::make_unique<PhiloxDraws>(key); }

}  // namespace pgdlm
