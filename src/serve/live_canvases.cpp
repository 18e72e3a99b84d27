#include "serve/live_canvases.h"

#include <algorithm>
#include <utility>

namespace pgdlm::serve {

LiveCanvases::LiveCanvases(std::vector<Token> canvas, int prompt, Token mask, int particles, bool keeps)
    : initial_(std::move(canvas)),
      prompt_(prompt),
      mask_(mask),
      keeps_(keeps),
      canvases_(static_cast<std::size_t>(std::max(1, particles)), initial_),
      certain_tokens_(initial_.begin(), initial_.begin() + prompt) {}

void LiveCanvases::apply(const Event& event) {
  std::visit([this](const auto& e) { on(e); }, event);
}

double LiveCanvases::value(int slot) const {
  const auto at = static_cast<std::size_t>(slot);
  return at < values_.size() ? values_[at] : std::numeric_limits<double>::quiet_NaN();
}

void LiveCanvases::make_room(std::size_t particles) {
  if (canvases_.size() < particles) canvases_.resize(particles, initial_);
}

void LiveCanvases::on(const Drafted& drafted) {
  make_room(static_cast<std::size_t>(drafted.slot) + 1);
  canvases_[static_cast<std::size_t>(drafted.slot)] = drafted.canvas;
  extend();
}

// The reference leads nobody: it is an old text, and no draft of it is told.
void LiveCanvases::on(const Weighed& weighed) {
  make_room(weighed.values.size());
  values_ = weighed.values;
  leader_ = weighed.reference == 0 && weighed.values.size() > 1 ? 1 : 0;
  for (int slot = 0; slot < static_cast<int>(weighed.log_weights.size()); ++slot)
    if (slot != weighed.reference && weighed.log_weights[slot] > weighed.log_weights[leader_]) leader_ = slot;
}

void LiveCanvases::on(const Resampled& resampled) {
  make_room(resampled.parents.size());
  std::vector<std::vector<Token>> canvases;
  std::vector<double> values;
  for (const int parent : resampled.parents) {
    canvases.push_back(canvases_.at(static_cast<std::size_t>(parent)));
    values.push_back(value(parent));
  }
  canvases_ = std::move(canvases);
  values_ = std::move(values);
  leader_ = static_cast<int>(std::ranges::max_element(values_) - values_.begin());
  extend();
}

// The next sweep begins with masks.
void LiveCanvases::on(const Selected&) {
  std::ranges::fill(canvases_, initial_);
  values_.clear();
  leader_ = 0;
}

void LiveCanvases::extend() {
  if (!keeps_) return;
  const std::vector<Token>& first = canvases_.front();
  for (auto at = static_cast<std::size_t>(prompt_ + certain_); at < first.size() && first[at] != mask_; ++at) {
    const auto same = [&](const std::vector<Token>& canvas) { return canvas[at] == first[at]; };
    if (!std::ranges::all_of(canvases_, same)) return;
    certain_tokens_.push_back(first[at]);
    ++certain_;
  }
}

}  // namespace pgdlm::serve
