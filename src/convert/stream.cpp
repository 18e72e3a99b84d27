#include "convert/stream.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "convert/weight_type.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr std::int64_t kBlockNumbers = std::int64_t{1} << 20;  // 4 MB as floats
constexpr std::int64_t kNumbersPerThread = 1 << 16;            // below that a thread costs more than it saves
constexpr float kLargestF16 = 65504.0f;

// Runs work(begin, end) on parts of [0, rows), the last part on this thread. What a part throws, this throws.
template <class Work>
void in_parallel(std::int64_t rows, std::int64_t parts, Work work) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(parts));
  const auto run = [&](std::int64_t part) {
    try {
      work(rows * part / parts, rows * (part + 1) / parts);
    } catch (...) {
      errors[static_cast<std::size_t>(part)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::int64_t part = 0; part + 1 < parts; ++part) helpers.emplace_back(run, part);
    run(parts - 1);
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

class TensorStream {
 public:
  TensorStream(const PlannedTensor& tensor, const ConvertOptions& options, GgufWriter& out)
      : tensor_(tensor), type_(stored_type(tensor, options.type)), options_(options), out_(out) {
    // A vector is one row of the file, however many rows of one number it is here.
    vector_ = tensor.shape.size() == 1;
    block_rows_ = std::clamp<std::int64_t>(kBlockNumbers / tensor.row_length(), 1, tensor.rows());
    if (const std::int64_t head = tensor.paired_head; head > 0)  // whole heads, so that their pages can go
      block_rows_ = std::max(head, block_rows_ / head * head);
  }

  // Calls after(bytes read) after every block.
  template <class After>
  void run(After after) {
    for (std::int64_t row = 0; row < tensor_.rows(); row += block_rows_) {
      const std::int64_t rows = std::min(block_rows_, tensor_.rows() - row);
      write_block(row, rows);
      after(release(row, rows));
    }
  }

 private:
  void write_block(std::int64_t row, std::int64_t rows) {
    const std::int64_t length = tensor_.row_length();
    const std::size_t row_bytes = ggml_row_size(type_, vector_ ? 1 : length);
    numbers_.resize(static_cast<std::size_t>(rows * length));
    bytes_.resize(static_cast<std::size_t>(rows) * row_bytes);
    in_parallel(rows, parts(rows), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) read_row(row + r, numbers_.data() + r * length);
      check(row, begin, end);
      void* to = bytes_.data() + static_cast<std::size_t>(begin) * row_bytes;
      const float* from = numbers_.data() + begin * length;
      if (vector_)
        std::memcpy(to, from, static_cast<std::size_t>(end - begin) * sizeof(float));
      else
        ggml_quantize_chunk(type_, from, to, 0, end - begin, length, nullptr);
    });
    out_.write(tensor_.name, std::as_bytes(std::span(bytes_)));
  }

  void read_row(std::int64_t row, float* to) const {
    const std::int64_t length = tensor_.row_length();
    if (tensor_.source == nullptr) {
      *to = tensor_.values[static_cast<std::size_t>(row)];
      return;
    }
    read_floats(*tensor_.source, tensor_.source_row(row) * length, {to, static_cast<std::size_t>(length)});
    if (tensor_.row_scale.empty()) return;
    const double scale = tensor_.row_scale[static_cast<std::size_t>(row)];
    for (std::int64_t i = 0; i < length; ++i) to[i] = static_cast<float>(static_cast<double>(to[i]) * scale);
  }

  // Quantisers take a NaN for a number, and a float16 beyond its range would become infinite.
  void check(std::int64_t first_row, std::int64_t begin, std::int64_t end) const {
    const std::int64_t length = tensor_.row_length();
    const float limit = type_ == GGML_TYPE_F16 ? kLargestF16 : std::numeric_limits<float>::max();
    for (std::int64_t i = begin * length; i < end * length; ++i) {
      const float value = numbers_[static_cast<std::size_t>(i)];
      if (std::abs(value) <= limit) continue;
      throw Error(ErrorCode::bad_model,
                  "tensor '" + tensor_.name + "' has " + std::to_string(value) + " in row " +
                      std::to_string(first_row + i / length) + ", expected " +
                      (std::isfinite(value) ? "at most 65504 for type f16" : "finite numbers"),
                  std::isfinite(value) ? "take bf16, f32 or q8_0" : "the checkpoint is damaged");
    }
  }

  std::int64_t parts(std::int64_t rows) const {
    const int processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const std::int64_t threads = options_.threads > 0 ? options_.threads : processors;
    return std::clamp<std::int64_t>(rows * tensor_.row_length() / kNumbersPerThread, 1, std::min(threads, rows));
  }

  // Bytes of the source these rows took.
  std::uint64_t release(std::int64_t row, std::int64_t rows) const {
    if (tensor_.source == nullptr) return 0;
    const HfTensor& source = *tensor_.source;
    const std::size_t row_bytes = source.bytes.size() / static_cast<std::size_t>(source.shape[0]);
    const auto begin = static_cast<std::size_t>(tensor_.first_row + row) * row_bytes;
    const std::size_t size = static_cast<std::size_t>(rows) * row_bytes;
    if (!source.by_columns)
      source.file->release(source.bytes.subspan(begin, size));
    else if (row + rows == tensor_.rows())  // every block has touched all of it
      source.file->release(source.bytes);
    return size;
  }

  const PlannedTensor& tensor_;
  const ggml_type type_;
  const ConvertOptions& options_;
  GgufWriter& out_;
  bool vector_ = false;
  std::int64_t block_rows_ = 1;
  std::vector<float> numbers_;  // of one block
  std::vector<char> bytes_;     // the same, as stored
};

std::uint64_t bytes_to_read(const PlannedTensor& tensor) {
  if (tensor.source == nullptr) return 0;
  return tensor.source->bytes.size() / static_cast<std::uint64_t>(tensor.source->shape[0]) *
         static_cast<std::uint64_t>(tensor.rows());
}

std::size_t width_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64: return sizeof(double);
    case Dtype::f32: return sizeof(float);
    case Dtype::f16:
    case Dtype::bf16: return 2;
    case Dtype::other: break;
  }
  PGDLM_CHECK(false);  // Plan::take refuses them
}

void narrow(const std::byte* doubles, std::span<float> values) {
  for (float& value : values) {
    double exact = 0;
    std::memcpy(&exact, doubles, sizeof(exact));
    doubles += sizeof(exact);
    value = static_cast<float>(exact);
  }
}

// Numbers of `width` bytes from the `first` one on, counted by rows.
void gather(const HfTensor& tensor, std::int64_t first, std::int64_t count, std::size_t width, std::byte* to) {
  const auto at = [&](std::int64_t number) { return tensor.bytes.data() + static_cast<std::size_t>(number) * width; };
  if (!tensor.by_columns) {
    std::memcpy(to, at(first), static_cast<std::size_t>(count) * width);
    return;
  }
  const std::int64_t rows = tensor.shape[0], columns = tensor.shape[1];
  for (std::int64_t i = first; i < first + count; ++i, to += width)
    std::memcpy(to, at(i % columns * rows + i / columns), width);
}

}  // namespace

void read_floats(const HfTensor& tensor, std::int64_t first, std::span<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const std::size_t width = width_of(tensor.dtype);
  PGDLM_CHECK((first + count) * static_cast<std::int64_t>(width) <= static_cast<std::int64_t>(tensor.bytes.size()));
  constexpr std::int64_t kSome = 2048;
  alignas(double) std::array<std::byte, kSome * sizeof(double)> aligned;  // files of weights promise no alignment
  for (std::int64_t done = 0; done < count; done += kSome) {
    const std::int64_t some = std::min(count - done, kSome);
    gather(tensor, first + done, some, width, aligned.data());
    float* to = values.data() + done;
    if (tensor.dtype == Dtype::f32)
      std::memcpy(to, aligned.data(), static_cast<std::size_t>(some) * width);
    else if (tensor.dtype == Dtype::f64)
      narrow(aligned.data(), {to, static_cast<std::size_t>(some)});
    else if (tensor.dtype == Dtype::f16)
      ggml_fp16_to_fp32_row(reinterpret_cast<const ggml_fp16_t*>(aligned.data()), to, some);
    else
      ggml_bf16_to_fp32_row(reinterpret_cast<const ggml_bf16_t*>(aligned.data()), to, some);
  }
}

ggml_type stored_type(const PlannedTensor& tensor, ggml_type wanted) {
  if (tensor.shape.size() == 1 || tensor.full_precision) return GGML_TYPE_F32;
  return type_for_rows(wanted, tensor.row_length());
}

void stream_tensors(const Plan& plan, const ConvertOptions& options, GgufWriter& out) {
  ConvertProgress progress;
  for (const PlannedTensor& tensor : plan.tensors()) progress.total += bytes_to_read(tensor);
  for (const PlannedTensor& tensor : plan.tensors()) {
    progress.tensor = tensor.name;
    TensorStream(tensor, options, out).run([&](std::uint64_t read) {
      progress.done += read;
      if (options.progress) options.progress(progress);
      if (options.cancel.stop_requested())
        throw Error(ErrorCode::cancelled, "conversion cancelled at tensor '" + tensor.name + "'");
    });
  }
}

}  // namespace pgdlm
