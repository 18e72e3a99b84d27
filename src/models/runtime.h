// Runs a network on its device: batches of token rows through the trunk, hidden states through the head. Threads take
// turns. Activations are bounded by `max_tokens` per forward; longer batches are run in parts.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/crew.h"
#include "models/device.h"
#include "models/network.h"
#include "pgdlm/plugin.h"

namespace pgdlm {

// One row of a batch: its tokens, and the positions whose hidden state is wanted (ascending).
struct TokenRow {
  std::span<const Token> tokens;
  std::vector<Position> asked;
};

// Keys and values of a stretch of tokens, as a causal network made them: [layer][token, kv size].
struct KeyValues {
  std::vector<std::vector<float>> keys, values;
};

// A row of a causal network that goes on from tokens it has seen before.
struct CausalRow {
  struct Past {  // `count` tokens of a stretch, from `first` on
    const KeyValues* from = nullptr;
    int first = 0, count = 0;
  };
  std::span<const Token> tokens;  // the new ones
  std::vector<Position> asked;    // among the new ones, ascending
  std::vector<Past> past;         // everything before them, in order
  KeyValues* made = nullptr;      // receives theirs

  int past_length() const;
};

struct RuntimeOptions {
  int max_tokens = 4096;
  std::optional<std::size_t> packed_bytes;  // absent: PackedWeights::default_budget()
};

class Runtime {
 public:
  // `weights` must be loaded and belong to `network`.
  Runtime(std::unique_ptr<const Network> network, std::shared_ptr<const Weights> weights,
          std::shared_ptr<const Device> device, const RuntimeOptions& options);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const NetworkSizes& sizes() const { return sizes_; }
  const Device& device() const { return *device_; }
  int max_tokens() const { return options_.max_tokens; }
  double busy_seconds() const { return busy_seconds_; }       // spent in forwards so far
  std::size_t bytes_copied() const { return bytes_copied_; }  // back from a device whose memory is not ours, so far

  // Hidden states of each row's asked positions, [asked, embedding]. A row longer than max_tokens runs alone.
  std::vector<std::vector<float>> trunk(std::span<const TokenRow> rows);

  // The same for a causal network, all rows in one forward; each leaves its keys and values behind. The caller keeps
  // to max_tokens.
  std::vector<std::vector<float>> continue_rows(std::span<const CausalRow> rows);

  // The head's word on hidden states [rows, embedding]: [rows, outputs]. In a workspace of the caller's it can be read
  // in place until that is used again. An empty workspace takes no memory; it must not outlive the runtime.
  struct Workspace;
  std::shared_ptr<Workspace> make_workspace() const;
  std::vector<float> head(std::span<const float> hidden);
  std::span<const float> head(std::span<const float> hidden, Workspace& space);
  int max_head_rows() const;  // more in one call would need more memory than the trunk may use

 private:
  struct Setting;
  struct Place {  // who runs a graph, and in which memory
    ggml_backend_t backend;
    Workspace& space;
  };
  struct Part;

  PackedWeights* packed() { return device_->cpu() ? &packed_ : nullptr; }
  void set_past(const Graph& g, std::span<const CausalRow> rows) const;
  void keep_made(const Graph& g, std::span<const CausalRow> rows);
  std::span<const float> head_in(std::span<const float> hidden, Workspace& space);
  Part make_part(std::span<const TokenRow> rows, std::vector<std::size_t> which);
  void run_part(Part& part, Place place, std::span<const TokenRow> rows, std::vector<std::vector<float>>& hidden);
  void run_batch(std::span<const TokenRow> rows, std::span<const std::size_t> which,
                 std::vector<std::vector<float>>& hidden);
  double trunk_work(std::size_t tokens) const;
  int threads_for(double work) const;
  std::span<const float> compute(Graph& g, Place place, ggml_tensor* output, const std::vector<Setting>& settings,
                                 std::span<const CausalRow> rows = {});

  std::shared_ptr<const Weights> weights_;
  std::shared_ptr<const Device> device_;
  std::unique_ptr<const Network> network_;
  NetworkSizes sizes_;
  RuntimeOptions options_;
  std::mutex turn_;
  double busy_seconds_ = 0;
  std::size_t bytes_copied_ = 0;
  PackedWeights packed_;
  std::unique_ptr<Workspace> trunk_space_, head_space_;
  std::unique_ptr<Crew> crew_;                           // on a CPU of several threads
  std::vector<std::unique_ptr<Workspace>> hand_spaces_;  // of each of the crew
};

}  // namespace pgdlm
