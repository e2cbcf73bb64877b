// SPDX-License-Identifier: Apache-2.0
#include <quire/convert.h>
#include <quire/error.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "formats/gguf.h"
#include "formats/safetensors_writer.h"
#include "io/mapped_file.h"
#include "io/new_folder.h"
#include "io/output_file.h"
#include "kernels/half.h"
#include "model/convert_config.h"
#include "model/convert_tokenizer.h"
#include "model/model_files.h"
#include "model/tensor_names.h"
#include "model/weights.h"

namespace quire {

namespace {

namespace fs = std::filesystem;

// A tensor of the directory, and where its values come from: a matrix, a bias or a norm.
struct Planned {
  SafetensorsEntry entry;
  MatrixPlan matrix;
  const TensorInfo* norm = nullptr;
};

// The tensors of a directory in the order of the decoder's layers.
class DirectoryPlan {
 public:
  DirectoryPlan(const WeightsPlan& weights, const ModelConfig& config, DType dtype)
      : names_(config), type_(dtype == DType::kF32 ? BlockType::kF32 : BlockType::kBF16) {
    add(names_.of(Part::kEmbedding), weights.embedding, 0);
    for (std::int64_t i = 0; i < config.layers; ++i) {
      add_layer(i, weights.layers[static_cast<std::size_t>(i)]);
    }
    add_norm(names_.of(Part::kFinalNorm), weights.final_norm);
    if (!weights.head.parts.empty()) add(names_.of(Part::kHead), weights.head, 0);
  }

  std::vector<Planned> take() { return std::move(tensors_); }

 private:
  void add_layer(std::int64_t i, const LayerPlan& layer) {
    add_norm(names_.of(Part::kAttentionNorm, i), layer.attention_norm);
    add(i, {Part::kQ, Part::kK, Part::kV}, Part::kQkv, layer.qkv);
    add_norm(names_.of(Part::kQNorm, i), layer.q_norm);
    add_norm(names_.of(Part::kKNorm, i), layer.k_norm);
    add(names_.of(Part::kOut, i), layer.out, 0);
    add_norm(names_.of(Part::kAttentionAfterNorm, i), layer.attention_after_norm);
    add_norm(names_.of(Part::kMlpNorm, i), layer.mlp_norm);
    add(i, {Part::kGate, Part::kUp}, Part::kGateUp, layer.gate_up);
    if (!layer.down.parts.empty()) add(names_.of(Part::kDown, i), layer.down, 0);
    if (!layer.router.parts.empty()) add(names_.of(Part::kRouter, i), layer.router, 0);
    for (std::size_t e = 0; e < layer.experts.size(); ++e) {
      const auto expert = static_cast<std::int64_t>(e);
      add(names_.of_expert(Part::kGate, i, expert), layer.experts[e].gate_up, 0);
      add(names_.of_expert(Part::kUp, i, expert), layer.experts[e].gate_up, 1);
      add(names_.of_expert(Part::kDown, i, expert), layer.experts[e].down, 0);
    }
    add_norm(names_.of(Part::kMlpAfterNorm, i), layer.mlp_after_norm);
  }

  // A stack of linear layers, which the family keeps apart or as one.
  void add(std::int64_t layer, std::initializer_list<Part> apart, Part fused,
           const MatrixPlan& plan) {
    if (plan.parts.size() == 1) return add(names_.of(fused, layer), plan, 0);
    for (std::size_t i = 0; i < plan.parts.size(); ++i) {
      add(names_.of(apart.begin()[i], layer), plan, i);
    }
  }

  // The part at `index` of a matrix, and its bias.
  void add(const std::string& name, const MatrixPlan& plan, std::size_t index) {
    const TensorRows& rows = plan.parts[index];
    MatrixPlan matrix;
    matrix.parts = {rows};
    matrix.rows = rows.count;
    matrix.cols = plan.cols;
    tensors_.push_back({{name + ".weight", type_, {rows.count, plan.cols}}, std::move(matrix)});
    if (plan.biases.empty()) return;
    MatrixPlan bias;
    bias.biases = {plan.biases[index]};
    bias.rows = rows.count;
    tensors_.push_back({{name + ".bias", type_, {rows.count}}, std::move(bias)});
  }

  void add_norm(const std::string& name, const TensorInfo* norm) {
    if (norm == nullptr) return;
    tensors_.push_back({{name + ".weight", type_, norm->shape}, {}, norm});
  }

  TensorNames names_;
  BlockType type_;
  std::vector<Planned> tensors_;
};

// Writes tensors into one file, or into shards of `shard_bytes` with an index.
class WeightsWriter {
 public:
  WeightsWriter(const fs::path& folder, const ModelConfig& config, const ConvertOptions& options)
      : folder_(folder), config_(config), options_(options) {}

  // Returns the bytes of all tensors.
  std::int64_t write(std::vector<Planned> tensors) {
    std::vector<std::vector<Planned>> shards(1);
    std::uint64_t filled = 0;
    for (Planned& tensor : tensors) {
      const std::uint64_t bytes = tensor.entry.bytes();
      if (filled > 0 && filled + bytes > static_cast<std::uint64_t>(options_.shard_bytes)) {
        shards.emplace_back();
        filled = 0;
      }
      filled += bytes;
      total_ += bytes;
      shards.back().push_back(std::move(tensor));
    }
    Json index = Json::object();
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const std::string name = file_name(i + 1, shards.size());
      for (const Planned& tensor : shards[i]) index[tensor.entry.name] = name;
      write_shard(folder_ / name, shards[i]);
    }
    if (shards.size() > 1) {
      const Json json = {{"metadata", {{"total_size", total_}}}, {"weight_map", std::move(index)}};
      write_new_file(folder_ / "model.safetensors.index.json", json.dump(2) + '\n');
    }
    return static_cast<std::int64_t>(total_);
  }

 private:
  static std::string file_name(std::size_t number, std::size_t count) {
    if (count == 1) return "model.safetensors";
    const auto padded = [](std::size_t value) {
      const std::string digits = std::to_string(value);
      return std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits;
    };
    return "model-" + padded(number) + "-of-" + padded(count) + ".safetensors";
  }

  void write_shard(const fs::path& path, const std::vector<Planned>& tensors) {
    std::vector<SafetensorsEntry> entries;
    for (const Planned& tensor : tensors) entries.push_back(tensor.entry);
    SafetensorsWriter file(path, entries);
    for (const Planned& tensor : tensors) write_tensor(file, tensor);
    file.finish();
  }

  void write_tensor(SafetensorsWriter& file, const Planned& tensor) {
    if (tensor.norm != nullptr) {
      values_ = read_vector(*tensor.norm);
      if (config_.norm_plus_one) {
        for (float& value : values_) value -= 1;
      }
      return write_values(file, tensor.entry.type);
    }
    if (!tensor.matrix.biases.empty()) {
      values_ = read_biases(tensor.matrix);
      return write_values(file, tensor.entry.type);
    }
    constexpr std::int64_t kElementsAtOnce = 1 << 20;
    const MatrixPlan& matrix = tensor.matrix;
    const std::int64_t step = std::max<std::int64_t>(1, kElementsAtOnce / matrix.cols);
    for (std::int64_t row = 0; row < matrix.rows; row += step) {
      const std::int64_t count = std::min(step, matrix.rows - row);
      values_.resize(static_cast<std::size_t>(count * matrix.cols));
      read_rows(matrix, row, count, values_.data());
      write_values(file, tensor.entry.type);
    }
    // All experts of a layer lie in one tensor: only what has been read is let go.
    drop_pages(matrix.parts.front().encoded());
  }

  void write_values(SafetensorsWriter& file, BlockType type) {
    std::span<const std::byte> bytes = std::as_bytes(std::span(values_));
    if (type == BlockType::kBF16) {
      narrow_.resize(values_.size());
      std::transform(values_.begin(), values_.end(), narrow_.begin(), bf16_from_float);
      bytes = std::as_bytes(std::span(narrow_));
    }
    file.write(bytes);
    written_ += bytes.size();
    if (options_.progress) {
      options_.progress(static_cast<double>(written_) / static_cast<double>(total_));
    }
  }

  const fs::path& folder_;
  const ModelConfig& config_;
  const ConvertOptions& options_;
  std::uint64_t total_ = 0;
  std::uint64_t written_ = 0;
  std::vector<float> values_;
  std::vector<std::uint16_t> narrow_;
};

void check(const fs::path& from, const ConvertOptions& options) {
  if (options.dtype == DType::kF16 || options.dtype == DType::kNative) {
    throw Error(ErrorCode::kInvalidArgument, "dtype",
                "expected f32, bf16 or auto, found " + std::string(to_string(options.dtype)));
  }
  if (options.shard_bytes < 1) {
    throw Error(ErrorCode::kInvalidArgument, "shard_bytes",
                "expected at least 1, found " + std::to_string(options.shard_bytes));
  }
  std::error_code ignored;
  if (fs::is_directory(from, ignored) || !GgufFile::has_magic(from)) {
    throw Error(ErrorCode::kUnsupported, from.native(), "expected a .gguf file");
  }
}

}  // namespace

Converted convert(const fs::path& from, const fs::path& to, const ConvertOptions& options) {
  check(from, options);
  const ModelFiles files = open_model(from);
  const GgufFile gguf(from);
  const DType dtype = number_dtype(options.dtype, files.plan);
  const ModelConfig config = directory_config(files.config);
  const auto pad =
      static_cast<TokenId>(gguf.integer_or("tokenizer.ggml.padding_token_id", TokenId{-1}));
  const Json config_json = config_json_of(config, dtype, pad, from.native());

  NewFolder folder(to);
  const auto write_json = [&](const char* name, const Json& json) {
    write_new_file(folder.path() / name, json.dump(2) + '\n');
  };
  write_json("config.json", config_json);
  write_json("generation_config.json", generation_json_of(config, files.defaults, pad));
  write_json("tokenizer_config.json", tokenizer_config_of(gguf, config.context));
  write_new_file(folder.path() / "tokenizer.json", tokenizer_json_of(gguf, *files.tokenizer));
  std::vector<Planned> tensors = DirectoryPlan(files.plan, config, dtype).take();
  const auto count = static_cast<std::int64_t>(tensors.size());
  const std::int64_t bytes =
      WeightsWriter(folder.path(), config, options).write(std::move(tensors));
  open_model(folder.path());  // throws if it would not load
  folder.publish();
  return {folder.target(), count, bytes};
}

}  // namespace quire
