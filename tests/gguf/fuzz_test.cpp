// A sound file, damaged in ten thousand ways: each either opens, and then every byte of every tensor can be read, or
// is refused with an Error; none takes much memory. The bytes lie on the heap, where ASan sees a step beyond their end.
#include <atomic>
#include <cstdlib>
#include <new>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "gguf/header.h"
#include "gguf/raw_gguf.h"
#include "pgdlm/error.h"

namespace {
std::atomic<std::size_t> allocated = 0;  // bytes asked for since it was last set to 0, freed ones included
}

void* operator new(std::size_t size) {
  allocated += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace pgdlm {
namespace {

constexpr std::size_t kMostMemory = std::size_t{64} << 20;

std::string sound_file() {
  const auto words = [](std::size_t count) {
    std::string all = RawGguf::number<std::uint32_t>(GGUF_TYPE_STRING) + RawGguf::number<std::uint64_t>(count);
    for (std::size_t i = 0; i < count; ++i) all += RawGguf::text("w" + std::to_string(i));
    return all;
  };
  RawGguf raw;
  raw.keys = {
      RawGguf::key("general.architecture", GGUF_TYPE_STRING, RawGguf::text("llada")),
      RawGguf::key("general.alignment", GGUF_TYPE_UINT32, RawGguf::number<std::uint32_t>(32)),
      RawGguf::key("llada.block_count", GGUF_TYPE_UINT32, RawGguf::number<std::uint32_t>(2)),
      RawGguf::key("llada.epsilon", GGUF_TYPE_FLOAT32, RawGguf::number(1e-5f)),
      RawGguf::key("large", GGUF_TYPE_UINT64, RawGguf::number<std::uint64_t>(7)),
      RawGguf::key("causal", GGUF_TYPE_BOOL, RawGguf::number<std::uint8_t>(0)),
      RawGguf::key("tokens", GGUF_TYPE_ARRAY, words(6)),
      RawGguf::key("types", GGUF_TYPE_ARRAY,
                   RawGguf::number<std::uint32_t>(GGUF_TYPE_INT32) + RawGguf::number<std::uint64_t>(3) +
                       std::string(12, '\x01')),
  };
  raw.tensors = {{.name = "token_embd.weight", .shape = {32, 4}},
                 {.name = "blk.0.attn_q.weight", .shape = {64, 2}, .type = GGML_TYPE_Q8_0, .offset = 512},
                 {.name = "blk.0.attn_norm.weight", .shape = {8}, .offset = 672}};
  raw.data = 704;
  return raw.bytes();
}

// True if the file opened.
bool survives(const std::string& bytes) {
  const std::vector<std::byte> file(reinterpret_cast<const std::byte*>(bytes.data()),
                                    reinterpret_cast<const std::byte*>(bytes.data()) + bytes.size());
  allocated = 0;
  bool opened = false;
  try {
    const GgufHeader header = parse_gguf(file, "damaged.gguf");
    opened = true;
    unsigned sum = 0;
    for (const GgufTensor& tensor : header.tensors)
      for (const std::byte byte : tensor.bytes) sum += std::to_integer<unsigned>(byte);
    EXPECT_LE(sum, 255u * 100000u);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_model) << error.what();
  }
  EXPECT_LT(allocated, kMostMemory);
  return opened;
}

TEST(GgufFuzz, DamagedBytes) {
  const std::string sound = sound_file();
  const std::size_t header = sound.size() - 704;
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  int opened = 0;
  ASSERT_TRUE(survives(sound));
  for (int i = 0; i < 10000; ++i) {
    std::string damaged = sound;
    char& byte = damaged[below(10) == 0 ? below(damaged.size()) : below(header)];
    byte = static_cast<char>(i % 2 == 0 ? byte ^ (1 << below(8)) : below(256));
    opened += survives(damaged) ? 1 : 0;
    if (HasFailure()) FAIL() << "mutation " << i;
  }
  EXPECT_GT(opened, 1000);  // damage in names, values and data goes unseen, as it must
  EXPECT_LT(opened, 9000);
}

TEST(GgufFuzz, EveryTruncation) {
  const std::string sound = sound_file();
  for (std::size_t length = 0; length < sound.size(); ++length) {
    EXPECT_FALSE(survives(sound.substr(0, length))) << length;
    if (HasFailure()) return;
  }
}

TEST(GgufFuzz, ExtremeNumbersEverywhere) {
  const std::string sound = sound_file();
  for (std::size_t at = 0; at + 8 <= sound.size() - 704; ++at)
    for (const std::uint64_t number : {~0ull, 1ull << 63, (1ull << 63) - 1, 1ull << 40, 1ull << 32, 0ull}) {
      std::string damaged = sound;
      damaged.replace(at, 8, RawGguf::number(number));
      survives(damaged);
      if (HasFailure()) FAIL() << number << " at " << at;
    }
}

}  // namespace
}  // namespace pgdlm
