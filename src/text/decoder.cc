// SPDX-License-Identifier: Apache-2.0
#include "text/decoder.h"

#include <optional>

#include "text/byte_letters.h"
#include "text/byte_tokens.h"
#include "text/decoding_stages.h"
#include "text/normalizer.h"
#include "text/utf8.h"

namespace quire {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

class MappingStage final : public WholeTokenStage {
 public:
  MappingStage(DecodingStage& next, const TokenMap& map) : WholeTokenStage(next), map_(map) {}

 private:
  void whole(std::string& token) override { next().token(map_(token, index_++)); }

  const TokenMap& map_;
  std::size_t index_ = 0;
};

class ByteLevelStage final : public JoiningStage {
 public:
  using JoiningStage::JoiningStage;
  void begin() override { token_.clear(); }
  void text(std::string_view part) override { token_.append(part); }
  void end() override {
    std::string out;
    assembler_.push(spelled_bytes(token_).value_or(token_), out);
    JoiningStage::text(out);
  }
  void finish() override {
    std::string out;
    assembler_.finish(out);
    JoiningStage::text(out);
    JoiningStage::finish();
  }

 private:
  std::string token_;
  Utf8Assembler assembler_;
};

class ByteFallbackStage final : public WholeTokenStage {
 public:
  using WholeTokenStage::WholeTokenStage;
  void finish() override {
    end_run();
    next().finish();
  }

 private:
  void whole(std::string& token) override {
    const int byte = byte_token_value(token);
    if (byte >= 0) {
      run_.push_back(static_cast<char>(byte));
    } else {
      end_run();
      next().token(token);
    }
  }

  void end_run() {
    if (run_.empty()) return;
    if (is_valid_utf8(run_)) {
      next().token(run_);
    } else {
      for (std::size_t i = 0; i < run_.size(); ++i) next().token(kReplacement);
    }
    run_.clear();
  }

  std::string run_;
};

class StripStage final : public DecodingStage {
 public:
  StripStage(DecodingStage& next, const std::string& content, std::size_t start, std::size_t stop)
      : next_(next), content_(content), start_(start), stop_(stop) {}

  void begin() override {
    to_strip_ = start_;
    held_ = 0;
    next_.begin();
  }
  void text(std::string_view part) override {
    for (std::size_t at = 0; at < part.size();) {
      const std::size_t length = character_at(part, at).length;
      add(part.substr(at, length));
      at += length;
    }
  }
  void end() override {
    for (; held_ > stop_; --held_) next_.text(content_);
    next_.end();
  }
  void finish() override { next_.finish(); }

 private:
  void add(std::string_view character) {
    if (character != content_) {
      to_strip_ = 0;
      for (; held_ > 0; --held_) next_.text(content_);
      next_.text(character);
    } else if (to_strip_ > 0) {
      --to_strip_;
    } else if (stop_ == 0) {
      next_.text(character);
    } else {
      ++held_;
    }
  }

  DecodingStage& next_;
  const std::string& content_;
  std::size_t start_;
  std::size_t stop_;
  std::size_t to_strip_ = 0;
  std::size_t held_ = 0;  // contents that may turn out to be the token's last
};

// Has to know the last token: keeps one back.
class BpeSuffixStage final : public WholeTokenStage {
 public:
  BpeSuffixStage(DecodingStage& next, const std::string& suffix)
      : WholeTokenStage(next), suffix_(suffix) {}
  void finish() override {
    let_out("");
    next().finish();
  }

 private:
  void whole(std::string& token) override {
    let_out(" ");
    held_ = token;
  }
  void let_out(std::string_view content) {
    if (held_) next().token(replace_all(*held_, suffix_, content));
    held_.reset();
  }

  const std::string& suffix_;
  std::optional<std::string> held_;
};

std::string without_artifacts(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kArtifacts[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [from, to] : kArtifacts) text = replace_all(text, from, to);
  return text;
}

class CtcStage final : public WholeTokenStage {
 public:
  CtcStage(DecodingStage& next, const std::string& pad, const std::string& delimiter, bool cleanup)
      : WholeTokenStage(next), pad_(pad), delimiter_(delimiter), cleanup_(cleanup) {}

 private:
  void whole(std::string& token) override {
    if (last_ == token) return;
    last_ = token;
    std::string out = pad_.empty() ? token : replace_all(token, pad_, "");
    if (cleanup_) {
      out = without_artifacts(out);
      if (!delimiter_.empty()) out = replace_all(out, delimiter_, " ");
    }
    if (!out.empty()) next().token(out);
  }

  const std::string& pad_;
  const std::string& delimiter_;
  bool cleanup_;
  std::optional<std::string> last_;
};

template <typename Make>
std::unique_ptr<const DecoderStep> made(Make make) {
  return std::make_unique<MadeStep>(std::move(make));
}

}  // namespace

class DecodingChain::Collector final : public DecodingStage {
 public:
  void begin() override {}
  void text(std::string_view part) override { collected.append(part); }
  void end() override {}
  void finish() override {}
  std::string collected;
};

DecodingChain::DecodingChain(const DecoderSteps& steps)
    : collector_(std::make_unique<Collector>()), front_(collector_.get()) {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    stages_.push_back((*step)->start(*front_));
    front_ = stages_.back().get();
  }
}

DecodingChain::DecodingChain(DecodingChain&&) noexcept = default;
DecodingChain& DecodingChain::operator=(DecodingChain&&) noexcept = default;
DecodingChain::~DecodingChain() = default;

std::string DecodingChain::take() { return std::exchange(collector_->collected, {}); }

std::unique_ptr<const DecoderStep> mapping_step(TokenMap map) {
  return made([map = std::move(map)](DecodingStage& next) {
    return std::make_unique<MappingStage>(next, map);
  });
}

std::unique_ptr<const DecoderStep> byte_level_step() {
  return made([](DecodingStage& next) { return std::make_unique<ByteLevelStage>(next); });
}

std::unique_ptr<const DecoderStep> byte_fallback_step() {
  return made([](DecodingStage& next) { return std::make_unique<ByteFallbackStage>(next); });
}

std::unique_ptr<const DecoderStep> fuse_step() {
  return made([](DecodingStage& next) { return std::make_unique<JoiningStage>(next); });
}

std::unique_ptr<const DecoderStep> strip_step(std::string content, std::size_t start,
                                              std::size_t stop) {
  return made([content = std::move(content), start, stop](DecodingStage& next) {
    return std::make_unique<StripStage>(next, content, start, stop);
  });
}

std::unique_ptr<const DecoderStep> replace_step(std::string pattern, std::string content) {
  return mapping_step(
      [pattern = std::move(pattern), content = std::move(content)](
          const std::string& token, std::size_t) { return replace_all(token, pattern, content); });
}

std::unique_ptr<const DecoderStep> replace_step(Regex pattern, std::string content) {
  const auto normalizer =
      std::make_shared<const ReplaceNormalizer>(std::move(pattern), std::move(content));
  return mapping_step(
      [normalizer](const std::string& token, std::size_t) { return normalizer->normalize(token); });
}

std::unique_ptr<const DecoderStep> metaspace_step(std::string replacement, bool prepended) {
  return mapping_step([replacement = std::move(replacement), prepended](const std::string& token,
                                                                        std::size_t index) {
    return replace_all(token, replacement, prepended && index == 0 ? "" : " ");
  });
}

std::unique_ptr<const DecoderStep> word_piece_step(std::string prefix, bool cleanup) {
  return mapping_step(
      [prefix = std::move(prefix), cleanup](const std::string& token, std::size_t index) {
        std::string out = token;
        if (index > 0) out = token.starts_with(prefix) ? token.substr(prefix.size()) : " " + token;
        return cleanup ? without_artifacts(std::move(out)) : out;
      });
}

std::unique_ptr<const DecoderStep> bpe_suffix_step(std::string suffix) {
  return made([suffix = std::move(suffix)](DecodingStage& next) {
    return std::make_unique<BpeSuffixStage>(next, suffix);
  });
}

std::unique_ptr<const DecoderStep> ctc_step(std::string pad, std::string delimiter, bool cleanup) {
  return made(
      [pad = std::move(pad), delimiter = std::move(delimiter), cleanup](DecodingStage& next) {
        return std::make_unique<CtcStage>(next, pad, delimiter, cleanup);
      });
}

std::unique_ptr<const DecoderStep> spaces_step() {
  return mapping_step(
      [](const std::string& token, std::size_t index) { return index == 0 ? token : " " + token; });
}

}  // namespace quire
