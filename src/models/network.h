// A network: the weights of one architecture and the graphs that run them. Immutable; graphs are built and run by a
// Runtime. A network has two halves: the trunk turns tokens into one hidden state per asked position, the head says
// something about a hidden state (logits over the vocabulary, over labels, ...). They run apart, so that only the
// positions somebody reads pay for the head.
#pragma once

#include <memory>

#include "models/graph.h"
#include "models/weights.h"

namespace pgdlm {

struct NetworkSizes {
  int context = 0;    // longest row
  int vocab = 0;      // token ids a row may hold
  int embedding = 0;  // length of a hidden state
  int outputs = 0;    // numbers the head gives per hidden state; 0: a bare trunk
  int layers = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  virtual NetworkSizes sizes() const = 0;
  virtual ggml_tensor* trunk(Graph& g) const = 0;                      // [embedding, asked]
  virtual ggml_tensor* head(Graph& g, ggml_tensor* hidden) const = 0;  // [outputs, rows] of [embedding, rows]
};

// One per architecture: asks `weights` for its tensors. The caller loads them afterwards.
std::unique_ptr<Network> make_mdlm(Weights& weights);
std::unique_ptr<Network> make_llada(Weights& weights);
std::unique_ptr<Network> make_dream(Weights& weights);
std::unique_ptr<Network> make_bert(Weights& weights);
std::unique_ptr<Network> make_qwen2_prm(Weights& weights);

}  // namespace pgdlm
