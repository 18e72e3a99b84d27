// Which text is asked for: what `pgdlm generate` may be told, what a trace, a store and a task file carry. Nothing here
// depends on the command line's syntax.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/values.h"

namespace pgdlm {

// An empty optional means: as the preset, the process or the model has it (see settled in request.h).
struct GenerateOptions {
  std::string model = "toy";
  std::string prompt;
  std::optional<std::string> infill;
  std::optional<bool> chat;
  std::optional<std::string> messages;
  std::optional<int> n_predict;
  std::string reward = "none";
  std::uint64_t seed = 0;

  std::optional<Method> method;
  std::optional<Preset> preset;
  std::optional<int> particles, iterations;
  std::optional<double> beta;

  std::optional<Estimator> estimator;
  std::optional<int> phi, tau;
  std::optional<Cadence> resample_every;
  std::optional<EssFloor> ess_threshold;
  std::optional<int> max_events;
  std::optional<SchemePtr> scheme;
  std::optional<Start> start;
  std::optional<Selection> selection;
  std::optional<Potential> potential;
  std::optional<bool> ancestor_sampling, resample_last;

  std::optional<double> threshold;
  std::optional<int> budget;
  std::optional<std::int64_t> max_forwards;
  std::optional<double> max_seconds;

  std::optional<Process> process;
  std::optional<int> diffusion_steps, diffusion_block_length;
  std::optional<std::string> diffusion_algorithm;
  std::optional<double> diffusion_alg_temp, diffusion_eps, diffusion_cfg_scale;
  std::optional<double> temp, top_p;
  std::optional<int> top_k;
  std::optional<Nucleus> nucleus;
  std::optional<RemdmSchedule> remdm_schedule;
  std::optional<double> eta, remdm_t_on, remdm_t_off, remdm_alpha_on;
  std::optional<bool> logits_eos_inf, confidence_eos_eot_inf, stop_at_eos;
};

// Both ways: a choice that was made overrides the default in `field`, one that was left open takes it.
template <class T>
void settle(std::optional<T>& option, T& field) {
  if (option)
    field = *option;
  else
    option = field;
}

inline constexpr const char* kPlus = " + ";  // between rewards

struct OptionInfo {
  const char* name;        // long name; with '_' for '-' also the key in JSON
  const char* extra = "";  // short form, positional
  const char* help = "";
  const char* value = "";  // what --help shows as its value, if not what its type says
  const char* joint = "";  // between the values of an option that was given several times; without it the last one wins
};

// The one list of GenerateOptions: --help, the parser, the configuration in a trace and --resume all walk it.
// `visit.group(title)` opens a group, `visit(OptionInfo, field)` is called for each option.
template <class Options, class Visitor>
void visit_text_options(Options& o, Visitor& visit) {
  visit.group("Text");
  visit({"prompt", "-p,prompt", "how the text begins (also without -p); for the toy, case and spacing do not matter"},
        o.prompt);
  visit({"n-predict", "-n", "tokens to generate after the prompt; shorter texts end early (64; toy 24)"}, o.n_predict);
  visit({"infill", "", "a canvas with gaps instead of -n: \"the [MASK:3] was [MASK:2] .\""}, o.infill);
  visit(
      {"chat", "!--no-chat", "whether the prompt is a message to be put into the model's chat format (if it has one)"},
      o.chat);
  visit({"messages", "", "a whole conversation instead of the prompt, as OpenAI's JSON", "JSON"}, o.messages);
  visit({"model", "-m",
         "the denoiser: toy, a GGUF file, or a name that `pgdlm models` lists ($PGDLM_MODEL or mdlm-nano)"},
        o.model);
  visit({"reward", "",
         "what to steer towards, as a sum: 0.7*sentiment:positive + 0.3*cola - toxicity, prm:min, contains:word, "
         "regex:/.../, length:20..40, json, answer:42, must:contains:word, exec:./score.py, http://host/score; several "
         "are added (none)",
         "EXPRESSION", kPlus},
        o.reward);
  visit({"seed", "", "same seed, same text, whatever the batch, threads or memo (0)"}, o.seed);

  visit.group("Method");
  visit({"method", "",
         "one greedy path, best of k, SMC, particle Gibbs with a fixed number of sweeps, or until --threshold "
         "(what other options speak of, else smc with 16 particles; without a reward bon with one: a plain sample)"},
        o.method);
  visit({"preset", "",
         "sets all choices below: exact leaves p* ~ p exp(r/beta) invariant, paper is Algorithm 1 as "
         "printed (targets beta/2), fk is FK-Steering (as exact, but the answer is the best text found)"},
        o.preset);
  visit({"particles", "-k", "k texts denoised side by side; more is better and costs proportionally (8)"}, o.particles);
  visit({"iterations", "", "m sweeps of particle Gibbs, each steered by the text the last one chose (4)"},
        o.iterations);
  visit({"beta", "", "smaller follows the reward more and the model less (0.1)"}, o.beta);
}

template <class Options, class Visitor>
void visit_sampling_options(Options& o, Visitor& visit) {
  visit.group("Value of an unfinished text");
  visit(
      {"estimator", "",
       "complete it by its most probable words or by random draws, or judge the finished prefix (with prm and blocks)"},
      o.estimator);
  visit({"phi", "", "completions per estimate"}, o.phi);
  visit({"tau", "", "denoising steps looked ahead per completion; each costs forwards"}, o.tau);

  visit.group("Resampling and choice");
  visit({"resample-every", "",
         "look at the weights after every N steps or at the ends of blocks (1; remdm: 32 times in all)"},
        o.resample_every);
  visit({"ess-threshold", "", "resample when the effective sample size falls below this share of k"}, o.ess_threshold);
  visit({"max-events", "", "at most so many resamplings per sweep (-1: as many as there are particles)"}, o.max_events);
  visit({"scheme", "", "multinomial, stratified, systematic or residual"}, o.scheme);
  visit({"potential", "", "FK-Steering's weight of a step; all have the same target in exact arithmetic"}, o.potential);
  visit({"start", "", "where particle Gibbs takes its first reference from"}, o.start);
  visit({"selection", "",
         "which text is the answer: a draw from the last weights, the paper's last lines (targets "
         "beta/2), the best of the last sweep or of all sweeps"},
        o.selection);
  visit({"ancestor-sampling", "", "redraw the reference's ancestor at resampling events"}, o.ancestor_sampling);
  visit({"resample-last", "", "also resample after the last weighing and then pick evenly: as exact, but lazier"},
        o.resample_last);

  visit.group("Limits");
  visit({"threshold", "", "pg-adapt stops when the reward reaches this"}, o.threshold);
  visit({"budget", "", "stop before more than so many particles have been used, counted as the paper does"}, o.budget);
  visit({"max-forwards", "", "start no sweep after so many forwards were asked for"}, o.max_forwards);
  visit({"max-seconds", "", "start no sweep after so many seconds (the text then depends on the machine)"},
        o.max_seconds);
}

template <class Options, class Visitor>
void visit_process_options(Options& o, Visitor& visit) {
  visit.group("Denoising process");
  visit({"process", "", "how a step of denoising is drawn from the model's prediction (the model's own)"}, o.process);
  visit({"diffusion-steps", "", "T; steps in which nothing is revealed are free (mdlm, remdm: 512; else -n)"},
        o.diffusion_steps);
  visit({"diffusion-block-length", "", "llada: finish blocks of so many positions from left to right (0: one block)"},
        o.diffusion_block_length);
  visit({"diffusion-algorithm", "",
         "which positions are revealed first. llada: low_confidence, random; dream: "
         "origin, entropy, margin, random, confidence or their numbers 0..4"},
        o.diffusion_algorithm);
  visit({"diffusion-alg-temp", "", "dream: draw the order of reveals at this temperature (0: most confident first)"},
        o.diffusion_alg_temp);
  visit({"diffusion-eps", "", "dream: where its time grid ends"}, o.diffusion_eps);
  visit({"logits-eos-inf", "", "llada: the end of the text is never drawn, so all of -n is used"}, o.logits_eos_inf);
  visit({"confidence-eos-eot-inf", "", "llada: positions that draw the end of the text are revealed last"},
        o.confidence_eos_eot_inf);
  visit({"stop-at-eos", "!--no-stop-at-eos",
         "llada: once a finished block holds the end of the text, the rest costs nothing (on, if there are blocks)"},
        o.stop_at_eos);
  visit({"diffusion-cfg-scale", "", "classifier-free guidance away from the text without its prompt (0: off)"},
        o.diffusion_cfg_scale);
  visit({"temp", "",
         "temperature of the words (the model's own; else 1, dream 0.2, llada 0.5 if there are several "
         "particles)"},
        o.temp);
  visit({"top-p", "",
         "keep the most probable words up to this mass (the model's own; else 1, remdm 0.9, dream "
         "0.95); not llada"},
        o.top_p);
  visit({"top-k", "", "keep so many of the most probable words (0: all); not llada"}, o.top_k);
  visit({"nucleus", "", "usual: keep the word that crosses --top-p; remdm: drop it, as ReMDM's code does"}, o.nucleus);
  visit({"remdm-schedule", "", "how often words are taken back: cap, rescale, conf, loop, forward-backward"},
        o.remdm_schedule);
  visit({"eta", "", "remdm: strength of cap, rescale and loop"}, o.eta);
  visit({"remdm-t-on", "", "remdm loop: taking back begins at this time"}, o.remdm_t_on);
  visit({"remdm-t-off", "", "remdm loop: and ends at this one"}, o.remdm_t_off);
  visit({"remdm-alpha-on", "", "remdm loop: share of revealed words in between"}, o.remdm_alpha_on);
}

template <class Options, class Visitor>
void visit_options(Options& options, Visitor&& visit) {
  visit_text_options(options, visit);
  visit_sampling_options(options, visit);
  visit_process_options(options, visit);
}

}  // namespace pgdlm
