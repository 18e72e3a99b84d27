// The canvases of a run, rebuilt from its events alone: what each particle looked like at each weighing, through
// resampling and through the sweeps that a reference connects.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "pgdlm/answer.h"
#include "pgdlm/events.h"

namespace pgdlm::cli {

class Playback {
 public:
  explicit Playback(const RunStarted& started) : initial_(started.canvas) {}

  void apply(const Event& event);

  const std::vector<Token>& canvas(int slot) const { return particles_.at(slot).now->canvas; }
  bool changed() const { return changed_; }  // did the last weighing show another picture than the one before?
  // What the run returns if it ends now; empty before the first sweep has ended.
  std::vector<Token> answer(Selection selection) const;

 private:
  // A particle at a weighing; the way back to the root is its trajectory.
  struct Moment {
    std::shared_ptr<const Moment> before;
    int step = 0;
    std::vector<Token> canvas;
  };
  struct Particle {
    std::shared_ptr<const Moment> now;
    std::vector<Token> canvas;  // now's, with the edits since
    double value = 0;
  };
  struct Scored {
    std::vector<Token> canvas;
    double reward = 0;
  };

  void on(const RunStarted&) {}
  void on(const Edited& event);
  void on(const Drafted&) {}
  void on(const Weighed& event);
  void on(const Resampled& event);
  void on(const Selected& event);
  void on(const Spent&) {}
  void on(const RunFinished&) {}
  void begin_sweep(int sweep);
  Particle& at(int slot);

  std::vector<Token> initial_;
  int sweep_ = -1;
  std::vector<Particle> particles_;
  std::map<int, std::vector<Token>> reference_;  // step -> canvas
  std::vector<double> last_log_weights_;
  bool changed_ = false;
  bool any_ = false;
  Scored drawn_, best_last_, best_all_;
};

}  // namespace pgdlm::cli
