#include "diffusion/guidance.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <utility>

#include "base/check.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

// Rows are combined when they are read: only a few positions of a state ever are. They are as large as the vocabulary,
// so none is kept but the one that was read last on each thread.
class GuidedPrediction final : public Prediction {
 public:
  GuidedPrediction(PredictionPtr conditional, PredictionPtr unconditional, double scale,
                   std::shared_ptr<std::mutex> reading)
      : conditional_(std::move(conditional)),
        unconditional_(std::move(unconditional)),
        scale_(scale),
        reading_(std::move(reading)) {}

  std::span<const float> logits(Position l) const override {
    thread_local std::vector<float> row;
    const std::lock_guard lock(*reading_);
    const std::span<const float> with = conditional_->logits(l);
    row.assign(with.begin(), with.end());
    const std::span<const float> without = unconditional_->logits(l);
    for (std::size_t v = 0; v < row.size(); ++v) row[v] = guided(row[v], without[v]);
    return row;
  }

  const Prediction* conditional() const { return conditional_.get(); }
  const Prediction* unconditional() const { return unconditional_.get(); }

  std::size_t bytes() const override { return sizeof(*this) + conditional_->bytes() + unconditional_->bytes(); }

 private:
  // A token that one side forbids has no finite difference; the conditional side decides.
  float guided(float with, float without) const {
    if (std::isinf(with) || std::isinf(without)) return with;
    const double un = static_cast<double>(without);
    return static_cast<float>(un + (scale_ + 1) * (static_cast<double>(with) - un));
  }

  PredictionPtr conditional_, unconditional_;
  double scale_;
  std::shared_ptr<std::mutex> reading_;  // a denoiser may give the same prediction to several of us
};

class Guided final : public Denoiser {
 public:
  Guided(std::shared_ptr<Denoiser> denoiser, double scale) : denoiser_(std::move(denoiser)), scale_(scale) {}

  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    std::vector<std::vector<Token>> promptless;
    for (const StateView& x : states) {
      promptless.emplace_back(x.tokens.begin(), x.tokens.end());
      for (Position l = 0; l < x.frame.prompt; ++l)
        if (x.frame.pinned[l]) promptless.back()[l] = x.frame.mask;
    }
    // One batch for both halves.
    std::vector<StateView> batch(states.begin(), states.end());
    for (std::size_t i = 0; i < states.size(); ++i)
      batch.push_back({states[i].frame, promptless[i], states[i].notes, states[i].time, states[i].horizon});
    const std::vector<PredictionPtr> both = denoiser_->predict(batch);
    PGDLM_CHECK(both.size() == 2 * states.size());

    std::vector<PredictionPtr> guided;
    for (std::size_t i = 0; i < states.size(); ++i)
      guided.push_back(std::make_shared<GuidedPrediction>(both[i], both[states.size() + i], scale_, reading_));
    return guided;
  }

  // Both halves of a reading are announced side by side. If only the first of them fits, its rows are combined with the
  // second half's, which are computed when they are read.
  std::size_t prepare(std::span<const Reading> readings) override {
    std::vector<Reading> halves;
    for (const Reading& reading : readings) {
      const auto& guided = static_cast<const GuidedPrediction&>(*reading.prediction);
      halves.push_back({guided.conditional(), reading.rows});
      halves.push_back({guided.unconditional(), reading.rows});
    }
    return std::max<std::size_t>(1, denoiser_->prepare(halves) / 2);
  }

  int vocab() const override { return denoiser_->vocab(); }
  Token mask() const override { return denoiser_->mask(); }
  bool time_dependent() const override { return denoiser_->time_dependent(); }
  int forwards_per_state() const override { return 2 * denoiser_->forwards_per_state(); }

 private:
  std::shared_ptr<Denoiser> denoiser_;
  double scale_;
  std::shared_ptr<std::mutex> reading_ = std::make_shared<std::mutex>();
};

}  // namespace

std::shared_ptr<Denoiser> make_guided(std::shared_ptr<Denoiser> denoiser, double scale) {
  if (!(scale >= 0) || std::isinf(scale))
    throw Error(ErrorCode::invalid_request, "guidance is " + std::to_string(scale) + "; allowed: 0 or more");
  if (dynamic_cast<const Guided*>(denoiser.get()) != nullptr)
    throw Error(ErrorCode::invalid_request, "guidance is given twice; allowed: once for a denoiser");
  return std::make_shared<Guided>(std::move(denoiser), scale);
}

}  // namespace pgdlm
