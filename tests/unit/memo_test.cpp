// The memo never approximates: it forgets, but what it remembers belongs to exactly this key.
#include "diffusion/memo.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace pgdlm {
namespace {

constexpr std::size_t kPlenty = 1 << 20;

MemoKey key(std::vector<std::int32_t> words) { return MemoKey(std::move(words)); }

// What one entry with a one-word key and a value of 100 bytes is charged.
std::size_t entry_bytes() {
  Memo<int> memo(kPlenty);
  memo.insert(key({1}), 1, 100);
  return memo.bytes();
}

TEST(Memo, RemembersWhatItWasTold) {
  Memo<int> memo(kPlenty);
  EXPECT_EQ(memo.find(key({1, 2})), nullptr);
  memo.insert(key({1, 2}), 12, 4);
  memo.insert(key({2, 1}), 21, 4);
  ASSERT_NE(memo.find(key({1, 2})), nullptr);
  EXPECT_EQ(*memo.find(key({1, 2})), 12);
  EXPECT_EQ(*memo.find(key({2, 1})), 21);
  EXPECT_EQ(memo.find(key({1})), nullptr);
  EXPECT_EQ(memo.find(key({})), nullptr);
}

TEST(Memo, ForgetsTheLeastRecentlyUsed) {
  Memo<int> memo(3 * entry_bytes());
  for (int i = 1; i <= 3; ++i) memo.insert(key({i}), i, 100);
  ASSERT_NE(memo.find(key({1})), nullptr);  // now 2 is the oldest
  memo.insert(key({4}), 4, 100);
  EXPECT_EQ(memo.find(key({2})), nullptr);
  EXPECT_NE(memo.find(key({1})), nullptr);
  EXPECT_NE(memo.find(key({3})), nullptr);
  EXPECT_NE(memo.find(key({4})), nullptr);
  EXPECT_EQ(memo.size(), 3U);
}

TEST(Memo, StaysWithinItsBudget) {
  const std::size_t budget = 5 * entry_bytes() / 2;
  Memo<int> memo(budget);
  for (int i = 0; i < 100; ++i) {
    memo.insert(key({i}), i, static_cast<std::size_t>(i % 7) * 40);
    EXPECT_LE(memo.bytes(), budget);
  }
  EXPECT_GT(memo.size(), 0U);
}

TEST(Memo, LeavesOutWhatIsLargerThanTheBudget) {
  Memo<int> memo(2 * entry_bytes());
  memo.insert(key({1}), 1, 100);
  memo.insert(key({2}), 2, 10 * entry_bytes());
  EXPECT_EQ(memo.find(key({2})), nullptr);
  EXPECT_NE(memo.find(key({1})), nullptr) << "and it did not push out the others";
}

TEST(Memo, WithoutABudgetKeepsNothing) {
  Memo<int> memo(0);
  memo.insert(key({1}), 1, 0);
  EXPECT_EQ(memo.find(key({1})), nullptr);
  EXPECT_EQ(memo.bytes(), 0U);
}

TEST(Memo, LargeEntryPushesOutSeveral) {
  Memo<int> memo(3 * entry_bytes());
  for (int i = 1; i <= 3; ++i) memo.insert(key({i}), i, 100);
  memo.insert(key({4}), 4, 100 + entry_bytes());
  EXPECT_EQ(memo.size(), 2U);
  EXPECT_NE(memo.find(key({3})), nullptr);
  EXPECT_NE(memo.find(key({4})), nullptr);
}

TEST(Memo, FirstAnswerStands) {
  Memo<int> memo(kPlenty);
  memo.insert(key({1}), 1, 4);
  memo.insert(key({1}), 2, 4);
  EXPECT_EQ(*memo.find(key({1})), 1);
  EXPECT_EQ(memo.size(), 1U);
}

// Every key collides in all 128 bits; only the comparison of the words is left.
TEST(Memo, CollidingHashesAreToldApart) {
  const auto colliding = [](int word) {
    return MemoKey({word}, [](std::span<const std::int32_t>) { return Hash128{7, 7}; });
  };
  Memo<int> memo(20 * entry_bytes());
  for (int i = 0; i < 20; ++i) memo.insert(colliding(i), i, 100);
  for (int i = 0; i < 20; ++i) {
    ASSERT_NE(memo.find(colliding(i)), nullptr);
    EXPECT_EQ(*memo.find(colliding(i)), i);
  }
  EXPECT_EQ(memo.find(colliding(20)), nullptr);
  memo.insert(colliding(20), 20, 100);  // pushes out exactly the oldest of the bucket
  EXPECT_EQ(memo.find(colliding(0)), nullptr);
  EXPECT_EQ(*memo.find(colliding(1)), 1);
}

TEST(MemoKey, TimeCountsOnlyForDenoisersThatLookAtIt) {
  const std::vector<Token> tokens = {3, 1, 4};
  const std::vector<float> notes(3, 0.0F);
  const Frame frame, longer{.prompt = 1};
  const auto key = [&](const Frame& f, double time, bool looks) {
    return prediction_key({f, tokens, notes, time}, looks);
  };
  EXPECT_EQ(key(frame, 0.5, false), key(frame, 0.25, false));
  EXPECT_NE(key(frame, 0.5, true), key(frame, 0.25, true));
  EXPECT_EQ(key(frame, 0.5, true), key(frame, 0.5, true));
  EXPECT_NE(key(frame, 0.5, false), key(longer, 0.5, false));  // guidance masks the prompt
}

struct ReadsAll : Reward {
  std::vector<double> score(std::span<const Candidate> all) override { return std::vector<double>(all.size()); }
};
struct ReadsTheFirst final : ReadsAll {
  std::optional<std::string> reads(const Candidate& c) const override { return std::to_string(c.tokens[0]); }
};

TEST(MemoKey, RewardsDependOnAllOfTheCandidate) {
  const std::vector<Token> tokens = {3, 1, 4}, other = {3, 1, 5};
  const auto key = [](std::uint64_t id, const Candidate& candidate) { return reward_key(id, ReadsAll(), candidate); };
  const MemoKey base = key(1, {tokens, 1, true});
  EXPECT_EQ(base, key(1, {tokens, 1, true}));
  EXPECT_NE(base, key(2, {tokens, 1, true}));
  EXPECT_NE(base, key(std::uint64_t{1} << 32, {tokens, 1, true}));
  EXPECT_NE(base, key(1, {tokens, 2, true}));
  EXPECT_NE(base, key(1, {tokens, 1, false}));
  EXPECT_NE(base, key(1, {other, 1, true}));
}

TEST(MemoKey, OrOnWhatTheyReadOfIt) {
  const std::vector<Token> tokens = {3, 1, 4}, same = {3, 1, 5}, other = {33, 1, 4};
  const auto key = [](const std::vector<Token>& t) { return reward_key(1, ReadsTheFirst(), {t, 1, true}); };
  EXPECT_EQ(key(tokens), key(same));
  EXPECT_NE(key(tokens), key(other));
}

TEST(MemoKey, HashSeesOrderLengthAndEveryWord) {
  const std::vector<std::vector<std::int32_t>> distinct = {{}, {0}, {0, 0}, {1}, {1, 0}, {0, 1}, {-1}, {0, 0, 0}};
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(hash_words(distinct[i]).low, hash_words(distinct[j]).low) << i << " " << j;
      EXPECT_NE(hash_words(distinct[i]).high, hash_words(distinct[j]).high) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace pgdlm
