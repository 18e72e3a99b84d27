// pgdlm on one page: a network, a reward, an engine, a text. The "network" knows that vowels and consonants like to
// alternate; the reward likes the letter e; particle Gibbs finds texts that please both.
#include <algorithm>
#include <cstdio>
#include <string>

#include "pgdlm/engine.h"
#include "pgdlm/processes.h"

using namespace pgdlm;

const std::string kLetters =
    "aeiourstlnd";  // token v is letter v: five vowels, then consonants; the mask comes after them
bool vowel(Token v) { return v < 5; }

struct Syllables final : Denoiser {
  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    std::vector<PredictionPtr> predictions;
    for (const StateView& x : states) {
      std::vector<float> logits;  // [length, letters]
      for (Position l = 0; l < x.frame.length(); ++l)
        for (Token v = 0; v < vocab(); ++v) logits.push_back(beside(x, l - 1, v) + beside(x, l + 1, v));
      predictions.push_back(std::make_shared<TablePrediction>(vocab(), std::move(logits)));
    }
    return predictions;
  }
  int vocab() const override { return static_cast<int>(kLetters.size()); }
  Token mask() const override { return vocab(); }

  float beside(StateView x, Position l, Token v) const {  // a mask or the edge says nothing
    if (l < 0 || l >= x.frame.length() || x.tokens[l] == mask()) return 0;
    return vowel(v) == vowel(x.tokens[l]) ? -2.0F : 2.0F;
  }
};

struct LikesE final : Reward {
  std::vector<double> score(std::span<const Candidate> texts) override {
    std::vector<double> scores;
    for (const Candidate& text : texts) scores.push_back(static_cast<double>(std::ranges::count(text.tokens, 1)));
    return scores;
  }
};

int main() {
  Engine engine(std::make_shared<Syllables>(), {});
  Request request{.steps = 64, .process = make_mdlm(), .reward = std::make_shared<LikesE>(), .seed = 7};
  request.canvas.tokens.assign(12, static_cast<Token>(kLetters.size()));  // twelve masks

  const auto generate = [&](const char* name, Method method) {
    request.settings = preset(Preset::exact, method);
    request.settings.plan.beta = 0.5;  // the target is p(text) exp(reward / beta)
    const Answer answer = engine.generate(request);
    std::string text;
    for (Token v : answer.tokens) text += kLetters[static_cast<std::size_t>(v)];
    std::printf("%-8s %s   reward %.0f, %lld forwards asked, %lld run\n", name, text.c_str(), answer.reward,
                static_cast<long long>(answer.cost.forwards_asked), static_cast<long long>(answer.cost.forwards_run));
    return answer.reward;
  };
  const double greedy = generate("greedy", Method::greedy);
  const double steered = generate("steered", Method::particle_gibbs);
  return steered > greedy ? 0 : 1;
}
