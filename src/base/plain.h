// For files that are compiled for one instruction set. A template of the standard library that such a file uses may end
// up as the one copy the linker keeps for the whole program, and would then stop a processor without these
// instructions. So they use nothing but these, included inside their own unnamed namespace, where every copy stays
// private. A test (unit/private_kernels) looks at the objects.

template <class T>
constexpr T least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
constexpr T most(T a, T b) {
  return a < b ? b : a;
}
template <class T>
inline void copy_all(const T* from, std::size_t count, T* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}
template <class T>
inline void fill_all(T* to, std::size_t count, T value) {
  for (std::size_t i = 0; i < count; ++i) to[i] = value;
}

// Memory for the length of a call. Small: if there is none, nothing else would work either.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::size_t count)
      : memory_(count == 0 ? nullptr : static_cast<T*>(std::malloc(count * sizeof(T)))) {
    if (count != 0 && memory_ == nullptr) std::abort();
  }
  ~Scratch() { std::free(memory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return memory_; }

 private:
  T* memory_;
};
