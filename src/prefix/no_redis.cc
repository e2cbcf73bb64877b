// SPDX-License-Identifier: Apache-2.0
// In place of redis_tier.cc where hiredis is not installed.
#include <quire/error.h>
#include <quire/page_tier.h>

namespace quire {

std::shared_ptr<PageTier> make_redis_tier(const std::string&, const RedisTierOptions&) {
  throw Error(ErrorCode::kUnsupported, "redis_url",
              "expected a build with hiredis, found one without");
}

}  // namespace quire
