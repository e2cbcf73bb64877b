// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>
#include <quire/tokenizer.h>

#include <system_error>
#include <utility>

#include "formats/gguf.h"
#include "text/gguf_tokenizer.h"
#include "text/pipeline.h"
#include "text/sentencepiece.h"
#include "text/tokenizer_config.h"
#include "text/tokenizer_json.h"

namespace quire {

namespace fs = std::filesystem;

namespace {

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::shared_ptr<const Tokenizer> load_json(const fs::path& file) {
  return std::make_shared<PipelineTokenizer>(
      read_tokenizer_json(file, read_tokenizer_config(file.parent_path())));
}

std::shared_ptr<const Tokenizer> load_sentencepiece(const fs::path& file) {
  return std::make_shared<PipelineTokenizer>(
      read_sentencepiece(file, read_tokenizer_config(file.parent_path())));
}

std::shared_ptr<const Tokenizer> load_gguf(const fs::path& file) {
  return std::make_shared<PipelineTokenizer>(read_gguf_tokenizer(GgufFile(file)));
}

std::shared_ptr<const Tokenizer> load_directory(const fs::path& folder) {
  if (const fs::path file = folder / "tokenizer.json"; is_there(file)) return load_json(file);
  if (const fs::path file = folder / "tokenizer.model"; is_there(file)) {
    return load_sentencepiece(file);
  }
  throw Error(ErrorCode::kNotFound, folder.string(),
              "expected a tokenizer.json or tokenizer.model, found neither");
}

}  // namespace

Tokenizer::~Tokenizer() = default;

std::vector<std::string> Tokenizer::pieces(std::string_view text, EncodeOptions options) const {
  std::vector<std::string> spelled;
  for (const TokenId id : encode(text, options)) spelled.push_back(token(id));
  return spelled;
}

std::shared_ptr<const Tokenizer> Tokenizer::load(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return load_directory(path);
  if (!is_there(path)) throw Error(ErrorCode::kNotFound, path.string(), "no such file");
  if (path.extension() == ".json") return load_json(path);
  if (GgufFile::has_magic(path)) return load_gguf(path);
  if (path.extension() == ".model") return load_sentencepiece(path);
  throw Error(ErrorCode::kUnsupported, path.string(),
              "expected a directory, tokenizer.json, tokenizer.model or .gguf file");
}

}  // namespace quire
