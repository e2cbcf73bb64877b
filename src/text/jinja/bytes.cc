// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/bytes.h"

#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/repr.h"
#include "text/jinja/unicode.h"
#include "text/utf8.h"

namespace quire::jinja {
namespace {

enum class Codec : std::uint8_t { kUtf8, kAscii, kLatin1 };
enum class OnError : std::uint8_t { kStrict, kIgnore, kReplace };

struct CodecName {
  std::string_view name;
  Codec codec;
};
constexpr CodecName kCodecs[] = {
    {"utf-8", Codec::kUtf8},    {"utf8", Codec::kUtf8},         {"u8", Codec::kUtf8},
    {"ascii", Codec::kAscii},   {"us-ascii", Codec::kAscii},    {"latin-1", Codec::kLatin1},
    {"latin1", Codec::kLatin1}, {"iso-8859-1", Codec::kLatin1}, {"iso8859-1", Codec::kLatin1},
};

Codec codec_of(const Bound& bound) {
  if (bound.get(0) == nullptr) return Codec::kUtf8;
  std::string name = to_lower(bound.text(0));
  std::replace(name.begin(), name.end(), '_', '-');
  const auto* found = std::find_if(std::begin(kCodecs), std::end(kCodecs),
                                   [&name](const CodecName& c) { return c.name == name; });
  if (found == std::end(kCodecs)) value_error("unknown encoding: " + bound.text(0));
  return found->codec;
}

OnError on_error_of(const Bound& bound) {
  if (bound.get(1) == nullptr || bound.text(1) == "strict") return OnError::kStrict;
  if (bound.text(1) == "ignore") return OnError::kIgnore;
  if (bound.text(1) == "replace") return OnError::kReplace;
  value_error("unknown error handler name '" + bound.text(1) + "'");
}

bool encodable(Codec codec, char32_t c) {
  if (codec == Codec::kAscii) return c < 0x80;
  if (codec == Codec::kLatin1) return c < 0x100;
  return c < 0xD800 || c > 0xDFFF;
}

// The bytes at the front that are one character, 0 for none; `size` is what to pass over.
bool decodable(Codec codec, std::string_view bytes, std::size_t& size) {
  size = 1;
  if (codec == Codec::kAscii) return static_cast<unsigned char>(bytes[0]) < 0x80;
  if (codec == Codec::kLatin1) return true;
  const Utf8Front front = utf8_front(bytes);
  size = front.length;
  return front.kind == Utf8Front::Kind::kCharacter;
}

Value decode(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("decode", std::move(arguments), {"encoding", "errors"});
  const Codec codec = codec_of(bound);
  const OnError on_error = on_error_of(bound);
  const std::string_view bytes = bytes_of(self);
  charge_steps(static_cast<std::int64_t>(bytes.size() / 16));
  std::string out;
  std::size_t size = 0;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    if (!decodable(codec, bytes.substr(at), size)) {
      if (on_error == OnError::kStrict) {
        value_error("can't decode byte at position " + std::to_string(at));
      }
      if (on_error == OnError::kReplace) append_utf8(out, 0xFFFD);
    } else if (codec == Codec::kLatin1) {
      append_utf8(out, static_cast<unsigned char>(bytes[at]));
    } else {
      out += bytes.substr(at, size);
    }
    check_size(out.size(), 1);
  }
  return Value::text(std::move(out));
}

Value hex(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("hex", std::move(arguments), {});
  check_size(bytes_of(self).size(), 2);
  std::string out;
  for (const char c : bytes_of(self)) append_hex(out, static_cast<unsigned char>(c), 2);
  return Value::text(std::move(out));
}

constexpr Method kMethods[] = {{"decode", decode, true}, {"hex", hex}};

}  // namespace

std::string BytesObject::describe() const {
  check_size(bytes.size(), 4);
  const char quote = repr_quote(bytes);
  std::string out = {'b', quote};
  for (const char c : bytes) {
    if (append_short_escape(out, static_cast<unsigned char>(c),
                            static_cast<unsigned char>(quote))) {
      continue;
    }
    if (c >= ' ' && c < 0x7F) {
      out.push_back(c);
    } else {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(c), 2);
    }
  }
  out.push_back(quote);
  return out;
}

Value bytes_value(std::string bytes) {
  return {Kind::kBytes, std::make_shared<BytesObject>(std::move(bytes))};
}

const std::string& bytes_of(const Value& value) {
  return static_cast<const BytesObject&>(*value.object()).bytes;
}

const Method* find_bytes_method(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMethods), std::end(kMethods),
                                   [name](const Method& m) { return m.name == name; });
  return found == std::end(kMethods) ? nullptr : found;
}

Value encode_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("encode", std::move(arguments), {"encoding", "errors"});
  const Codec codec = codec_of(bound);
  const OnError on_error = on_error_of(bound);
  const std::string& text = self.as_string();
  check_size(text.size(), 1);
  charge_steps(static_cast<std::int64_t>(text.size() / 16));
  std::string out;
  for (std::size_t at = 0, index = 0; at < text.size(); ++index) {
    const char32_t c = next_code_point(text, at);
    if (!encodable(codec, c)) {
      if (on_error == OnError::kStrict) {
        value_error("can't encode character in position " + std::to_string(index));
      }
      if (on_error == OnError::kReplace) out.push_back('?');
    } else if (codec == Codec::kUtf8) {
      append_utf8(out, c);
    } else {
      out.push_back(static_cast<char>(c));
    }
  }
  return bytes_value(std::move(out));
}

}  // namespace quire::jinja
