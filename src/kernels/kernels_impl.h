// The kernels, written once for vectors of kLanes floats. Included by the file of each instruction set inside its own
// namespace; kRows is how many rows of a tile its registers hold.
#include "base/plain.h"
#include "kernels/vector_math.h"

// Memory for the length of a call.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::size_t count)
      : count_(count), memory_(count == 0 ? nullptr : static_cast<T*>(scratch_memory(count * sizeof(T)))) {}
  ~Scratch() { std::free(memory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  bool there() const { return count_ == 0 || memory_ != nullptr; }
  T* data() const { return memory_; }

 private:
  std::size_t count_;
  T* memory_;
};

constexpr float kInfinity = __builtin_inff();
constexpr int kColumns = 2 * kLanes;  // of a tile: two vectors per row

// C [R, kColumns] = start + A [R, depth] B [depth, kColumns]. Each element is summed in the order of depth.
template <int R>
inline void tile_rows(int depth, const float* a, std::size_t a_stride, const float* b, std::size_t b_stride,
                      const float* start, float* c, std::size_t c_stride) {
  Vec left[R], right[R];
  for (int r = 0; r < R; ++r) {
    left[r] = start == nullptr ? Vec{} : load(start);
    right[r] = start == nullptr ? Vec{} : load(start + kLanes);
  }
  for (int d = 0; d < depth; ++d, b += b_stride) {
    const Vec b0 = load(b), b1 = load(b + kLanes);
    for (int r = 0; r < R; ++r) {
      const Vec x = splat(a[static_cast<std::size_t>(r) * a_stride + static_cast<std::size_t>(d)]);
      left[r] = fused(x, b0, left[r]);
      right[r] = fused(x, b1, right[r]);
    }
  }
  for (int r = 0; r < R; ++r) {
    store(c + static_cast<std::size_t>(r) * c_stride, left[r]);
    store(c + static_cast<std::size_t>(r) * c_stride + kLanes, right[r]);
  }
}

struct Operands {
  int depth;
  const float* a;
  std::size_t a_stride;
  const float* b;
  std::size_t b_stride;
  const float* start;
};

// The same for any number of rows up to kRows, with the same arithmetic for each.
template <int R = kRows>
inline void tile(const Operands& o, int rows, float* c, std::size_t c_stride) {
  if constexpr (R > 0) {
    if (rows == R)
      tile_rows<R>(o.depth, o.a, o.a_stride, o.b, o.b_stride, o.start, c, c_stride);
    else
      tile<R - 1>(o, rows, c, c_stride);
  }
}

// A tile of which only the first `columns` are wanted.
inline void narrow_tile(const Operands& o, int rows, float* c, std::size_t c_stride, int columns) {
  if (columns == kColumns) return tile(o, rows, c, c_stride);
  float whole[kRows * kColumns];
  tile(o, rows, whole, kColumns);
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < columns; ++j)
      c[static_cast<std::size_t>(r) * c_stride + static_cast<std::size_t>(j)] = whole[r * kColumns + j];
}

// Columns first .. first+columns of a transposed matrix, [depth, kColumns], zeros beyond. row(j) is its j-th row.
template <class Row>
inline void pack(const Row& row, int columns, int depth, float* packed) {
  constexpr int kStretch = 64;  // of depth at a time: the source lines stay in the first cache
  const float* rows[kColumns];
  for (int j = 0; j < columns; ++j) rows[j] = row(j);
  for (int begin = 0; begin < depth; begin += kStretch) {
    const int end = least(depth, begin + kStretch);
    for (int d = begin; d < end; ++d) {
      float* to = packed + static_cast<std::size_t>(d) * kColumns;
      for (int j = 0; j < columns; ++j) to[j] = rows[j][d];
      for (int j = columns; j < kColumns; ++j) to[j] = 0;
    }
  }
}

inline std::size_t panel_floats(int in) { return static_cast<std::size_t>(in) * kColumns; }
inline int panel_count(int out) { return (out + kColumns - 1) / kColumns; }
inline std::size_t packed_bytes(const Matrix& weight) {
  return static_cast<std::size_t>(panel_count(weight.out)) * panel_floats(weight.in) * sizeof(float);
}

// Rows of a stored matrix as floats, one panel at a time.
class PanelReader {
 public:
  explicit PanelReader(const Matrix& weight)
      : weight_(weight), decoded_(weight.decode == nullptr ? 0 : panel_floats(weight.in)) {}

  bool ready() const { return decoded_.there(); }
  int columns(int panel) const { return least(kColumns, weight_.out - panel * kColumns); }
  const float* row(int panel, int j) {
    const auto* stored =
        static_cast<const char*>(weight_.data) + static_cast<std::size_t>(panel * kColumns + j) * weight_.stride;
    if (weight_.decode == nullptr) return reinterpret_cast<const float*>(stored);
    float* values = decoded_.data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(weight_.in);
    weight_.decode(stored, values, weight_.in);
    return values;
  }
  void pack_panel(int panel, float* packed) {
    pack([&](int j) { return row(panel, j); }, columns(panel), weight_.in, packed);
  }

 private:
  Matrix weight_;
  Scratch<float> decoded_;
};

inline bool pack_weight(const Matrix& weight, void* packed) {
  PanelReader reader(weight);
  if (!reader.ready()) return false;
  for (int p = 0; p < panel_count(weight.out); ++p)
    reader.pack_panel(p, static_cast<float*>(packed) + static_cast<std::size_t>(p) * panel_floats(weight.in));
  return true;
}

// A thread has a stretch of panels; it takes as many at a time as the second cache holds, and all rows of x pass by.
struct PanelPlan {
  int first, last, fitting;
};
inline PanelPlan plan_panels(int panels, std::size_t panel_bytes, Share share) {
  constexpr std::size_t kCacheBytes = std::size_t{1} << 20;
  const int mine = (panels + share.count - 1) / share.count;
  const int first = least(panels, share.index * mine);
  return {first, least(panels, first + mine), static_cast<int>(most<std::size_t>(1, kCacheBytes / panel_bytes))};
}

// A block of outputs: its first row and its panel, how many of its rows and columns are wanted, and where they go.
struct Block {
  int row, panel, rows, columns;
  float* y;
};

// Every block of a thread's share, as product(block, packed panel). A panel has `size` numbers, a block `height` rows.
template <class Number, class Packer, class Product>
inline bool each_block(const LinearTask& task, std::size_t size, int height, Packer& packer, Share share,
                       const Product& product) {
  const PanelPlan plan = plan_panels(panel_count(task.weight.out), size * sizeof(Number), share);
  const Scratch<Number> made(task.packed == nullptr ? size * static_cast<std::size_t>(plan.fitting) : 0);
  if (!packer.ready() || !made.there()) return false;
  for (int group = plan.first; group < plan.last; group += plan.fitting) {
    const int end = least(plan.last, group + plan.fitting);
    const Number* panels = made.data();
    if (task.packed != nullptr)
      panels = static_cast<const Number*>(task.packed) + static_cast<std::size_t>(group) * size;
    for (int p = group; task.packed == nullptr && p < end; ++p)
      packer.pack_panel(p, made.data() + static_cast<std::size_t>(p - group) * size);
    for (int r = 0; r < task.rows; r += height)
      for (int p = group; p < end; ++p)
        product(Block{r, p, least(height, task.rows - r), least(kColumns, task.weight.out - p * kColumns),
                      task.y + static_cast<std::size_t>(r) * task.y_stride + static_cast<std::size_t>(p) * kColumns},
                panels + static_cast<std::size_t>(p - group) * size);
  }
  return true;
}

inline bool linear(const LinearTask& task, Share share) {
  const int in = task.weight.in;
  PanelReader reader(task.weight);
  return each_block<float>(task, panel_floats(in), kRows, reader, share, [&](const Block& b, const float* panel) {
    float start[kColumns] = {};
    for (int j = 0; task.bias != nullptr && j < b.columns; ++j) start[j] = task.bias[b.panel * kColumns + j];
    const float* x = static_cast<const float*>(task.x) + static_cast<std::size_t>(b.row) * task.x_stride;
    narrow_tile({in, x, task.x_stride, panel, kColumns, start}, b.rows, b.y, task.y_stride, b.columns);
  });
}

// All lanes into one, halving: the same order whatever they hold.
template <class Join>
inline float fold(Vec v, const Join& join) {
  float lanes[kLanes];
  store(lanes, v);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes[i] = join(lanes[i], lanes[i + half]);
  return lanes[0];
}

// Weights of one query over its keys, in place: e^(scale (s - max)), and one over their sum.
inline float soften(float* scores, int keys, float scale) {
  const int padded = (keys + kLanes - 1) / kLanes * kLanes;
  for (int i = keys; i < padded; ++i) scores[i] = -kInfinity;
  Vec tops = load(scores);
  for (int i = kLanes; i < padded; i += kLanes) tops = greater(tops, load(scores + i));
  const float top = fold(tops, [](float a, float b) { return most(a, b); });
  Vec sums{};
  for (int i = 0; i < padded; i += kLanes) {
    const Vec s = load(scores + i);
    const Vec e = pick(s == -kInfinity, Vec{}, exponential((s - top) * scale));
    sums += e;
    store(scores + i, e);
  }
  return 1.0F / fold(sums, [](float a, float b) { return a + b; });
}

// Memory for one head of one row, large enough for the longest.
struct AttentionDesk {
  explicit AttentionDesk(const AttentionTask& task, std::size_t padded_keys)
      : keys(static_cast<std::size_t>(task.size) * padded_keys),
        values(padded_keys * static_cast<std::size_t>((task.size + kColumns - 1) / kColumns) * kColumns),
        scores(kRows * padded_keys) {}

  bool ready() const { return keys.there() && values.there() && scores.there(); }

  Scratch<float> keys, values, scores;
};

inline void attend(const AttentionTask& task, const AttentionRow& row, int head, const AttentionDesk& desk) {
  const auto size = static_cast<std::size_t>(task.size);
  const int kv_head = head / (task.heads / task.kv_heads);
  const int key_panels = (row.keys + kColumns - 1) / kColumns, value_panels = (task.size + kColumns - 1) / kColumns;
  const auto padded_keys = static_cast<std::size_t>(key_panels) * kColumns;
  const auto at = [&](const float* base, std::size_t stride, int position, std::size_t head_stride, int h) {
    return base + static_cast<std::size_t>(position) * stride + static_cast<std::size_t>(h) * head_stride;
  };
  for (int p = 0; p < key_panels; ++p)
    pack(
        [&](int j) { return at(task.k, task.k_stride, row.first_key + p * kColumns + j, task.k_head_stride, kv_head); },
        least(kColumns, row.keys - p * kColumns), task.size,
        desk.keys.data() + static_cast<std::size_t>(p) * kColumns * size);
  const std::size_t value_width = static_cast<std::size_t>(value_panels) * kColumns;
  for (int i = 0; i < row.keys; ++i) {
    const float* from = at(task.v, task.v_stride, row.first_key + i, task.v_head_stride, kv_head);
    float* to = desk.values.data() + static_cast<std::size_t>(i) * value_width;
    copy_all(from, size, to);
    fill_all(to + size, value_width - size, 0.0F);
  }

  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(task.size));
  const std::size_t out_stride = static_cast<std::size_t>(task.heads) * size;
  for (int q = 0; q < row.queries; q += kRows) {
    const int rows = least(kRows, row.queries - q);
    const float* queries = at(task.q, task.q_stride, row.first_query + q, task.q_head_stride, head);
    for (int p = 0; p < key_panels; ++p)
      tile({task.size, queries, task.q_stride, desk.keys.data() + static_cast<std::size_t>(p) * kColumns * size,
            kColumns, nullptr},
           rows, desk.scores.data() + static_cast<std::size_t>(p) * kColumns, padded_keys);
    float share_of[kRows];
    for (int r = 0; r < rows; ++r) {
      float* scores = desk.scores.data() + static_cast<std::size_t>(r) * padded_keys;
      const int seen = row.causal ? row.keys - row.queries + q + r + 1 : row.keys;
      share_of[r] = soften(scores, seen, scale);
      fill_all(scores + seen, static_cast<std::size_t>(row.keys - seen), 0.0F);
    }
    for (int p = 0; p < value_panels; ++p) {
      const int columns = least(kColumns, task.size - p * kColumns);
      float* out = task.out + static_cast<std::size_t>(row.first_query + q) * out_stride +
                   static_cast<std::size_t>(head) * size + static_cast<std::size_t>(p) * kColumns;
      narrow_tile({row.keys, desk.scores.data(), padded_keys,
                   desk.values.data() + static_cast<std::size_t>(p) * kColumns, value_width, nullptr},
                  rows, out, out_stride, columns);
      for (int r = 0; r < rows; ++r)
        for (int j = 0; j < columns; ++j)
          out[static_cast<std::size_t>(r) * out_stride + static_cast<std::size_t>(j)] *= share_of[r];
    }
  }
}

inline bool attention(const AttentionTask& task, Share share) {
  int longest = 0;
  for (int i = 0; i < task.row_count; ++i) longest = most(longest, task.rows[i].keys);
  const AttentionDesk desk(task, static_cast<std::size_t>((longest + kColumns - 1) / kColumns) * kColumns);
  if (!desk.ready()) return false;
  int unit = 0;
  for (int i = 0; i < task.row_count; ++i)
    for (int head = 0; head < task.heads; ++head)
      if (unit++ % share.count == share.index && task.rows[i].queries > 0) attend(task, task.rows[i], head, desk);
  return true;
}

// Element by element; the tail goes through a vector padded with zeros, so that each element is computed alike.
template <class F>
inline void each(std::size_t count, float* y, const F& f) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, f([i](const float* p) { return load(p + i); }));
  if (i == count) return;
  const std::size_t left = count - i;
  const auto padded = [i, left](const float* p) {
    float values[kLanes] = {};
    copy_all(p + i, left, values);
    return load(values);
  };
  float values[kLanes];
  store(values, f(padded));
  copy_all(values, left, y + i);
}

inline void gelu_erf(const float* x, float* y, std::size_t count) {
  each(count, y, [x](const auto& take) {
    const Vec v = take(x);
    return 0.5F * v * (1.0F + error_function(v * 0.707106781F));
  });
}

// x sigmoid(2u) with u = sqrt(2/pi) (x + 0.044715 x^3) is x (1 + tanh u) / 2.
inline void gelu_tanh(const float* x, float* y, std::size_t count) {
  each(count, y, [x](const auto& take) {
    const Vec v = take(x);
    return v * sigmoid(1.59576912F * v * (1.0F + 0.044715F * v * v));
  });
}

inline double exercise(std::int64_t rounds, int /*parts*/) {
  constexpr int kChains = 2 * kRows;  // enough to hide the latency of a multiply-add
  Vec sums[kChains] = {};
  Vec factor = splat(0.5F);
  for (std::int64_t i = 0; i < rounds; ++i) {
    for (Vec& sum : sums) sum = sum * factor + 1.0F;
    asm volatile("" : "+r"(rounds));  // the loop is not for skipping
  }
  float total = 0;
  for (const Vec& sum : sums) total += sum[0];
  volatile float sink = total;
  (void)sink;
  return 2.0 * kLanes * kChains * static_cast<double>(rounds);
}

inline void swiglu(const float* gate, const float* up, float* y, std::size_t count) {
  each(count, y, [gate, up](const auto& take) {
    const Vec g = take(gate);
    return g * sigmoid(g) * take(up);
  });
}

constexpr Kernels kernels_named(const char* name) {
  return {.name = name,
          .packed_bytes = packed_bytes,
          .pack = pack_weight,
          .packed_rows_bytes = nullptr,
          .pack_rows = nullptr,
          .linear = linear,
          .attention = attention,
          .gelu_erf = gelu_erf,
          .gelu_tanh = gelu_tanh,
          .swiglu = swiglu,
          .exercise = exercise};
}
