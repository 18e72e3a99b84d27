// Denoisers that break one sentence of the contract each, and the check that says which.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "conformance/expect.h"
#include "pgdlm/conformance.h"

namespace pgdlm {
namespace {

constexpr int kVocab = 4;
constexpr Token kMask = 3;
const Canvas kCanvas{.tokens = {0, kMask, 1, kMask, kMask, kMask}, .prompt = 1};

using Table = std::vector<float>;  // [length, vocab]

struct MadePrediction : Prediction {
  explicit MadePrediction(Table t, int width = kVocab) : table(std::move(t)), vocab(width) {}
  std::span<const float> logits(Position l) const override {
    return std::span(table).subspan(static_cast<std::size_t>(l) * static_cast<std::size_t>(vocab),
                                    static_cast<std::size_t>(vocab));
  }
  std::size_t bytes() const override { return table.size() * sizeof(float); }

  Table table;
  int vocab;
};

// A decent one: the sum of the neighbours decides. What a test wants broken, it changes.
Table decent(StateView x) {
  Table table;
  for (std::size_t l = 0; l < x.tokens.size(); ++l) {
    const int left = l > 0 ? x.tokens[l - 1] : 0, right = l + 1 < x.tokens.size() ? x.tokens[l + 1] : 0;
    for (int v = 0; v < kVocab; ++v) table.push_back(0.25F * static_cast<float>((left + 2 * right + 3 * v) % 5));
  }
  return table;
}

using Predictions = std::vector<PredictionPtr>;
using States = std::span<const StateView>;

struct MadeDenoiser final : Denoiser {
  explicit MadeDenoiser(std::function<Predictions(States)> f) : function(std::move(f)) {}
  Predictions predict(States states) override { return function(states); }
  int vocab() const override { return vocabulary; }
  Token mask() const override { return kMask; }
  bool time_dependent() const override { return looks_at_time; }
  int forwards_per_state() const override { return forwards; }

  std::function<Predictions(States)> function;
  int vocabulary = kVocab, forwards = 1;
  bool looks_at_time = false;
};

// Each state on its own: only the table is broken.
MadeDenoiser by_state(std::function<Table(StateView)> table_of) {
  return MadeDenoiser([table_of = std::move(table_of)](States states) {
    Predictions predictions;
    for (const StateView& x : states) predictions.push_back(std::make_shared<MadePrediction>(table_of(x)));
    return predictions;
  });
}

// Adds something to all logits of the state at this place of the batch.
MadeDenoiser by_place(std::function<float(std::size_t place, std::size_t size)> shift) {
  return MadeDenoiser([shift = std::move(shift)](States states) {
    Predictions predictions;
    for (std::size_t i = 0; i < states.size(); ++i) {
      Table table = decent(states[i]);
      for (float& logit : table) logit += shift(i, states.size());
      predictions.push_back(std::make_shared<MadePrediction>(std::move(table)));
    }
    return predictions;
  });
}

std::vector<std::string> check(MadeDenoiser denoiser, ConformanceOptions options = {}) {
  return check_denoiser(denoiser, kCanvas, options);
}

TEST(DenoiserTeeth, AGoodOnePasses) { EXPECT_THAT(check(by_state(decent)), conformant()); }

TEST(DenoiserTeeth, ForbiddenTokensAreAllowed) {
  EXPECT_THAT(check(by_state([](StateView x) {
                Table table = decent(x);
                table[2] = -std::numeric_limits<float>::infinity();
                return table;
              })),
              conformant());
}

TEST(DenoiserTeeth, AVocabularyOfMasksIsCaught) {
  MadeDenoiser denoiser = by_state(decent);
  denoiser.vocabulary = 0;
  EXPECT_THAT(check(denoiser), violates_only("vocab() must hold a token besides the mask"));
}

TEST(DenoiserTeeth, AFreeForwardIsCaught) {
  MadeDenoiser denoiser = by_state(decent);
  denoiser.forwards = 0;
  EXPECT_THAT(check(denoiser), violates_only("forwards_per_state() must be at least 1"));
}

TEST(DenoiserTeeth, MissingPredictionsAreCaught) {
  EXPECT_THAT(check(MadeDenoiser([](States) { return Predictions{}; })),
              violates_only("predict() must return one prediction per state"));
}

TEST(DenoiserTeeth, NullIsCaught) {
  EXPECT_THAT(check(MadeDenoiser([](States states) { return Predictions(states.size()); })),
              violates_only("predict() must not return null"));
}

TEST(DenoiserTeeth, RowsOfTheWrongSizeAreCaught) {
  EXPECT_THAT(check(MadeDenoiser([](States states) {
                Predictions predictions;
                for (const StateView& x : states)
                  predictions.push_back(std::make_shared<MadePrediction>(decent(x), kVocab - 1));
                return predictions;
              })),
              violates_only("logits() must have vocab() entries"));
}

TEST(DenoiserTeeth, NotANumberIsCaught) {
  EXPECT_THAT(check(by_state([](StateView x) {
                Table table = decent(x);
                table[1] = std::nanf("");
                return table;
              })),
              violates_only("logits must be finite or -inf"));
}

TEST(DenoiserTeeth, PlusInfinityIsCaught) {
  EXPECT_THAT(check(by_state([](StateView x) {
                Table table = decent(x);
                table[1] = std::numeric_limits<float>::infinity();
                return table;
              })),
              violates_only("logits must be finite or -inf"));
}

TEST(DenoiserTeeth, ARowWithoutTokensIsCaught) {
  EXPECT_THAT(check(by_state([](StateView x) {
                Table table = decent(x);
                for (Token v = 0; v < kMask; ++v) table[v] = -std::numeric_limits<float>::infinity();
                return table;
              })),
              violates_only("some token besides the mask must be possible"));
}

TEST(DenoiserTeeth, DependenceOnTheBatchIsCaught) {
  const auto shift = [](std::size_t, std::size_t size) { return size > 1 ? 1e-3F : 0.0F; };
  EXPECT_THAT(check(by_place(shift)), violates("a prediction must be the same alone and in a batch"));
  EXPECT_THAT(check(by_place(shift), {.tolerance = 2e-3}), conformant());
}

TEST(DenoiserTeeth, DependenceOnTheOrderIsCaught) {
  EXPECT_THAT(
      check(MadeDenoiser([](States states) {
        Predictions predictions;
        for (std::size_t i = 0; i < states.size(); ++i) {  // padded to the length of the state before it
          Table table = decent(states[i]);
          if (i > 0 && states[i - 1].tokens.size() < states[i].tokens.size() && states[i].time > states[i - 1].time)
            table[0] += 1;
          predictions.push_back(std::make_shared<MadePrediction>(std::move(table)));
        }
        return predictions;
      })),
      violates("a prediction must not depend on the order of the batch"));
}

TEST(DenoiserTeeth, LeaksBetweenLengthsAreCaught) {  // short rows are padded, and the padding is not masked out
  EXPECT_THAT(check(MadeDenoiser([](States states) {
                std::size_t longest = 0;
                for (const StateView& x : states) longest = std::max(longest, x.tokens.size());
                Predictions predictions;
                for (const StateView& x : states) {
                  Table table = decent(x);
                  if (x.tokens.size() < longest) table.back() += 1;
                  predictions.push_back(std::make_shared<MadePrediction>(std::move(table)));
                }
                return predictions;
              })),
              violates("a prediction must be the same alone and in a batch"));
}

TEST(DenoiserTeeth, AMemoryIsCaught) {
  int calls = 0;
  EXPECT_THAT(check(by_state([&calls](StateView x) {
                Table table = decent(x);
                table[0] += static_cast<float>(++calls);
                return table;
              })),
              violates("a prediction must be the same when asked for again"));
}

TEST(DenoiserTeeth, ReadingNotesIsCaught) {
  EXPECT_THAT(check(by_state([](StateView x) {
                Table table = decent(x);
                table[0] += x.notes[1];
                return table;
              })),
              violates_only("a prediction must not depend on the notes of the process"));
}

TEST(DenoiserTeeth, UndeclaredTimeIsCaught) {
  MadeDenoiser denoiser = by_state([](StateView x) {
    Table table = decent(x);
    table[0] += static_cast<float>(x.time);
    return table;
  });
  EXPECT_THAT(check(denoiser), violates_only("a prediction must not depend on time unless time_dependent() says so"));
  denoiser.looks_at_time = true;
  EXPECT_THAT(check(denoiser), conformant());
}

TEST(DenoiserTeeth, ReadingPinsIsCaught) {
  EXPECT_THAT(check(by_state([](StateView x) {
                Table table = decent(x);
                for (std::size_t l = 0; l < x.frame.pinned.size(); ++l) table[0] += x.frame.pinned[l];
                return table;
              })),
              violates_only("a prediction must not depend on which tokens are pinned"));
}

// Every prediction is a view of one buffer, which the next call overwrites.
TEST(DenoiserTeeth, AReusedBufferIsCaught) {
  struct View final : Prediction {
    explicit View(const Table& b) : buffer(b) {}
    std::span<const float> logits(Position l) const override {
      return std::span(buffer).subspan(static_cast<std::size_t>(l) * kVocab, kVocab);
    }
    std::size_t bytes() const override { return 1; }
    const Table& buffer;
  };
  Table buffer(kCanvas.tokens.size() * kVocab);
  EXPECT_THAT(check(MadeDenoiser([&buffer](States states) {
                const Table table = decent(states.back());
                std::copy(table.begin(), table.end(), buffer.begin());
                return Predictions(states.size(), std::make_shared<View>(buffer));
              })),
              violates("a prediction must not change after it was made"));
}

// Rows are copied into one buffer when they are read: in order on one thread, but not on two.
TEST(DenoiserTeeth, ASharedRowIsCaught) {
  struct Copied final : MadePrediction {
    Copied(Table t, Table& r) : MadePrediction(std::move(t)), row(r) {}
    std::span<const float> logits(Position l) const override {
      const auto own = MadePrediction::logits(l);
      std::copy(own.begin(), own.end(), row.begin());
      return row;
    }
    Table& row;
  };
  Table row(kVocab);
  EXPECT_THAT(check(MadeDenoiser([&row](States states) {
                Predictions predictions;
                for (const StateView& x : states) predictions.push_back(std::make_shared<Copied>(decent(x), row));
                return predictions;
              })),
              violates_only("predictions must bear being read on several threads, each on one"));
}

TEST(DenoiserTeeth, WeightlessPredictionsAreCaught) {
  struct Weightless final : MadePrediction {
    using MadePrediction::MadePrediction;
    std::size_t bytes() const override { return 0; }
  };
  EXPECT_THAT(check(MadeDenoiser([](States states) {
                Predictions predictions;
                for (const StateView& x : states) predictions.push_back(std::make_shared<Weightless>(decent(x)));
                return predictions;
              })),
              violates_only("bytes() must say what a prediction occupies"));
}

TEST(DenoiserTeeth, ThrowingIsCaught) {
  EXPECT_THAT(check(MadeDenoiser([](States) -> Predictions { throw std::runtime_error("no device"); })),
              violates_only("predict() must not throw on valid input: no device"));
}

}  // namespace
}  // namespace pgdlm
