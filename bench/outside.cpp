// How much of a run is spent outside the forwards: sampling, the tree, lanes, memo. A random LLaDA of about 10 million
// parameters, 16 samples of 128 tokens in 64 steps and blocks of 32; without and with a steering that completes
// canvases.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "models/model.h"
#include "parity/random_gguf.h"
#include "pgdlm/engine.h"
#include "pgdlm/processes.h"

namespace pgdlm {
namespace {

class CountsEven final : public Reward {
 public:
  std::vector<double> score(std::span<const Candidate> candidates) override {
    std::vector<double> scores;
    for (const Candidate& c : candidates)
      scores.push_back(0.01 * static_cast<double>(std::ranges::count_if(c.tokens, [](Token t) { return t % 2 == 0; })));
    return scores;
  }
};

void measure(const char* name, Model& model, const std::shared_ptr<Denoiser>& denoiser, Request request) {
  std::vector<double> shares;
  for (int repeat = 0; repeat < 3; ++repeat) {
    Engine engine(denoiser, {});
    request.seed = static_cast<std::uint64_t>(repeat);
    const double before = model.runtime().busy_seconds();
    const auto start = std::chrono::steady_clock::now();
    engine.generate(request);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double busy = model.runtime().busy_seconds() - before;
    shares.push_back(100 * (wall - busy) / wall);
    fmt::print("{}: {:.2f} s, forwards {:.2f} s\n", name, wall, busy);
  }
  std::ranges::sort(shares);
  fmt::print("{}: {:.1f} % outside forwards (lowest {:.1f}, highest {:.1f})\n", name, shares[1], shares[0], shares[2]);
}

void run() {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("pgdlm-outside-{}.gguf", getpid());
  parity::write_random_gguf(
      path,
      {.layers = 6, .embedding = 256, .heads = 8, .kv_heads = 8, .feed_forward = 768, .vocab = 8192, .context = 256});
  const std::shared_ptr<Model> model = Model::load(path);
  std::filesystem::remove(path);
  const std::shared_ptr<Denoiser> denoiser = make_denoiser(model);

  Request request{.steps = 64, .process = make_llada({.block_length = 32, .temperature = 1})};
  request.canvas.tokens.assign(128, denoiser->mask());
  request.settings = preset(Preset::exact, Method::best_of_n);
  request.settings.plan.particles = 16;
  measure("best of 16", *model, denoiser, request);
  request.reward = std::make_shared<CountsEven>();
  request.settings = preset(Preset::exact, Method::smc);
  request.settings.plan.particles = 16;
  request.settings.cadence = {16};
  measure("SMC, 16 particles", *model, denoiser, request);
}

}  // namespace
}  // namespace pgdlm

int main() {
  pgdlm::run();
  return 0;
}
