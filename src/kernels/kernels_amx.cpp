// Products on Intel's matrix unit (AMX). It multiplies bf16, which has 8 bits, and sums in f32. So a float is split
// into parts of 8 bits, x = x0 + x1 + x2, and of the products of parts those are taken that matter: with weights of
// three parts (f32) x0 w0 + x0 w1 + x1 w0 + x0 w2 + x1 w1 + x2 w0, which leaves out less than 2^-24; with two (f16 and
// what is shorter) x0 w0 + x0 w1 + x1 w0, less than 2^-16; with one (bf16) x0 w0 + x1 w0. Several times as fast as
// float arithmetic all the same. Everything else is AVX-512's.
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "kernels/kernels.h"

namespace pgdlm::amx {
namespace {

constexpr int kLanes = 16;
constexpr int kRows = 12;

#include "kernels/kernels_impl.h"

using Half = std::uint16_t;         // bf16
constexpr int kDepth = 32;          // inputs per tile product
constexpr int kSide = 16;           // rows and columns of a tile of sums
constexpr int kBlock = 2 * kSide;   // rows of x at a time; kColumns outputs at a time
constexpr std::size_t kTile = 512;  // halves in a tile of 16 rows by 64 bytes
static_assert(kColumns == 2 * kSide);

int blocks_of(int in) { return (in + kDepth - 1) / kDepth; }

// Eight tiles of 16 rows by 64 bytes. In assembly: GCC 12 believes the instruction reads fewer bytes than it does.
void configure_tiles() {
  struct alignas(64) Configuration {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  static const Configuration configuration;
  asm volatile("ldtilecfg %0" : : "m"(configuration));
}

constexpr int kParts = 3;

// A row of floats as its parts, zeros up to whole blocks. put(part, i) says where 16 of them go, from the i-th on.
template <class Put>
void split_row(const float* x, int in, int parts, const Put& put) {
  for (int i = 0; i < blocks_of(in) * kDepth; i += kLanes) {
    const int left = most(0, least(in - i, kLanes));
    __m512 rest = _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << left) - 1), x + i);
    for (int part = 0; part < parts; ++part) {
      const auto half = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(rest));  // rounded to the nearest
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(put(part, i)), half);
      rest = _mm512_sub_ps(rest, _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16)));
    }
  }
}

// x packed: 32 rows at a time, block of inputs by block, part by part, two tiles each: the first 16 rows and the
// second.
std::size_t rows_halves(int in) { return static_cast<std::size_t>(blocks_of(in)) * kParts * 2 * kTile; }
std::size_t packed_rows_bytes(int in, int rows) {
  return static_cast<std::size_t>((rows + kBlock - 1) / kBlock) * rows_halves(in) * sizeof(Half);
}
bool pack_rows(const float* x, std::size_t stride, int in, int rows, void* packed, Share share) {
  const int padded = (rows + kBlock - 1) / kBlock * kBlock;
  const Scratch<float> nothing(static_cast<std::size_t>(in));
  if (!nothing.there()) return false;
  fill_all(nothing.data(), static_cast<std::size_t>(in), 0.0F);
  for (int r = share.index; r < padded; r += share.count) {
    const int side = r % kBlock / kSide;
    Half* row = static_cast<Half*>(packed) + static_cast<std::size_t>(r / kBlock) * rows_halves(in) +
                static_cast<std::size_t>(side) * kTile + static_cast<std::size_t>(r % kSide) * kDepth;
    split_row(r < rows ? x + static_cast<std::size_t>(r) * stride : nothing.data(), in, kParts, [&](int part, int i) {
      return row + static_cast<std::size_t>((i / kDepth * kParts + part) * 2) * kTile + i % kDepth;
    });
  }
  return true;
}

// W packed: panel by panel, block of inputs by block, part by part, two tiles each: the first 16 outputs and the
// second. A tile's row holds one pair of inputs for each of its 16 outputs.
std::size_t panel_halves(const Matrix& w) {
  return static_cast<std::size_t>(blocks_of(w.in)) * static_cast<std::size_t>(w.parts) * 2 * kTile;
}
std::size_t amx_packed_bytes(const Matrix& w) {
  return static_cast<std::size_t>(panel_count(w.out)) * panel_halves(w) * sizeof(Half);
}

class AmxPacker {
 public:
  explicit AmxPacker(const Matrix& weight)
      : reader_(weight),
        w_(weight),
        row_(static_cast<std::size_t>(weight.parts * blocks_of(weight.in) * kDepth)),
        halves_(kColumns * row_) {}

  bool ready() const { return reader_.ready() && halves_.there(); }

  void pack_panel(int panel, Half* packed) {
    fill_all(halves_.data(), kColumns * row_, Half{0});
    for (int j = 0; j < reader_.columns(panel); ++j) {
      Half* row = halves_.data() + static_cast<std::size_t>(j) * row_;
      split_row(reader_.row(panel, j), w_.in, w_.parts,
                [&](int part, int i) { return row + part * blocks_of(w_.in) * kDepth + i; });
    }
    for (int block = 0; block < blocks_of(w_.in); ++block)
      for (int part = 0; part < w_.parts; ++part)
        for (int side = 0; side < 2; ++side, packed += kTile) transpose(block, part, side, packed);
  }

 private:
  void transpose(int block, int part, int side, Half* to) const {
    const Half* from = halves_.data() + static_cast<std::size_t>(side) * kSide * row_ +
                       static_cast<std::size_t>((part * blocks_of(w_.in) + block) * kDepth);
    for (int pair = 0; pair < kDepth / 2; ++pair)
      for (int j = 0; j < kSide; ++j)
        __builtin_memcpy(to + pair * 2 * kSide + 2 * j, from + static_cast<std::size_t>(j) * row_ + 2 * pair,
                         2 * sizeof(Half));
  }

  PanelReader reader_;
  Matrix w_;
  std::size_t row_;
  Scratch<Half> halves_;
};

bool amx_pack(const Matrix& weight, void* packed) {
  AmxPacker packer(weight);
  if (!packer.ready()) return false;
  for (int p = 0; p < panel_count(weight.out); ++p)
    packer.pack_panel(p, static_cast<Half*>(packed) + static_cast<std::size_t>(p) * panel_halves(weight));
  return true;
}

// Sums of a block: where they begin, and where they go.
struct Sums {
  const float* start;
  float* y;
  std::size_t stride;
};

// Which part of x meets which part of W, one after the other, the small products mostly first. Neighbours share an
// operand, which then stays in its tiles.
struct Meeting {
  int x, w;
};
template <int Parts>
constexpr auto kMeetings = nullptr;
template <>
constexpr Meeting kMeetings<1>[] = {{1, 0}, {0, 0}};
template <>
constexpr Meeting kMeetings<2>[] = {{1, 0}, {0, 0}, {0, 1}};
template <>
constexpr Meeting kMeetings<3>[] = {{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}};

// A tile on its way to the first cache.
inline void fetch(const Half* tile) {
  for (std::size_t line = 0; line < kTile; line += kDepth) __builtin_prefetch(tile + line);
}

// 32 inputs. Tiles 0-3 hold the sums, 4 and 5 rows of x, 6 and 7 outputs of W. From the second cache a tile takes
// longer to load than to multiply, so those of the next 32 inputs are fetched in the gaps.
template <int Parts, std::size_t Step = 0>
inline void add_products(const Half* x, const Half* w) {
  constexpr auto& meetings = kMeetings<Parts>;
  constexpr std::size_t kSteps = sizeof meetings / sizeof(Meeting), kFirstW = kSteps - Parts;
  if constexpr (Step < kSteps) {
    constexpr Meeting now = meetings[Step], before = Step == 0 ? Meeting{-1, -1} : meetings[Step - 1];
    if constexpr (now.x != before.x) {
      _tile_loadd(4, x + 2 * now.x * kTile, 64);
      _tile_loadd(5, x + (2 * now.x + 1) * kTile, 64);
    }
    if constexpr (now.w != before.w) {
      _tile_loadd(6, w + 2 * now.w * kTile, 64);
      _tile_loadd(7, w + (2 * now.w + 1) * kTile, 64);
    }
    const Half *next_x = x + (2 * kParts + 2 * Step) * kTile, *next_w = w + 2 * (Parts + Step - kFirstW) * kTile;
    constexpr bool x_left = Step < most(Parts, 2), w_left = Step >= kFirstW;
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (x_left) fetch(next_x);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (x_left) fetch(next_x + kTile);
    _tile_dpbf16ps(2, 5, 6);
    if constexpr (w_left) fetch(next_w);
    _tile_dpbf16ps(3, 5, 7);
    if constexpr (w_left) fetch(next_w + kTile);
    add_products<Parts, Step + 1>(x, w);
  }
}

// 32 rows by 32 outputs.
template <int Parts>
void block_product(const Half* x, const Half* panel, int in, const Sums& sums) {
  asm volatile("" : : : "memory");  // what the tiles read is in memory; GCC 12's tile loads do not say so
  _tile_loadd(0, sums.start, 0);
  _tile_loadd(1, sums.start + kSide, 0);
  _tile_loadd(2, sums.start, 0);
  _tile_loadd(3, sums.start + kSide, 0);
  for (int block = 0; block < blocks_of(in); ++block, x += kParts * 2 * kTile, panel += Parts * 2 * kTile)
    add_products<Parts>(x, panel);
  const auto y_bytes = static_cast<long>(sums.stride * sizeof(float));
  _tile_stored(0, sums.y, y_bytes);
  _tile_stored(1, sums.y + kSide, y_bytes);
  _tile_stored(2, sums.y + kSide * sums.stride, y_bytes);
  _tile_stored(3, sums.y + kSide * sums.stride + kSide, y_bytes);
}

// A block of which perhaps fewer rows or outputs are wanted.
template <int Parts>
void some_product(const Half* x, const Half* panel, int in, const Sums& sums, int rows, int columns) {
  if (rows == kBlock && columns == kColumns) return block_product<Parts>(x, panel, in, sums);
  alignas(64) float whole[kBlock * kColumns];
  block_product<Parts>(x, panel, in, {sums.start, whole, kColumns});
  for (int r = 0; r < rows; ++r)
    copy_all(whole + r * kColumns, static_cast<std::size_t>(columns),
             sums.y + static_cast<std::size_t>(r) * sums.stride);
}

// Where the sums of a panel begin: its bias, or zeros. Not copied panel by panel: a tile that loads what was just
// written waits for hundreds of cycles.
class Starts {
 public:
  explicit Starts(const LinearTask& task)
      : bias_(task.bias), whole_(task.bias == nullptr ? 0 : task.weight.out / kColumns) {
    const int rest = task.weight.out % kColumns;
    if (bias_ != nullptr) copy_all(bias_ + whole_ * kColumns, static_cast<std::size_t>(rest), last_);
  }
  const float* of(int panel) const { return panel < whole_ ? bias_ + panel * kColumns : last_; }

 private:
  const float* bias_;
  int whole_;                              // panels whose bias can be read in place
  alignas(64) float last_[kColumns] = {};  // of the others
};

template <int Parts>
bool linear_of(const LinearTask& task, Share share) {
  const Matrix& w = task.weight;
  AmxPacker packer(w);
  const Starts starts(task);
  configure_tiles();
  const bool done =
      each_block<Half>(task, panel_halves(w), kBlock, packer, share, [&](const Block& b, const Half* panel) {
        const Half* x = static_cast<const Half*>(task.x) + static_cast<std::size_t>(b.row / kBlock) * rows_halves(w.in);
        some_product<Parts>(x, panel, w.in, {starts.of(b.panel), b.y, task.y_stride}, b.rows, b.columns);
      });
  _tile_release();
  return done;
}

bool amx_linear(const LinearTask& task, Share share) {
  switch (task.weight.parts) {
    case 1: return linear_of<1>(task, share);
    case 2: return linear_of<2>(task, share);
    default: return linear_of<3>(task, share);
  }
}

double amx_exercise(std::int64_t rounds, int parts) {
  alignas(64) Half zeros[kTile] = {};
  asm volatile("" : : "r"(zeros) : "memory");
  configure_tiles();
  for (std::int64_t i = 0; i < rounds; ++i) {
    _tile_loadd(4, zeros, 64);
    _tile_loadd(6, zeros, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 6);
    _tile_dpbf16ps(2, 4, 6);
    _tile_dpbf16ps(3, 4, 6);
  }
  _tile_release();
  const int products = parts == 1 ? 2 : parts == 2 ? 3 : 6;
  return 4.0 * 2.0 * kSide * kSide * kDepth * static_cast<double>(rounds) / products;
}

}  // namespace

// The processor has it, and the kernel lets this process keep its registers.
bool usable() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kVectorBf16 = 1U << 5;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0 || (a & kVectorBf16) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kBf16 = 1U << 22, kTiles = 1U << 24;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return (d & kBf16) != 0 && (d & kTiles) != 0 && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

constexpr Kernels amx_kernels() {
  Kernels k = kernels_named("amx");
  k.packed_bytes = amx_packed_bytes;
  k.pack = amx_pack;
  k.packed_rows_bytes = packed_rows_bytes;
  k.pack_rows = pack_rows;
  k.linear = amx_linear;
  k.exercise = amx_exercise;
  return k;
}

extern const Kernels kKernels;
constinit const Kernels kKernels = amx_kernels();

}  // namespace pgdlm::amx
