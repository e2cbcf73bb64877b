"""Write tiny random decoders of every family, with what transformers computes on them.

Each DIR/NAME is a model folder with a golden.json; each DIR/NAME.gguf has a NAME.json beside it. Golden files hold
  prompts      lists of token ids
  last_logits  float32 logits at the last prompt position
  greedy       ids that greedy decoding appends

Usage: make_models.py DIR [SEED [NAME...]]      (needs torch, transformers, gguf, numpy)
"""
import copy, json, pathlib, sys
import gguf, numpy as np, torch
import transformers as T
from transformers import AutoModelForCausalLM

OUT = pathlib.Path(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 0
ONLY = sys.argv[3:]
VOCAB, NEW, LENGTHS = 64, 12, (1, 7, 16, 40)
BASE = dict(vocab_size=VOCAB, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=256, initializer_range=0.35, bos_token_id=1, eos_token_id=2, pad_token_id=0, attn_implementation="eager")

def rope(kind, theta=10000.0, **kw):
    return dict(rope_parameters=dict(rope_type=kind, rope_theta=theta, **kw))

def factors(n, top):  # one factor a frequency, as longrope has them
    return [round(float(x), 3) for x in np.linspace(1.0, top, n)]

LLAMA3 = rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
LONG = dict(short_factor=factors(4, 1.5), long_factor=factors(4, 6.0), original_max_position_embeddings=30)
MOE = dict(head_dim=8, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=32)

# name: config class, its differences, dtype of the files
MODELS = {
    "llama": (T.LlamaConfig, dict(), "float32"),
    "llama-bf16": (T.LlamaConfig, dict(), "bfloat16"),
    "llama-f16": (T.LlamaConfig, dict(tie_word_embeddings=True), "float16"),
    "llama-bias-headdim": (T.LlamaConfig, dict(attention_bias=True, mlp_bias=True, head_dim=12, hidden_act="gelu"), "float32"),
    "llama-linear": (T.LlamaConfig, rope("linear", factor=4.0), "float32"),
    "llama-dynamic": (T.LlamaConfig, dict(max_position_embeddings=24, **rope("dynamic", factor=4.0)), "float32"),
    "llama-llama3": (T.LlamaConfig, LLAMA3, "float32"),
    "llama-yarn": (T.LlamaConfig, rope("yarn", factor=4.0, original_max_position_embeddings=64), "float32"),
    "llama-yarn-mscale": (T.LlamaConfig, rope("yarn", factor=4.0, original_max_position_embeddings=64, mscale=1.0, mscale_all_dim=0.6,
                                              beta_fast=16, beta_slow=2, truncate=False), "float32"),
    "llama-longrope": (T.LlamaConfig, rope("longrope", factor=8.0, **LONG), "float32"),
    "mistral-window": (T.MistralConfig, dict(sliding_window=8), "float32"),
    "mistral-no-window": (T.MistralConfig, dict(sliding_window=None), "float32"),
    "mixtral": (T.MixtralConfig, dict(num_local_experts=4, num_experts_per_tok=2), "float32"),
    "qwen2": (T.Qwen2Config, dict(), "float32"),
    "qwen2-late-window": (T.Qwen2Config, dict(use_sliding_window=True, sliding_window=8, max_window_layers=1), "float32"),
    "qwen3": (T.Qwen3Config, dict(head_dim=16), "float32"),
    "qwen3-moe": (T.Qwen3MoeConfig, dict(norm_topk_prob=True, **MOE), "float32"),
    "qwen3-moe-sparse": (T.Qwen3MoeConfig, dict(num_hidden_layers=4, decoder_sparse_step=2, mlp_only_layers=[3], use_sliding_window=True,
                                                sliding_window=8, **MOE), "float32"),
    "phi3": (T.Phi3Config, dict(), "float32"),
    "phi3-longrope": (T.Phi3Config, dict(original_max_position_embeddings=30, **rope("longrope", partial_rotary_factor=0.75,
                      short_factor=factors(3, 1.5), long_factor=factors(3, 6.0))), "float32"),
    "gemma": (T.GemmaConfig, dict(head_dim=16), "float32"),
    "gemma2": (T.Gemma2Config, dict(head_dim=8, query_pre_attn_scalar=24, sliding_window=8), "float32"),
    "gemma3": (T.Gemma3TextConfig, dict(num_hidden_layers=7, head_dim=8, query_pre_attn_scalar=8, sliding_window=8), "float32"),
    "smollm3": (T.SmolLM3Config, dict(no_rope_layers=[0, 1]), "float32"),
    "olmo2": (T.Olmo2Config, dict(), "float32"),
    "olmo3": (T.Olmo3Config, dict(num_hidden_layers=4, sliding_window=8), "float32"),
    "granite": (T.GraniteConfig, dict(embedding_multiplier=6.0, logits_scaling=4.0, residual_multiplier=0.5, attention_multiplier=0.2), "float32"),
    # as many tokens as tests/data/tokenizers/sentencepiece-bpe-llama has
    "mistral-sentencepiece": (T.MistralConfig, dict(vocab_size=900, sliding_window=4096), "bfloat16"),
}

def random_model(cls, extra, seed):
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(cls(**{**BASE, **extra}), dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad():  # norms away from 1 and biases away from 0, so that a missing one shows
        for p in model.parameters():
            if p.dim() == 1: p.add_(0.3 * torch.randn_like(p))
    return model

def golden(model, seed):
    g = torch.Generator().manual_seed(seed)
    result = dict(prompts=[torch.randint(3, VOCAB, (n,), generator=g).tolist() for n in LENGTHS], last_logits=[], greedy=[])
    for prompt in result["prompts"]:
        ids = torch.tensor([prompt])
        fresh = copy.deepcopy(model)  # a dynamic rope remembers the longest text it has seen
        with torch.no_grad():
            out = fresh.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW, min_new_tokens=NEW,
                                 eos_token_id=None, pad_token_id=0)
            result["last_logits"].append([round(x, 5) for x in copy.deepcopy(model)(ids).logits[0, -1].tolist()])
        result["greedy"].append(out[0, len(prompt):].tolist())
    return result

def make_folder(name, cls, extra, dtype, seed):
    model = random_model(cls, extra, seed).to(getattr(torch, dtype))
    (OUT / name).mkdir(parents=True, exist_ok=True)
    model.save_pretrained(OUT / name, max_shard_size="30KB" if name == "qwen2" else "5GB")
    (OUT / name / "generation_config.json").unlink(missing_ok=True)
    model = AutoModelForCausalLM.from_pretrained(OUT / name, dtype=torch.float32, attn_implementation="eager").eval()
    (OUT / name / "golden.json").write_text(json.dumps(golden(model, seed + 77)))

# ---------------------------------------------------------------- GGUF
# architecture, config class, differences, tensor type of the matrices
GGUF = {
    "gguf-llama-rope-freqs": ("llama", T.LlamaConfig, LLAMA3, "F32"),
    "gguf-llama-bias": ("llama", T.LlamaConfig, dict(attention_bias=True, mlp_bias=True, tie_word_embeddings=True), "Q8_0"),
    "gguf-llama-yarn": ("llama", T.LlamaConfig, rope("yarn", factor=4.0, original_max_position_embeddings=64), "F16"),
    "gguf-mistral": ("llama", T.MistralConfig, dict(sliding_window=None, head_dim=12), "BF16"),
    "gguf-mixtral": ("llama", T.MixtralConfig, dict(num_local_experts=4, num_experts_per_tok=2), "F16"),
    "gguf-qwen2": ("qwen2", T.Qwen2Config, dict(), "Q8_0"),
    "gguf-qwen3": ("qwen3", T.Qwen3Config, dict(head_dim=16), "Q8_0"),
    "gguf-qwen3moe": ("qwen3moe", T.Qwen3MoeConfig, dict(norm_topk_prob=True, **MOE), "Q8_0"),
    "gguf-phi3": ("phi3", T.Phi3Config, dict(sliding_window=12), "Q8_0"),
    "gguf-phi3-longrope": ("phi3", T.Phi3Config, dict(original_max_position_embeddings=30, **rope("longrope", **LONG)), "F16"),
    "gguf-gemma": ("gemma", T.GemmaConfig, dict(head_dim=16), "Q8_0"),
    "gguf-gemma2": ("gemma2", T.Gemma2Config, dict(head_dim=8, query_pre_attn_scalar=8, sliding_window=8), "Q8_0"),
    "gguf-gemma3": ("gemma3", T.Gemma3TextConfig, dict(num_hidden_layers=7, head_dim=8, query_pre_attn_scalar=8, sliding_window=8,
                    **dict(rope_parameters=dict(full_attention=dict(rope_type="linear", rope_theta=1e6, factor=8.0),
                                                sliding_attention=dict(rope_type="default", rope_theta=10000.0)))), "Q8_0"),
    "gguf-smollm3": ("smollm3", T.SmolLM3Config, dict(num_hidden_layers=5), "Q8_0"),
    "gguf-olmo2": ("olmo2", T.Olmo2Config, dict(), "Q8_0"),
    "gguf-olmo3": ("olmo2", T.Olmo3Config, dict(num_hidden_layers=4, sliding_window=8), "Q8_0"),
    "gguf-granite": ("granite", T.GraniteConfig, dict(embedding_multiplier=6.0, logits_scaling=4.0, residual_multiplier=0.5, attention_multiplier=0.2), "Q8_0"),
}
PAIRED = {"llama", "granite", "smollm3"}  # these store the rotated rows of Q and K in pairs

NAMES = [("model.embed_tokens", "token_embd"), ("model.norm", "output_norm"), ("lm_head", "output"), ("model.layers.", "blk."),
         ("input_layernorm", "attn_norm"), ("self_attn.q_proj", "attn_q"), ("self_attn.k_proj", "attn_k"), ("self_attn.v_proj", "attn_v"),
         ("self_attn.qkv_proj", "attn_qkv"), ("self_attn.o_proj", "attn_output"), ("self_attn.q_norm", "attn_q_norm"),
         ("self_attn.k_norm", "attn_k_norm"), ("pre_feedforward_layernorm", "ffn_norm"), ("post_feedforward_layernorm", "post_ffw_norm"),
         ("mlp.gate_proj", "ffn_gate"), ("mlp.gate_up_proj", "ffn_up"), ("mlp.up_proj", "ffn_up"), ("mlp.down_proj", "ffn_down"),
         ("mlp.experts.down_proj", "ffn_down_exps.weight"), ("mlp.gate", "ffn_gate_inp")]

def gguf_name(name, after_norms):
    name = name.replace("post_attention_layernorm", "post_attention_norm" if after_norms else "ffn_norm")
    for hf, short in NAMES: name = name.replace(hf, short)
    return name

def paired(w, heads):
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)

def write_metadata(w, arch, cfg):
    heads = cfg.num_attention_heads
    head_dim = getattr(cfg, "head_dim", None) or cfg.hidden_size // heads
    w.add_context_length(cfg.max_position_embeddings); w.add_embedding_length(cfg.hidden_size); w.add_block_count(cfg.num_hidden_layers)
    w.add_feed_forward_length(cfg.intermediate_size); w.add_head_count(heads); w.add_head_count_kv(cfg.num_key_value_heads)
    w.add_layer_norm_rms_eps(cfg.rms_norm_eps); w.add_vocab_size(VOCAB); w.add_rope_dimension_count(head_dim)
    w.add_key_length(head_dim); w.add_value_length(head_dim)
    rp = cfg.rope_parameters
    full = rp.get("full_attention", rp)
    w.add_rope_freq_base(full["rope_theta"])
    if full["rope_type"] in ("linear", "yarn"):
        w.add_rope_scaling_type(gguf.RopeScalingType(full["rope_type"])); w.add_rope_scaling_factor(full["factor"])
    if "original_max_position_embeddings" in full: w.add_rope_scaling_orig_ctx_len(full["original_max_position_embeddings"])
    if getattr(cfg, "sliding_window", None): w.add_sliding_window(cfg.sliding_window)
    if arch == "gemma2": w.add_attn_logit_softcapping(cfg.attn_logit_softcapping); w.add_final_logit_softcapping(cfg.final_logit_softcapping)
    if arch == "granite":
        w.add_attention_scale(cfg.attention_multiplier); w.add_embedding_scale(cfg.embedding_multiplier)
        w.add_residual_scale(cfg.residual_multiplier); w.add_logit_scale(cfg.logits_scaling)
    if hasattr(cfg, "num_local_experts"):
        w.add_expert_count(cfg.num_local_experts); w.add_expert_used_count(cfg.num_experts_per_tok)
    if hasattr(cfg, "moe_intermediate_size"): w.add_expert_feed_forward_length(cfg.moe_intermediate_size)
    if arch == "phi3" and full["rope_type"] == "longrope":
        for kind in ("short", "long"): w.add_tensor(f"rope_factors_{kind}.weight", np.array(full[kind + "_factor"], np.float32))
    if full["rope_type"] == "llama3":  # the converter computes what each frequency is divided by
        plain = T.LlamaConfig(**{**BASE, **rope("default")})
        inv = lambda c: T.models.llama.modeling_llama.LlamaRotaryEmbedding(c).inv_freq
        w.add_tensor("rope_freqs.weight", (inv(plain) / inv(cfg)).numpy().astype(np.float32))

def write_tokenizer(w):  # bytes as tokens: enough for a reader that insists on one
    letters = [chr(b) if 33 <= b <= 126 else chr(256 + b) for b in range(VOCAB - 1)]
    w.add_tokenizer_model("gpt2"); w.add_tokenizer_pre("gpt-2"); w.add_token_list(letters + [letters[40] + letters[41]])
    w.add_token_types([1] * VOCAB); w.add_token_merges([letters[40] + " " + letters[41]])
    w.add_bos_token_id(1); w.add_eos_token_id(2); w.add_add_bos_token(False)

def make_gguf(name, arch, cls, extra, kind, seed):
    model = random_model(cls, extra, seed)
    cfg, state = model.config, model.state_dict()
    w = gguf.GGUFWriter(str(OUT / f"{name}.gguf"), arch)
    write_metadata(w, arch, cfg); write_tokenizer(w)
    kind = gguf.GGMLQuantizationType[kind]
    def put(short, value, quantise):
        if not quantise: w.add_tensor(short, np.ascontiguousarray(value, np.float32)); return value
        raw = gguf.quants.quantize(np.ascontiguousarray(value), kind)
        w.add_tensor(short, np.ascontiguousarray(raw), raw_dtype=kind)
        return gguf.quants.dequantize(raw, kind).astype(np.float32)
    after = any("post_feedforward" in k for k in state)
    for key in list(state):
        value = state[key].numpy()
        if key == "lm_head.weight" and cfg.tie_word_embeddings: continue
        short = gguf_name(key, after)
        quantise = value.ndim > 1 and "ffn_gate_inp" not in short
        if key.endswith("experts.gate_up_proj"):
            half = value.shape[1] // 2
            base = "blk." + key.split(".")[2] + "."
            parts = [put(base + "ffn_gate_exps.weight", value[:, :half], True), put(base + "ffn_up_exps.weight", value[:, half:], True)]
            state[key] = torch.from_numpy(np.concatenate(parts, 1).copy()); continue
        heads = cfg.num_attention_heads if ".attn_q." in short else cfg.num_key_value_heads if ".attn_k." in short else 0
        if arch in PAIRED and heads:
            stored = put(short, paired(value, heads), quantise)
            half = stored.shape[0] // heads // 2
            back = stored.reshape(heads, half, 2, *stored.shape[1:]).swapaxes(1, 2).reshape(stored.shape)
        elif arch.startswith("gemma") and "norm" in short:
            back = put(short, value + 1, False) - 1
        else:
            back = put(short, value, quantise)
        state[key] = torch.from_numpy(np.ascontiguousarray(back).copy())
    w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
    model.load_state_dict(state)
    (OUT / f"{name}.json").write_text(json.dumps(golden(model, seed + 77)))

OUT.mkdir(parents=True, exist_ok=True)
for i, (name, (cls, extra, dtype)) in enumerate(MODELS.items()):
    if not ONLY or name in ONLY: make_folder(name, cls, extra, dtype, 1000 * SEED + i)
for i, (name, (arch, cls, extra, kind)) in enumerate(GGUF.items()):
    if not ONLY or name in ONLY: make_gguf(name, arch, cls, extra, kind, 1000 * SEED + 100 + i)
