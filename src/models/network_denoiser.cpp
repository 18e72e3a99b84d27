// A network as a Denoiser. A prediction keeps the hidden states of the positions that may be read, which are few and
// small; logits exist only between `prepare`, which projects all rows of a batch of readings in one product, and the
// next one. They stay in the runtime's memory: reductions read them in place.
#include <algorithm>
#include <map>
#include <utility>

#include "models/model.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

// What a denoiser and its predictions share. `epoch` numbers the calls of prepare: older rows are gone.
struct Desk {
  explicit Desk(std::shared_ptr<Model> m) : model(std::move(m)), shift(model->diffusion().shift_logits) {}

  // Which row of the network's output speaks of position l.
  Position row_of(Position l) const { return shift ? std::max(l - 1, 0) : l; }

  std::shared_ptr<Model> model;
  bool shift;
  std::uint64_t epoch = 1;        // a prediction that was never prepared says 0
  std::span<const float> logits;  // [prepared rows, vocab]
};

class NetworkPrediction final : public Prediction {
 public:
  NetworkPrediction(std::shared_ptr<Desk> desk, std::span<const Token> tokens, std::vector<Position> rows,
                    std::vector<float> hidden)
      : desk_(std::move(desk)),
        tokens_(tokens.begin(), tokens.end()),
        rows_(std::move(rows)),
        hidden_(std::move(hidden)) {}

  std::span<const float> logits(Position l) const override {
    const Position row = desk_->row_of(l);
    if (const int prepared = prepared_row(row); prepared >= 0)
      return desk_->logits.subspan(static_cast<std::size_t>(prepared) * vocab(), vocab());
    std::vector<float>& late = late_[row];
    if (late.empty()) late = desk_->model->runtime().head_copy(hidden_or_again(row));
    return late;
  }

  std::size_t bytes() const override {
    return sizeof(*this) + (tokens_.size() + rows_.size()) * sizeof(Token) +
           (hidden_.size() + late_.size() * vocab()) * sizeof(float);
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
    if (epoch_ != desk_->epoch) prepared_.assign(rows_.size(), -1);
    epoch_ = desk_->epoch;
    prepared_[static_cast<std::size_t>(index_of(row))] = at;
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(desk_->model->sizes().embedding); }
  std::size_t vocab() const { return static_cast<std::size_t>(desk_->model->sizes().outputs); }

  int index_of(Position row) const {
    const auto found = std::ranges::lower_bound(rows_, row);
    return found == rows_.end() || *found != row ? -1 : static_cast<int>(found - rows_.begin());
  }

  // A position nobody expected to be read, such as one that is already revealed, costs a forward of its own.
  std::vector<float> hidden_or_again(Position row) const {
    if (const std::span<const float> kept = hidden(row); !kept.empty()) return {kept.begin(), kept.end()};
    const TokenRow again{tokens_, {row}};
    return std::move(desk_->model->runtime().trunk({&again, 1}).front());
  }

  std::shared_ptr<Desk> desk_;
  std::vector<Token> tokens_;
  std::vector<Position> rows_;  // kept, ascending
  std::vector<float> hidden_;   // [kept, embedding]
  mutable std::uint64_t epoch_ = 0;
  mutable std::vector<int> prepared_;                    // [kept] row of the desk's logits, or -1
  mutable std::map<Position, std::vector<float>> late_;  // rows read without having been announced
};

class NetworkDenoiser final : public Denoiser {
 public:
  explicit NetworkDenoiser(std::shared_ptr<Model> model) : desk_(std::make_shared<Desk>(std::move(model))) {}

  std::vector<PredictionPtr> predict(std::span<const StateView> states) override {
    std::vector<TokenRow> rows;
    for (const StateView& state : states) rows.push_back({state.tokens, readable_rows(state)});
    std::vector<std::vector<float>> hidden = desk_->model->runtime().trunk(rows);
    std::vector<PredictionPtr> predictions;
    for (std::size_t i = 0; i < states.size(); ++i)
      predictions.push_back(
          std::make_shared<NetworkPrediction>(desk_, states[i].tokens, std::move(rows[i].asked), std::move(hidden[i])));
    return predictions;
  }

  std::size_t prepare(std::span<const Reading> readings) override {
    ++desk_->epoch;
    const auto most = static_cast<std::size_t>(desk_->model->runtime().max_head_rows());
    std::vector<float> hidden;
    std::size_t rows = 0, ready = 0;
    for (const Reading& reading : readings) {
      if (rows > 0 && rows + reading.rows.size() > most) break;
      const auto& prediction = static_cast<const NetworkPrediction&>(*reading.prediction);
      for (const Position l : reading.rows)
        rows += gather(prediction, desk_->row_of(l), static_cast<int>(rows), hidden);
      ++ready;
    }
    try {
      if (rows > 0) desk_->logits = desk_->model->runtime().head(hidden);
    } catch (...) {
      ++desk_->epoch;  // nothing is prepared after all
      throw;
    }
    return ready;
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

  // 1 if the row joins the product, 0 if it is there already or was not kept.
  static std::size_t gather(const NetworkPrediction& prediction, Position row, int at, std::vector<float>& hidden) {
    const std::span<const float> state = prediction.hidden(row);
    if (state.empty() || prediction.prepared_row(row) >= 0) return 0;
    prediction.set_prepared(row, at);
    hidden.insert(hidden.end(), state.begin(), state.end());
    return 1;
  }

  std::shared_ptr<Desk> desk_;
};

}  // namespace

std::shared_ptr<Denoiser> make_denoiser(std::shared_ptr<Model> model) {
  model->require(Role::denoiser);
  return std::make_shared<NetworkDenoiser>(std::move(model));
}

}  // namespace pgdlm
