// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything, in the order of a request.
#include <quire/error.h>
#include <quire/token.h>
#include <quire/tokenizer.h>
#include <quire/chat.h>
#include <quire/checkpoint.h>
#include <quire/model_config.h>
#include <quire/inspect.h>
#include <quire/model.h>
#include <quire/convert.h>
#include <quire/kv_cache.h>
#include <quire/page_pool.h>
#include <quire/dynamic_cache.h>
#include <quire/static_cache.h>
#include <quire/quantized_cache.h>
#include <quire/sliding_cache.h>
#include <quire/sampling.h>
#include <quire/snapshot.h>
#include <quire/request.h>
#include <quire/result.h>
#include <quire/prefix_index.h>
#include <quire/page_tier.h>
#include <quire/prefix_cache.h>
#include <quire/prompt_cache.h>
#include <quire/generator.h>
#include <quire/knowledge_cache.h>
#include <quire/divergence.h>
#include <quire/session.h>
#include <quire/embedder.h>
#include <quire/guard.h>
#include <quire/semantic_answer.h>
#include <quire/semantic_cache.h>
#include <quire/cache_level.h>
#include <quire/tiered_cache.h>
#include <quire/answer_cache.h>
