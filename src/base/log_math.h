// Arithmetic on logarithms. -inf is log 0 and a legal value everywhere.
#pragma once

#include <span>

namespace pgdlm {

double log_sum_exp(std::span<const double> x);  // -inf for an empty span, NaN if any is
double log_mean_exp(std::span<const double> x);

// softmax(logits / temperature) in double; temperature > 0. Logits of -inf get probability 0.
void softmax(std::span<const float> logits, double temperature, std::span<double> probs);

}  // namespace pgdlm
