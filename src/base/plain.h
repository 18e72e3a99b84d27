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
