#include "serve/live_canvases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pgdlm::serve {
namespace {

using ::testing::ElementsAre;

constexpr Token kMask = 9;

Drafted draft(int slot, std::vector<Token> canvas) { return {.step = 1, .slot = slot, .canvas = std::move(canvas)}; }

TEST(LiveCanvases, WhatAllParticlesShareIsCertain) {
  LiveCanvases live({1, 9, 9, 9}, 1, kMask, 2, true);
  live.apply(draft(0, {1, 2, 3, 9}));
  EXPECT_EQ(live.certain(), 0) << "the other has not said anything yet";
  live.apply(draft(1, {1, 2, 4, 9}));
  EXPECT_THAT(live.certain_tokens(), ElementsAre(1, 2));
  live.apply(Resampled{.parents = {1, 1}});
  EXPECT_THAT(live.certain_tokens(), ElementsAre(1, 2, 4));
  live.apply(draft(0, {1, 2, 4, 5}));
  live.apply(draft(1, {1, 2, 4, 5}));
  EXPECT_EQ(live.certain(), 3);
}

TEST(LiveCanvases, AHoleEndsIt) {
  LiveCanvases live({9, 9, 9}, 0, kMask, 1, true);
  live.apply(draft(0, {1, 9, 3}));
  EXPECT_EQ(live.certain(), 1);
}

TEST(LiveCanvases, NothingIsCertainWhereTokensAreTakenBack) {
  LiveCanvases live({9, 9}, 0, kMask, 1, false);
  live.apply(draft(0, {1, 2}));
  EXPECT_EQ(live.certain(), 0);
}

TEST(LiveCanvases, TheLeaderHasTheHighestWeight) {
  LiveCanvases live({9}, 0, kMask, 3, true);
  EXPECT_TRUE(std::isnan(live.value(live.leader())));
  live.apply(Weighed{.values = {0.5, 0.1, 0.9}, .log_weights = {0, -1, 2}});
  EXPECT_EQ(live.leader(), 2);
  EXPECT_EQ(live.value(2), 0.9);
  live.apply(Resampled{.parents = {1, 2, 0}});
  EXPECT_EQ(live.leader(), 1);
  live.apply(Selected{});
  EXPECT_EQ(live.leader(), 0);
}

}  // namespace
}  // namespace pgdlm::serve
