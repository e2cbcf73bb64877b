// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>
#include <quire/error.h>
#include <quire/model.h>
#include <xxhash.h>

#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/thread_pool.h"
#include "model/decoder.h"
#include "model/model_files.h"
#include "model/ops.h"
#include "model/weights.h"
#include "text/tokenizer_fingerprint.h"

namespace quire {

namespace {

std::unique_ptr<const Ops> make_ops(Device device, DType dtype) {
  if (device == Device::kCpu) return nullptr;  // cpu_ops() serves all models
  if (dtype == DType::kNative) {
    throw Error(ErrorCode::kUnsupported, "dtype native", "expected device cpu, found cuda");
  }
  try {
    at::empty({1}, at::TensorOptions().device(at::kCUDA));
  } catch (const c10::Error& error) {
    throw Error(ErrorCode::kUnsupported, "device cuda", error.what_without_backtrace());
  }
  return make_aten_ops(device, dtype);
}

std::string fingerprint_of(const Weights& weights, std::string_view config_json, DType dtype) {
  return weights.fingerprint + "/" +
         std::to_string(XXH3_64bits(config_json.data(), config_json.size())) + "/" +
         std::string(to_string(dtype));
}

// Runs `work`; what libtorch and the allocator throw becomes an Error.
template <typename Work>
auto translated(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, "model", "the host refused an allocation");
  } catch (const c10::Error& error) {
    throw Error(ErrorCode::kOutOfMemory, "model", error.what_without_backtrace());
  }
}

}  // namespace

class Model::Impl {
 public:
  Impl(const std::filesystem::path& from, const ModelOptions& options, ThreadPool& pool)
      : Impl(open_model(from), from, options, pool) {}

  at::Tensor forward(std::span<const Sequence> batch, ThreadPool* threads) const {
    return translated([&] { return decoder_.forward(batch, threads); });
  }

  const std::string& tokenizer_fingerprint() const {
    std::call_once(tokenizer_once_, [&] {
      if (tokenizer) tokenizer_fingerprint_ = fingerprint_of(*tokenizer);
    });
    return tokenizer_fingerprint_;
  }

  const ModelConfig config;
  const DType dtype;
  const Device device;
  const std::filesystem::path path;
  const KvSpec kv_spec;
  const std::shared_ptr<const Tokenizer> tokenizer;
  const std::shared_ptr<const ChatTemplate> chat_template;
  const GenerationDefaults defaults;

 private:
  // The checkpoint is let go with `files`: everything has been copied out of it.
  Impl(ModelFiles files, const std::filesystem::path& from, const ModelOptions& options,
       ThreadPool& pool)
      : config(std::move(files.config)),
        dtype(resolve_dtype(options.dtype, files.plan, options.device)),
        device(options.device),
        path(from),
        kv_spec(kv_spec_of(config, dtype, device)),
        tokenizer(std::move(files.tokenizer)),
        chat_template(std::move(files.chat_template)),
        defaults(std::move(files.defaults)),
        own_ops_(make_ops(device, dtype)),
        ops_(own_ops_ ? *own_ops_ : cpu_ops()),
        weights_(translated([&] {
          return load_weights(files.plan, config, ops_, dtype, &pool, options.progress);
        })),
        decoder_(config, weights_, ops_),
        fingerprint(fingerprint_of(weights_, files.checkpoint->config_json(), dtype)) {}

  const std::unique_ptr<const Ops> own_ops_;
  const Ops& ops_;
  const Weights weights_;
  const Decoder decoder_;
  mutable std::once_flag tokenizer_once_;
  mutable std::string tokenizer_fingerprint_;

 public:
  const std::string fingerprint;
};

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;

std::shared_ptr<const Model> Model::load(const std::filesystem::path& path,
                                         const ModelOptions& options) {
  ThreadPool pool(options.threads);
  return std::shared_ptr<const Model>(new Model(std::make_unique<Impl>(path, options, pool)));
}

const ModelConfig& Model::config() const { return impl_->config; }
const KvSpec& Model::kv_spec() const { return impl_->kv_spec; }
DType Model::dtype() const { return impl_->dtype; }
Device Model::device() const { return impl_->device; }
const std::filesystem::path& Model::path() const { return impl_->path; }

const std::string& Model::fingerprint() const { return impl_->fingerprint; }

const std::string& Model::tokenizer_fingerprint() const { return impl_->tokenizer_fingerprint(); }

const std::shared_ptr<const Tokenizer>& Model::tokenizer() const { return impl_->tokenizer; }
const std::shared_ptr<const ChatTemplate>& Model::chat_template() const {
  return impl_->chat_template;
}
const GenerationDefaults& Model::generation_defaults() const { return impl_->defaults; }

at::Tensor Model::forward(std::span<const Sequence> batch, ThreadPool* threads) const {
  return impl_->forward(batch, threads);
}

}  // namespace quire
