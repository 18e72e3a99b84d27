#include "eval/nelbo.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/check.h"
#include "diffusion/backward/common.h"
#include "diffusion/checked.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

enum Purpose : std::uint64_t { kCounts, kPositions };

int even(Draws& stream, std::size_t sides) {
  const std::vector<double> ones(sides, 1.0);
  return stream.categorical(ones);
}

// How many of n tokens each draw hides: floor(level n) + 1 with level = (u + d/draws) mod 1. Of u only the cell between
// its breakpoints matters, the multiples of 1/lcm(n, draws): first which of n, then which part of it.
std::vector<int> hidden_counts(int n, int draws, Draws& stream) {
  const std::int64_t cells = std::lcm(std::int64_t{n}, std::int64_t{draws}), parts = cells / n;
  std::int64_t cell = even(stream, static_cast<std::size_t>(n)) * parts;
  cell += even(stream, static_cast<std::size_t>(parts));
  std::vector<int> counts;
  for (int d = 0; d < draws; ++d) {
    counts.push_back(static_cast<int>(cell / parts) + 1);
    cell = (cell + cells / draws) % cells;
  }
  return counts;
}

// k of n positions, every set as likely as another, ascending.
std::vector<Position> choose(int n, int k, Draws& stream) {
  std::vector<Position> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (int i = 0; i < k; ++i) std::swap(order[i], order[i + even(stream, static_cast<std::size_t>(n - i))]);
  order.resize(static_cast<std::size_t>(k));
  std::ranges::sort(order);
  return order;
}

struct Job {
  std::size_t text = 0;
  int draw = 0;
};

// One draw: the canvas with its hidden tokens.
struct Noised {
  Frame frame;
  std::vector<Token> tokens;
  std::vector<float> notes;
  std::vector<Position> hidden;

  StateView view() const { return {.frame = frame, .tokens = tokens, .notes = notes}; }
};

Noised noise(const BoundText& text, int k, Token mask, int vocab, Draws& stream) {
  Noised x{.frame = {.mask = mask, .vocab = vocab, .prompt = text.first},
           .tokens = text.tokens,
           .notes = std::vector<float>(text.tokens.size())};
  x.frame.pinned.assign(text.tokens.size(), 1);
  std::fill_n(x.frame.pinned.begin() + text.first, text.count, std::uint8_t{0});
  for (const Position offset : choose(text.count, k, stream)) {
    x.hidden.push_back(text.first + offset);
    x.tokens[x.hidden.back()] = mask;
  }
  return x;
}

// n times the mean of -log p over the hidden tokens; the SUBS rule keeps the mask from taking any of the probability.
double nats_of(const Noised& x, const BoundText& text, const Prediction& prediction) {
  double sum = 0;
  for (const Position l : x.hidden) sum -= std::log(subs_row(x.frame, prediction, l).prob(text.tokens[l]));
  return text.count * sum / static_cast<double>(x.hidden.size());
}

void check(const Denoiser& denoiser, std::span<const BoundText> texts, const BoundOptions& options) {
  if (denoiser.time_dependent())
    throw Error(ErrorCode::unsupported, "the denoiser depends on time; supported: the bound of those that do not");
  if (options.draws < 1)
    throw Error(ErrorCode::invalid_request, "draws is " + std::to_string(options.draws) + ", allowed: at least 1");
  for (const BoundText& text : texts) {
    PGDLM_CHECK(text.first >= 0 && text.count > 0);
    PGDLM_CHECK(static_cast<std::size_t>(text.first) + text.count <= text.tokens.size());
  }
}

// Runs jobs in batches and keeps what each draw found.
class Bounder {
 public:
  Bounder(Denoiser& denoiser, std::span<const BoundText> texts, const BoundOptions& options, Source& source)
      : denoiser_(denoiser), texts_(texts), options_(options), source_(source) {
    for (std::size_t text = 0; text < texts.size(); ++text) {
      const auto stream = source.open(key(text).child(kCounts));
      counts_.push_back(hidden_counts(texts[text].count, options.draws, *stream));
      nats_.emplace_back(counts_.back().size());
    }
  }

  void run() {
    const std::vector<Job> jobs = by_length();
    for (std::size_t first = 0, last = 0; first < jobs.size(); first = last) {
      for (std::size_t tokens = 0; last < jobs.size(); ++last) {
        tokens += texts_[jobs[last].text].tokens.size();
        if (last > first && tokens > static_cast<std::size_t>(options_.batch_tokens)) break;
      }
      run_batch(std::span(jobs).subspan(first, last - first));
      if (options_.progress) options_.progress(last, jobs.size());
    }
  }

  Bound bound(std::size_t text) const {
    const std::vector<double>& nats = nats_[text];
    const auto count = static_cast<double>(nats.size());
    Bound bound{.nats = std::accumulate(nats.begin(), nats.end(), 0.0) / count, .tokens = texts_[text].count};
    if (nats.size() == 1) return bound;
    double squares = 0;
    for (const double x : nats) squares += (x - bound.nats) * (x - bound.nats);
    bound.error = std::sqrt(squares / (count - 1) / count);
    return bound;
  }

 private:
  Key key(std::size_t text) const { return Key{.seed = options_.seed}.child(text); }

  // Equal lengths side by side: a device that fills up shorter rows has little to fill.
  std::vector<Job> by_length() const {
    std::vector<Job> jobs;
    for (std::size_t text = 0; text < texts_.size(); ++text)
      for (int draw = 0; draw < options_.draws; ++draw) jobs.push_back({text, draw});
    std::ranges::stable_sort(jobs, {}, [&](const Job& job) { return texts_[job.text].tokens.size(); });
    return jobs;
  }

  Noised noised(const Job& job) const {
    const auto stream = source_.open(key(job.text).child(kPositions).child(job.draw));
    return noise(texts_[job.text], counts_[job.text][job.draw], denoiser_.mask(), denoiser_.vocab(), *stream);
  }

  void run_batch(std::span<const Job> jobs) {
    std::vector<Noised> batch;
    for (const Job& job : jobs) batch.push_back(noised(job));
    std::vector<StateView> views;
    for (const Noised& x : batch) views.push_back(x.view());
    const std::vector<PredictionPtr> predictions = checked_predict(denoiser_, views);
    std::vector<Reading> readings;
    for (std::size_t i = 0; i < batch.size(); ++i) readings.push_back({predictions[i].get(), batch[i].hidden});
    for (std::size_t i = 0, ready = 0; i < batch.size(); ++i) {
      if (i == ready) ready += checked_prepare(denoiser_, std::span(readings).subspan(i));
      nats_[jobs[i].text][jobs[i].draw] = nats_of(batch[i], texts_[jobs[i].text], *predictions[i]);
    }
  }

  Denoiser& denoiser_;
  std::span<const BoundText> texts_;
  const BoundOptions& options_;
  Source& source_;
  std::vector<std::vector<int>> counts_;   // [texts, draws] tokens to hide
  std::vector<std::vector<double>> nats_;  // [texts, draws]
};

}  // namespace

BoundText bound_text(const LanguageModel& model, std::string_view text, std::string_view field) {
  BoundText out{.tokens = model.opening()};
  out.first = static_cast<int>(out.tokens.size());
  const auto append = [&](const std::vector<Token>& tokens) {
    out.tokens.insert(out.tokens.end(), tokens.begin(), tokens.end());
  };
  append(model.encode(text, field));
  if (model.eos() >= 0) append({model.eos()});
  out.count = static_cast<int>(out.tokens.size()) - out.first;
  if (out.count == 0)
    throw Error(ErrorCode::invalid_request, std::string(field) + " has no tokens, expected at least one");
  const auto scored = std::span(out.tokens).subspan(static_cast<std::size_t>(out.first));
  if (std::ranges::find(scored, model.mask()) != scored.end())
    throw Error(ErrorCode::invalid_request, std::string(field) + " holds the mask, which stands for no token");
  if (model.eos() < 0) append(model.closing());
  return out;
}

std::vector<Bound> bounds(Denoiser& denoiser, std::span<const BoundText> texts, const BoundOptions& options,
                          Source& source) {
  check(denoiser, texts, options);
  Bounder bounder(denoiser, texts, options, source);
  bounder.run();
  std::vector<Bound> found;
  for (std::size_t text = 0; text < texts.size(); ++text) found.push_back(bounder.bound(text));
  return found;
}

Ratio ratio_of_sums(std::span<const double> above, std::span<const double> below) {
  PGDLM_CHECK(above.size() == below.size() && !above.empty());
  const auto count = static_cast<double>(above.size());
  const double sum = std::accumulate(below.begin(), below.end(), 0.0);
  Ratio ratio{.value = std::accumulate(above.begin(), above.end(), 0.0) / sum};
  if (above.size() == 1) return ratio;
  double squares = 0;
  for (std::size_t i = 0; i < above.size(); ++i) {
    const double rest = above[i] - ratio.value * below[i];
    squares += rest * rest;
  }
  ratio.error = std::sqrt(squares * count / (count - 1)) / sum;
  return ratio;
}

}  // namespace pgdlm
