// Matchers for lists of violations.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace pgdlm {

inline auto conformant() { return testing::IsEmpty(); }

// Some violation begins with this sentence of the contract.
inline auto violates(const std::string& sentence) { return testing::Contains(testing::StartsWith(sentence)); }

// This one and no other.
inline auto violates_only(const std::string& sentence) { return testing::ElementsAre(testing::StartsWith(sentence)); }

}  // namespace pgdlm
