// A compiled regular expression (PCRE2, UTF-8). Immutable, any thread.
#pragma once

#include <memory>
#include <string>

namespace pgdlm {

class Pattern {
 public:
  // Error{invalid_request} says what is wrong, and where.
  Pattern(const std::string& pattern, bool ignore_case);
  ~Pattern();

  // Error{invalid_request} if the search takes more steps than any sane expression needs. Broken UTF-8 matches nothing.
  bool found_in(const std::string& text) const;

 private:
  struct Compiled;
  std::string source_;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace pgdlm
