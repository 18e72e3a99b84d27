// What --reward says: a weighted sum of rewards, as text. Pure.
//
//   0.7*sentiment:positive + 0.3*cola - toxicity
//
// A sign between two terms has blanks around it, since names, paths and numbers have signs of their own; "double
// quotes" keep a term together that has such a sign inside, as do the slashes of regex:/.../.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pgdlm {

struct Term {
  double weight = 1;
  std::string reward;  // quotes taken away

  bool operator==(const Term&) const = default;
};

// Error{invalid_request} says where it stops making sense.
std::vector<Term> parse_expression(std::string_view text);

}  // namespace pgdlm
