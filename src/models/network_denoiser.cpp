// A network as a Denoiser. A prediction keeps the hidden states of the positions that may be read, which are few and
// small; logits exist only between `prepare`, which projects all rows of a batch of readings in one product, and the
// next one. They stay in one workspace of the runtime per denoiser: reductions read them in place.
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "models/model.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

// Logits of a few rows of one prediction.
struct Window {
  std::vector<Position> rows;
  std::vector<float> logits;  // [rows, vocab]
};

// What a denoiser and its predictions share. `epoch` numbers the calls of prepare: older rows are gone.
struct Desk {
  explicit Desk(std::shared_ptr<Model> m) : model(std::move(m)), shift(model->diffusion().shift_logits) {}

  // Which row of the network's output speaks of position l.
  Position row_of(Position l) const { return shift ? std::max(l - 1, 0) : l; }
  std::size_t vocab() const { return static_cast<std::size_t>(model->sizes().outputs); }
  Window& late_of(std::uint64_t prediction) {
    const std::lock_guard lock(late_mutex);
    return late[prediction];
  }

  std::shared_ptr<Model> model;
  std::shared_ptr<Runtime::Workspace> space = model->runtime().make_workspace();
  bool shift;
  std::uint64_t epoch = 1;               // a prediction that was never prepared says 0
  std::span<const float> logits;         // [prepared rows, vocab]
  std::uint64_t predictions = 0;         // made so far
  std::map<std::uint64_t, Window> late;  // of predictions by number: what was read last and not prepared
  std::mutex late_mutex;                 // several predictions may be read at the same time
};

class NetworkPrediction final : public Prediction {
 public:
  NetworkPrediction(std::shared_ptr<Desk> desk, std::span<const Token> tokens, std::vector<Position> rows,
                    std::vector<float> hidden)
      : desk_(std::move(desk)),
        number_(desk_->predictions++),
        tokens_(tokens.begin(), tokens.end()),
        rows_(std::move(rows)),
        hidden_(std::move(hidden)) {}

  std::span<const float> logits(Position l) const override {
    const Position row = desk_->row_of(l);
    if (const int prepared = prepared_row(row); prepared >= 0) return part(desk_->logits, prepared);
    Window& late = desk_->late_of(number_);
    auto found = std::ranges::find(late.rows, row);
    if (found == late.rows.end()) {
      late = read_late(row);
      found = late.rows.begin();
    }
    return part(late.logits, found - late.rows.begin());
  }

  std::size_t bytes() const override {
    return sizeof(*this) + (tokens_.size() + rows_.size()) * sizeof(Token) +
           (hidden_.size() + again_.size() * width()) * sizeof(float);
  }

  // Hidden state of a row; empty if it was not kept.
  std::span<const float> hidden(Position row) const {
    const int index = index_of(row);
    return index < 0 ? std::span<const float>() : std::span(hidden_).subspan(index * width(), width());
  }

  int prepared_row(Position row) const {
    const int index = index_of(row);
    return index < 0 || epoch_ != desk_->epoch ? -1 : prepared_[static_cast<std::size_t>(index)];
  }

  void set_prepared(Position row, int at) const {
    enter_epoch();
    prepared_[static_cast<std::size_t>(index_of(row))] = at;
  }

  // It will be read, but there is no room among the prepared.
  void set_waiting(Position row) const {
    enter_epoch();
    waiting_.push_back(row);
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(desk_->model->sizes().embedding); }

  std::span<const float> part(std::span<const float> logits, std::ptrdiff_t row) const {
    return logits.subspan(static_cast<std::size_t>(row) * desk_->vocab(), desk_->vocab());
  }

  int index_of(Position row) const {
    const auto found = std::ranges::lower_bound(rows_, row);
    return found == rows_.end() || *found != row ? -1 : static_cast<int>(found - rows_.begin());
  }

  void enter_epoch() const {
    if (epoch_ == desk_->epoch) return;
    epoch_ = desk_->epoch;
    prepared_.assign(rows_.size(), -1);
    waiting_.clear();
  }

  // A row by itself, or with those that wait behind it.
  Window read_late(Position row) const {
    Window window;
    const auto first = std::ranges::find(waiting_, row);
    if (epoch_ != desk_->epoch || first == waiting_.end()) {
      window.rows = {row};
    } else {
      const std::ptrdiff_t most = desk_->model->runtime().max_head_rows();
      window.rows.assign(first, first + std::min(most, waiting_.end() - first));
    }
    std::vector<float> states;
    for (const Position r : window.rows) {
      const std::span<const float> state = hidden_or_again(r);
      states.insert(states.end(), state.begin(), state.end());
    }
    window.logits = desk_->model->runtime().head(states);
    return window;
  }

  // A position nobody expected to be read, such as one that is already revealed, costs a forward of its own.
  std::span<const float> hidden_or_again(Position row) const {
    if (const std::span<const float> kept = hidden(row); !kept.empty()) return kept;
    std::vector<float>& state = again_[row];
    const TokenRow asked{tokens_, {row}};
    if (state.empty()) state = std::move(desk_->model->runtime().trunk({&asked, 1}).front());
    return state;
  }

  std::shared_ptr<Desk> desk_;
  std::uint64_t number_;
  std::vector<Token> tokens_;
  std::vector<Position> rows_;  // kept, ascending
  std::vector<float> hidden_;   // [kept, embedding]
  mutable std::uint64_t epoch_ = 0;
  mutable std::vector<int> prepared_;                     // [kept] row of the desk's logits, or -1
  mutable std::vector<Position> waiting_;                 // announced, but too many to be prepared
  mutable std::map<Position, std::vector<float>> again_;  // hidden states of rows that were not kept
};

class NetworkDenoiser final : public Denoiser {
 public:
  explicit NetworkDenoiser(std::shared_ptr<Model> model) : desk_(std::make_shared<Desk>(std::move(model))) {}

  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    desk_->late.clear();
    std::vector<TokenRow> rows;
    for (const StateView& state : states) rows.push_back({state.tokens, readable_rows(state)});
    std::vector<std::vector<float>> hidden = desk_->model->runtime().trunk(rows);
    std::vector<PredictionPtr> predictions;
    for (std::size_t i = 0; i < states.size(); ++i)
      predictions.push_back(
          std::make_shared<NetworkPrediction>(desk_, states[i].tokens, std::move(rows[i].asked), std::move(hidden[i])));
    return predictions;
  }

  // As many readings as the head takes in one product; of a first one that alone is more than that, its first rows.
  std::size_t prepare(std::span<const Reading> readings) override {
    desk_->late.clear();
    ++desk_->epoch;
    try {
      return project(readings);
    } catch (...) {
      ++desk_->epoch;  // nothing is prepared after all
      throw;
    }
  }

  int vocab() const override { return desk_->model->sizes().outputs; }
  Token mask() const override { return desk_->model->diffusion().mask; }

 private:
  std::vector<Position> readable_rows(const StateView& state) const {
    std::vector<Position> rows;
    const auto end = std::min<Position>(static_cast<Position>(state.tokens.size()), state.horizon);
    for (Position l = 0; l < end; ++l)
      if (state.masked(l)) rows.push_back(desk_->row_of(l));
    rows.erase(std::ranges::unique(rows).begin(), rows.end());  // with a shift, positions 0 and 1 share a row
    return rows;
  }

  std::size_t project(std::span<const Reading> readings) {
    Runtime& runtime = desk_->model->runtime();
    const int most = runtime.max_head_rows();
    std::vector<float> hidden;
    int rows = 0;
    std::size_t ready = 0;
    for (const Reading& reading : readings) {
      if (rows > 0 && static_cast<std::size_t>(rows) + reading.rows.size() > static_cast<std::size_t>(most)) break;
      const auto& prediction = static_cast<const NetworkPrediction&>(*reading.prediction);
      for (const Position l : reading.rows) {
        const Position row = desk_->row_of(l);
        const std::span<const float> state = prediction.hidden(row);
        if (state.empty() || prediction.prepared_row(row) >= 0) continue;
        if (rows == most) {
          prediction.set_waiting(row);
          continue;
        }
        prediction.set_prepared(row, rows++);
        hidden.insert(hidden.end(), state.begin(), state.end());
      }
      ++ready;
    }
    if (rows > 0) desk_->logits = runtime.head(hidden, *desk_->space);
    return ready;
  }

  std::shared_ptr<Desk> desk_;
};

}  // namespace

std::shared_ptr<Denoiser> make_denoiser(std::shared_ptr<Model> model) {
  model->require(Role::denoiser);
  return std::make_shared<NetworkDenoiser>(std::move(model));
}

}  // namespace pgdlm
