// Memo: exact reuse of what a network or a reward has already said. A 128-bit hash finds an entry, a comparison of the
// whole key confirms it, so a collision costs time and never an answer. Entries are charged in bytes; the least
// recently used go first. Owned by one lane (or one InlineCompute) and used by its thread only: predictions stay where
// they were made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pgdlm/plugin.h"

namespace pgdlm {

struct Hash128 {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};
struct Hash128Low {
  std::size_t operator()(const Hash128& hash) const { return static_cast<std::size_t>(hash.low); }
};
using HashSet = std::unordered_set<Hash128, Hash128Low>;
using HashFn = Hash128 (*)(std::span<const std::int32_t>);
Hash128 hash_words(std::span<const std::int32_t> words);

// Everything an answer depends on, as words. Two keys are equal exactly if their words are.
struct MemoKey {
  Hash128 hash;
  std::vector<std::int32_t> words;

  explicit MemoKey(std::vector<std::int32_t> w, HashFn hash_fn = hash_words) : hash(hash_fn(w)), words(std::move(w)) {}
  friend bool operator==(const MemoKey&, const MemoKey&) = default;
};

// Time is part of the key only if the denoiser looks at it; notes never are. Where the prompt ends always is: guidance
// looks at it, and equal tokens may be given in one request and generated in another. So is the horizon: what lies
// behind it was not computed.
MemoKey prediction_key(StateView state, bool time_dependent);
// `id` names one reward object for as long as the memo lives.
MemoKey reward_key(std::uint64_t id, const Reward& reward, const Candidate& candidate);

// A map from keys that live elsewhere: the hash first, then the words.
struct MemoKeyHash {
  std::size_t operator()(const MemoKey* key) const { return static_cast<std::size_t>(key->hash.low); }
};
struct MemoKeyEqual {
  bool operator()(const MemoKey* a, const MemoKey* b) const { return *a == *b; }
};
template <class Value>
using KeyIndex = std::unordered_map<const MemoKey*, Value, MemoKeyHash, MemoKeyEqual>;

template <class Value>
class Memo {
 public:
  explicit Memo(std::size_t budget_bytes) : budget_bytes_(budget_bytes) {}
  Memo(const Memo&) = delete;
  Memo& operator=(const Memo&) = delete;

  // The value, now the most recently used; null if unknown. Valid until the next insert.
  const Value* find(const MemoKey& key) {
    const auto found = index_.find(&key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->value;
  }

  // An entry larger than the whole budget is not kept: it would push out everything and then itself.
  void insert(MemoKey key, Value value, std::size_t value_bytes) {
    const std::size_t bytes = value_bytes + key.words.size() * sizeof(std::int32_t) + kEntryBytes;
    if (bytes > budget_bytes_ || find(key) != nullptr) return;
    while (bytes_ + bytes > budget_bytes_) forget_oldest();
    entries_.push_front({std::move(key), std::move(value), bytes});
    index_.emplace(&entries_.front().key, entries_.begin());
    bytes_ += bytes;
  }

  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }  // never above the budget

 private:
  struct Entry {
    MemoKey key;
    Value value;
    std::size_t bytes = 0;
  };
  // What list and index cost per entry, about: two nodes and a bucket.
  static constexpr std::size_t kEntryBytes = sizeof(Entry) + 8 * sizeof(void*);

  void forget_oldest() {
    bytes_ -= entries_.back().bytes;
    index_.erase(&entries_.back().key);
    entries_.pop_back();
  }

  std::size_t budget_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  KeyIndex<typename std::list<Entry>::iterator> index_;
};

}  // namespace pgdlm
