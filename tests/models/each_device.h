// Tests of tiny models that run wherever a model can: the parameter is a family and a device.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "models/devices.h"
#include "models/fixture.h"

namespace pgdlm {

class EachDevice : public testing::TestWithParam<std::tuple<std::string, Where>> {
 protected:
  const std::string& family() const { return std::get<0>(GetParam()); }
  Where where() const { return std::get<1>(GetParam()); }
  std::shared_ptr<Model> model(ModelOptions options = {}) const { return load(tiny(family()), where(), options); }
};

template <class... Families>
auto everywhere(Families... families) {
  return testing::Combine(testing::Values(families...), testing::Values(Where::cpu, Where::rpc));
}

inline std::string device_test_name(const testing::TestParamInfo<std::tuple<std::string, Where>>& info) {
  std::string name = std::get<0>(info.param) + "_" + where_name(std::get<1>(info.param));
  std::ranges::replace(name, '-', '_');
  return name;
}

// The largest difference, as a part of the largest expected value.
inline float difference(const std::vector<float>& got, const std::vector<float>& expected) {
  EXPECT_EQ(got.size(), expected.size());
  float off = 0, most = 0;
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    off = std::max(off, std::abs(got[i] - expected[i]));
    most = std::max(most, std::abs(expected[i]));
  }
  return off == 0 ? 0 : off / most;
}

}  // namespace pgdlm
