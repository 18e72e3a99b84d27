// Which types weights can be stored in, and what happens to a row that does not fit the blocks of its type.
#pragma once

#include <cstdint>
#include <optional>

#include <ggml.h>

namespace pgdlm {

// `wanted` if rows of this length divide into its blocks; otherwise what llama.cpp falls back to.
ggml_type type_for_rows(ggml_type wanted, std::int64_t row_length);

// llama.cpp's number for a file that is mostly of this type (general.file_type); nothing if it has none.
std::optional<std::int64_t> file_type_number(ggml_type type);

}  // namespace pgdlm
