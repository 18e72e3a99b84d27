#include "convert/pickle.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace pgdlm {
namespace {

// Far above any checkpoint (a tensor takes some 50 instructions), and little memory.
constexpr std::size_t kMostSteps = 2'000'000;
// Names of tensors, of what Python would call, and keys of storages (a number, or an address).
constexpr std::size_t kLongestText = 1024, kLongestGlobal = 200, kLongestKey = 100;

constexpr std::array<StorageType, 12> kStorages = {{
    {"torch.FloatStorage", "F32", Dtype::f32, 4},
    {"torch.HalfStorage", "F16", Dtype::f16, 2},
    {"torch.BFloat16Storage", "BF16", Dtype::bf16, 2},
    {"torch.DoubleStorage", "F64", Dtype::f64, 8},
    {"torch.LongStorage", "I64", Dtype::other, 8},
    {"torch.IntStorage", "I32", Dtype::other, 4},
    {"torch.ShortStorage", "I16", Dtype::other, 2},
    {"torch.CharStorage", "I8", Dtype::other, 1},
    {"torch.ByteStorage", "U8", Dtype::other, 1},
    {"torch.BoolStorage", "BOOL", Dtype::other, 1},
    {"torch.ComplexFloatStorage", "C64", Dtype::other, 8},
    {"torch.ComplexDoubleStorage", "C128", Dtype::other, 16},
}};
constexpr std::string_view kDict = "collections.OrderedDict";
// Before PyTorch 0.4, and since.
constexpr std::string_view kOldTensor = "torch._utils._rebuild_tensor", kTensor = "torch._utils._rebuild_tensor_v2";
// Without and with attributes.
constexpr std::string_view kParameter = "torch._utils._rebuild_parameter",
                           kRichParameter = "torch._utils._rebuild_parameter_with_state";

const StorageType* find_storage(std::string_view name) {
  const auto* found = std::find_if(kStorages.begin(), kStorages.end(), [&](const auto& s) { return s.name == name; });
  return found == kStorages.end() ? nullptr : found;
}

// The same name with a life of its own; empty if it is not allowed.
std::string_view allowed_name(std::string_view name) {
  if (const StorageType* storage = find_storage(name)) return storage->name;
  for (const std::string_view known : {kDict, kOldTensor, kTensor, kParameter, kRichParameter})
    if (name == known) return known;
  return {};
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The instructions of protocols 2 to 5 that are read, by their names in Python's pickletools.
enum Code : unsigned char {
  kProto = 0x80,
  kFrame = 0x95,
  kStop = '.',
  kMark = '(',
  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kBinFloat = 'G',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kShortBinUnicode = 0x8c,
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kReduce = 'R',
  kBuild = 'b',
  kBinPersId = 'Q',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kMemoize = 0x94,
  kBinGet = 'h',
  kLongBinGet = 'j',
};

}  // namespace

const char* kind_name(PickleValue::Kind kind) {
  using Kind = PickleValue::Kind;
  switch (kind) {
    case Kind::none: return "None";
    case Kind::boolean: return "a bool";
    case Kind::integer: return "an integer";
    case Kind::real: return "a float";
    case Kind::text: return "a string";
    case Kind::tuple: return "a tuple";
    case Kind::list: return "a list";
    case Kind::dict: return "a dict";
    case Kind::global: return "a name";
    case Kind::storage: return "a storage";
    case Kind::tensor: return "a tensor";
  }
  return "a value";
}

Pickle::Pickle(ByteCursor& in) : in_(in) {
  while (step(in_.number<unsigned char>())) spend(1);
}

void Pickle::spend(std::size_t steps) {
  steps_ += steps;
  if (steps_ > kMostSteps)
    refuse("a pickle of more than " + std::to_string(kMostSteps) + " instructions, which no model needs");
}

bool Pickle::step(unsigned char code) {
  if (code == kStop) {
    root_ = pop();
    return false;
  }
  if (code == kProto) {
    if (const auto version = in_.number<unsigned char>(); version < 2 || version > 5)
      refuse("pickle protocol " + std::to_string(version) + ", expected 2 to 5");
  } else if (code == kFrame) {
    in_.number<std::uint64_t>();  // how far one may read ahead; we do not
  } else if (!step_constant(code) && !step_container(code) && !step_memo(code)) {
    refuse("pickle instruction " + std::to_string(code) + ", which a dict of tensors does not need");
  }
  return true;
}

bool Pickle::step_constant(unsigned char code) {
  switch (code) {
    case kNone: push({.kind = Kind::none}); return true;
    case kNewTrue: push({.kind = Kind::boolean, .number = 1}); return true;
    case kNewFalse: push({.kind = Kind::boolean, .number = 0}); return true;
    case kBinInt: push({.kind = Kind::integer, .number = in_.number<std::int32_t>()}); return true;
    case kBinInt1: push({.kind = Kind::integer, .number = in_.number<std::uint8_t>()}); return true;
    case kBinInt2: push({.kind = Kind::integer, .number = in_.number<std::uint16_t>()}); return true;
    case kLong1: push_long(); return true;
    case kBinFloat:
      in_.take(8);
      push({.kind = Kind::real});
      return true;
    case kShortBinString:
    case kShortBinUnicode: push_text(in_.number<std::uint8_t>()); return true;
    case kBinUnicode: push_text(in_.number<std::uint32_t>()); return true;
    case kGlobal: {
      const std::string module = line();
      push_global(module, line());
      return true;
    }
    case kStackGlobal: {
      const PickleRef name = pop(), module = pop();
      if (at(name).kind != Kind::text || at(module).kind != Kind::text) fail("a name that is not made of strings");
      push_global(at(module).text, at(name).text);
      return true;
    }
    default: return false;
  }
}

bool Pickle::step_container(unsigned char code) {
  switch (code) {
    case kMark: marks_.push_back(stack_.size()); return true;
    case kEmptyTuple: push_tuple({}); return true;
    case kTuple: push_tuple(pop_to_mark()); return true;
    case kTuple1:
    case kTuple2:
    case kTuple3: {
      std::vector<PickleRef> items(code - kTuple1 + 1u);
      for (auto item = items.rbegin(); item != items.rend(); ++item) *item = pop();
      push_tuple(std::move(items));
      return true;
    }
    case kEmptyList: push({.kind = Kind::list}); return true;
    case kAppend: extend(Kind::list, {pop()}); return true;
    case kAppends: extend(Kind::list, pop_to_mark()); return true;
    case kEmptyDict: push({.kind = Kind::dict}); return true;
    case kSetItem: {
      const PickleRef value = pop(), key = pop();
      extend(Kind::dict, {key, value});
      return true;
    }
    case kSetItems: extend(Kind::dict, pop_to_mark()); return true;
    case kReduce: reduce(); return true;
    case kBuild: build(); return true;
    case kBinPersId: persistent(); return true;
    default: return false;
  }
}

bool Pickle::step_memo(unsigned char code) {
  const auto recall = [&](std::uint32_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) fail("refers to value " + std::to_string(place) + ", which it has not had");
    push_again(found->second);
  };
  switch (code) {
    case kBinPut: memo_[in_.number<std::uint8_t>()] = top(); return true;
    case kLongBinPut: memo_[in_.number<std::uint32_t>()] = top(); return true;
    case kMemoize: memo_[static_cast<std::uint32_t>(memo_.size())] = top(); return true;
    case kBinGet: recall(in_.number<std::uint8_t>()); return true;
    case kLongBinGet: recall(in_.number<std::uint32_t>()); return true;
    default: return false;
  }
}

// ---- the stack ----

void Pickle::push(PickleValue value) {
  values_.push_back(std::move(value));
  stack_.push_back(static_cast<PickleRef>(values_.size() - 1));
}

PickleRef Pickle::pop() {
  const PickleRef ref = top();
  stack_.pop_back();
  return ref;
}

PickleRef Pickle::top() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("takes a value that is not there");
  return stack_.back();
}

std::vector<PickleRef> Pickle::pop_to_mark() {
  if (marks_.empty()) fail("ends a group that has no beginning");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleRef> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

void Pickle::push_tuple(std::vector<PickleRef> items) { push({.kind = Kind::tuple, .items = std::move(items)}); }

void Pickle::push_text(std::size_t length) {
  if (length > kLongestText) refuse("a string of " + std::to_string(length) + " bytes, which no name of a tensor is");
  const std::string_view text = as_text(in_.take(length));
  if (!valid_utf8(text)) fail("a string that is not valid UTF-8");
  push({.kind = Kind::text, .text = text});
}

// Two's complement, little-endian, of any length. The magic number of old files has ten bytes.
void Pickle::push_long() {
  const std::span<const std::byte> bytes = in_.take(in_.number<std::uint8_t>());
  PickleValue value{.kind = Kind::integer};
  if (bytes.size() > sizeof(value.number)) {
    value.text = as_text(bytes);
  } else if (!bytes.empty()) {
    const bool negative = (bytes.back() & std::byte{0x80}) != std::byte{0};
    value.number = negative ? -1 : 0;
    std::memcpy(&value.number, bytes.data(), bytes.size());
  }
  push(std::move(value));
}

std::string Pickle::line() {
  std::string text;
  for (char c = in_.number<char>(); c != '\n'; c = in_.number<char>()) {
    if (text.size() > kLongestGlobal) fail("a name without an end");
    text += c;
  }
  if (!valid_utf8(text)) fail("a name that is not valid UTF-8");
  return text;
}

void Pickle::push_global(std::string_view module, std::string_view name) {
  const std::string full = std::string(module.substr(0, kLongestGlobal)).append(".").append(name, 0, kLongestGlobal);
  const std::string_view known = allowed_name(full);
  if (known.empty())
    refuse("its pickle wants '" + full + "', allowed: tensors, OrderedDict and the storages of PyTorch");
  push({.kind = Kind::global, .text = known});
}

void Pickle::extend(PickleValue::Kind kind, const std::vector<PickleRef>& items) {
  PickleValue& target = values_[top()];
  if (target.kind != kind) fail(std::string("adds to ") + kind_name(target.kind) + " as if it were " + kind_name(kind));
  if (kind == Kind::dict && items.size() % 2 != 0) fail("a dict with a key that has no value");
  target.items.insert(target.items.end(), items.begin(), items.end());
}

// ---- what Python would call ----

// A state dict carries the versions of its modules as an attribute, which nobody needs.
void Pickle::build() {
  pop();
  if (const Kind kind = at(top()).kind; kind != Kind::dict)
    refuse(std::string("sets attributes of ") + kind_name(kind) + ", allowed: of a dict");
}

void Pickle::reduce() {
  const PickleRef arguments = pop(), callee = pop();
  if (at(callee).kind != Kind::global || at(arguments).kind != Kind::tuple)
    fail(std::string("calls ") + kind_name(at(callee).kind) + " with " + kind_name(at(arguments).kind));
  const std::string_view name = at(callee).text;
  const std::size_t count = at(arguments).items.size();
  if ((name == kOldTensor && count <= 4) || (name == kTensor && count <= 7))
    rebuild_tensor(at(arguments));
  else if ((name == kParameter && count <= 3) || (name == kRichParameter && count <= 4))
    rebuild_parameter(at(arguments));
  else if (name == kDict && count <= 1)
    make_dict(at(arguments));
  else
    refuse("calls '" + std::string(name) + "' with " + std::to_string(count) + " arguments");
}

// (), or in Python 2 ([[key, value], ...],). A list may be given again and again, hence the spending.
void Pickle::make_dict(const PickleValue& arguments) {
  PickleValue dict{.kind = Kind::dict};
  if (!arguments.items.empty())
    for (const PickleRef ref : item(arguments, 0, Kind::list, "the items of a dict").items) {
      const std::vector<PickleRef>& pair = at(ref).items;
      if (at(ref).kind != Kind::list || pair.size() != 2) fail("an item of a dict that is not a key and a value");
      spend(1);
      dict.items.insert(dict.items.end(), pair.begin(), pair.end());
    }
  push(std::move(dict));
}

// ('storage', type, key, device, numbers), and in old files None or a view into another storage.
void Pickle::persistent() {
  constexpr std::size_t kMostItems = 6;
  const PickleRef given = pop();
  if (at(given).kind != Kind::tuple || at(given).items.size() > kMostItems ||
      item(at(given), 0, Kind::text, "the kind of a persistent value").text != "storage")
    refuse("a persistent value that is no storage");
  PickleValue id = at(given);
  const std::string_view type = item(id, 1, Kind::global, "the type of a storage").text;
  if (find_storage(type) == nullptr) fail("a storage of type '" + std::string(type) + "'");
  const std::size_t key = item(id, 2, Kind::text, "the key of a storage").text.size();
  if (key > kLongestKey) fail("the key of a storage has " + std::to_string(key) + " bytes");
  item(id, 4, Kind::integer, "the size of a storage");
  if (id.items.size() > 5 && at(id.items[5]).kind != Kind::none) refuse("a storage that is a view into another");
  id.kind = Kind::storage;
  push(std::move(id));
}

// (storage, offset, shape, strides), since PyTorch 0.4 also requires_grad, hooks, and what is still to be done to the
// numbers, such as {'neg': True}.
void Pickle::rebuild_tensor(const PickleValue& arguments) {
  const PickleValue& storage = item(arguments, 0, Kind::storage, "the storage of a tensor");
  PickledTensor tensor{.type = find_storage(at(storage.items[1]).text), .storage = at(storage.items[2]).text};
  tensor.storage_size = at(storage.items[4]).number;
  tensor.offset = item(arguments, 1, Kind::integer, "the offset of a tensor").number;
  tensor.shape = sizes(item(arguments, 2, Kind::tuple, "the shape of a tensor"), "a shape");
  tensor.strides = sizes(item(arguments, 3, Kind::tuple, "the strides of a tensor"), "strides");
  if (tensor.storage_size < 0 || tensor.offset < 0 || tensor.shape.size() != tensor.strides.size())
    fail("a tensor of shape " + shape_text(tensor.shape) + " with strides " + shape_text(tensor.strides) +
         " from number " + std::to_string(tensor.offset) + " of " + std::to_string(tensor.storage_size));
  if (arguments.items.size() > 6)
    if (const PickleValue& todo = at(arguments.items[6]);
        todo.kind != Kind::none && !(todo.kind == Kind::dict && todo.items.empty()))
      in_.fail("a tensor whose numbers are yet to be negated or conjugated",
               "save it again with .resolve_conj().resolve_neg()");
  tensors_.push_back(std::move(tensor));
  push({.kind = Kind::tensor, .number = static_cast<std::int64_t>(tensors_.size() - 1)});
}

// (tensor, requires_grad, hooks, attributes): the tensor.
void Pickle::rebuild_parameter(const PickleValue& arguments) {
  item(arguments, 0, Kind::tensor, "the data of a parameter");
  push_again(arguments.items[0]);
}

const PickleValue& Pickle::item(const PickleValue& of, std::size_t i, PickleValue::Kind kind, const char* what) const {
  if (i >= of.items.size()) fail(std::string(what) + " is missing");
  const PickleValue& found = at(of.items[i]);
  if (found.kind != kind || (kind == Kind::integer && !found.text.empty()))
    fail(std::string(what) + ": expected " + kind_name(kind) + ", got " + kind_name(found.kind));
  return found;
}

std::vector<std::int64_t> Pickle::sizes(const PickleValue& tuple, const char* what) const {
  constexpr std::size_t kMostDimensions = 8;
  if (tuple.items.size() > kMostDimensions)
    refuse(std::string(what) + " of " + std::to_string(tuple.items.size()) + " dimensions");
  std::vector<std::int64_t> read;
  for (std::size_t i = 0; i < tuple.items.size(); ++i) {
    read.push_back(item(tuple, i, Kind::integer, what).number);
    if (read.back() < 0) fail(std::string(what) + " with " + std::to_string(read.back()));
  }
  return read;
}

void Pickle::fail(const std::string& message) const { in_.fail(message, kDamagedHint); }
void Pickle::refuse(const std::string& message) const { in_.fail(message, kStateDictHint); }

}  // namespace pgdlm
