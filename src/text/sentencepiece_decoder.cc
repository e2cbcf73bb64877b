// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "text/byte_tokens.h"
#include "text/decoding_stages.h"
#include "text/normalizer.h"
#include "text/sentencepiece.h"
#include "text/utf8.h"

namespace quire {

namespace {

constexpr std::string_view kSpace = "▁";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Rules {
  std::string unk_piece;
  std::string unk_surface;
  bool strips_prefix;
  bool strips_all;  // every leading space, not just the one put in front
};

class SentencePieceStage final : public WholeTokenStage {
 public:
  SentencePieceStage(DecodingStage& next, const Rules& rules)
      : WholeTokenStage(next), rules_(rules) {}

  void finish() override {
    end_bytes();
    next().finish();
  }

 private:
  void whole(std::string& token) override {
    if (const int byte = byte_token_value(token); byte >= 0) {
      add_byte(static_cast<char>(byte));
      return;
    }
    end_bytes();
    if (stripped_ || emitted_) at_begin_ = false;
    stripped_ = false;
    if (token == rules_.unk_piece) {
      emit(rules_.unk_surface);
      return;
    }
    std::string_view piece = token;
    if (at_begin_ && rules_.strips_prefix && piece.starts_with(kSpace)) {
      piece.remove_prefix(kSpace.size());
      stripped_ = !rules_.strips_all;
    }
    emit(replace_all(piece, kSpace, " "));
  }

  void emit(std::string_view text) {
    emitted_ = emitted_ || !text.empty();
    next().token(text);
  }

  void add_byte(char byte) {
    bytes_.push_back(byte);
    while (!bytes_.empty()) {
      const Utf8Front front = utf8_front(bytes_);
      if (front.kind == Utf8Front::Kind::kTruncated) return;
      const bool good = front.kind == Utf8Front::Kind::kCharacter;
      const std::size_t length = good ? front.length : 1;
      emit(good ? std::string_view(bytes_).substr(0, length) : kReplacement);
      bytes_.erase(0, length);
    }
  }

  void end_bytes() {
    for (std::size_t i = 0; i < bytes_.size(); ++i) emit(kReplacement);
    bytes_.clear();
  }

  const Rules& rules_;
  std::string bytes_;      // the begin of a character
  bool at_begin_ = true;   // nothing but what gives no text came before
  bool stripped_ = false;  // the last piece lost the space put in front
  bool emitted_ = false;
};

}  // namespace

std::unique_ptr<const DecoderStep> sentencepiece_step(const SentencePieceModel& model) {
  Rules rules{{},
              std::string(model.unk_surface),
              model.add_dummy_prefix || model.remove_extra_whitespaces,
              model.remove_extra_whitespaces};
  for (const auto& piece : model.pieces) {
    if (piece.type == SentencePieceModel::kUnknown) rules.unk_piece = piece.text;
  }
  return std::make_unique<MadeStep>([rules = std::move(rules)](DecodingStage& next) {
    return std::make_unique<SentencePieceStage>(next, rules);
  });
}

}  // namespace quire
