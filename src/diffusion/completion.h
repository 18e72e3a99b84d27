// Completions of a state: guesses of x0 from p(x0 | x_t), which is a product over the masked positions (SUBS: the mask
// itself is never predicted).
#pragma once

#include <vector>

#include "pgdlm/draws.h"
#include "pgdlm/plugin.h"

namespace pgdlm {

// One draw of x0.
std::vector<Token> sample_completion(StateView, const Prediction&, Draws&);

// The φ most probable x0, best first; fewer if there are fewer. Exact: best-first search over ranks per position.
std::vector<std::vector<Token>> best_completions(StateView, const Prediction&, int phi);

// A look-ahead step of which `left` remain (this one included): every mask is revealed with probability 1/left, or, for
// the beam, the surest 1/left of them.
Move sample_ahead(StateView, const Prediction&, int left, Draws&);
Move surest_ahead(StateView, const Prediction&, int left);

}  // namespace pgdlm
