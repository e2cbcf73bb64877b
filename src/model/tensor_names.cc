// SPDX-License-Identifier: Apache-2.0
#include "model/tensor_names.h"

#include <array>
#include <string_view>

#include "model/families.h"

namespace quire {

namespace {

struct Spelling {
  std::string_view hf;
  std::string_view gguf;
};

Spelling spelling(Part part, bool norm_after) {
  switch (part) {
    case Part::kEmbedding:
      return {"embed_tokens", "token_embd"};
    case Part::kFinalNorm:
      return {"norm", "output_norm"};
    case Part::kHead:
      return {"lm_head", "output"};
    case Part::kAttentionNorm:
      return {"input_layernorm", "attn_norm"};
    case Part::kQ:
      return {"self_attn.q_proj", "attn_q"};
    case Part::kK:
      return {"self_attn.k_proj", "attn_k"};
    case Part::kV:
      return {"self_attn.v_proj", "attn_v"};
    case Part::kQkv:
      return {"self_attn.qkv_proj", "attn_qkv"};
    case Part::kOut:
      return {"self_attn.o_proj", "attn_output"};
    case Part::kQNorm:
      return {"self_attn.q_norm", "attn_q_norm"};
    case Part::kKNorm:
      return {"self_attn.k_norm", "attn_k_norm"};
    case Part::kAttentionAfterNorm:
      return {"post_attention_layernorm", "post_attention_norm"};
    // Where the attention's output has no norm of its own, this one is named after its place.
    case Part::kMlpNorm:
      return {norm_after ? "pre_feedforward_layernorm" : "post_attention_layernorm", "ffn_norm"};
    case Part::kGate:
      return {"mlp.gate_proj", "ffn_gate"};
    case Part::kUp:
      return {"mlp.up_proj", "ffn_up"};
    case Part::kGateUp:
      return {"mlp.gate_up_proj", "ffn_up"};
    case Part::kDown:
      return {"mlp.down_proj", "ffn_down"};
    case Part::kMlpAfterNorm:
      return {"post_feedforward_layernorm", "post_ffw_norm"};
    case Part::kRouter:
      return {"mlp.gate", "ffn_gate_inp"};
  }
  return {};
}

// The first prefix under which the embedding is found: text models stand alone, inside multimodal
// ones, or were saved without their head.
std::string find_prefix(const Checkpoint& checkpoint) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"model.", "language_model.model.",
                                                         "model.language_model.", ""};
  for (const std::string_view prefix : kPrefixes) {
    if (checkpoint.find(std::string(prefix) + "embed_tokens.weight") != nullptr) {
      return std::string(prefix);
    }
  }
  return "model.";
}

}  // namespace

TensorNames::TensorNames(const Checkpoint& checkpoint, const ModelConfig& config)
    : TensorNames(config) {
  gguf_ = checkpoint.format() == Checkpoint::Format::kGguf;
  const Family* family = find_family(config.architecture);
  interleaved_ = gguf_ && family != nullptr && family->interleaved_in_gguf;
  if (!gguf_) prefix_ = find_prefix(checkpoint);
}

TensorNames::TensorNames(const ModelConfig& config)
    : gguf_(false), interleaved_(false), norm_after_(config.norm_after), prefix_("model.") {
  const Family* family = find_family(config.architecture);
  block_sparse_moe_ = family != nullptr && family->experts == ExpertNames::kBlockSparseMoe;
}

std::string TensorNames::of(Part part) const {
  const Spelling name = spelling(part, norm_after_);
  if (gguf_) return std::string(name.gguf);
  // The head stands beside the model, not in it.
  if (part == Part::kHead) {
    return prefix_ == "language_model.model." ? "language_model.lm_head" : "lm_head";
  }
  return prefix_ + std::string(name.hf);
}

std::string TensorNames::of(Part part, std::int64_t layer) const {
  const Spelling name = spelling(part, norm_after_);
  if (gguf_) return "blk." + std::to_string(layer) + '.' + std::string(name.gguf);
  const std::string in_layer =
      part == Part::kRouter && block_sparse_moe_ ? "block_sparse_moe.gate" : std::string(name.hf);
  return prefix_ + "layers." + std::to_string(layer) + '.' + in_layer;
}

std::string TensorNames::of_expert(Part part, std::int64_t layer, std::int64_t expert) const {
  const std::string number = std::to_string(expert);
  if (gguf_) return of(part, layer) + '.' + number;
  const std::string in_layer = prefix_ + "layers." + std::to_string(layer) + '.';
  if (block_sparse_moe_) {
    const char* name = part == Part::kGate ? "w1" : part == Part::kDown ? "w2" : "w3";
    return in_layer + "block_sparse_moe.experts." + number + '.' + name;
  }
  const std::string_view name = spelling(part, norm_after_).hf;
  return in_layer + "mlp.experts." + number + std::string(name.substr(name.find('.')));
}

std::string TensorNames::of_experts(Part part, std::int64_t layer) const {
  if (gguf_) return of(part, layer) + "_exps";
  const std::string_view name = spelling(part, norm_after_).hf;
  return prefix_ + "layers." + std::to_string(layer) + ".mlp.experts" +
         std::string(name.substr(name.find('.')));
}

}  // namespace quire
