#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <numbers>

#include <nlohmann/json.hpp>

#include "base/philox.h"
#include "cli/commands.h"
#include "cli/counter.h"
#include "eval/nelbo.h"
#include "text/utf8.h"

namespace pgdlm::cli {
namespace {

using nlohmann::ordered_json;

// A text that fits the canvas, and what became of it.
struct Scored {
  std::string text;
  int characters = 0;  // code points
  Bound bound;
};

struct Figures {
  Ratio bits_per_character, nats_per_token;

  double perplexity() const { return std::exp(nats_per_token.value); }
  std::optional<double> perplexity_error() const {
    if (!nats_per_token.error) return std::nullopt;
    return perplexity() * *nats_per_token.error;
  }
};

int characters_of(std::string_view text) {
  int count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(read_utf8(text).length);
  return count;
}

std::vector<Scored> score(const LanguageModel& model, const std::vector<std::string>& texts,
                          const PerplexityOptions& options) {
  std::vector<Scored> scored;
  std::vector<BoundText> fitting;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    BoundText text = bound_text(model, texts[i], fmt::format("text {}", i + 1));
    if (text.tokens.size() > static_cast<std::size_t>(model.max_length())) continue;
    scored.push_back({texts[i], characters_of(texts[i])});
    fitting.push_back(std::move(text));
  }
  if (scored.empty())
    throw Error(ErrorCode::invalid_request, fmt::format("none of {} texts fits the canvas of this model, allowed: {} "
                                                        "tokens, opening and closing ones included",
                                                        texts.size(), model.max_length()));
  Counter counter("forwards");
  PhiloxSource source;
  const std::vector<Bound> found =
      bounds(*model.denoiser(), fitting,
             {.draws = options.draws,
              .seed = options.seed,
              .batch_tokens = options.device.max_tokens,
              .progress = [&](std::size_t done, std::size_t all) { counter.show(done, all); }},
             source);
  for (std::size_t i = 0; i < found.size(); ++i) scored[i].bound = found[i];
  return scored;
}

Figures figures_of(const std::vector<Scored>& scored) {
  std::vector<double> nats, bits, tokens, characters;
  for (const Scored& s : scored) {
    nats.push_back(s.bound.nats);
    bits.push_back(s.bound.nats / std::numbers::ln2);
    tokens.push_back(s.bound.tokens);
    characters.push_back(s.characters);
  }
  return {ratio_of_sums(bits, characters), ratio_of_sums(nats, tokens)};
}

void print(const Figures& f, std::size_t texts) {
  const auto line = [](const char* name, double value, const std::optional<double>& error) {
    fmt::print("{:<20} {:.4f}{}\n", name, value, error ? fmt::format(" +- {:.4f}", *error) : "");
  };
  line("bits per character", f.bits_per_character.value, f.bits_per_character.error);
  line("nats per token", f.nats_per_token.value, f.nats_per_token.error);
  line("perplexity at most", f.perplexity(), f.perplexity_error());
  fmt::print("{:<20} {}\n", "texts", texts);
}

ordered_json or_null(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); }

// Infinite figures become null, too: JSON has no others.
void print_json(const Figures& f, const std::vector<Scored>& scored, std::size_t left_out,
                const PerplexityOptions& options) {
  ordered_json texts = ordered_json::array();
  for (const Scored& s : scored)
    texts.push_back({{"text", s.text},
                     {"characters", s.characters},
                     {"tokens", s.bound.tokens},
                     {"nats", s.bound.nats},
                     {"nats_error", or_null(s.bound.error)}});
  const ordered_json object = {{"model", options.model},
                               {"draws", options.draws},
                               {"seed", options.seed},
                               {"bits_per_character", f.bits_per_character.value},
                               {"bits_per_character_error", or_null(f.bits_per_character.error)},
                               {"nats_per_token", f.nats_per_token.value},
                               {"nats_per_token_error", or_null(f.nats_per_token.error)},
                               {"perplexity", f.perplexity()},
                               {"perplexity_error", or_null(f.perplexity_error())},
                               {"left_out", left_out},
                               {"texts", std::move(texts)}};
  fmt::print("{}\n", object.dump(2));
}

}  // namespace

int perplexity(const PerplexityOptions& options) {
  const std::vector<std::string> texts = read_texts(options.input);
  const std::shared_ptr<const LanguageModel> model = open_language_model(options.model, options.device);
  const std::vector<Scored> scored = score(*model, texts, options);
  const std::size_t left_out = texts.size() - scored.size();
  if (left_out > 0)
    fmt::print(stderr, "pgdlm: note: {} of {} texts left out: they do not fit the canvas of {} tokens\n", left_out,
               texts.size(), model->max_length());
  const Figures figures = figures_of(scored);
  if (options.json)
    print_json(figures, scored, left_out, options);
  else
    print(figures, scored.size());
  return 0;
}

}  // namespace pgdlm::cli
