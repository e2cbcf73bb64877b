// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>

#include <bit>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "text/sentencepiece.h"
#include "text/utf8.h"

namespace quire {

namespace {

// One field of a protobuf message.
struct Field {
  std::uint32_t number;
  std::uint64_t value;     // of a varint or fixed-size field
  std::string_view bytes;  // of a length-delimited one
};

class ProtoReader {
 public:
  ProtoReader(std::string_view bytes, const std::string& subject)
      : bytes_(bytes), subject_(subject) {}

  bool done() const { return at_ == bytes_.size(); }

  Field next() {
    const std::uint64_t tag = varint();
    Field field{static_cast<std::uint32_t>(tag >> 3), 0, {}};
    if (tag >> 3 == 0 || tag >> 3 > (1U << 29)) fail("a field has no valid number");
    switch (tag & 7) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.value = fixed(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.value = fixed(4);
        break;
      default:
        fail("a field has an unknown wire type");
    }
    return field;
  }

  [[noreturn]] void fail(std::string_view problem) const {
    throw Error(ErrorCode::kCorrupt, subject_, "no sentencepiece model: " + std::string(problem));
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) fail("a field is longer than the file");
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  std::uint64_t fixed(std::size_t size) {
    const std::string_view raw = take(size);
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) {
      value = (value << 8) | static_cast<unsigned char>(raw[i]);
    }
    return value;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    fail("a number is longer than ten bytes");
  }

  std::string_view bytes_;
  const std::string& subject_;
  std::size_t at_ = 0;
};

class ModelReader {
 public:
  ModelReader(std::string_view bytes, const std::string& subject)
      : bytes_(bytes), subject_(subject) {}

  SentencePieceModel read() {
    ProtoReader reader(bytes_, subject_);
    while (!reader.done()) {
      const Field field = reader.next();
      if (field.number == 1) read_piece(field.bytes);
      if (field.number == 2) read_trainer(field.bytes);
      if (field.number == 3 || field.number == 5) read_normalizer(field.bytes, field.number == 3);
    }
    if (model_.pieces.empty()) fail("it has no pieces");
    if (unknown_ != 1) {
      fail("expected one unk piece (of type unknown), found " + std::to_string(unknown_));
    }
    return std::move(model_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorCode::kCorrupt, subject_, "no sentencepiece model: " + problem);
  }

  void read_piece(std::string_view bytes) {
    const std::string name = "piece " + std::to_string(model_.pieces.size());
    SentencePieceModel::Piece piece{{}, SentencePieceModel::kNormal};
    ProtoReader reader(bytes, subject_);
    while (!reader.done()) {
      const Field field = reader.next();
      if (field.number == 1) piece.text = field.bytes;
      if (field.number == 2 &&
          !std::isfinite(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)))) {
        fail(name + " has a score that is no number");
      }
      if (field.number == 3) {
        if (field.value < 1 || field.value > 6) {
          fail(name + " has the unknown type " + std::to_string(field.value));
        }
        piece.type = static_cast<SentencePieceModel::Type>(field.value);
      }
    }
    if (piece.text.empty()) fail(name + " is empty");
    if (!is_valid_utf8(piece.text)) fail(name + " is no valid UTF-8");
    if (piece.text.find('\0') != std::string_view::npos) fail(name + " holds a NUL");
    if (!seen_.insert(piece.text).second) {
      fail(name + ": '" + std::string(piece.text) + "' stands twice");
    }
    unknown_ += piece.type == SentencePieceModel::kUnknown;
    model_.pieces.push_back(piece);
  }

  void read_trainer(std::string_view bytes) {
    ProtoReader reader(bytes, subject_);
    while (!reader.done()) {
      const Field field = reader.next();
      if (field.number == 3 && (field.value < 1 || field.value > 4)) {
        fail("unknown model type " + std::to_string(field.value));
      }
      if (field.number == 44) model_.unk_surface = field.bytes;
      if (field.number == 46) model_.bos_piece = field.bytes;
      if (field.number == 47) model_.eos_piece = field.bytes;
    }
  }

  void read_normalizer(std::string_view bytes, bool is_forward) {
    ProtoReader reader(bytes, subject_);
    while (!reader.done()) {
      const Field field = reader.next();
      if (field.number == 2) check_charsmap(field.bytes);
      if (field.number == 3 && is_forward) model_.add_dummy_prefix = field.value != 0;
      if (field.number == 4 && is_forward) model_.remove_extra_whitespaces = field.value != 0;
    }
  }

  // The table begins with the size of its trie.
  void check_charsmap(std::string_view bytes) const {
    if (bytes.empty()) return;
    std::uint64_t size = 0;
    for (std::size_t i = 4; i-- > 0 && bytes.size() >= 4;) {
      size = (size << 8) | static_cast<unsigned char>(bytes[i]);
    }
    if (bytes.size() < 5 || size == 0 || size % 4 != 0 || size >= bytes.size() - 4) {
      fail("precompiled_charsmap claims a trie of " + std::to_string(size) + " bytes in " +
           std::to_string(bytes.size()));
    }
  }

  std::string_view bytes_;
  const std::string& subject_;
  SentencePieceModel model_;
  std::unordered_set<std::string_view> seen_;
  int unknown_ = 0;
};

}  // namespace

SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::string& subject) {
  return ModelReader(bytes, subject).read();
}

}  // namespace quire
