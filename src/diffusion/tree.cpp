#include "diffusion/tree.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/check.h"

namespace pgdlm {

void State::apply(std::span<const Edit> edits) {
  for (const Edit& edit : edits) {
    tokens[edit.position] = edit.token;
    notes[edit.position] = edit.note;
  }
}

Tree::Tree(State root) : root_canvas_(std::move(root)) { cells_.push_back({}); }

NodeId Tree::grow(NodeId parent, int step, std::vector<Edit> edits) {
  Cell cell{Node{parent, step, std::move(edits), at(parent).value}};
  cell.node.edits.shrink_to_fit();

  NodeId id{static_cast<std::uint32_t>(cells_.size())};
  if (free_.empty()) {
    cells_.push_back(std::move(cell));
  } else {
    id = free_.back();
    free_.pop_back();
    cells_[index(id)] = std::move(cell);
  }
  ++cells_[index(parent)].children;
  return id;
}

void Tree::set_value(NodeId id, double value) {
  Node& node = cells_[index(id)].node;
  PGDLM_CHECK(!node.valued);
  node.value = value;
  node.valued = true;
}

State Tree::read(NodeId id) const {
  std::vector<NodeId> replay;
  auto found = canvases_.find(id);
  for (; found == canvases_.end() && id != root(); found = canvases_.find(id)) {
    replay.push_back(id);
    id = at(id).parent;
  }
  State state = found == canvases_.end() ? root_canvas_ : found->second;
  for (auto it = replay.rbegin(); it != replay.rend(); ++it) state.apply(at(*it).edits);
  return state;
}

void Tree::have_at_hand(std::unordered_map<NodeId, State> canvases) { canvases_ = std::move(canvases); }

std::vector<NodeId> Tree::path(NodeId leaf) const {
  std::vector<NodeId> path;
  for (; leaf != root(); leaf = at(leaf).parent) path.push_back(leaf);
  path.push_back(root());
  std::reverse(path.begin(), path.end());
  return path;
}

void Tree::keep(std::span<const NodeId> live) {
  const std::unordered_set<NodeId> wanted(live.begin(), live.end());
  std::erase_if(canvases_, [&](const auto& entry) { return !wanted.contains(entry.first); });
  for (std::size_t i = 1; i < cells_.size(); ++i) {
    NodeId id{static_cast<std::uint32_t>(i)};
    while (id != root() && cells_[index(id)].used && cells_[index(id)].children == 0 && !wanted.contains(id)) {
      const NodeId parent = at(id).parent;
      cells_[index(id)] = Cell{.used = false};
      free_.push_back(id);
      --cells_[index(parent)].children;
      id = parent;
    }
  }
}

std::size_t Tree::bytes() const {
  std::size_t sum = cells_.capacity() * sizeof(Cell) + free_.capacity() * sizeof(NodeId);
  for (const Cell& cell : cells_) sum += cell.node.edits.capacity() * sizeof(Edit);
  for (const auto& [id, canvas] : canvases_)
    sum += sizeof(id) + canvas.tokens.capacity() * sizeof(Token) + canvas.notes.capacity() * sizeof(float);
  return sum;
}

}  // namespace pgdlm
