#include "models/runtime.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <ggml-alloc.h>

#include "base/check.h"
#include "models/cpu_ops.h"

namespace pgdlm {

// The memory of one kind of graph; it grows to the largest that was run, and begins with nothing.
struct Runtime::Workspace {
  explicit Workspace(const Device& device)
      : memory(ggml_backend_get_default_buffer_type(device.backend())), allocator(make_allocator()) {}
  ~Workspace() { ggml_gallocr_free(allocator); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  ggml_gallocr_t make_allocator() const { return ggml_gallocr_new(memory); }

  // Memory for the graph; 0, or the bytes it would take if there are not so many. An allocator that failed takes the
  // next graph of the same shape for one it has memory for, so it is not used again.
  std::size_t allocate(ggml_cgraph* nodes) {
    if (ggml_gallocr_alloc_graph(allocator, nodes)) return 0;
    std::size_t bytes = 0;
    ggml_gallocr_reserve_n_size(allocator, nodes, nullptr, nullptr, &bytes);
    ggml_gallocr_free(allocator);
    allocator = make_allocator();
    return bytes;
  }

  ggml_backend_buffer_type_t memory;
  ggml_gallocr_t allocator;
  std::vector<float> output;  // a copy, if the device's memory is not ours
};

// An input and its values, to be set once the graph has its memory.
struct Runtime::Setting {
  ggml_tensor* tensor;
  const void* data;
};

namespace {

// Adds the time it lived to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  ~Stopwatch() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// A kernel of ours that found no memory has left its values unwritten.
void require_finished(const Device& device, ggml_cgraph* nodes) {
  for (int i = 0; i < ggml_graph_n_nodes(nodes); ++i)
    if (cpu_ran_out(ggml_graph_node(nodes, i)))
      throw Error(ErrorCode::exhausted, "not enough memory on " + device.name() + " for a kernel of this batch",
                  "lower --max-tokens, or use shorter texts");
}

// A graph node the device cannot run would end the process inside ggml.
void require_supported(const Device& device, ggml_cgraph* nodes) {
  for (int i = 0; i < ggml_graph_n_nodes(nodes); ++i) {
    const ggml_tensor* node = ggml_graph_node(nodes, i);
    if (ggml_backend_supports_op(device.backend(), node)) continue;
    const ggml_tensor* operand = node->src[0];
    throw Error(
        ErrorCode::unsupported,
        "device " + device.name() + " cannot run " + ggml_op_desc(node) +
            (operand == nullptr ? std::string()
                                : std::string(" on ") + operand->name + " (" + ggml_type_name(operand->type) + ")"),
        "use --device cpu, or convert the model to another type of weights");
  }
}

Error too_long(int length, const NetworkSizes& sizes) {
  return Error(ErrorCode::invalid_request, "a row has " + std::to_string(length) + " tokens, the model takes at most " +
                                               std::to_string(sizes.context));
}

void check_tokens(std::span<const Token> tokens, const NetworkSizes& sizes) {
  if (tokens.empty()) throw Error(ErrorCode::invalid_request, "a row has no tokens");
  for (const Token token : tokens)
    if (token < 0 || token >= sizes.vocab)
      throw Error(ErrorCode::invalid_request, "token " + std::to_string(token) +
                                                  " is not in the vocabulary, allowed: 0 to " +
                                                  std::to_string(sizes.vocab - 1));
}

void check_row(const TokenRow& row, const NetworkSizes& sizes) {
  const int length = static_cast<int>(row.tokens.size());
  if (length > sizes.context) throw too_long(length, sizes);
  check_tokens(row.tokens, sizes);
  for (const Position l : row.asked) PGDLM_CHECK(l >= 0 && l < length);
}

// Fewer are not worth reading all weights for, or unpacking those that are not kept.
constexpr std::size_t kTokensPerHand = 128, kTokensPerUnpackingHand = 1024;

// The longest rows first, each to the hand with the fewest tokens so far.
std::vector<std::vector<std::size_t>> deal(std::span<const TokenRow> rows, std::span<const std::size_t> which,
                                           std::size_t hands) {
  std::vector<std::vector<std::size_t>> dealt(hands);
  std::vector<std::size_t> tokens(hands);
  for (std::size_t n = which.size(); n-- > 0;) {
    const auto hand = static_cast<std::size_t>(std::ranges::min_element(tokens) - tokens.begin());
    dealt[hand].push_back(which[n]);
    tokens[hand] += rows[which[n]].tokens.size();
  }
  return dealt;
}

}  // namespace

Runtime::Runtime(std::unique_ptr<const Network> network, std::shared_ptr<const Weights> weights,
                 std::shared_ptr<const Device> device, const RuntimeOptions& options)
    : weights_(std::move(weights)),
      device_(std::move(device)),
      network_(std::move(network)),
      sizes_(network_->sizes()),
      options_(options),
      packed_(options.packed_bytes.value_or(PackedWeights::default_budget())),
      trunk_space_(std::make_unique<Workspace>(*device_)),
      head_space_(std::make_unique<Workspace>(*device_)) {
  if (options.max_tokens < 1)
    throw Error(ErrorCode::invalid_request,
                "max_tokens is " + std::to_string(options.max_tokens) + ", allowed: 1 or more");
  if (device_->threads() < 2) return;
  crew_ = std::make_unique<Crew>(device_->threads());
  for (int i = 0; i < crew_->workers(); ++i) hand_spaces_.push_back(std::make_unique<Workspace>(*device_));
}

Runtime::~Runtime() = default;

std::span<const float> Runtime::compute(Graph& g, Place place, ggml_tensor* output,
                                        const std::vector<Setting>& settings, std::span<const CausalRow> rows) {
  auto& [backend, space] = place;
  g.finish(output);
  require_supported(*device_, g.nodes());
  if (const std::size_t missing = space.allocate(g.nodes()); missing > 0)
    throw Error(ErrorCode::exhausted,
                "not enough memory on " + device_->name() + " for this batch, which takes " + megabytes(missing),
                "lower --max-tokens, or use shorter texts");
  for (const Setting& setting : settings)
    if (setting.tensor != nullptr)
      ggml_backend_tensor_set(setting.tensor, setting.data, 0, ggml_nbytes(setting.tensor));
  set_past(g, rows);
  const ggml_status status = ggml_backend_graph_compute(backend, g.nodes());
  if (status != GGML_STATUS_SUCCESS)
    throw Error(status == GGML_STATUS_ALLOC_FAILED ? ErrorCode::exhausted : ErrorCode::internal,
                std::string("a forward failed on ") + device_->name() + ": " + ggml_status_to_string(status));
  const auto count = static_cast<std::size_t>(ggml_nelements(output));
  if (device_->cpu()) {
    require_finished(*device_, g.nodes());
    return {static_cast<const float*>(output->data), count};
  }
  bytes_copied_ += count * sizeof(float);
  space.output.resize(count);
  ggml_backend_tensor_get(output, space.output.data(), 0, count * sizeof(float));
  return space.output;
}

// One forward of some rows: its graph, what goes in, and what comes out.
struct Runtime::Part {
  std::vector<std::size_t> which;
  std::vector<Token> tokens;
  std::vector<Position> positions, asked, asked_positions;
  std::unique_ptr<Graph> graph;
  ggml_tensor* output = nullptr;
};

Runtime::Part Runtime::make_part(std::span<const TokenRow> rows, std::vector<std::size_t> which) {
  Part part{.which = std::move(which)};
  std::vector<RowShape> shapes;
  for (const std::size_t i : part.which) {
    const TokenRow& row = rows[i];
    for (const Position l : row.asked) {
      part.asked.push_back(static_cast<Position>(part.tokens.size()) + l);
      part.asked_positions.push_back(l);
    }
    shapes.push_back({static_cast<int>(row.tokens.size()), static_cast<int>(row.asked.size())});
    part.tokens.insert(part.tokens.end(), row.tokens.begin(), row.tokens.end());
    for (std::size_t l = 0; l < row.tokens.size(); ++l) part.positions.push_back(static_cast<Position>(l));
  }
  part.graph = std::make_unique<Graph>(shapes, sizes_.layers, packed());
  part.output = network_->trunk(*part.graph);
  return part;
}

void Runtime::run_part(Part& part, Place place, std::span<const TokenRow> rows,
                       std::vector<std::vector<float>>& hidden) {
  const Graph::Inputs in = part.graph->inputs();
  const std::span<const float> all = compute(*part.graph, place, part.output,
                                             {{in.tokens, part.tokens.data()},
                                              {in.positions, part.positions.data()},
                                              {in.asked, part.asked.data()},
                                              {in.asked_positions, part.asked_positions.data()}});
  std::size_t first = 0;
  for (const std::size_t i : part.which) {
    const std::size_t count = rows[i].asked.size() * static_cast<std::size_t>(sizes_.embedding);
    hidden[i].assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                     all.begin() + static_cast<std::ptrdiff_t>(first + count));
    first += count;
  }
}

// With rows enough for all threads, each thread runs rows of its own from the first layer to the last: nobody waits for
// anybody in between, and what a thread made is still in its cache. Fewer rows are run by all threads together, or by
// one if they are hardly worth it.
void Runtime::run_batch(std::span<const TokenRow> rows, std::span<const std::size_t> which,
                        std::vector<std::vector<float>>& hidden) {
  std::size_t tokens = 0;
  for (const std::size_t i : which) tokens += rows[i].tokens.size();
  const std::size_t workers = crew_ ? static_cast<std::size_t>(crew_->workers()) : 1;
  const std::size_t enough = packed_.keeps_all() ? kTokensPerHand : kTokensPerUnpackingHand;
  const std::size_t hands = std::min({workers, which.size(), tokens / enough});
  if (hands < 2 || 2 * hands <= workers) {  // too many would stand idle
    Part part = make_part(rows, {which.begin(), which.end()});
    const Device::Lease lease(*device_, threads_for(trunk_work(tokens)));
    const Stopwatch watch(busy_seconds_);
    return run_part(part, {lease.together(), *trunk_space_}, rows, hidden);
  }
  std::vector<Part> parts;
  for (std::vector<std::size_t>& hand : deal(rows, which, hands)) parts.push_back(make_part(rows, std::move(hand)));
  const Device::Lease lease(*device_, static_cast<int>(hands));
  const Stopwatch watch(busy_seconds_);
  crew_->run(static_cast<int>(hands), [&](int job) {
    const auto hand = static_cast<std::size_t>(job);  // the first has the most tokens: its workspace is the largest
    run_part(parts[hand], {lease.single(job), *hand_spaces_[hand]}, rows, hidden);
  });
}

// Rows of equal length and equally many asked positions become neighbours: attention takes them together.
std::vector<std::vector<float>> Runtime::trunk(std::span<const TokenRow> rows) {
  const std::lock_guard turn(turn_);
  std::vector<std::vector<float>> hidden(rows.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check_row(rows[i], sizes_);
    if (!rows[i].asked.empty()) order.push_back(i);
  }
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return std::pair(rows[i].tokens.size(), rows[i].asked.size()); });
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first, tokens = 0;
    while (last < order.size()) {
      tokens += rows[order[last]].tokens.size();
      if (last > first && tokens > static_cast<std::size_t>(options_.max_tokens)) break;
      ++last;
    }
    run_batch(rows, std::span(order).subspan(first, last - first), hidden);
    first = last;
  }
  return hidden;
}

// Multiplications, roughly: a layer has some twelve squares of its width.
double Runtime::trunk_work(std::size_t tokens) const {
  return 12.0 * sizes_.layers * sizes_.embedding * sizes_.embedding * static_cast<double>(tokens);
}

// Several threads meet at every operation. What one does in a few milliseconds is done before that pays, and leaves the
// others to other models.
int Runtime::threads_for(double work) const {
  constexpr double kWorthMeeting = 1e9;
  return work < kWorthMeeting ? 1 : device_->threads();
}

int CausalRow::past_length() const {
  int length = 0;
  for (const Past& part : past) length += part.count;
  return length;
}

void Runtime::set_past(const Graph& g, std::span<const CausalRow> rows) const {
  for (std::size_t layer = 0; layer < g.pasts().size(); ++layer) {
    std::size_t with_past = 0;
    for (const CausalRow& row : rows) {
      if (row.past_length() == 0) continue;
      const KeyValue& known = g.pasts()[layer][with_past++];
      const std::size_t token = ggml_row_size(known.key->type, known.key->ne[0] * known.key->ne[1]);
      std::size_t at = 0;
      for (const CausalRow::Past& part : row.past) {
        const std::size_t first = static_cast<std::size_t>(part.first) * token / sizeof(float);
        const std::size_t bytes = static_cast<std::size_t>(part.count) * token;
        ggml_backend_tensor_set(known.key, part.from->keys[layer].data() + first, at, bytes);
        ggml_backend_tensor_set(known.value, part.from->values[layer].data() + first, at, bytes);
        at += bytes;
      }
    }
  }
}

void Runtime::keep_made(const Graph& g, std::span<const CausalRow> rows) {
  for (const KeyValue& fresh : g.fresh()) {
    const auto token = static_cast<std::size_t>(fresh.key->ne[0] * fresh.key->ne[1]);
    std::size_t at = 0;
    for (const CausalRow& row : rows) {
      const std::size_t count = row.tokens.size() * token;
      if (!device_->cpu()) bytes_copied_ += 2 * count * sizeof(float);
      ggml_backend_tensor_get(fresh.key, row.made->keys.emplace_back(count).data(), at * sizeof(float),
                              count * sizeof(float));
      ggml_backend_tensor_get(fresh.value, row.made->values.emplace_back(count).data(), at * sizeof(float),
                              count * sizeof(float));
      at += count;
    }
  }
}

std::vector<std::vector<float>> Runtime::continue_rows(std::span<const CausalRow> rows) {
  const std::lock_guard turn(turn_);
  std::vector<RowShape> shapes;
  std::vector<Token> tokens;
  std::vector<Position> positions, asked;
  for (const CausalRow& row : rows) {
    const int past = row.past_length(), length = static_cast<int>(row.tokens.size());
    if (past + length > sizes_.context) throw too_long(past + length, sizes_);
    check_tokens(row.tokens, sizes_);
    for (const Position l : row.asked) asked.push_back(static_cast<Position>(tokens.size()) + l);
    shapes.push_back({length, static_cast<int>(row.asked.size()), past});
    tokens.insert(tokens.end(), row.tokens.begin(), row.tokens.end());
    for (int l = 0; l < length; ++l) positions.push_back(past + l);
  }
  Graph g(shapes, sizes_.layers, packed());
  ggml_tensor* output = network_->trunk(g);
  const Graph::Inputs in = g.inputs();
  const Device::Lease lease(*device_, threads_for(trunk_work(tokens.size())));
  const Stopwatch watch(busy_seconds_);
  const std::span<const float> all =
      compute(g, {lease.together(), *trunk_space_}, output,
              {{in.tokens, tokens.data()}, {in.positions, positions.data()}, {in.asked, asked.data()}}, rows);
  keep_made(g, rows);
  std::vector<std::vector<float>> hidden;
  auto first = all.begin();
  for (const CausalRow& row : rows) {
    const auto next = first + static_cast<std::ptrdiff_t>(row.asked.size()) * sizes_.embedding;
    hidden.emplace_back(first, next);
    first = next;
  }
  return hidden;
}

int Runtime::max_head_rows() const {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  const std::size_t row = static_cast<std::size_t>(std::max(1, sizes_.outputs)) * sizeof(float);
  return static_cast<int>(std::clamp<std::size_t>(kBytes / row, 1, static_cast<std::size_t>(options_.max_tokens)));
}

std::shared_ptr<Runtime::Workspace> Runtime::make_workspace() const { return std::make_shared<Workspace>(*device_); }

std::vector<float> Runtime::head(std::span<const float> hidden) {
  const std::lock_guard turn(turn_);
  const std::span<const float> said = head_in(hidden, *head_space_);
  return {said.begin(), said.end()};
}

std::span<const float> Runtime::head(std::span<const float> hidden, Workspace& space) {
  const std::lock_guard turn(turn_);
  return head_in(hidden, space);
}

std::span<const float> Runtime::head_in(std::span<const float> hidden, Workspace& space) {
  const auto width = static_cast<std::size_t>(sizes_.embedding);
  PGDLM_CHECK(!hidden.empty() && hidden.size() % width == 0);
  Graph g({}, 0, packed());
  ggml_tensor* input = g.input(GGML_TYPE_F32, sizes_.embedding, static_cast<std::int64_t>(hidden.size() / width));
  ggml_tensor* output = network_->head(g, input);
  const Device::Lease lease(*device_, threads_for(static_cast<double>(hidden.size()) * sizes_.outputs));
  const Stopwatch watch(busy_seconds_);
  return compute(g, {lease.together(), space}, output, {{input, hidden.data()}});
}

}  // namespace pgdlm
