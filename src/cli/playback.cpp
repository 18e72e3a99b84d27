#include "cli/playback.h"

#include <cmath>

namespace pgdlm::cli {

void Playback::apply(const Event& event) {
  std::visit([this](const auto& e) { on(e); }, event);
}

void Playback::begin_sweep(int sweep) {
  if (sweep == sweep_) return;
  sweep_ = sweep;
  particles_.clear();
  last_log_weights_.clear();
}

Playback::Particle& Playback::at(int slot) {
  const auto root = std::make_shared<const Moment>(Moment{nullptr, 0, initial_});
  while (static_cast<int>(particles_.size()) <= slot) particles_.push_back({root, initial_, 0});
  return particles_[slot];
}

void Playback::on(const Edited& event) {
  begin_sweep(event.sweep);
  Particle& particle = at(event.slot);
  for (const TimedEdit& timed : event.edits) particle.canvas.at(timed.edit.position) = timed.edit.token;
}

void Playback::on(const Weighed& event) {
  begin_sweep(event.sweep);
  changed_ = event.log_weights != last_log_weights_;
  last_log_weights_ = event.log_weights;
  for (int slot = 0; slot < static_cast<int>(event.values.size()); ++slot) {
    Particle& particle = at(slot);
    const auto kept = reference_.find(event.step);
    if (slot == event.reference && kept != reference_.end()) particle.canvas = kept->second;
    changed_ = changed_ || particle.canvas != particle.now->canvas;
    particle.now = std::make_shared<const Moment>(Moment{particle.now, event.step, particle.canvas});
    particle.value = event.values[slot];
  }
}

void Playback::on(const Resampled& event) {
  std::vector<Particle> next;
  for (int parent : event.parents) next.push_back(particles_.at(parent));
  particles_ = std::move(next);
}

void Playback::on(const Selected& event) {
  const Particle& chosen = at(event.slot);
  reference_.clear();
  for (const Moment* m = chosen.now.get(); m != nullptr; m = m->before.get()) reference_[m->step] = m->canvas;
  drawn_ = {chosen.canvas, event.reward};
  const Particle* best = &particles_.front();
  for (const Particle& particle : particles_)
    if (particle.value > best->value || (std::isnan(best->value) && !std::isnan(particle.value))) best = &particle;
  best_last_ = {best->canvas, best->value};
  if (!any_ || best->value > best_all_.reward) best_all_ = best_last_;
  any_ = true;
}

std::vector<Token> Playback::answer(Selection selection) const {
  switch (selection) {
    case Selection::draw:
    case Selection::paper: return drawn_.canvas;
    case Selection::argmax_last: return best_last_.canvas;
    case Selection::argmax_all: return best_all_.canvas;
  }
  return {};
}

}  // namespace pgdlm::cli
