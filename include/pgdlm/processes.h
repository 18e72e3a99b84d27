// The backward processes that come with pgdlm, as p(x_{t-1} | x_t) for Request::process. A factory throws
// Error{invalid_request} that names the option; what it returns is stateless and may be shared by all requests.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "pgdlm/plugin.h"

namespace pgdlm {

// Which tokens a top-p filter keeps, in order of probability:
// usual: those before which the cumulative probability is at most p; the token that crosses p is kept (Dream).
// remdm: those including which it is at most p; the token that crosses p is dropped, the first always kept.
enum class Nucleus { usual, remdm };

// How a raw prediction becomes the distribution a token is drawn from. Top-p acts before top-k; ties keep the
// lowest token ids.
struct Filter {
  double temperature = 1;            // >= 0; 0: always the arg max
  double top_p = 1;                  // (0, 1]; 1: no filter
  int top_k = 0;                     // keep so many tokens; 0: all
  Nucleus nucleus = Nucleus::usual;  // what top_p means
};

// ---- MDLM: absorbing-state diffusion with the log-linear schedule (Eq. 2). Only the ratio s/t enters the law: a
// masked position stays masked with probability s/t, else draws its token from the SUBS distribution; revealed tokens
// stay.

struct MdlmOptions {
  Filter filter = {};    // temperature, top-p, top-k of the token draws
  bool fk_grid = false;  // FK-Steering's times: T+1 updates, at 1 .. 1e-5 equally spaced, the last one to 0
};

// Coins are flipped before the logits are asked for, so a step that reveals nothing costs no forward.
std::shared_ptr<const Backward> make_mdlm(MdlmOptions options = {});

// ---- ReMDM: MDLM that may take tokens back. With remasking probability sigma a revealed token becomes a mask again,
// and a masked position is revealed a little more often, so that the marginals stay those of the schedule alpha:
//   reveal = (alpha_s - (1 - sigma) alpha_t) / (1 - alpha_t),   sigma <= sigma_max = min(1, (1 - alpha_s)/alpha_t).
// Pinned positions are never remasked. The last step remasks nothing and samples whatever is still masked.

enum class RemdmSchedule {
  cap,               // sigma = min(eta, sigma_max)
  rescale,           // sigma = eta sigma_max
  conf,              // sigma_l = sigma_max softmax_l(-psi), psi_l = probability its token had when it was revealed
  loop,              // plain steps, then sigma = eta at a frozen alpha, then plain steps
  forward_backward,  // sigma = (alpha_s - alpha_t)/alpha_t, at most sigma_max
};

struct RemdmOptions {
  RemdmSchedule schedule = RemdmSchedule::cap;
  double eta = 0.008;                                         // cap, rescale, loop: strength of remasking, in [0, 1]
  double t_on = 0.55;                                         // loop: remasking begins below this time
  double t_off = 0.05;                                        // loop: and ends at this one
  double alpha_on = 0.9;                                      // loop: share of revealed tokens meanwhile
  Filter filter = {.top_p = 0.9, .nucleus = Nucleus::remdm};  // of the token draws
};

std::shared_ptr<const Backward> make_remdm(RemdmOptions options = {});

// ---- LLaDA: semi-autoregressive decoding. The generated part is cut into blocks from left to right; each step reveals
// a fixed number of positions of the current block, either those whose drawn token is most probable or random ones.
// Blocks are those of the frame behind the prompt; masks before it, if any, belong to the first block.

enum class Remasking {
  low_confidence,  // keep the tokens with the highest probability; temperature does not enter the confidence
  random,          // uniformly chosen positions, decided before any logits
};

struct LladaOptions {
  int block_length = 32;  // 0: one block. Must divide the generated length, and the number of blocks the steps
  Remasking remasking = Remasking::low_confidence;
  double temperature = 1;       // of the token draws; 0: arg max, then a run is deterministic but for random order
  bool suppress_mask = true;    // the mask is never drawn. false, as in the published code: a step may draw masks and
                                // so reveal less (but for the last step); transitions are not scored then
  bool logits_eos_inf = false;  // EOS is never drawn
  bool confidence_eos_eot_inf = false;  // positions that draw EOS or EOT are revealed last
  Token eot = -1;                       // end of turn, for the option above; -1: none
  bool stop_at_eos = false;  // once a finished block holds EOS, whatever is still masked becomes EOS, without a
                             // forward. The output is then the text before the first EOS; its law is unchanged
};

std::shared_ptr<const Backward> make_llada(LladaOptions options = {});

std::optional<Remasking> find_remasking(std::string_view name);  // low_confidence, random

// ---- Dream: denoising in any order over the whole canvas. Each step reveals the share 1 - s/t of the masks: by
// independent coins (`origin`, MDLM's law) or those positions it is most confident of. Filters act on the token draws
// and on the confidences alike.

enum class DreamOrder {
  origin,        // independent coins, decided before any logits
  maskgit_plus,  // confidence: the probability of the drawn token
  topk_margin,   // confidence: probability of the best token minus that of the second
  entropy,       // confidence: sum p log p; the more certain, the higher
  random,        // uniformly chosen positions, as many as the others take; decided before any logits
};

struct DreamOptions {
  DreamOrder order = DreamOrder::entropy;
  // Of draws and confidences. Temperature 0: arg max tokens, confidences at temperature 1.
  Filter filter = {.temperature = 0.2, .top_p = 0.95};
  double alg_temp = 0;  // > 0: positions are drawn without replacement from softmax(confidence/alg_temp); only for
                        // orders with a confidence; transitions are not scored then
  double eps = 1e-3;    // times run from 1 to eps, equally spaced; the last one is replaced by 0
};

std::shared_ptr<const Backward> make_dream(DreamOptions options = {});

}  // namespace pgdlm
