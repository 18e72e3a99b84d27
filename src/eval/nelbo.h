// How well a masked denoiser knows a text: the bound on -log p(text) of the paper's section 3 (the NELBO), in its form
// without time. Of n tokens k are hidden, k uniform in 1..n, then which of them; n times the mean of -log p(token) over
// the hidden ones is an unbiased draw of the bound (that of any-order models, Ou et al. 2024). recipes/train_mdlm.py
// measures the same. Pure functions but for the denoiser, which the caller lends for the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/language_model.h"
#include "pgdlm/draws.h"
#include "pgdlm/plugin.h"

namespace pgdlm {

// A text alone on its canvas. Scored are `count` tokens from position `first` on; the others are given.
struct BoundText {
  std::vector<Token> tokens;  // [length]
  int first = 0, count = 0;
};

// opening() is given; the text is scored, and so is the end of text behind it if the model has one. `field` names the
// text in messages. Whether it fits max_length() is for the caller to see.
BoundText bound_text(const LanguageModel& model, std::string_view text, std::string_view field);

struct Bound {
  double nats = 0;              // mean over the draws; inf if the model excludes the text
  int tokens = 0;               // scored
  std::optional<double> error;  // standard error over the draws as if they were independent: stratified, they do better
};

struct BoundOptions {
  int draws = 8;            // of each text, their k spread evenly over 1..n
  std::uint64_t seed = 0;   // a draw's address is (seed, text, draw): batches and their order cannot change it
  int batch_tokens = 4096;  // positions per call of the denoiser
  std::function<void(std::size_t done, std::size_t all)> progress = {};  // forwards, after each batch
};

// One for each text. Error{unsupported} for a denoiser that depends on time: its bound is another one.
std::vector<Bound> bounds(Denoiser& denoiser, std::span<const BoundText> texts, const BoundOptions& options,
                          Source& source);

// Sum of `above` over sum of `below`, one of each per text, with the standard error over texts (linearised); nothing
// for a single text.
struct Ratio {
  double value = 0;
  std::optional<double> error;
};
Ratio ratio_of_sums(std::span<const double> above, std::span<const double> below);

}  // namespace pgdlm
