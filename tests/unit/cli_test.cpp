// The pure parts of the command line: options to requests, configurations there and back, gaps, suggestions.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/canvas_view.h"
#include "cli/command_line.h"
#include "cli/nearest.h"
#include "options/canvas.h"
#include "options/config.h"
#include "options/request.h"
#include "smc/schemes.h"

namespace pgdlm::cli {
namespace {

GenerateOptions parse(std::vector<const char*> args) {
  args.insert(args.begin(), {"pgdlm", "generate"});
  return parse_command_line(static_cast<int>(args.size()), args.data()).generate;
}

std::shared_ptr<const LanguageModel> toy() { return open_language_model("toy"); }

TEST(CanvasView, FillsInPlaceAndIsWiped) {
  const auto model = toy();
  std::ostringstream out;
  CanvasSink sink(out, {.tty = true, .steps = 4, .sweeps = 1, .every_ms = 0}, *model, {20, 24});
  std::vector<Token> canvas = model->encode("the movie was", "test");
  canvas.insert(canvas.end(), 2, model->mask());
  sink.emit(Drafted{0, 1, 0, canvas});
  EXPECT_NE(out.str().find("sweep 1/1  step 1/4\n"), std::string::npos);
  EXPECT_NE(out.str().find("_"), std::string::npos);
  sink.emit(Drafted{0, 1, 1, model->encode("a film was great .", "test")});  // not the one that is shown
  EXPECT_EQ(out.str().find("film"), std::string::npos);
  sink.emit(Weighed{.step = 2, .values = {0.25, 0.5}});  // now it is
  EXPECT_NE(out.str().find("film"), std::string::npos);
  EXPECT_NE(out.str().find("best 0.5"), std::string::npos);
  sink.emit(RunFinished{"done", 0.5});
  EXPECT_TRUE(out.str().ends_with("\x1b[J"));
}

TEST(CanvasView, NothingInAPipe) {
  std::ostringstream out;
  CanvasSink sink(out, {.tty = false}, *toy(), {});
  sink.emit(Drafted{0, 1, 0, {0, 1}});
  EXPECT_EQ(out.str(), "");
}

TEST(Cli, AStoredConfigurationIsTheSameRequest) {
  const std::vector<std::vector<const char*>> lines = {
      {"The movie"},
      {"The movie", "--reward", "positive", "--seed", "18446744073709551615"},
      {"--reward", "positive", "--preset", "paper", "-k", "3", "--beta", "0.30000000000000004"},
      {"--reward", "positive", "--preset", "fk", "--method", "smc"},
      {"--process", "remdm", "--remdm-schedule", "loop", "--eta", "0.02", "--nucleus", "usual"},
      {"--process", "llada", "--diffusion-block-length", "8", "--resample-every", "block"},
      {"--process", "dream", "--diffusion-algorithm", "3", "--ess-threshold", "always"},
      {"--infill", "the [MASK:3] was \"[MASK]\" .", "--method", "pg-adapt", "--threshold", "-0.5", "--max-seconds", "9",
       "--budget", "7", "--max-forwards", "8", "--max-events", "2", "--ancestor-sampling", "--resample-last"},
  };
  for (const auto& line : lines) {
    const GenerateOptions options = settled(parse(line), toy()->defaults(), nullptr);
    const std::string stored = to_config(options);
    EXPECT_EQ(to_config(settled(from_config(stored, "test"), toy()->defaults(), nullptr)), stored);
    EXPECT_EQ(from_config(stored, "test").seed, options.seed);
    EXPECT_EQ(from_config(stored, "test").beta, options.beta);
  }
}

TEST(Cli, ExplicitOptionsOverrideThePreset) {
  const auto opened = toy();
  const LanguageModel& model = *opened;
  const auto plan = [&](std::vector<const char*> line) {
    line.insert(line.end(), {"--reward", "positive"});
    return make_request(settled(parse(line), toy()->defaults(), nullptr), model, nullptr).settings.plan;
  };
  EXPECT_EQ(plan({"--preset", "paper"}).selection, Selection::paper);
  EXPECT_EQ(plan({"--preset", "exact"}).selection, Selection::draw);
  EXPECT_EQ(plan({"--method", "pg"}).selection, Selection::argmax_all);
  EXPECT_EQ(plan({"--method", "smc"}).selection, Selection::argmax_last);
  EXPECT_EQ(plan({"--selection", "draw"}).selection, Selection::draw);
  EXPECT_EQ(plan({"--preset", "paper", "--selection", "draw"}).selection, Selection::draw);
  EXPECT_EQ(plan({"--preset", "paper"}).scheme->name, "multinomial");
  EXPECT_EQ(plan({"--preset", "paper", "--scheme", "residual"}).scheme->name, "residual");
  EXPECT_EQ(plan({"--ess-threshold", "always"}).ess_floor, std::nullopt);
  EXPECT_EQ(plan({"--ess-threshold", "never"}).ess_floor, 0.0);
  EXPECT_EQ(plan({"-k", "5", "-k", "6"}).particles, 6);
}

TEST(Cli, OtherOptionsSpeakOfAMethod) {
  const auto method = [&](std::vector<const char*> line) {
    line.insert(line.end(), {"--reward", "positive"});
    return *settled(parse(line), toy()->defaults(), nullptr).method;
  };
  EXPECT_EQ(method({}), Method::smc);
  EXPECT_EQ(method({"--preset", "fk"}), Method::smc);
  EXPECT_EQ(method({"--preset", "paper"}), Method::particle_gibbs);
  EXPECT_EQ(method({"--iterations", "2"}), Method::particle_gibbs);
  EXPECT_EQ(method({"--max-seconds", "2"}), Method::particle_gibbs);
  EXPECT_EQ(method({"--threshold", "0.5", "--iterations", "2"}), Method::particle_gibbs_adaptive);
  EXPECT_EQ(method({"--method", "bon", "--iterations", "2"}), Method::best_of_n);
}

// Scores nothing; what matters is whether it can judge a beginning.
struct Mute final : Reward {
  explicit Mute(bool prefixes) : prefixes(prefixes) {}
  std::vector<double> score(std::span<const Candidate> texts) override { return std::vector<double>(texts.size()); }
  bool accepts_prefixes() const override { return prefixes; }
  bool prefixes;
};

TEST(Cli, ARewardOfPrefixesIsAskedAboutFinishedBlocks) {
  const Mute able(true), unable(false);
  const auto choose = [&](const Reward& reward, std::vector<const char*> line) {
    line.insert(line.end(), {"--reward", "steps"});
    return settled(parse(line), {.process = "llada", .block_length = 8}, &reward);
  };
  EXPECT_EQ(choose(able, {}).estimator, Estimator::prefix);
  EXPECT_TRUE(choose(able, {}).resample_every->blocks());
  EXPECT_EQ(choose(able, {"--resample-every", "3"}).resample_every->every, 3);
  EXPECT_EQ(choose(able, {"--estimator", "random"}).estimator, Estimator::random);
  EXPECT_EQ(choose(able, {"--process", "mdlm"}).estimator, Estimator::beam);
  EXPECT_EQ(choose(able, {"--diffusion-block-length", "0"}).estimator, Estimator::beam);
  EXPECT_EQ(choose(unable, {}).estimator, Estimator::beam);
}

TEST(Cli, AModelsWishesGiveWayToParticlesAndOptions) {
  const ModelDefaults greedy{.process = "llada", .temperature = 0.0, .top_p = 0.9, .chat = true};
  const auto choose = [&](std::vector<const char*> line) { return settled(parse(line), greedy, nullptr); };
  EXPECT_EQ(choose({}).temp, 0.0);
  EXPECT_EQ(choose({"--method", "greedy"}).temp, 0.0);
  EXPECT_EQ(choose({"--method", "bon", "-k", "4"}).temp, 0.5);  // or all four would be the same
  EXPECT_EQ(choose({"--method", "bon", "-k", "4", "--temp", "1"}).temp, 1.0);
  EXPECT_EQ(choose({"--method", "bon", "-k", "4", "--process", "mdlm"}).temp, 1.0);
  EXPECT_EQ(choose({}).top_p, std::nullopt);  // the process has none
  EXPECT_EQ(choose({"--process", "mdlm"}).top_p, 0.9);
  EXPECT_EQ(choose({"--process", "mdlm", "--top-p", "1"}).top_p, 1.0);
  EXPECT_EQ(choose({}).chat, true);
  EXPECT_EQ(choose({"--no-chat"}).chat, false);
}

TEST(Cli, TheCanvasIsPromptAndGaps) {
  const auto opened = toy();
  const LanguageModel& model = *opened;
  const Request request =
      make_request(settled(parse({"The movie", "-n", "3"}), toy()->defaults(), nullptr), model, nullptr);
  EXPECT_EQ(request.canvas.prompt, 2);
  EXPECT_EQ(request.canvas.tokens.size(), 5U);
  const auto pieces = parse_infill("the [MASK:3] was [MASK] .");
  EXPECT_EQ(gap_count(pieces), 4);
  const Canvas canvas = make_canvas(model, {.prompt = "it was great ."}, pieces);
  EXPECT_EQ(canvas.prompt, 5);  // the words before the first gap
  EXPECT_EQ(canvas.tokens.size(), 4U + 7U);
  EXPECT_EQ(canvas.tokens[5], model.mask());
  for (const char* bad : {"the movie", "[MASK:0]", "[MASK:-1]", "[MASK:x]", "[MASK:3", "[MASKED]", "[MASK:]"})
    EXPECT_THROW(parse_infill(bad), Error) << bad;
}

TEST(Cli, SuggestsTheNearestWordIfItIsNear) {
  const std::vector<std::string> known = {"generate", "replay", "models", "version"};
  EXPECT_EQ(nearest("generat", known), "generate");
  EXPECT_EQ(nearest("genreate", known), "generate");
  EXPECT_EQ(nearest("relay", known), "replay");
  EXPECT_EQ(nearest("banana", known), std::nullopt);
}

}  // namespace
}  // namespace pgdlm::cli
