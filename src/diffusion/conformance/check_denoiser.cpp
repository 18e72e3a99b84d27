#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <span>
#include <thread>

#include "base/philox.h"
#include "diffusion/conformance/findings.h"
#include "diffusion/schedule.h"
#include "pgdlm/conformance.h"

namespace pgdlm {
namespace {

using Table = std::vector<float>;  // [length, vocab]

// A state that owns what its view points to.
struct Posed {
  Frame frame;
  std::vector<Token> tokens;
  std::vector<float> notes;
  double time = 1;

  StateView view() const { return {frame, tokens, notes, time}; }
};

std::vector<StateView> views_of(const std::vector<Posed>& states) {
  std::vector<StateView> views;
  for (const Posed& state : states) views.push_back(state.view());
  return views;
}

class DenoiserCheck {
 public:
  DenoiserCheck(Denoiser& denoiser, const Canvas& canvas, const ConformanceOptions& options)
      : denoiser_(denoiser), canvas_(canvas), options_(options) {}

  std::vector<std::string> run() {
    findings_.guard("Denoiser", [&] {
      vocab_ = denoiser_.vocab();
      mask_ = denoiser_.mask();
      findings_.require(vocab_ > (mask_ >= 0 && mask_ < vocab_ ? 1 : 0), "vocab() must hold a token besides the mask",
                        "vocab() is " + std::to_string(vocab_) + ", mask() is " + std::to_string(mask_));
      findings_.require(denoiser_.forwards_per_state() >= 1, "forwards_per_state() must be at least 1",
                        "it is " + std::to_string(denoiser_.forwards_per_state()));
    });
    if (findings_.size() == 0) findings_.guard("predict()", [&] { predictions(); });
    return findings_.take();
  }

 private:
  void predictions() {
    pose();
    for (const Posed& state : states_) {
      const StateView view = state.view();
      const auto tables = ask(std::span(&view, 1), "alone");
      if (!tables) return;  // nothing to compare with
      alone_.push_back(tables->front());
    }
    same("a prediction must be the same alone and in a batch", states_);
    same("a prediction must be the same when asked for again", states_);
    std::vector<Posed> changed = states_;
    for (Posed& state : changed) state.notes.assign(state.notes.size(), 0.5F);
    same("a prediction must not depend on the notes of the process", changed);

    changed = states_;
    for (Posed& state : changed) state.time /= 2;
    if (!denoiser_.time_dependent())
      same("a prediction must not depend on time unless time_dependent() says so", changed);

    changed = states_;
    for (Posed& state : changed)
      for (int l = state.frame.prompt; l < state.frame.length(); ++l) state.frame.pinned[l] = state.tokens[l] != mask_;
    same("a prediction must not depend on which tokens are pinned", changed);

    changed = states_;
    std::ranges::reverse(changed);
    std::ranges::reverse(alone_);
    same("a prediction must not depend on the order of the batch", changed);
    unchanged();
    undisturbed();
  }

  // The canvas itself, then states in which more and more positions hold arbitrary tokens; some are one position
  // shorter.
  void pose() {
    const auto draws = PhiloxSource().open({options_.seed});
    std::vector<double> any(static_cast<std::size_t>(vocab_), 1.0);
    if (mask_ >= 0 && mask_ < vocab_) any[mask_] = 0;
    for (int i = 0; i < options_.states; ++i) {
      Canvas canvas = canvas_;
      const bool shorter = i % 4 == 3 && static_cast<int>(canvas.tokens.size()) > canvas.prompt + 1;
      if (shorter) canvas.tokens.pop_back();
      Posed state{.frame = make_frame(canvas, denoiser_), .tokens = canvas.tokens};
      const double revealed = static_cast<double>(i) / options_.states;
      for (Token& token : state.tokens)
        if (token == mask_ && draws->coin(revealed)) token = draws->categorical(any);
      state.notes.assign(state.tokens.size(), 0.0F);
      state.time = 1 - revealed;
      states_.push_back(std::move(state));
    }
  }

  std::optional<std::vector<Table>> ask(std::span<const StateView> states, const std::string& how) {
    const std::vector<PredictionPtr> predictions = denoiser_.predict(states);
    if (predictions.size() != states.size()) {
      findings_.add("predict() must return one prediction per state",
                    std::to_string(states.size()) + " states, " + std::to_string(predictions.size()) + " predictions");
      return std::nullopt;
    }
    std::vector<Table> tables;
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (!predictions[i]) {
        findings_.add("predict() must not return null", "prediction " + std::to_string(i) + ", asked " + how);
        return std::nullopt;
      }
      auto table = read(*predictions[i], states[i].frame.length());
      if (!table) return std::nullopt;
      findings_.require(predictions[i]->bytes() > 0, "bytes() must say what a prediction occupies", "it says 0");
      held_.push_back(predictions[i]);
      read_.push_back(*table);
      tables.push_back(std::move(*table));
    }
    return tables;
  }

  std::optional<Table> read(const Prediction& prediction, int length) {
    Table table;
    for (Position l = 0; l < length; ++l) {
      const std::span<const float> row = prediction.logits(l);
      const std::string where = "position " + std::to_string(l) + " of " + std::to_string(length);
      if (row.size() != static_cast<std::size_t>(vocab_)) {
        findings_.add("logits() must have vocab() entries",
                      where + " has " + std::to_string(row.size()) + " of " + std::to_string(vocab_));
        return std::nullopt;
      }
      bool possible = false;
      for (Token v = 0; v < vocab_; ++v) {
        const float logit = row[static_cast<std::size_t>(v)];
        findings_.require(!std::isnan(logit) && !(std::isinf(logit) && logit > 0), "logits must be finite or -inf",
                          where + ", token " + std::to_string(v) + ": " + std::to_string(logit));
        possible = possible || (v != mask_ && std::isfinite(logit));
      }
      findings_.require(possible, "some token besides the mask must be possible", where + " has none");
      table.insert(table.end(), row.begin(), row.end());
    }
    return table;
  }

  bool close(float a, float b) const {
    if (std::isnan(a) && std::isnan(b)) return true;  // reported already
    return a == b || std::abs(static_cast<double>(a) - static_cast<double>(b)) <= options_.tolerance;
  }

  void compare(const Table& expected, const Table& found, const std::string& kind) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!close(expected[i], found[i])) {
        const auto cell = static_cast<int>(i);
        return findings_.add(kind, "position " + std::to_string(cell / vocab_) + ", token " +
                                       std::to_string(cell % vocab_) + ": " + std::to_string(found[i]) +
                                       " instead of " + std::to_string(expected[i]));
      }
  }

  void same(const std::string& kind, const std::vector<Posed>& states) {
    const auto tables = ask(views_of(states), "in a batch");
    if (!tables) return;
    for (std::size_t i = 0; i < states.size(); ++i) compare(alone_[i], (*tables)[i], kind);
  }

  void unchanged() {
    for (std::size_t i = 0; i < held_.size(); ++i)
      if (const auto table = read(*held_[i], static_cast<int>(read_[i].size()) / vocab_))
        compare(read_[i], *table, "a prediction must not change after it was made");
  }

  // While one thread looks at a row, another reads a row of the next prediction.
  void undisturbed() {
    for (std::size_t i = 0; i + 1 < held_.size(); ++i) {
      if (held_[i] == held_[i + 1]) continue;
      const std::span<const float> row = held_[i]->logits(0);
      std::exception_ptr thrown;
      std::thread([&] {
        try {
          held_[i + 1]->logits(0);
        } catch (...) {
          thrown = std::current_exception();
        }
      }).join();
      if (thrown) std::rethrow_exception(thrown);
      compare(Table(read_[i].begin(), read_[i].begin() + vocab_), Table(row.begin(), row.end()),
              "predictions must bear being read on several threads, each on one");
    }
  }

  Denoiser& denoiser_;
  const Canvas& canvas_;
  const ConformanceOptions& options_;
  int vocab_ = 0;
  Token mask_ = 0;
  Findings findings_;
  std::vector<Posed> states_;
  std::vector<Table> alone_;         // by state
  std::vector<PredictionPtr> held_;  // everything that was ever predicted,
  std::vector<Table> read_;          // and what it said at first
};

}  // namespace

std::vector<std::string> check_denoiser(Denoiser& denoiser, const Canvas& canvas, ConformanceOptions options) {
  return DenoiserCheck(denoiser, canvas, options).run();
}

}  // namespace pgdlm
