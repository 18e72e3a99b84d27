// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): a keyed bijection of counters. The key is the seed, the counter
// is (draw number, path), so a stream is an address and streams never overlap.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "pgdlm/draws.h"

namespace pgdlm {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

class PhiloxSource final : public Source {
 public:
  std::unique_ptr<Draws> open(Key key) override;
};

}  // namespace pgdlm
