// A log-probability on the scale a reward was asked for.
#pragma once

#include <algorithm>
#include <cmath>

#include "rewards/text_reward.h"

namespace pgdlm {

inline double scaled(double log_p, Scale scale) {
  switch (scale) {
    case Scale::log: return log_p;
    case Scale::p: return std::exp(log_p);
    case Scale::logit: {  // log p - log(1 - p); certainty is large, not infinite
      const double uncertain = std::min(log_p, -1e-12);
      return uncertain - std::log(-std::expm1(uncertain));
    }
  }
  return log_p;
}

}  // namespace pgdlm
