#include "models/step_scorer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/check.h"

namespace pgdlm {

// A stretch of tokens that follows the first `start` tokens of its parent's text; a text is a chain of stretches. A
// text that leaves a known one in the middle of a stretch becomes a child there: nothing is ever split.
struct StepScorer::Stretch {
  Stretch* parent = nullptr;
  std::size_t start = 0;
  std::vector<Token> tokens;
  KeyValues kept;
  std::vector<std::pair<std::size_t, double>> steps;  // position of a step token in the text, its probability
  std::map<std::pair<std::size_t, Token>, std::unique_ptr<Stretch>> children;  // by where and how they begin
  std::uint64_t used = 0;
  bool known = false;

  std::size_t end() const { return start + tokens.size(); }
  int depth() const { return parent == nullptr ? 0 : 1 + parent->depth(); }
  std::size_t bytes() const {
    std::size_t floats = 0;
    for (const auto& layer : kept.keys) floats += 2 * layer.size();
    return floats * sizeof(float);
  }
};

StepScorer::StepScorer(Model& model, std::size_t cache_bytes)
    : model_(model), cache_bytes_(cache_bytes), root_(std::make_unique<Stretch>()) {
  model.require(Role::process_reward);
  root_->known = true;
}

StepScorer::~StepScorer() = default;

// The stretch a row ends in, made if need be.
StepScorer::Stretch& StepScorer::find_or_add(std::span<const Token> row) {
  Stretch* at = root_.get();
  for (std::size_t p = 0;;) {
    at->used = clock_;
    while (p < row.size() && p < at->end() && at->tokens[p - at->start] == row[p]) ++p;
    if (p == row.size()) return *at;
    std::unique_ptr<Stretch>& next = at->children[{p, row[p]}];
    if (!next) {
      next = std::make_unique<Stretch>();
      next->parent = at;
      next->start = p;
      next->tokens.assign(row.begin() + static_cast<std::ptrdiff_t>(p), row.end());
      next->used = clock_;
      return *next;
    }
    at = next.get();
  }
}

// As few forwards as the runtime's memory allows.
void StepScorer::run_level(std::span<Stretch* const> fresh) {
  const auto most = static_cast<std::size_t>(model_.runtime().max_tokens());
  for (std::size_t first = 0; first < fresh.size();) {
    std::size_t last = first, tokens = 0;
    while (last < fresh.size() && (last == first || tokens + fresh[last]->end() <= most))
      tokens += fresh[last++]->end();  // what stands before it takes memory too
    run(fresh.subspan(first, last - first));
    first = last;
  }
}

// One forward. All that stands before these stretches is known.
void StepScorer::run(std::span<Stretch* const> fresh) {
  const Token step = model_.step_token();
  std::vector<CausalRow> rows;
  std::vector<std::pair<Stretch*, std::size_t>> asked;  // whose, and where in its text
  for (Stretch* stretch : fresh) {
    CausalRow row{.tokens = stretch->tokens, .made = &stretch->kept};
    std::size_t until = stretch->start;
    for (const Stretch* before = stretch->parent; until > 0;
         until = std::min(until, before->start), before = before->parent)
      if (before->start < until)
        row.past.insert(row.past.begin(), {&before->kept, 0, static_cast<int>(until - before->start)});
    for (std::size_t i = 0; i < stretch->tokens.size(); ++i) {
      if (stretch->tokens[i] != step) continue;
      row.asked.push_back(static_cast<Position>(i));
      asked.emplace_back(stretch, stretch->start + i);
    }
    tokens_run_ += static_cast<std::int64_t>(stretch->tokens.size());
    rows.push_back(std::move(row));
  }
  if (asked.empty()) rows.front().asked.push_back(0);  // a graph needs an output; nobody reads it
  std::vector<float> hidden;
  for (const auto& states : model_.runtime().continue_rows(rows))
    hidden.insert(hidden.end(), states.begin(), states.end());
  for (Stretch* stretch : fresh) stretch->known = true;
  if (asked.empty()) return;
  const std::vector<float> logits = model_.runtime().head(hidden);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const double bad = static_cast<double>(logits[2 * i]), good = static_cast<double>(logits[2 * i + 1]);
    asked[i].first->steps.emplace_back(asked[i].second, 1.0 / (1.0 + std::exp(bad - good)));
  }
}

std::vector<double> StepScorer::steps_of(const Stretch& end, std::size_t length) const {
  std::vector<double> steps;
  std::size_t until = length;
  for (const Stretch* at = &end; at != nullptr; until = std::min(until, at->start), at = at->parent)
    for (auto step = at->steps.rbegin(); step != at->steps.rend(); ++step)
      if (step->first < until) steps.push_back(step->second);
  std::ranges::reverse(steps);
  return steps;
}

// The leaves used longest ago go first, until the rest fits.
void StepScorer::forget() {
  for (;;) {
    std::size_t bytes = 0;
    Stretch* oldest = nullptr;
    const auto visit = [&](const auto& self, Stretch& stretch) -> void {
      bytes += stretch.bytes();
      for (auto& child : stretch.children) self(self, *child.second);
      if (stretch.children.empty() && stretch.parent != nullptr && (oldest == nullptr || stretch.used < oldest->used))
        oldest = &stretch;
    };
    visit(visit, *root_);
    if (bytes <= cache_bytes_ || oldest == nullptr) return;
    oldest->parent->children.erase({oldest->start, oldest->tokens.front()});
  }
}

std::vector<std::vector<double>> StepScorer::score(std::span<const std::vector<Token>> rows) {
  ++clock_;
  std::vector<Stretch*> ends;
  std::map<int, std::vector<Stretch*>> fresh;  // by depth: a stretch may continue another that is new too
  try {
    for (const auto& row : rows) {
      if (row.empty()) throw Error(ErrorCode::invalid_request, "a row has no tokens");
      ends.push_back(&find_or_add(row));
      auto& level = fresh[ends.back()->depth()];
      if (!ends.back()->known && std::ranges::find(level, ends.back()) == level.end()) level.push_back(ends.back());
    }
    for (const auto& level : fresh) run_level(level.second);
  } catch (...) {
    root_->children.clear();  // a stretch that was promised and not computed must not be found again
    throw;
  }
  std::vector<std::vector<double>> probabilities;
  for (std::size_t i = 0; i < rows.size(); ++i) probabilities.push_back(steps_of(*ends[i], rows[i].size()));
  forget();
  return probabilities;
}

}  // namespace pgdlm
