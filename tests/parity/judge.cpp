#include "parity/judge.h"

#include <llama.h>

#include <stdexcept>

namespace pgdlm::parity {
namespace {

constexpr int kLongest = 512;

void quiet(ggml_log_level, const char*, void*) {}

llama_context* make_context(llama_model* model, Ask ask) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = params.n_batch = params.n_ubatch = kLongest;
  params.n_threads = params.n_threads_batch = 1;
  params.type_k = params.type_v = GGML_TYPE_F32;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.embeddings = ask != Ask::logits;
  params.pooling_type = ask == Ask::labels ? LLAMA_POOLING_TYPE_RANK : LLAMA_POOLING_TYPE_NONE;
  return llama_init_from_model(model, params);
}

}  // namespace

Judge::Judge(const std::filesystem::path& file, Ask ask) : ask_(ask) {
  llama_log_set(quiet, nullptr);
  llama_model_params params = llama_model_default_params();
  params.vocab_only = ask == Ask::vocabulary;
  params.use_extra_bufts = false;  // weights as they lie in the file, as ours; other layouts run other kernels
  model_ = llama_model_load_from_file(file.c_str(), params);
  if (model_ == nullptr) throw std::runtime_error("libllama does not load " + file.string());
  if (ask == Ask::vocabulary) return;
  context_ = make_context(model_, ask);
  if (context_ == nullptr) throw std::runtime_error("libllama does not run " + file.string());
}

Judge::~Judge() {
  llama_free(context_);
  llama_model_free(model_);
}

std::vector<float> Judge::run(std::span<const Token> tokens) {
  const int length = static_cast<int>(tokens.size());
  llama_memory_clear(llama_get_memory(context_), true);
  llama_batch batch = llama_batch_init(length, 0, 1);
  batch.n_tokens = length;
  for (int i = 0; i < length; ++i) {
    batch.token[i] = tokens[static_cast<std::size_t>(i)];
    batch.pos[i] = i;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = 1;
  }
  const int failed = llama_decode(context_, batch);
  llama_batch_free(batch);
  if (failed != 0) throw std::runtime_error("llama_decode gives " + std::to_string(failed));

  if (ask_ == Ask::labels) {
    const float* labels = llama_get_embeddings_seq(context_, 0);
    return {labels, labels + llama_model_n_cls_out(model_)};
  }
  const bool logits = ask_ == Ask::logits;
  const int width = logits ? llama_vocab_n_tokens(llama_model_get_vocab(model_)) : llama_model_n_embd(model_);
  std::vector<float> all;
  for (int i = 0; i < length; ++i) {
    const float* row = logits ? llama_get_logits_ith(context_, i) : llama_get_embeddings_ith(context_, i);
    all.insert(all.end(), row, row + width);
  }
  return all;
}

std::vector<Token> Judge::tokenize(const std::string& text, bool add_special, bool parse_special) const {
  std::vector<llama_token> tokens(text.size() + 8);
  const int count = llama_tokenize(llama_model_get_vocab(model_), text.data(), static_cast<int>(text.size()),
                                   tokens.data(), static_cast<int>(tokens.size()), add_special, parse_special);
  if (count < 0) throw std::runtime_error("llama_tokenize wants " + std::to_string(-count) + " tokens");
  return {tokens.begin(), tokens.begin() + count};
}

}  // namespace pgdlm::parity
