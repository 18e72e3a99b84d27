// What --reward says: a weighted sum of rewards, as text. Pure.
//
//   0.7*sentiment:positive + 0.3*cola - toxicity
//
// A sign between two terms has blanks around it, since names, paths and numbers have signs of their own. Between
// "double quotes", and between the slashes of regex:/.../, nothing is a sign. Quotes around a whole term, or around all
// that follows its first colon, are taken away.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pgdlm {

struct Term {
  double weight = 1;
  std::string reward;

  bool operator==(const Term&) const = default;
};

// Error{invalid_request} says where it stops making sense.
std::vector<Term> parse_expression(std::string_view text);

}  // namespace pgdlm
