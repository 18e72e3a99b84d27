// Does this compiler get AMX right, on this processor? One 16x16 int8 tile product, configured the way ggml does it: in
// a local variable handed to _tile_loadconfig. Exit code 0: right, 77: no AMX here, 1: wrong result (or a signal).
#include <cstdint>

#if defined(__AMX_INT8__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

struct TileConfig {
  uint8_t palette_id = 0;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t colsb[16] = {};
  uint8_t rows[16] = {};
};

static void configure() {
  alignas(64) TileConfig config = {};
  config.palette_id = 1;
  for (int i = 0; i < 3; ++i) {
    config.rows[i] = 16;
    config.colsb[i] = 64;
  }
  _tile_loadconfig(&config);
}

int main() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) return 77;
  alignas(64) static int8_t a[16][64], b[16][64];
  alignas(64) static int32_t c[16][16];
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 64; ++j) {
      a[i][j] = static_cast<int8_t>(3 * i - j);
      b[i][j] = static_cast<int8_t>(i + 5 * j);
    }
  }
  configure();
  _tile_zero(0);
  _tile_loadd(1, a, 64);
  _tile_loadd(2, b, 64);
  _tile_dpbssd(0, 1, 2);
  _tile_stored(0, c, 64);
  _tile_release();
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      int32_t want = 0;
      for (int k = 0; k < 64; ++k) want += a[i][k] * b[k / 4][4 * j + k % 4];
      if (c[i][j] != want) return 1;
    }
  }
  return 0;
}
#else
int main() { return 77; }
#endif
