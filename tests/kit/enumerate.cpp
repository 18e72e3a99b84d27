#include "kit/enumerate.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace pgdlm::kit {

class EnumeratingSource::Stream final : public Draws {
 public:
  explicit Stream(EnumeratingSource& source) : source_(source) {}
  int categorical(std::span<const double> weights) override { return source_.next(weights); }

 private:
  EnumeratingSource& source_;
};

EnumeratingSource::EnumeratingSource(EnumerateOptions options) : options_(std::move(options)) {}

std::unique_ptr<Draws> EnumeratingSource::open(Key key) {
  if (options_.distinct_keys) {
    // Only beyond the replayed part: what was opened before it was compared the first time.
    if (depth_ >= script_.size() && std::find(opened_.begin(), opened_.end(), key) != opened_.end())
      throw std::logic_error("enumerate: one key opened twice in one execution; its Philox draws would be equal");
    opened_.push_back(key);
  }
  return std::make_unique<Stream>(*this);
}

void EnumeratingSource::rewind() {
  depth_ = 0;
  opened_.clear();
}

bool EnumeratingSource::advance() {
  if (depth_ != script_.size())
    throw std::logic_error("enumerate: the body drew less than before with the same outcomes");
  while (script_.size() > options_.forced.size() && !script_.back().more) script_.pop_back();
  if (script_.size() <= options_.forced.size()) return false;
  script_.back().pending = true;
  return true;
}

double EnumeratingSource::probability() const { return depth_ == 0 ? 1.0 : script_[depth_ - 1].after; }

std::vector<int> EnumeratingSource::choices() const {
  std::vector<int> outcomes;
  for (std::size_t d = 0; d < depth_; ++d) outcomes.push_back(script_[d].outcome);
  return outcomes;
}

// Replayed draws cost nothing: only the frontier of the script looks at its weights.
int EnumeratingSource::next(std::span<const double> weights) {
  if (depth_ == script_.size()) {
    script_.push_back({.sides = static_cast<int>(weights.size())});
    return settle(weights, depth_ < options_.forced.size() ? force(weights) : 0);
  }
  Choice& choice = script_[depth_];
  if (choice.sides != static_cast<int>(weights.size()))
    throw std::logic_error("enumerate: the body is not a function of its draws (another number of weights)");
  if (!choice.pending) {
    ++depth_;
    return choice.outcome;
  }
  choice.pending = false;
  return settle(weights, choice.outcome + 1);
}

// Takes the first outcome of positive weight from `first` on.
int EnumeratingSource::settle(std::span<const double> weights, int first) {
  const int sides = static_cast<int>(weights.size());
  double total = 0;
  for (double w : weights) {
    if (!(w >= 0)) throw std::logic_error("enumerate: a weight is negative or NaN");
    total += w;
  }
  int chosen = first;
  while (chosen < sides && weights[static_cast<std::size_t>(chosen)] <= 0) ++chosen;
  if (chosen >= sides) throw std::logic_error("enumerate: no weight is positive");
  int later = chosen + 1;
  while (later < sides && weights[static_cast<std::size_t>(later)] <= 0) ++later;
  const double before = probability();
  Choice& choice = script_[depth_++];
  choice.outcome = chosen;
  choice.more = later < sides;
  choice.after = before * (weights[static_cast<std::size_t>(chosen)] / total);
  return chosen;
}

int EnumeratingSource::force(std::span<const double> weights) {
  const int outcome = options_.forced[depth_];
  if (outcome < 0 || outcome >= static_cast<int>(weights.size()) || weights[static_cast<std::size_t>(outcome)] <= 0)
    throw std::logic_error("enumerate: forced outcome " + std::to_string(outcome) + " of draw " +
                           std::to_string(depth_) + " is impossible");
  return outcome;
}

void detail::too_many_leaves(std::int64_t limit) {
  throw std::length_error("enumerate: more than " + std::to_string(limit) + " executions");
}

}  // namespace pgdlm::kit
