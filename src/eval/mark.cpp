#include "eval/mark.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include <fmt/format.h>

#include "diffusion/memo.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

std::string hash_of(const std::vector<std::int32_t>& words) {
  const Hash128 hash = hash_words(words);
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

}  // namespace

std::string file_mark(const std::filesystem::path& path) {
  constexpr std::int64_t kSamples = 64, kWords = 1024;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::int64_t size = in ? static_cast<std::int64_t>(in.tellg()) : 0;
  std::vector<std::int32_t> words;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    std::vector<std::int32_t> piece(kWords);
    in.clear();
    in.seekg(size * i / kSamples);
    in.read(reinterpret_cast<char*>(piece.data()), kWords * sizeof(std::int32_t));
    words.insert(words.end(), piece.begin(), piece.end());
  }
  return fmt::format("{} {} {}", valid_utf8(path.filename().string()), size, hash_of(words));
}

std::string text_mark(std::string_view text) {
  std::vector<std::int32_t> words(1 + (text.size() + 3) / 4);
  words[0] = static_cast<std::int32_t>(text.size());
  std::memcpy(words.data() + 1, text.data(), text.size());
  return hash_of(words);
}

}  // namespace pgdlm
