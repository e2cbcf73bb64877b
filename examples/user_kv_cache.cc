// SPDX-License-Identifier: Apache-2.0
// user_kv_cache MODEL: a KV cache of one's own. It keeps the first tokens of a text, to which much
// attention goes whatever they say (attention sinks, arXiv:2309.17453), and a window of the last.
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <quire/quire.h>

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

class SinkCache final : public quire::KvCache {
 public:
  SinkCache(std::size_t layers, std::int64_t sinks, std::int64_t window)
      : layers_(layers), sinks_(sinks), window_(window) {}

  std::int64_t length() const override { return layers_[0].seen; }
  std::int64_t kept() const {
    return layers_[0].keys.defined() ? layers_[0].keys.size(0) : std::int64_t{0};
  }

  // What has been dropped cannot come back.
  bool can_truncate(std::int64_t n) const override {
    return n == 0 || (n <= length() && kept() == length()) || n == length();
  }

  void truncate(std::int64_t n) override {
    for (Layer& layer : layers_) {
      const std::int64_t surplus = std::max<std::int64_t>(0, layer.seen - n);
      if (surplus == 0) continue;
      layer.keys = n == 0 ? at::Tensor() : layer.keys.narrow(0, 0, layer.keys.size(0) - surplus);
      layer.values =
          n == 0 ? at::Tensor() : layer.values.narrow(0, 0, layer.values.size(0) - surplus);
      layer.seen = n;
    }
  }

  std::unique_ptr<quire::KvCache> clone() const override {
    auto copy = std::make_unique<SinkCache>(layers_.size(), sinks_, window_);
    copy->layers_ = layers_;  // the tensors are never written again, so they can be shared
    return copy;
  }

  std::int64_t bytes() const override {
    std::int64_t total = 0;
    for (const Layer& layer : layers_) {
      if (layer.keys.defined()) total += 2 * static_cast<std::int64_t>(layer.keys.nbytes());
    }
    return total;
  }

  // Tokens go only when a pass is complete: until then rollback needs them.
  void commit() override {
    if (kept() <= sinks_ + window_) return;
    const auto shorten = [this](const at::Tensor& all) {
      return at::cat({all.narrow(0, 0, sinks_), all.narrow(0, all.size(0) - window_, window_)});
    };
    for (Layer& layer : layers_) {
      layer.keys = shorten(layer.keys);
      layer.values = shorten(layer.values);
    }
  }

 protected:
  std::pair<at::Tensor, at::Tensor> update(std::int64_t index, const at::Tensor& k,
                                           const at::Tensor& v) override {
    Layer& layer = layers_[static_cast<std::size_t>(index)];
    layer.keys = layer.keys.defined() ? at::cat({layer.keys, k}) : k.clone();
    layer.values = layer.values.defined() ? at::cat({layer.values, v}) : v.clone();
    layer.seen += k.size(0);
    return {layer.keys, layer.values};
  }

 private:
  struct Layer {
    at::Tensor keys;  // [tokens kept, Hkv, D]
    at::Tensor values;
    std::int64_t seen = 0;  // tokens, dropped ones included
  };
  std::vector<Layer> layers_;
  std::int64_t sinks_;
  std::int64_t window_;
};

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto model = quire::Model::load(argv[1], {.dtype = quire::DType::kF32});
  quire::Generator generator(model);
  const quire::Request request{
      .ids = quire::TokenIds{5, 9, 2, 7}, .max_new_tokens = 40, .ignore_eos = true};
  const auto generate = [&](quire::KvCache& cache) {
    quire::Request mine = request;
    mine.cache = &cache;
    return generator.generate(mine).ids;
  };

  quire::DynamicCache everything(model->kv_spec());
  SinkCache roomy(model->kv_spec().layers.size(), 4, 1000);
  SinkCache small(model->kv_spec().layers.size(), 4, 16);
  const quire::TokenIds expected = generate(everything);
  const bool same = generate(roomy) == expected;
  generate(small);

  std::cout << "with room for all: " << (same ? "the same answer" : "ANOTHER ANSWER") << "\n"
            << "4 sinks and 16 more: " << small.kept() << " of " << small.length()
            << " tokens kept, " << small.bytes() << " bytes\n";
  return same && small.kept() == 20 && small.length() == 43 ? 0 : 1;
}
