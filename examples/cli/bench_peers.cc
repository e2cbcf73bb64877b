// SPDX-License-Identifier: Apache-2.0
#include "bench_peers.h"

#include <string>
#include <vector>

#include "child.h"

namespace cli {
namespace {

// Prints one line of JSON. Argument vector: model, prefill, decode, threads, repeats, dtype.
constexpr const char* kTransformers = R"(
import importlib.util, json, os, sys, time
if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
    sys.exit(1)
import torch, transformers
model, (prefill, decode, threads, repeats), dtype = sys.argv[1], map(int, sys.argv[2:6]), sys.argv[6]
torch.set_num_threads(threads)
where = dict(gguf_file=os.path.basename(model)) if os.path.isfile(model) else {}
folder = os.path.dirname(model) if where else model
net = transformers.AutoModelForCausalLM.from_pretrained(
    folder, dtype=getattr(torch, dtype), local_files_only=True, **where).eval()
ids = torch.arange(prefill).remainder(net.config.get_text_config().vocab_size)[None]
def read():
    start = time.perf_counter()
    net(ids, logits_to_keep=1)
    return time.perf_counter() - start
def answer():
    out = net(ids[:, :16], use_cache=True, logits_to_keep=1)
    start = time.perf_counter()
    for _ in range(decode):
        out = net(out.logits[:, -1:].argmax(-1), past_key_values=out.past_key_values,
                  use_cache=True, logits_to_keep=1)
    return time.perf_counter() - start
with torch.no_grad():
    read()
    print(json.dumps(dict(
        version=transformers.__version__, weights=dtype,
        prefill_tokens_per_s=prefill / min(read() for _ in range(repeats)),
        decode_tokens_per_s=decode / min(answer() for _ in range(repeats)))))
)";

// One test of llama-bench: tokens per second, and its version.
Json run_llama_bench(const PeerWork& work, std::int64_t prefill, std::int64_t decode) {
  const auto output =
      output_of({"llama-bench", "-m", work.model.string(), "-p", std::to_string(prefill), "-n",
                 std::to_string(decode), "-r", std::to_string(work.repeats), "-t",
                 std::to_string(work.threads), "-ngl", "0", "-o", "json"});
  const Json rows = Json::parse(output.value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!rows.is_array() || rows.empty() || !rows[0].is_object()) return {};
  const Json& row = rows[0];
  if (!row.contains("avg_ts") || !row["avg_ts"].is_number()) return {};
  return {{"version", row.value("build_number", 0)},
          {"weights", row.value("model_type", "")},
          {"tokens_per_s", row["avg_ts"]}};
}

}  // namespace

Json measure_llama_cpp(const PeerWork& work) {
  if (work.model.extension() != ".gguf") return {};
  const Json prefill = run_llama_bench(work, work.prefill, 0);
  if (prefill.is_null()) return {};
  const Json decode = run_llama_bench(work, 0, work.decode);
  if (decode.is_null()) return {};
  return {{"name", "llama.cpp"},
          {"version", "b" + prefill["version"].dump()},
          {"weights", prefill["weights"]},
          {"prefill_tokens_per_s", prefill["tokens_per_s"]},
          {"decode_tokens_per_s", decode["tokens_per_s"]}};
}

Json measure_transformers(const PeerWork& work) {
  const auto output = output_of({"python3", "-c", kTransformers, work.model.string(),
                                 std::to_string(work.prefill), std::to_string(work.decode),
                                 std::to_string(work.threads), std::to_string(work.repeats),
                                 work.dtype == quire::DType::kF32 ? "float32" : "bfloat16"});
  const Json measured = Json::parse(output.value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!measured.is_object()) return {};
  Json out = {{"name", "transformers"}};
  out.update(measured);
  return out;
}

}  // namespace cli
