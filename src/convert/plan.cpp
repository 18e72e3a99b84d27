#include "convert/plan.h"

#include <algorithm>
#include <utility>

#include "convert/stream.h"
#include "pgdlm/error.h"

namespace pgdlm {

std::int64_t PlannedTensor::source_row(std::int64_t row) const {
  if (paired_head == 0) return first_row + row;
  const std::int64_t head = row / paired_head, within = row % paired_head;
  return head * paired_head + within % 2 * (paired_head / 2) + within / 2;
}

Plan::Plan(const Checkpoint& checkpoint, const std::function<std::string(std::string_view)>& rename)
    : checkpoint_(checkpoint) {
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    const auto [known, fresh] = by_name_.emplace(rename ? rename(name) : name, tensor);
    if (!fresh) fail("tensors '" + known->second->name + "' and '" + name + "' are two spellings of one");
  }
}

const Shape& Plan::shape_of(std::string_view from) const {
  const auto found = by_name_.find(from);
  if (found == by_name_.end()) fail_missing(from);
  return found->second->shape;
}

const HfTensor& Plan::take(std::string_view from, const Shape& shape) {
  const std::string what = "tensor '" + std::string(from) + "'";
  const Shape& there = shape_of(from);
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 1; }))  // its own, then
    fail(what + ": expected sizes from 1 on, got shape " + shape_text(there));
  if (there != shape) fail(what + ": expected shape " + shape_text(shape) + ", got " + shape_text(there));
  const HfTensor& tensor = *by_name_.find(from)->second;
  check_readable(tensor);
  used_.insert(std::string(from));
  return tensor;
}

// Wrappers put a prefix before all names, which is then all that is wrong.
void Plan::fail_missing(std::string_view from) const {
  const std::string missing = "tensor '" + std::string(from) + "' is missing", end = "." + std::string(from);
  for (const auto& [name, tensor] : by_name_) {
    if (!name.ends_with(end)) continue;
    const bool wrapped = name.starts_with("module.") || name.starts_with("_orig_mod.");
    fail(missing + ", but there is '" + tensor->name + "'",
         wrapped
             ? "it was saved inside a wrapper (DataParallel, torch.compile): save the state_dict() of the model in it"
             : "");
  }
  fail(missing);
}

void Plan::check_readable(const HfTensor& tensor) const {
  const std::string what = checkpoint_.path() + ": tensor '" + tensor.name + "'";
  if (tensor.dtype == Dtype::other)
    throw Error(ErrorCode::unsupported, what + " is of type " + tensor.dtype_name + ", supported: F32, F16, BF16, F64",
                tensor.dtype_name.starts_with('C')  // complex
                    ? ""
                    : "a quantised checkpoint has lost what a conversion needs: take the original one");
  if (!tensor.odd_strides.empty())
    throw Error(ErrorCode::unsupported,
                what + ": strides " + shape_text(tensor.odd_strides) + " for shape " + shape_text(tensor.shape) +
                    ", supported: numbers one after the other, or a transposed matrix",
                "save it again with .contiguous()");
}

void Plan::ignore_all(std::string_view prefix) {
  for (auto it = by_name_.lower_bound(prefix); it != by_name_.end() && it->first.starts_with(prefix); ++it)
    used_.insert(it->first);
}

PlannedTensor& Plan::copy(std::string_view to, std::string_view from, const Shape& shape) {
  tensors_.push_back({.name = std::string(to), .shape = shape, .source = &take(from, shape)});
  return tensors_.back();
}

bool Plan::copy_if_there(std::string_view to, std::string_view from, const Shape& shape) {
  if (!has(from)) return false;
  copy(to, from, shape);
  return true;
}

void Plan::add_vector(std::string_view to, std::vector<float> values) {
  const auto length = static_cast<std::int64_t>(values.size());
  tensors_.push_back({.name = std::string(to), .shape = {length}, .values = std::move(values)});
}

void Plan::check_all_used() const {
  std::string unknown;
  std::size_t count = 0;
  for (const auto& [name, tensor] : by_name_)
    if (!used_.contains(name) && ++count <= 5) unknown += (unknown.empty() ? "'" : ", '") + tensor->name + "'";
  if (count == 0) return;
  fail("has " + std::to_string(count) + " tensors this architecture does not know: " + unknown +
           (count > 5 ? ", ..." : ""),
       "it is not the model its config.json says");
}

void Plan::fail(const std::string& message, const std::string& hint) const {
  throw Error(ErrorCode::bad_model, checkpoint_.path() + ": " + message, hint);
}

std::vector<double> read_all(const HfTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count *= size;
  std::vector<float> values(static_cast<std::size_t>(count));
  read_floats(tensor, 0, values);
  return {values.begin(), values.end()};
}

}  // namespace pgdlm
