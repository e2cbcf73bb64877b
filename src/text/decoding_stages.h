// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "text/decoder.h"

namespace quire {

// A stage that looks at whole tokens: collects the parts of one.
class WholeTokenStage : public DecodingStage {
 public:
  explicit WholeTokenStage(DecodingStage& next) : next_(next) {}
  void begin() final { token_.clear(); }
  void text(std::string_view part) final { token_.append(part); }
  void end() final { whole(token_); }
  void finish() override { next_.finish(); }

 protected:
  virtual void whole(std::string& token) = 0;
  DecodingStage& next() { return next_; }

 private:
  DecodingStage& next_;
  std::string token_;
};

// A stage that joins all tokens to one.
class JoiningStage : public DecodingStage {
 public:
  explicit JoiningStage(DecodingStage& next) : next_(next) { next_.begin(); }
  void begin() override {}
  void text(std::string_view part) override { next_.text(part); }
  void end() override {}
  void finish() override {
    next_.end();
    next_.finish();
  }

 protected:
  DecodingStage& next() { return next_; }

 private:
  DecodingStage& next_;
};

// A step whose stages are made by a function of the next stage.
class MadeStep final : public DecoderStep {
 public:
  using Make = std::function<std::unique_ptr<DecodingStage>(DecodingStage& next)>;
  explicit MadeStep(Make make) : make_(std::move(make)) {}
  std::unique_ptr<DecodingStage> start(DecodingStage& next) const override { return make_(next); }

 private:
  Make make_;
};

// A step that maps the i-th token on its own.
using TokenMap = std::function<std::string(const std::string& token, std::size_t index)>;
std::unique_ptr<const DecoderStep> mapping_step(TokenMap map);

}  // namespace quire
