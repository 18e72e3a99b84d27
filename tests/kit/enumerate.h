// Enumerating draws: a body is executed once for every sequence of outcomes of its draws, so a law is computed, not
// estimated. Nothing is mocked: the body calls production code, only the Source is ours.
//
//   auto law = kit::law_of([&](Source& source) { return roll_two_dice(*source.open(Key{})); });   // map: result -> P
//
// The body must be a function of its draws. One thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "pgdlm/draws.h"

namespace pgdlm::kit {

struct EnumerateOptions {
  std::int64_t max_leaves = 4'000'000;  // more executions than this throw: the law is too big to be a unit test
  std::vector<int> forced = {};         // the first outcomes, not enumerated; their probability is counted as usual
  bool distinct_keys = true;            // opening one address twice in one execution throws: Philox would repeat itself
};

// The streams of one execution after another. All streams opened from it read one script, in the order of the calls.
class EnumeratingSource final : public Source {
 public:
  explicit EnumeratingSource(EnumerateOptions options = {});

  std::unique_ptr<Draws> open(Key key) override;

  void rewind();   // before an execution
  bool advance();  // after it: to the next script, depth first; false: that was the last one

  double probability() const;        // of the draws made since rewind()
  std::vector<int> choices() const;  // their outcomes; as EnumerateOptions::forced they replay this execution

 private:
  class Stream;

  // One draw of the script. `after` is the probability of the script up to and including it.
  struct Choice {
    int outcome = 0;
    int sides = 0;         // number of weights; a body whose draws change shape is not a function of its draws
    bool more = false;     // a later outcome has positive weight, too
    bool pending = false;  // the next execution takes that later outcome
    double after = 1;
  };

  int next(std::span<const double> weights);
  int settle(std::span<const double> weights, int first);
  int force(std::span<const double> weights);

  EnumerateOptions options_;
  std::vector<Choice> script_;
  std::size_t depth_ = 0;
  std::vector<Key> opened_;
};

namespace detail {
[[noreturn]] void too_many_leaves(std::int64_t limit);
}

// body(Source&) -> R (or nothing); visit(R, probability) (or visit(probability)) after each execution.
// Returns the number of executions.
template <class Body, class Visit>
std::int64_t enumerate(Body&& body, Visit&& visit, EnumerateOptions options = {}) {
  const std::int64_t limit = options.max_leaves;
  EnumeratingSource source(std::move(options));
  std::int64_t leaves = 0;
  do {
    if (++leaves > limit) detail::too_many_leaves(limit);
    source.rewind();
    if constexpr (std::is_void_v<std::invoke_result_t<Body&, Source&>>) {
      body(static_cast<Source&>(source));
      visit(source.probability());
    } else {
      auto result = body(static_cast<Source&>(source));
      visit(std::move(result), source.probability());
    }
  } while (source.advance());
  return leaves;
}

// The law of what the body returns. Its values need an order.
template <class Body>
auto law_of(Body&& body, EnumerateOptions options = {}) {
  std::map<std::decay_t<std::invoke_result_t<Body&, Source&>>, double> law;
  enumerate(
      std::forward<Body>(body), [&](auto result, double probability) { law[std::move(result)] += probability; },
      std::move(options));
  return law;
}

// The expectation of a number the body returns.
template <class Body>
double expectation_of(Body&& body, EnumerateOptions options = {}) {
  double sum = 0;
  enumerate(
      std::forward<Body>(body), [&](double result, double probability) { sum += probability * result; },
      std::move(options));
  return sum;
}

// Total variation between two laws given as maps: half the sum of absolute differences.
template <class T>
double total_variation(const std::map<T, double>& a, const std::map<T, double>& b) {
  double sum = 0;
  for (const auto& [value, p] : a) {
    const auto found = b.find(value);
    const double q = found == b.end() ? 0 : found->second;
    sum += p > q ? p - q : q - p;
  }
  for (const auto& [value, q] : b)
    if (!a.contains(value)) sum += q;
  return sum / 2;
}

template <class T>
double total_mass(const std::map<T, double>& law) {
  double sum = 0;
  for (const auto& entry : law) sum += entry.second;
  return sum;
}

}  // namespace pgdlm::kit
