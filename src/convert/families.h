// The families of models pgdlm converts. Each fills a plan from config.json and the names and shapes of the tensors.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "convert/hf_tokenizer.h"
#include "convert/json_file.h"
#include "convert/plan.h"

namespace pgdlm {

struct Family {
  std::string architecture;                                  // as in general.architecture
  std::function<std::string(std::string_view)> rename = {};  // see Plan
  // Fills the plan, except for the vocabulary.
  void (*plan)(const JsonFile& config, Plan& plan) = nullptr;
  // What the vocabulary cannot know by itself.
  TokenizerRules (*tokenizer)(const JsonFile& config) = nullptr;
  // What is known only with the vocabulary at hand; may be null.
  void (*finish)(const JsonFile& config, const HfTokenizer& tokenizer, Plan& plan) = nullptr;
};

// By the names in `architectures`, else by model_type. Error{unsupported} lists what there is.
Family find_family(const JsonFile& config);

Family mdlm_family();
Family llada_family();
Family dream_family();
Family bert_family();
Family roberta_family();
Family qwen2_prm_family();

// What llada, dream and qwen2 share: the keys of a decoder-shaped transformer.
struct DecoderSizes {
  std::int64_t layers = 0, context = 0, embedding = 0, feed_forward = 0, heads = 0, kv_heads = 0, head = 0, vocab = 0;
  double epsilon = 0, rope_base = 0;
};
void set_decoder_keys(std::string_view architecture, const DecoderSizes& sizes, Plan& plan);

// Dream and Qwen2 name sizes and layers alike.
DecoderSizes qwen2_sizes(const JsonFile& config);
void plan_qwen2_layers(const DecoderSizes& sizes, Plan& plan);

}  // namespace pgdlm
