// SPDX-License-Identifier: Apache-2.0
#include "prefix/name_space.h"

#include <quire/cpu.h>
#include <xxhash.h>

#include "kernels/linear.h"

namespace quire {
namespace {

void append(std::string& bytes, std::string_view text) {
  const std::uint64_t size = text.size();
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(size >> shift);
  bytes += text;
}

std::string layout_of(const KvSpec& spec) {
  std::string text;
  for (const KvLayer& layer : spec.layers) {
    text += std::to_string(layer.kv_heads) + "x" + std::to_string(layer.head_dim) + "/" +
            std::to_string(layer.window) + ";";
  }
  return text;
}

// Instruction sets differ by rounding, and tiers are shared by machines. So do machines of one set
// if only some round the inputs of bfloat16 weights.
std::string kernels_of(Device device) {
  if (device != Device::kCpu) return std::string(to_string(device));
  return std::string(isa_name(active_isa())) +
         (kernels::rounds_inputs(DType::kBF16) ? "+bf16" : "");
}

}  // namespace

BlockKey NameSpace::digest() const {
  std::string bytes;
  for (const Field& field : fields) {
    append(bytes, field.name);
    append(bytes, field.value);
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

std::string_view NameSpace::difference(const NameSpace& other) const {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].value != other.fields[i].value) return fields[i].name;
  }
  return {};
}

std::int64_t NameSpace::bytes() const {
  std::size_t total = fields.size() * sizeof(Field);
  for (const Field& field : fields) total += field.value.size();
  return static_cast<std::int64_t>(total);
}

NameSpace make_name_space(const PrefixModel& model, std::int64_t block_size,
                          const PrefixScope& scope) {
  return {{{"model", model.fingerprint},
           {"tokenizer", model.tokenizer},
           {"kv_dtype", std::string(to_string(model.kv.dtype))},
           {"device", std::string(to_string(model.kv.device))},
           {"kv_layout", layout_of(model.kv)},
           {"kernels", kernels_of(model.kv.device)},
           {"format", "1"},  // of pages: counts changes of what their bytes mean
           {"block_size", std::to_string(block_size)},
           {"adapter", scope.adapter},
           {"salt", scope.salt},
           {"namespace", scope.name_space}}};
}

}  // namespace quire
