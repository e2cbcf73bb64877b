// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <quire/dtype.h>
#include <quire/export.h>

namespace at {
class Tensor;
}

namespace quire {

class ThreadPool;

// What a model needs of a KV cache, layer by layer.
struct KvLayer {
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  // a token attends to the last `window` tokens, itself included; 0: all

  bool operator==(const KvLayer&) const = default;
};

struct KvSpec {
  std::vector<KvLayer> layers;
  DType dtype = DType::kF32;  // how keys and values are kept
  Device device = Device::kCpu;

  // Bytes of one token's keys and values over all layers, unquantised.
  QUIRE_EXPORT std::int64_t bytes_per_token() const;
  bool operator==(const KvSpec&) const = default;
};

// One layer's attention for T new tokens of one sequence. Tensors are float32 on the CPU and of
// the model's dtype elsewhere; rows are contiguous, tokens may be strided.
struct Attention {
  std::int64_t layer;
  const at::Tensor& q;  // [T, H, D], rotary applied
  const at::Tensor& k;  // [T, Hkv, D], rotary applied
  const at::Tensor& v;  // [T, Hkv, D]
  at::Tensor& out;      // [T, H, D], written
  float scale;          // of q·k
  float softcap = 0;    // cap * tanh(score / cap); 0: none
  ThreadPool* threads = nullptr;  // null: the calling thread alone
};

// The keys and values of one sequence, and the attention over them. The cache owns its layout, so
// it owns the attention too; the base class implements attention over update() with ATen, and a
// class of your own needs only length, truncate, clone and update.
//
// One forward pass of T tokens is: prepare(T); attend(layer 0) … attend(layer L-1); commit().
// Everything is checked in prepare; a pass that fails before commit is undone by rollback().
//
// Thread-safety: one sequence, one thread at a time. Distinct caches are independent, forks too.
class QUIRE_EXPORT KvCache {
 public:
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  virtual ~KvCache();
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  // The name that reports use: "dynamic", "static", …; a class of your own may have its own.
  virtual std::string_view kind() const { return "custom"; }

  // Tokens whose keys and values are here, by position: after generate(), prompt + new - 1.
  virtual std::int64_t length() const = 0;

  // The most tokens this cache can ever hold.
  virtual std::int64_t capacity() const;

  // Forgets all but the first n tokens. REQUIRES: can_truncate(n); else Error kInvalidArgument and
  // nothing changes.
  virtual void truncate(std::int64_t n) = 0;

  // 0 <= n <= length(), and everything that token n would attend to is still here.
  virtual bool can_truncate(std::int64_t n) const;

  // truncate(length() - n).
  void drop_last(std::int64_t n);

  // truncate(0), and memory given back.
  virtual void reset();

  // An independent cache with the same tokens. clone copies; fork shares what it can until one
  // side writes.
  virtual std::unique_ptr<KvCache> clone() const = 0;
  virtual std::unique_ptr<KvCache> fork() const;

  // A way back over several passes, where truncate may not reach because a window has moved on:
  // restore(*checkpoint()) makes the cache what it was and uses the checkpoint up. Null where
  // truncate always can, as in the base class.
  virtual std::unique_ptr<KvCache> checkpoint() const { return nullptr; }
  virtual void restore(KvCache& checkpoint) { truncate(checkpoint.length()); }

  // Memory held for keys and values, shared pages included.
  virtual std::int64_t bytes() const;

  // Announces a forward pass of n tokens and makes room for them. Throws Error kContextOverflow or
  // kOutOfPages and changes nothing if they do not fit.
  virtual void prepare(std::int64_t n);

  // Appends k and v to the layer and writes the attention of q over everything kept.
  virtual void attend(const Attention& attention);

  // The pass is complete: length() has grown by n. / The pass is abandoned: length() is as before
  // prepare. The base class relies on length() counting the tokens appended to layer 0.
  virtual void commit();
  virtual void rollback();

 protected:
  KvCache() = default;

  // Appends k, v ([T, Hkv, D]) to the layer and returns all keys and values that the new tokens may
  // attend to ([S, Hkv, D] each, the new ones last). Only the base class's attend calls it.
  virtual std::pair<at::Tensor, at::Tensor> update(std::int64_t layer, const at::Tensor& k,
                                                   const at::Tensor& v);

  // The window of a layer, for the base class's mask; 0: none.
  virtual std::int64_t window(std::int64_t layer) const;

 private:
  std::int64_t prepared_from_ = 0;
};

}  // namespace quire
