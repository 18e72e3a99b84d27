// Names reward objects for the memo. An address will not do: a new reward may be born where an old one died.
// Owned by the engine, used on the coordinator's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pgdlm/plugin.h"

namespace pgdlm {

class RewardIds {
 public:
  // The same for the same living object, never used again after its death.
  std::uint64_t of(const std::shared_ptr<Reward>& reward) {
    std::erase_if(known_, [](const Known& known) { return known.life.expired(); });
    for (const Known& known : known_) {
      const bool same_life = !known.life.owner_before(reward) && !reward.owner_before(known.life);
      if (same_life && known.address == reward.get()) return known.id;
    }
    known_.push_back({reward, reward.get(), ++last_});
    return last_;
  }

 private:
  struct Known {
    std::weak_ptr<Reward> life;
    const Reward* address;
    std::uint64_t id;
  };
  std::vector<Known> known_;
  std::uint64_t last_ = 0;
};

}  // namespace pgdlm
