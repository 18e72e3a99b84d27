#include "convert/weight_type.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "convert/convert.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

struct Storable {
  ggml_type type;
  int file_type;       // llama.cpp's LLAMA_FTYPE_*
  ggml_type fallback;  // for rows that do not divide into its blocks; F16 if those do not fit either
};

// What ggml quantises without an importance matrix.
constexpr std::array kStorable = {
    Storable{GGML_TYPE_F32, 0, GGML_TYPE_F32},        Storable{GGML_TYPE_F16, 1, GGML_TYPE_F16},
    Storable{GGML_TYPE_BF16, 32, GGML_TYPE_BF16},     Storable{GGML_TYPE_Q8_0, 7, GGML_TYPE_F16},
    Storable{GGML_TYPE_Q6_K, 18, GGML_TYPE_Q8_0},     Storable{GGML_TYPE_Q5_K, 16, GGML_TYPE_Q5_1},
    Storable{GGML_TYPE_Q5_1, 9, GGML_TYPE_F16},       Storable{GGML_TYPE_Q5_0, 8, GGML_TYPE_F16},
    Storable{GGML_TYPE_Q4_K, 14, GGML_TYPE_Q5_0},     Storable{GGML_TYPE_Q4_1, 3, GGML_TYPE_F16},
    Storable{GGML_TYPE_Q4_0, 2, GGML_TYPE_F16},       Storable{GGML_TYPE_IQ4_NL, 25, GGML_TYPE_F16},
    Storable{GGML_TYPE_IQ4_XS, 30, GGML_TYPE_IQ4_NL}, Storable{GGML_TYPE_Q3_K, 11, GGML_TYPE_Q4_0},
    Storable{GGML_TYPE_Q2_K, 10, GGML_TYPE_Q4_0},
};

const Storable* find(ggml_type type) {
  const auto* found =
      std::find_if(kStorable.begin(), kStorable.end(), [&](const Storable& s) { return s.type == type; });
  return found == kStorable.end() ? nullptr : found;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::vector<std::string> weight_type_names() {
  std::vector<std::string> names;
  for (const Storable& storable : kStorable) names.push_back(lower(ggml_type_name(storable.type)));
  return names;
}

ggml_type parse_weight_type(std::string_view name) {
  std::string allowed;
  for (const Storable& storable : kStorable) {
    const std::string known = lower(ggml_type_name(storable.type));
    if (known == lower(name)) return storable.type;
    allowed += (allowed.empty() ? "" : ", ") + known;
  }
  throw Error(ErrorCode::invalid_request, "type is '" + std::string(name) + "', allowed: " + allowed,
              "f16 is safe, q8_0 half its size at nearly the same quality");
}

ggml_type type_for_rows(ggml_type wanted, std::int64_t row_length) {
  const auto fits = [&](ggml_type type) { return row_length % ggml_blck_size(type) == 0; };
  if (fits(wanted)) return wanted;
  const Storable* storable = find(wanted);
  const ggml_type fallback = storable == nullptr ? GGML_TYPE_F16 : storable->fallback;
  return fits(fallback) ? fallback : GGML_TYPE_F16;
}

std::optional<std::int64_t> file_type_number(ggml_type type) {
  if (const Storable* storable = find(type)) return storable->file_type;
  return std::nullopt;
}

}  // namespace pgdlm
