#include <gtest/gtest.h>

#include "diffusion/tree.h"
#include "pgdlm/error.h"

namespace pgdlm {
namespace {

constexpr Token kMask = 9;

Tree masked_tree(int length) { return Tree({std::vector<Token>(length, kMask), std::vector<float>(length, 0.0F)}); }

TEST(Tree, StatesAreParentsPlusEdits) {
  Tree tree = masked_tree(3);
  const NodeId a = tree.grow(tree.root(), 0, {{1, 5, 0.5F}});
  const NodeId b = tree.grow(a, 2, {{0, 4, 0.25F}});
  const NodeId c = tree.grow(a, 2, {{1, kMask, 0}});  // remasked
  EXPECT_EQ(tree.read(b).tokens, (std::vector<Token>{4, 5, kMask}));
  EXPECT_EQ(tree.read(b).notes, (std::vector<float>{0.25F, 0.5F, 0}));
  EXPECT_EQ(tree.read(c).tokens, (std::vector<Token>{kMask, kMask, kMask}));
  EXPECT_EQ(tree.path(b), (std::vector<NodeId>{tree.root(), a, b}));
}

TEST(Tree, CanvasesNotAtHandAreReplayed) {
  Tree tree = masked_tree(2);
  const NodeId a = tree.grow(tree.root(), 0, {{0, 1, 0}});
  const NodeId b = tree.grow(a, 1, {{1, 2, 0}});
  tree.have_at_hand({{b, tree.read(b)}});
  tree.keep(std::vector<NodeId>{b});
  EXPECT_EQ(tree.read(a).tokens, (std::vector<Token>{1, kMask}));
  EXPECT_EQ(tree.read(b).tokens, (std::vector<Token>{1, 2}));
}

TEST(Tree, KeepForgetsDeadBranchesOnly) {
  Tree tree = masked_tree(2);
  const NodeId a = tree.grow(tree.root(), 0, {{0, 1, 0}});
  const NodeId dead = tree.grow(a, 1, {{1, 2, 0}});
  tree.grow(dead, 2, {{1, 3, 0}});
  const NodeId live = tree.grow(a, 1, {{1, 4, 0}});
  EXPECT_EQ(tree.size(), 5U);
  tree.keep(std::vector<NodeId>{live});
  EXPECT_EQ(tree.size(), 3U);
  EXPECT_EQ(tree.read(live).tokens, (std::vector<Token>{1, 4}));
  const NodeId reused = tree.grow(live, 3, {{0, 7, 0}});  // ids come back
  EXPECT_EQ(tree.read(reused).tokens, (std::vector<Token>{7, 4}));
  EXPECT_EQ(tree.size(), 4U);
}

TEST(Tree, AValueIsBornOnce) {
  Tree tree = masked_tree(1);
  const NodeId a = tree.grow(tree.root(), 0, {{0, 1, 0}});
  EXPECT_FALSE(tree.at(a).valued);
  tree.set_value(a, -2.5);
  EXPECT_EQ(tree.at(tree.grow(a, 1, {})).value, -2.5);  // inherited until valued itself
  EXPECT_THROW(tree.set_value(a, 1.0), Error);
}

}  // namespace
}  // namespace pgdlm
