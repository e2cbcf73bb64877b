// SPDX-License-Identifier: Apache-2.0
// /v1/embeddings and /v1/models
#include <bit>
#include <cstring>
#include <ctime>

#include "api_error.h"
#include "openai.h"
#include "request_fields.h"

namespace server {
namespace {

using cli::Fields;
using cli::Json;

constexpr std::size_t kMostInputs = 2048;  // the API's

struct Vector {
  std::vector<float> values;
  std::int64_t tokens = 0;
};

Vector embed(const quire::Embedder& embedder, const Json& input) {
  const Fields one(Json{{"input", input}}.dump());
  if (input.is_array()) {
    const quire::TokenIds ids = *one.ids("input");
    return {embedder.embed_ids(ids), std::ssize(ids)};
  }
  if (!input.is_string()) one.wrong("input", "a text, token ids or a list of either");
  quire::Embedding embedding = embedder.embed_in_detail(*one.text("input"));
  return {std::move(embedding.values), std::ssize(embedding.ids)};
}

std::vector<Json> inputs_of(const Fields& body) {
  const Json* input = body.find("input");
  if (!input) throw ApiError(400, "input: expected a text, found none", {}, "input");
  const bool one = !input->is_array() || (!input->empty() && input->front().is_number());
  if (one) return {*input};
  if (input->empty() || input->size() > kMostInputs) {
    throw ApiError(400,
                   "input: expected from 1 to " + std::to_string(kMostInputs) + ", found " +
                       std::to_string(input->size()),
                   {}, "input");
  }
  return {input->begin(), input->end()};
}

// Little-endian float32, as the API has it.
std::string base64(const std::vector<float>& values) {
  static_assert(std::endian::native == std::endian::little);
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < left ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= left ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

bool wants_base64(const Fields& body) {
  const std::string format = body.text("encoding_format").value_or("float");
  if (format != "float" && format != "base64") {
    body.wrong("encoding_format", "\"float\" or \"base64\"");
  }
  return format == "base64";
}

void check_dimensions(const Fields& body, const quire::Embedder& embedder) {
  const auto wanted = body.integer("dimensions");
  if (wanted && *wanted != embedder.dimension()) {
    body.wrong("dimensions", std::to_string(embedder.dimension()));
  }
}

// What both APIs' clients read of a model.
Json model_json(const std::string& id, std::int64_t context) {
  Json json = {{"id", id},
               {"object", "model"},
               {"created", 0},
               {"owned_by", "quire"},
               {"type", "model"},
               {"display_name", id},
               {"created_at", "1970-01-01T00:00:00Z"}};
  if (context > 0) json["context_length"] = context;
  return json;
}

std::vector<Json> models_of(const Engine& engine) {
  std::vector<Json> models = {
      model_json(engine.options().model_id, engine.model().config().context)};
  if (engine.embedder()) models.push_back(model_json(engine.options().embedder_id, 0));
  return models;
}

}  // namespace

Reply embeddings(Engine& engine, const Call& call) {
  const Fields body = body_of(call);
  const quire::Embedder* embedder = engine.embedder();
  if (!embedder) throw ApiError(400, "expected a server that has an embedder, found none");
  check_model(body, engine.options().embedder_id);
  const bool as_base64 = wants_base64(body);
  check_dimensions(body, *embedder);
  const std::shared_ptr<void> place = engine.places().take();
  Json data = Json::array();
  std::int64_t tokens = 0;
  for (const Json& input : inputs_of(body)) {
    const Vector vector = embed(*embedder, input);
    tokens += vector.tokens;
    data.push_back({{"object", "embedding"},
                    {"index", data.size()},
                    {"embedding", as_base64 ? Json(base64(vector.values)) : Json(vector.values)}});
  }
  return json_reply({{"object", "list"},
                     {"data", std::move(data)},
                     {"model", engine.options().embedder_id},
                     {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
}

Reply list_models(Engine& engine, const Call&) {
  const std::vector<Json> models = models_of(engine);
  return json_reply({{"object", "list"},
                     {"data", models},
                     {"has_more", false},
                     {"first_id", models.front().at("id")},
                     {"last_id", models.back().at("id")}});
}

Reply retrieve_model(Engine& engine, const Call& call) {
  const std::string id = call.path.substr(std::string_view("/v1/models/").size());
  for (const Json& model : models_of(engine)) {
    if (model.at("id") == id) return json_reply(model);
  }
  throw ApiError(404, "the model \"" + id + "\" does not exist", "model_not_found");
}

}  // namespace server
