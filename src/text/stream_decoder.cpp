#include "text/stream_decoder.h"

#include "text/utf8.h"

namespace pgdlm {

std::string StreamDecoder::feed(Token token) {
  tokenizer_->append(text_, token, keep_special_);
  std::string_view rest = std::string_view(text_).substr(said_);
  std::string out;
  while (!rest.empty()) {
    const Utf8Step step = read_utf8(rest);
    if (step.kind == Utf8Step::kCut) break;
    out += step.kind == Utf8Step::kCharacter ? rest.substr(0, step.length) : kReplacement;
    rest.remove_prefix(step.length);
  }
  const std::size_t done = text_.size() - rest.size();
  if (done > 0) {
    text_.erase(0, done - 1);
    said_ = 1;
  }
  return out;
}

std::string StreamDecoder::flush() {
  const std::string out = valid_utf8(std::string_view(text_).substr(said_));
  text_.clear();
  said_ = 0;
  return out;
}

}  // namespace pgdlm
