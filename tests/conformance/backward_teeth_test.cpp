// Processes that break one sentence of the contract each, and the check that says which.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "conformance/expect.h"
#include "kit/toy_denoiser.h"
#include "pgdlm/conformance.h"
#include "pgdlm/error.h"
#include "pgdlm/processes.h"

namespace pgdlm {
namespace {

constexpr Token kMask = 2;
constexpr int kSteps = 3;
const Canvas kCanvas{.tokens = {1, kMask, 0, kMask}, .prompt = 1};

// A good process behind it; a test overrides what it wants broken.
struct Behind : Backward {
  explicit Behind(std::shared_ptr<const Backward> process = make_mdlm()) : good(std::move(process)) {}

  Decision decide(StateView x, Step step, Draws& draws) const override { return good->decide(x, step, draws); }
  Move fill(StateView x, const Decision& decision, const Prediction& prediction, Step step,
            Draws& draws) const override {
    return good->fill(x, decision, prediction, step, draws);
  }
  int greedy_quota(StateView x, Step step) const override { return good->greedy_quota(x, step); }
  Move greedy(StateView x, const Prediction& prediction, Step step) const override {
    return good->greedy(x, prediction, step);
  }
  std::optional<double> log_prob(StateView from, StateView to, const Prediction& prediction, Step step) const override {
    return good->log_prob(from, to, prediction, step);
  }
  bool scores_transitions() const override { return good->scores_transitions(); }
  bool remembers() const override { return good->remembers(); }
  std::vector<double> times(int steps) const override { return good->times(steps); }
  std::vector<int> block_ends(const Frame& frame, int steps) const override { return good->block_ends(frame, steps); }
  void validate(const Frame& frame, int steps) const override { good->validate(frame, steps); }

  std::shared_ptr<const Backward> good;
};

// Changes what fill returns, after the fact.
struct Afterwards : Behind {
  using Change = void (*)(StateView, Move&);
  explicit Afterwards(Change c, std::shared_ptr<const Backward> process = make_mdlm())
      : Behind(std::move(process)), change(c) {}
  Move fill(StateView x, const Decision& decision, const Prediction& prediction, Step step,
            Draws& draws) const override {
    Move move = good->fill(x, decision, prediction, step, draws);
    change(x, move);
    return move;
  }
  Change change;
};

std::vector<std::string> check(const Backward& process) {
  kit::ToyDenoiser denoiser({.tokens = kMask});
  return check_backward(process, denoiser, kCanvas, kSteps);
}

TEST(BackwardTeeth, AGoodOnePasses) { EXPECT_THAT(check(Behind()), conformant()); }

// ---- the grid ----

TEST(BackwardTeeth, RefusingItsOwnCanvasIsCaught) {
  struct Refuses : Behind {
    void validate(const Frame&, int) const override { throw Error(ErrorCode::invalid_request, "not today"); }
  };
  EXPECT_THAT(check(Refuses()), violates_only("validate() must not throw on valid input: not today"));
}

TEST(BackwardTeeth, AGridWithoutStepsIsCaught) {
  struct Empty : Behind {
    std::vector<double> times(int) const override { return {1}; }
  };
  EXPECT_THAT(check(Empty()), violates_only("times() must have at least two entries"));
}

TEST(BackwardTeeth, AGridThatDoesNotEndAtZeroIsCaught) {
  struct Short : Behind {
    std::vector<double> times(int) const override { return {1, 0.5, 0.001}; }
  };
  EXPECT_THAT(check(Short()), violates_only("times() must run from 1 to 0"));
}

TEST(BackwardTeeth, AGridThatStandsStillIsCaught) {
  struct Still : Behind {
    std::vector<double> times(int) const override { return {1, 0.5, 0.5, 0}; }
  };
  EXPECT_THAT(check(Still()), violates_only("times() must decrease strictly"));
}

TEST(BackwardTeeth, BlocksThatStopEarlyAreCaught) {
  struct Early : Behind {
    std::vector<int> block_ends(const Frame&, int steps) const override { return {steps - 1}; }
  };
  EXPECT_THAT(check(Early()), violates_only("block_ends() must end with the last step"));
}

TEST(BackwardTeeth, EmptyBlocksAreCaught) {
  struct Twice : Behind {
    std::vector<int> block_ends(const Frame&, int steps) const override { return {1, 1, steps}; }
  };
  EXPECT_THAT(check(Twice()), violates_only("block_ends() must increase, from 1 or more"));
}

// ---- moves ----

TEST(BackwardTeeth, EditingThePromptIsCaught) {
  const Afterwards broken([](StateView, Move& move) { move.push_back({.position = 0, .token = 0}); });
  EXPECT_THAT(check(broken), violates("edits must leave pinned positions alone"));
  EXPECT_THAT(check(broken), violates("fill() must edit only what decide() named"));
}

TEST(BackwardTeeth, EditingBeyondTheCanvasIsCaught) {
  const Afterwards broken([](StateView x, Move& move) { move.push_back({.position = x.frame.length()}); });
  EXPECT_THAT(check(broken), violates("edits must lie on the canvas"));
}

TEST(BackwardTeeth, EditingTwiceIsCaught) {
  const Afterwards broken([](StateView, Move& move) {
    if (!move.empty()) move.push_back(move.back());
  });
  EXPECT_THAT(check(broken), violates_only("a position must be edited at most once per step"));
}

TEST(BackwardTeeth, ForeignTokensAreCaught) {
  const Afterwards broken([](StateView x, Move& move) {
    for (Edit& edit : move) edit.token = x.frame.vocab;
  });
  EXPECT_THAT(check(broken), violates("edits must write tokens of the vocabulary or the mask"));
}

TEST(BackwardTeeth, ForgettingTheRemaskedIsCaught) {
  const Afterwards broken(
      [](StateView x, Move& move) { std::erase_if(move, [&](const Edit& e) { return e.token == x.frame.mask; }); },
      make_remdm({.schedule = RemdmSchedule::rescale, .eta = 0.9, .filter = {}}));
  kit::ToyDenoiser denoiser({.tokens = kMask});
  EXPECT_THAT(check_backward(broken, denoiser, kCanvas, 6, {.paths = 50}),
              violates("fill() must return what decide() had ready, too"));
}

TEST(BackwardTeeth, SecretNotesAreCaught) {
  const Afterwards broken([](StateView, Move& move) {
    for (Edit& edit : move) edit.note = 0.5F;
  });
  EXPECT_THAT(check(broken), violates_only("notes must be 0 unless remembers() says so, and never NaN"));
}

TEST(BackwardTeeth, NotesThatAreNoNumbersAreCaught) {
  const Afterwards broken(
      [](StateView, Move& move) {
        for (Edit& edit : move) edit.note = std::nanf("");
      },
      make_remdm({.schedule = RemdmSchedule::conf}));
  EXPECT_THAT(check(broken), violates("notes must be 0 unless remembers() says so, and never NaN"));
}

TEST(BackwardTeeth, MasksThatAreLeftAreCaught) {
  struct Lazy : Behind {
    Decision decide(StateView x, Step step, Draws& draws) const override {
      Decision decision = good->decide(x, step, draws);
      if (step.last()) decision.reveal.clear();
      return decision;
    }
  };
  EXPECT_THAT(check(Lazy()), violates("no mask may be left at the end"));
}

TEST(BackwardTeeth, RandomnessOfItsOwnIsCaught) {
  struct Willful : Behind {
    Move fill(StateView x, const Decision& decision, const Prediction& prediction, Step step,
              Draws& draws) const override {
      Move move = good->fill(x, decision, prediction, step, draws);
      for (Edit& edit : move) edit.token = static_cast<Token>(Key{}.child(++calls).path % kMask);
      return move;
    }
    mutable std::uint64_t calls = 0;
  };
  EXPECT_THAT(check(Willful()), violates("a move must be a function of state and draws"));
}

TEST(BackwardTeeth, ImpossibleDrawsAreCaught) {
  struct Careless : Behind {
    Move fill(StateView x, const Decision& decision, const Prediction& prediction, Step step,
              Draws& draws) const override {
      draws.categorical(std::vector<double>{0, 0});
      return good->fill(x, decision, prediction, step, draws);
    }
  };
  EXPECT_THAT(check(Careless()), violates("draws must be asked for finite weights >= 0, one of them positive"));
}

TEST(BackwardTeeth, ThrowingIsCaught) {
  struct Throws : Behind {
    Move fill(StateView, const Decision&, const Prediction&, Step, Draws&) const override {
      throw Error(ErrorCode::internal, "no idea");
    }
  };
  EXPECT_THAT(check(Throws()), violates("decide() and fill() must not throw on valid input: no idea"));
}

// ---- the greedy path ----

TEST(BackwardTeeth, ANegativeQuotaIsCaught) {
  struct Negative : Behind {
    int greedy_quota(StateView x, Step step) const override { return step.last() ? good->greedy_quota(x, step) : -1; }
  };
  EXPECT_THAT(check(Negative()), violates_only("greedy_quota() must not be negative"));
}

TEST(BackwardTeeth, AGreedyPathThatExceedsItsQuotaIsCaught) {
  struct Greedier : Behind {
    int greedy_quota(StateView x, Step step) const override { return std::min(1, good->greedy_quota(x, step)); }
    Move greedy(StateView x, const Prediction& prediction, Step) const override {
      return good->greedy(x, prediction, {.index = 0, .count = 1});  // everything at once
    }
  };
  EXPECT_THAT(check(Greedier()), violates("greedy() must not edit more than greedy_quota() says"));
}

TEST(BackwardTeeth, AGreedyPathThatStopsIsCaught) {
  struct Stops : Behind {
    int greedy_quota(StateView, Step) const override { return 0; }
  };
  EXPECT_THAT(check(Stops()), violates("no mask may be left at the end"));
}

TEST(BackwardTeeth,
     AnImpossibleGreedyPathIsCaught) {  // draws are filtered to the best token, greedy takes the other one
  struct Contrary : Behind {
    Contrary() : Behind(make_mdlm({.filter = {.top_k = 1}})) {}
    Move greedy(StateView x, const Prediction& prediction, Step step) const override {
      Move move = good->greedy(x, prediction, step);
      for (Edit& edit : move) edit.token = 1 - edit.token;
      return move;
    }
  };
  EXPECT_THAT(check(Contrary()), violates_only("the greedy move must be possible"));
}

TEST(BackwardTeeth, AnEditOfThePromptByGreedyIsCaught) {
  struct Rude : Behind {
    Move greedy(StateView x, const Prediction& prediction, Step step) const override {
      Move move = good->greedy(x, prediction, step);
      move.front().position = 0;
      return move;
    }
  };
  EXPECT_THAT(check(Rude()), violates("edits must leave pinned positions alone"));
}

// ---- scores ----

struct Scored : Behind {
  using Change = double (*)(double log_p, StateView to, Step step);
  explicit Scored(Change c, std::shared_ptr<const Backward> process = make_mdlm())
      : Behind(std::move(process)), change(c) {}
  std::optional<double> log_prob(StateView from, StateView to, const Prediction& prediction, Step step) const override {
    return change(*good->log_prob(from, to, prediction, step), to, step);
  }
  Change change;
};

TEST(BackwardTeeth, PositiveLogProbabilitiesAreCaught) {
  EXPECT_THAT(check(Scored([](double log_p, StateView, Step) { return 1 - log_p; })),
              violates("log_prob() must be the logarithm of a probability"));
}

TEST(BackwardTeeth, ProbabilityZeroForWhatWasDrawnIsCaught) {
  EXPECT_THAT(check(Scored([](double, StateView, Step) { return -std::numeric_limits<double>::infinity(); })),
              violates("log_prob() must be finite for a move that was drawn"));
}

TEST(BackwardTeeth, TooMuchProbabilityIsCaught) {
  EXPECT_THAT(check(Scored([](double log_p, StateView, Step) { return log_p / 2; })),
              violates("probabilities of different moves must not add up to more than 1"));
}

TEST(BackwardTeeth, TooLittleProbabilityIsCaught) {
  EXPECT_THAT(check(Scored([](double log_p, StateView, Step) { return log_p - 0.1; })),
              violates_only("log_prob() must agree with draws"));
}

// A slip that keeps the sum at 1: the temperature of the draws is forgotten in the score.
TEST(BackwardTeeth, AScoreAtAnotherTemperatureIsCaught) {
  struct Forgetful : Behind {
    Forgetful() : Behind(make_mdlm({.filter = {.temperature = 0.8}})) {}
    std::optional<double> log_prob(StateView from, StateView to, const Prediction& prediction,
                                   Step step) const override {
      return make_mdlm()->log_prob(from, to, prediction, step);
    }
  };
  EXPECT_THAT(check(Forgetful()), violates_only("log_prob() must agree with draws"));
}

TEST(BackwardTeeth, ScoresThatIgnoreThePromptAreCaught) {
  struct Blind : Behind {
    std::optional<double> log_prob(StateView from, StateView to, const Prediction& prediction,
                                   Step step) const override {
      std::vector<Token> tokens(to.tokens.begin(), to.tokens.end());
      for (int l = 0; l < from.frame.length(); ++l)
        if (from.frame.pinned[l]) tokens[l] = from.tokens[l];
      return good->log_prob(from, {to.frame, tokens, to.notes, to.time}, prediction, step);
    }
  };
  EXPECT_THAT(check(Blind()), violates_only("log_prob() must be -inf where a pinned token changes"));
}

TEST(BackwardTeeth, AMissingScoreIsCaught) {
  struct Silent : Behind {
    std::optional<double> log_prob(StateView, StateView, const Prediction&, Step) const override { return {}; }
  };
  EXPECT_THAT(check(Silent()), violates("log_prob() must answer where scores_transitions() says so"));
}

TEST(BackwardTeeth, AnUnannouncedScoreIsCaught) {
  struct Modest : Behind {
    bool scores_transitions() const override { return false; }
  };
  EXPECT_THAT(check(Modest()), violates_only("log_prob() must be announced by scores_transitions()"));
}

}  // namespace
}  // namespace pgdlm
