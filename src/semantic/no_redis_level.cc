// SPDX-License-Identifier: Apache-2.0
// In place of redis_level.cc where hiredis is not installed.
#include <quire/cache_level.h>
#include <quire/error.h>

namespace quire {

std::shared_ptr<CacheLevel<std::string, std::string>> make_redis_level(const std::string&,
                                                                       const RedisLevelOptions&) {
  throw Error(ErrorCode::kUnsupported, "redis_url",
              "expected a build with hiredis, found one without");
}

}  // namespace quire
