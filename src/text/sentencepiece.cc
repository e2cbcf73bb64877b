// SPDX-License-Identifier: Apache-2.0
#include "text/sentencepiece.h"

#include <quire/error.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "io/read_file.h"

namespace quire {

namespace {

// normalizer_spec { add_dummy_prefix: false }, which a parser merges into what came before.
constexpr std::string_view kNoDummyPrefix{"\x1A\x02\x18\x00", 4};

class SentencePieceTextModel final : public TextModel {
 public:
  // `first_only`: a space is put before the text's begin, not behind every added token.
  SentencePieceTextModel(std::string bytes, bool first_only, std::string subject)
      : subject_(std::move(subject)) {
    load(bytes, everywhere_);
    if (first_only) load(bytes.append(kNoDummyPrefix), inner_.emplace());
  }

  void tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const override {
    const auto& processor = inner_ && !scratch.at_start ? *inner_ : everywhere_;
    std::vector<int> ids;
    const auto status = processor.Encode(piece, &ids);
    if (!status.ok()) {
      throw Error(ErrorCode::kInvalidArgument, subject_,
                  "sentencepiece cannot encode this text: " + std::string(status.message()));
    }
    out.insert(out.end(), ids.begin(), ids.end());
    if (scratch.surfaces != nullptr) {
      const std::vector<std::string> pieces = processor.EncodeAsPieces(piece);
      scratch.surfaces->insert(scratch.surfaces->end(), pieces.begin(), pieces.end());
    }
  }

 private:
  void load(const std::string& bytes, sentencepiece::SentencePieceProcessor& processor) const {
    const auto status = processor.LoadFromSerializedProto(bytes);
    if (!status.ok()) {
      throw Error(ErrorCode::kCorrupt, subject_,
                  "sentencepiece refuses it: " + std::string(status.message()));
    }
  }

  std::string subject_;
  sentencepiece::SentencePieceProcessor everywhere_;
  std::optional<sentencepiece::SentencePieceProcessor> inner_;
};

// The library must not write to the application's stderr.
void silence() {
  static std::once_flag once;
  std::call_once(once, [] { sentencepiece::SetMinLogLevel(100); });
}

std::vector<AddedToken> named_tokens(const TokenizerConfig& config, const Vocabulary& vocabulary) {
  std::vector<AddedToken> tokens;
  for (const std::string& name : config.special_tokens) {
    const TokenId id = vocabulary.find(name);
    const bool listed = std::any_of(tokens.begin(), tokens.end(),
                                    [&](const AddedToken& other) { return other.content == name; });
    if (id == Vocabulary::kNone || listed) continue;
    AddedToken token;
    token.content = name;
    token.id = id;
    token.special = true;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

TokenizerParts read_sentencepiece(const std::filesystem::path& file,
                                  const TokenizerConfig& config) {
  silence();
  std::string bytes = read_file(file);
  TokenizerParts parts;
  parts.subject = file.string();
  parts.kind = "sentencepiece";
  const SentencePieceModel model = parse_sentencepiece_model(bytes, parts.subject);
  auto vocabulary = std::make_shared<Vocabulary>();
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const auto& piece = model.pieces[i];
    const auto id = static_cast<TokenId>(i);
    vocabulary->add(piece.text, id);
    const bool control = piece.type == SentencePieceModel::kControl;
    const bool unknown = piece.type == SentencePieceModel::kUnknown;
    parts.special.push_back(control || unknown);
    if (unknown) parts.unk = id;
    if (control && piece.text == model.bos_piece) parts.bos = id;
    if (control && piece.text == model.eos_piece) parts.eos = {id};
  }
  parts.vocabulary = vocabulary;
  std::vector<AddedToken> added = named_tokens(config, *vocabulary);
  config.amend(added, *vocabulary);
  const bool first_only =
      model.add_dummy_prefix && !added.empty() && !config.legacy.value_or(false);
  parts.added.build(std::move(added), [](std::string_view text) { return std::string(text); });
  parts.decoder.push_back(sentencepiece_step(model));
  TokenizerConfig adding = config;
  if (!adding.add_bos_token) adding.add_bos_token = true;
  adding.apply(parts);
  parts.model =
      std::make_unique<SentencePieceTextModel>(std::move(bytes), first_only, parts.subject);
  return parts;
}

}  // namespace quire
