#include "pgdlm/processes.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "kit/backward_case.h"
#include "kit/enumerate.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

using kit::State;
using kit::StepCase;

constexpr std::array kOrders = {DreamOrder::origin, DreamOrder::maskgit_plus, DreamOrder::topk_margin,
                                DreamOrder::entropy, DreamOrder::random};

TEST(Dream, EveryOrderKeepsTheContract) {
  kit::ToyDenoiser denoiser({.tokens = 3, .seed = 6});
  const Frame frame = kit::toy_frame(4, 3, {1});
  for (DreamOrder order : kOrders)
    for (Filter filter : std::vector<Filter>{{},
                                             {.temperature = 0},
                                             {.temperature = 0.2, .top_p = 0.95},
                                             {.temperature = 0, .top_p = 0.6},
                                             {.temperature = 1.5, .top_k = 2},
                                             {.top_p = 0.6, .top_k = 2}}) {
      SCOPED_TRACE(static_cast<int>(order));
      kit::expect_contract(*make_dream({.order = order, .filter = filter}), denoiser, frame, 3);
    }
}

TEST(Dream, PositionsDrawnByConfidenceKeepTheContract) {
  kit::ToyDenoiser denoiser({.tokens = 2});
  const Frame frame = kit::toy_frame(4, 2);
  for (DreamOrder order : {DreamOrder::maskgit_plus, DreamOrder::topk_margin, DreamOrder::entropy}) {
    const auto process = make_dream({.order = order, .filter = {}, .alg_temp = 0.5});
    EXPECT_FALSE(process->scores_transitions());
    kit::expect_contract(*process, denoiser, frame, 2);
  }
}

TEST(Dream, OriginIsMdlmOnItsOwnGrid) {
  kit::ToyDenoiser denoiser;
  const Frame frame = kit::toy_frame(3, 2);
  const auto dream = make_dream({.order = DreamOrder::origin, .filter = {}});
  const auto mdlm = make_mdlm();
  for (int i = 0; i < 3; ++i) {
    const Step step = kit::step_of(*dream, 3, i);
    const StepCase ours{*dream, denoiser, frame, step}, theirs{*mdlm, denoiser, frame, step};
    EXPECT_LT(total_variation(ours.law(kit::start_state(frame)), theirs.law(kit::start_state(frame))), 1e-14);
  }
}

TEST(Dream, GridEndsAtZeroInsteadOfEps) {
  const auto times = make_dream({.eps = 0.1})->times(3);
  ASSERT_EQ(times.size(), 4u);
  EXPECT_DOUBLE_EQ(times[0], 1);
  EXPECT_DOUBLE_EQ(times[1], 0.7);
  EXPECT_DOUBLE_EQ(times[2], 0.4);
  EXPECT_EQ(times[3], 0);
}

TEST(Dream, RevealsTheFloorOfTheShareAndTheRestAtTheEnd) {
  const auto process = make_dream();
  const Frame frame = kit::toy_frame(10, 2);
  const State from = kit::start_state(frame);
  const auto quota = [&](Step step) { return process->greedy_quota(view(frame, from), step); };
  EXPECT_EQ(quota({.index = 0, .count = 4, .t = 1, .s = 0.75}), 2);      // 2.5
  EXPECT_EQ(quota({.index = 1, .count = 4, .t = 0.75, .s = 0.675}), 1);  // 10 (1 - 0.9), one bit below 1
  EXPECT_EQ(quota({.index = 1, .count = 400, .t = 0.75, .s = 0.74}), 0);
  EXPECT_EQ(quota({.index = 3, .count = 4, .t = 0.25, .s = 0}), 10);
}

TEST(Dream, StepsThatRevealNothingAreQuiet) {
  const auto process = make_dream();
  const Frame frame = kit::toy_frame(2, 2);
  const State from = kit::start_state(frame);
  const Step step = {.index = 0, .count = 10, .t = 1, .s = 0.9};
  kit::enumerate([&](Source& s) { return process->decide(view(frame, from), step, *s.open({})); },
                 [](const Decision& decision, double) { EXPECT_TRUE(decision.quiet()); });
}

// Three positions with different ideas of certainty. Probabilities:
//   0: .50 .50 0     top .50  margin 0    entropy .69
//   1: .46 .27 .27   top .46  margin .19  entropy 1.06
//   2: .55 .40 .05   top .55  margin .15  entropy .86
const TablePrediction& three_ways() {
  static const TablePrediction prediction = [] {
    std::vector<float> table;
    for (double p : {0.5, 0.5, 1e-30, 1.0, 0.46, 0.27, 0.27, 1.0, 0.55, 0.4, 0.05, 1.0})
      table.push_back(static_cast<float>(std::log(p)));
    return TablePrediction(4, table);
  }();
  return prediction;
}

TEST(Dream, OrdersRankByTheirOwnConfidence) {
  const Frame frame = kit::toy_frame(3, 3);
  const State from = kit::start_state(frame);
  const Step step = {.index = 0, .count = 3, .t = 1, .s = 2.0 / 3};
  const auto first = [&](DreamOrder order) {
    return make_dream({.order = order, .filter = {}})->greedy(view(frame, from), three_ways(), step).at(0).position;
  };
  EXPECT_EQ(first(DreamOrder::maskgit_plus), 2);
  EXPECT_EQ(first(DreamOrder::topk_margin), 1);
  EXPECT_EQ(first(DreamOrder::entropy), 0);  // the smallest entropy, not the largest
}

TEST(Dream, FiltersActOnConfidenceToo) {
  const Frame frame = kit::toy_frame(3, 3);
  const State from = kit::start_state(frame);
  const Step step = {.index = 0, .count = 3, .t = 1, .s = 2.0 / 3};
  // top_p 0.4: every row keeps one token (usual rule), all are certain: the first position wins.
  const auto process = make_dream({.order = DreamOrder::maskgit_plus, .filter = {.top_p = 0.4}});
  EXPECT_EQ(process->greedy(view(frame, from), three_ways(), step).at(0).position, 0);
}

TEST(Dream, SetsThatDoNotDependOnTokensCostFewDraws) {
  const auto process = make_dream({.order = DreamOrder::entropy, .filter = {}});
  const Frame frame = kit::toy_frame(3, 3);
  const State from = kit::start_state(frame);
  const Step step = {.index = 0, .count = 3, .t = 1, .s = 2.0 / 3};
  const auto leaves = kit::enumerate(
      [&](Source& s) {
        const auto draws = s.open({});
        process->fill(view(frame, from), process->decide(view(frame, from), step, *draws), three_ways(), step, *draws);
      },
      [](double) {});
  EXPECT_LE(leaves, 3);
}

// Without replacement from softmax(confidence/alg_temp): a set's probability is a sum over its two orders.
TEST(Dream, AlgTempDrawsWithoutReplacement) {
  const double temp = 0.3;
  const auto process = make_dream({.order = DreamOrder::topk_margin, .filter = {}, .alg_temp = temp});
  const Frame frame = kit::toy_frame(3, 3);
  const State from = kit::start_state(frame);
  const Step step = {.index = 0, .count = 3, .t = 1, .s = 0.3};  // floor(3 * 0.7) = 2
  std::map<std::vector<Position>, double> sets;
  kit::enumerate(
      [&](Source& s) {
        const auto draws = s.open({});
        const Decision decision = process->decide(view(frame, from), step, *draws);
        std::vector<Position> set;
        for (const Edit& edit : process->fill(view(frame, from), decision, three_ways(), step, *draws))
          set.push_back(edit.position);
        return set;
      },
      [&](auto set, double p) { sets[set] += p; });
  const double w0 = 1, w1 = std::exp(0.19 / temp), w2 = std::exp(0.15 / temp), sum = w0 + w1 + w2;
  const auto both = [&](double a, double b) { return a / sum * b / (sum - a) + b / sum * a / (sum - b); };
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_NEAR(sets.at({0, 1}), both(w0, w1), 1e-6);
  EXPECT_NEAR(sets.at({0, 2}), both(w0, w2), 1e-6);
  EXPECT_NEAR(sets.at({1, 2}), both(w1, w2), 1e-6);
}

TEST(Dream, RandomOrderIsUniformAndChosenBeforeLogits) {
  const auto process = make_dream({.order = DreamOrder::random});
  const Frame frame = kit::toy_frame(4, 2);
  const State from = kit::start_state(frame);
  const Step step = {.index = 0, .count = 2, .t = 1, .s = 0.5};
  std::map<std::vector<Position>, double> chosen;
  kit::enumerate([&](Source& s) { return process->decide(view(frame, from), step, *s.open({})); },
                 [&](const Decision& decision, double p) {
                   EXPECT_FALSE(decision.choose);
                   chosen[decision.reveal] += p;
                 });
  EXPECT_EQ(chosen.size(), 6u);
  for (const auto& [set, p] : chosen) EXPECT_NEAR(p, 1.0 / 6, 1e-15);
}

TEST(Dream, RefusesBadOptions) {
  const auto message = [](DreamOptions options) -> std::string {
    try {
      make_dream(options);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_request ? error.what() : "another code";
    }
    return "accepted";
  };
  EXPECT_EQ(message({.alg_temp = -1}), "dream.alg_temp is -1; allowed: 0 (the most confident) or more");
  EXPECT_EQ(message({.order = DreamOrder::origin, .alg_temp = 1}),
            "dream.alg_temp is 1; allowed: 0 with the orders origin and random, which do not rank positions");
  EXPECT_EQ(message({.eps = 0}), "dream.eps is 0; allowed: between 0 and 1");
  EXPECT_EQ(message({.filter = {.top_k = -1}}), "dream.top_k is -1; allowed: 0 (all tokens) or more");
}

}  // namespace
}  // namespace pgdlm
