// Moves weights from a checkpoint into a GGUF file in blocks of rows: read, rearranged, scaled, converted, written,
// and their pages given back. A block is a few megabytes, so memory does not grow with the model.
#pragma once

#include <cstdint>
#include <span>

#include "convert/convert.h"
#include "convert/plan.h"
#include "gguf/writer.h"

namespace pgdlm {

// The numbers of `tensor` from the `first` one on, as floats.
void read_floats(const HfTensor& tensor, std::int64_t first, std::span<float> values);

// The type a planned tensor gets when `wanted` is asked for.
ggml_type stored_type(const PlannedTensor& tensor, ggml_type wanted);

// Writes all tensors of the plan, which the writer has had declared in this order and in their stored types.
// Error{bad_model} at a weight that is NaN, infinite or beyond the type.
void stream_tensors(const Plan& plan, const ConvertOptions& options, GgufWriter& out);

}  // namespace pgdlm
