// Bad requests are refused before anything happens, with the field, the value and what is allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness.h"

namespace pgdlm::testkit {
namespace {

using testing::HasSubstr;

struct Refusal {
  std::string message;
  bool started = false;
};

Refusal refusal(const std::function<void(Request&)>& spoil) {
  Engine engine(toy_denoiser(), {.threads = 1});
  Request request = toy_request(1);
  spoil(request);
  Stream stream;
  try {
    engine.submit(request, stream, [](Ticket, const std::exception_ptr&, const Answer&) {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_request);
    engine.run_until_idle();
    return {error.what(), !stream.events.empty()};
  }
  return {"accepted", true};
}

void expect_refused(const std::string& message, const std::function<void(Request&)>& spoil) {
  const Refusal got = refusal(spoil);
  EXPECT_THAT(got.message, HasSubstr(message));
  EXPECT_FALSE(got.started);
}

TEST(Validate, SoundRequestIsAccepted) {
  EXPECT_EQ(refusal([](Request&) {}).message, "accepted");
}

TEST(Validate, Plan) {
  expect_refused("particles is 0, allowed: at least 1", [](Request& r) { r.settings.plan.particles = 0; });
  expect_refused("particles is 1 with particle Gibbs, allowed: at least 2",
                 [](Request& r) { r.settings.plan.particles = 1; });
  expect_refused("iterations is 0, allowed: at least 1", [](Request& r) { r.settings.plan.iterations = 0; });
  expect_refused("beta is -1.0", [](Request& r) { r.settings.plan.beta = -1; });
  expect_refused("beta is 0.0", [](Request& r) { r.settings.plan.beta = 0; });
  expect_refused("beta is nan", [](Request& r) { r.settings.plan.beta = std::nan(""); });
  expect_refused("beta is inf", [](Request& r) { r.settings.plan.beta = INFINITY; });
  expect_refused("ess-threshold is nan", [](Request& r) { r.settings.plan.ess_floor = std::nan(""); });
  expect_refused("ess-threshold is -0.5", [](Request& r) { r.settings.plan.ess_floor = -0.5; });
  expect_refused("threshold is NaN", [](Request& r) { r.settings.plan.threshold = std::nan(""); });
}

TEST(Validate, Valuing) {
  expect_refused("phi is 0, allowed: at least 1", [](Request& r) { r.settings.valuing.phi = 0; });
  expect_refused("tau is -2, allowed: at least 1", [](Request& r) { r.settings.valuing.tau = -2; });
  expect_refused("estimator is prefix, but this reward scores complete texts only",
                 [](Request& r) { r.settings.valuing.estimator = Estimator::prefix; });
  EXPECT_EQ(refusal([](Request& r) {
              r.settings.valuing.estimator = Estimator::prefix;
              r.reward = std::make_shared<kit::ToyReward>(kit::ToyRewardOptions{.prefixes = true});
            }).message,
            "accepted");
  expect_refused("resample-every is -1, allowed: at least 0", [](Request& r) { r.settings.cadence.every = -1; });
  expect_refused("lag is on together with ancestor-sampling", [](Request& r) {
    r.settings.valuing.lag = true;
    r.settings.plan.ancestor_sampling = true;
  });
  expect_refused("particles would be the same",
                 [](Request& r) { r.process = make_llada({.block_length = 0, .temperature = 0}); });
}

TEST(Validate, Canvas) {
  expect_refused("length is 0, allowed: at least 1", [](Request& r) { r.canvas = {}; });
  expect_refused("prompt is 13 tokens long, allowed: 0 to the length of the canvas, 12",
                 [](Request& r) { r.canvas.prompt = 13; });
  expect_refused("prompt is -1 tokens long", [](Request& r) { r.canvas.prompt = -1; });
  expect_refused("canvas holds no mask token (5)", [](Request& r) { r.canvas.tokens.assign(12, 1); });
  expect_refused("token at position 3 is 6, allowed: 0 to 5 and the mask 5",
                 [](Request& r) { r.canvas.tokens[3] = 6; });
  expect_refused("token at position 3 is -1", [](Request& r) { r.canvas.tokens[3] = -1; });
  expect_refused("token at position 1 is 5, the mask, in the prompt", [](Request& r) { r.canvas.tokens[1] = kMask; });
  expect_refused("eos is 9, allowed: -1 (none) or a token from 0 to 5", [](Request& r) { r.canvas.eos = 9; });
  expect_refused("eos is 5", [](Request& r) { r.canvas.eos = kMask; });
}

TEST(Validate, Process) {
  expect_refused("process is missing", [](Request& r) { r.process = nullptr; });
  expect_refused("diffusion-steps is 0, allowed: at least 1", [](Request& r) { r.steps = 0; });
  // Ten free positions in blocks of four: a schedule that does not divide.
  expect_refused("block", [](Request& r) { r.process = make_llada({.block_length = 4}); });
  expect_refused("ancestor-sampling is on, but this process cannot score its transitions", [](Request& r) {
    r.process = make_llada({.block_length = 0, .suppress_mask = false});
    r.settings.plan.ancestor_sampling = true;
  });
}

// A trace from elsewhere must not write outside the canvas.
TEST(Validate, RecordedStages) {
  const auto recorded = [](Edited stage) { return [stage](Request& r) { r.recorded.edits = {stage}; }; };
  EXPECT_EQ(refusal(recorded({0, 0, 0, {{0, {5, 1, 0}}}, true, 0})).message, "accepted");
  expect_refused("resume: sweep 0, step 0, slot 0: edit of position 12 at step 0",
                 recorded({0, 0, 0, {{0, {12, 1, 0}}}, true, 0}));
  expect_refused("edit of position -1", recorded({0, 0, 0, {{0, {-1, 1, 0}}}, true, 0}));
  expect_refused("edit of position 0 at step 0, allowed: positions that are to be generated",
                 recorded({0, 0, 0, {{0, {0, 1, 0}}}, true, 0}));
  expect_refused("writes token 77, allowed: 0 to 5 and the mask 5", recorded({0, 0, 0, {{0, {5, 77, 0}}}, true, 0}));
  expect_refused("step 8, slot 0: no such step, allowed: 0 to 7", recorded({0, 8, 0, {}, true, 0}));
  expect_refused("edit of position 6 at step 0, allowed: steps in ascending order",
                 recorded({0, 0, 0, {{1, {5, 1, 0}}, {0, {6, 1, 0}}}, true, 0}));
}

TEST(Validate, EngineOptions) {
  const auto code_of = [](std::shared_ptr<Denoiser> denoiser, pgdlm::EngineOptions options) {
    try {
      Engine engine(std::move(denoiser), options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(code_of(nullptr, {}), "denoiser is missing");
  EXPECT_EQ(code_of(toy_denoiser(), {.threads = 0}), "threads is 0, allowed: 1 to 512");
  EXPECT_EQ(code_of(toy_denoiser(), {.threads = 100000}), "threads is 100000, allowed: 1 to 512");
  EXPECT_EQ(code_of(toy_denoiser(), {.max_batch = 0}), "max-batch is 0, allowed: at least 1");
}

}  // namespace
}  // namespace pgdlm::testkit
