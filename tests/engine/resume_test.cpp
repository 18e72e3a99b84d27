// A run that was cut off at any line resumes from its trace and ends with the very same events.
#include <gtest/gtest.h>

#include <sstream>

#include "events/reader.h"
#include "harness.h"

namespace pgdlm::testkit {
namespace {

std::vector<Request> requests() {
  std::vector<Request> all = {toy_request(1), toy_request(2, Method::smc),
                              toy_request(3, Method::particle_gibbs_adaptive), toy_request(4), toy_request(5)};
  all[3].process = make_remdm({.schedule = RemdmSchedule::conf});
  all[3].settings.valuing = {.estimator = Estimator::random, .phi = 2};
  all[4].settings.plan.ancestor_sampling = true;
  return all;
}

TEST(Resume, FromEveryCut) {
  for (const Request& request : requests()) {
    SCOPED_TRACE(request.seed);
    Engine first(toy_denoiser(), {.threads = 1});
    Stream whole;
    const Answer answer = first.generate(request, whole);

    std::int64_t last_run = answer.cost.forwards_run + 1;
    for (std::size_t cut = whole.text.find('\n') + 1; cut < whole.text.size(); cut += 97) {
      std::istringstream cut_off(whole.text.substr(0, cut));
      Request resumed = request;
      resumed.recorded = recording_of(read_trace(cut_off, "cut"));
      Engine second(toy_denoiser(), {.threads = 1});
      Stream stream;
      const Answer again = second.generate(resumed, stream);
      ASSERT_EQ(stream.text, whole.text) << "cut at " << cut;
      EXPECT_EQ(again.tokens, answer.tokens);
      EXPECT_LE(again.cost.forwards_run, last_run) << "the more is recorded, the less is run";
      last_run = again.cost.forwards_run;
    }
    EXPECT_LT(last_run, answer.cost.forwards_run);
  }
}

TEST(Resume, FromACompleteTraceComputesNothing) {
  Engine engine(toy_denoiser(), {.threads = 1});
  Stream whole;
  engine.generate(toy_request(1), whole);
  Request resumed = toy_request(1);
  std::istringstream complete(whole.text);
  resumed.recorded = recording_of(read_trace(complete, "whole"));
  Stream stream;
  const Answer again = engine.generate(resumed, stream);
  EXPECT_EQ(stream.text, whole.text);
  EXPECT_EQ(again.cost.forwards_asked, 0);
  EXPECT_EQ(again.cost.rewards_asked, 0);
}

}  // namespace
}  // namespace pgdlm::testkit
