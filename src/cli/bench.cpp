// How fast a network runs here. Speed is given beside the peak of the processor, measured in the same run: machines
// differ, and so does one machine from minute to minute.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <thread>

#include "catalog/shelf.h"
#include "cli/commands.h"
#include "kernels/kernels.h"
#include "models/model.h"
#include "models/packed_weights.h"

namespace pgdlm::cli {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Floating-point operations per second of all threads at once, multiply-adds in registers.
double peak(int threads, int parts) {
  constexpr std::int64_t kRounds = 4'000'000;
  std::vector<double> done(static_cast<std::size_t>(threads));
  const double spent = seconds_of([&] {
    std::vector<std::jthread> workers;
    for (double& d : done) workers.emplace_back([&d, parts] { d = kernels().exercise(kRounds, parts); });
  });
  return std::reduce(done.begin(), done.end()) / spent;
}

// Of one row: every matrix once per position, the head too, and attention.
double operations(const Model& model, int length) {
  double per_position = 0, attention = 0;
  const bool tied =
      model.file()->find("output.weight") == nullptr && model.file()->find("mlm.output.weight") == nullptr;
  for (const GgufTensor& tensor : model.file()->tensors()) {
    if (tensor.dimensions != 2) continue;
    const bool table = tensor.name.starts_with("position_embd") || tensor.name.starts_with("token_types") ||
                       (tensor.name.starts_with("token_embd") && !(tied && model.role() == Role::denoiser));
    const double size = static_cast<double>(tensor.shape[0]) * static_cast<double>(tensor.shape[1]);
    if (!table) per_position += 2 * size;
    if (tensor.name.ends_with("attn_output.weight")) attention += 4.0 * length * static_cast<double>(tensor.shape[0]);
  }
  return length * (per_position + attention);
}

struct Spread {
  double median = 0, low = 0, high = 0;
};

Spread spread(std::vector<double> values) {
  std::ranges::sort(values);
  return {values[values.size() / 2], values.front(), values.back()};
}

}  // namespace

int bench_forward(const BenchOptions& options) {
  for (const auto* list : {&options.batches, &options.lengths})
    for (const int n : *list)
      if (n < 1) bad_value(list == &options.batches ? "batch" : "length", std::to_string(n), "1 or more");
  if (options.repeats < 1) bad_value("repeats", std::to_string(options.repeats), "1 or more");
  const std::shared_ptr<Model> model = Model::load(find_model(options.file), options.model);
  model->require(Role::denoiser);
  Runtime& runtime = model->runtime();
  const GgufTensor* typical = model->file()->find("blk.0.attn_output.weight");
  const int parts = parts_of(typical == nullptr ? GGML_TYPE_F32 : typical->type);
  const int threads = runtime.device().threads();
  fmt::print("{}, device {}, {} threads, kernels {}\n", options.file, runtime.device().name(), threads,
             runtime.device().cpu() ? kernels().name : "of the device");
  fmt::print("{:>6} {:>7} {:>13} {:>10} {:>18} {:>14}\n", "batch", "length", "positions/s", "GFLOP/s",
             "(lowest, highest)", "share of peak");
  for (const int batch : options.batches)
    for (const int length : options.lengths) {
      std::vector<Token> tokens(static_cast<std::size_t>(length), model->diffusion().mask);
      std::vector<Position> all(tokens.size());
      std::iota(all.begin(), all.end(), 0);
      const std::vector<TokenRow> rows(static_cast<std::size_t>(batch), TokenRow{tokens, all});
      const auto forward = [&] {
        for (const std::vector<float>& hidden : runtime.trunk(rows)) runtime.head(hidden);
      };
      forward();  // memory is allocated at the first
      std::vector<double> rates, shares;
      const double work = batch * operations(*model, length);
      for (int i = 0; i < options.repeats; ++i) {
        const double rate = work / seconds_of(forward);
        rates.push_back(rate / 1e9);
        shares.push_back(rate / peak(threads, parts));
      }
      const Spread r = spread(rates), s = spread(shares);
      fmt::print("{:>6} {:>7} {:>13.0f} {:>10.1f} {:>18} {:>11.0f} %\n", batch, length,
                 r.median * 1e9 / work * batch * length, r.median, fmt::format("({:.1f}, {:.1f})", r.low, r.high),
                 100 * s.median);
    }
  return 0;
}

}  // namespace pgdlm::cli
