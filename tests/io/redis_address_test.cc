// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <quire/error.h>

#include "io/redis_connection.h"

namespace quire {
namespace {

TEST(RedisAddress, Urls) {
  RedisAddress a = parse_redis_url("redis://127.0.0.1:6380/2");
  EXPECT_EQ(a.host, "127.0.0.1");
  EXPECT_EQ(a.port, 6380);
  EXPECT_EQ(a.database, "2");
  a = parse_redis_url("redis://me:p@ss:w@cache.example");
  EXPECT_EQ(a.user, "me");
  EXPECT_EQ(a.password, "p@ss:w");
  EXPECT_EQ(a.host, "cache.example");
  EXPECT_EQ(a.port, 6379);
  a = parse_redis_url("redis://:secret@[::1]:7000");
  EXPECT_EQ(a.user, "");
  EXPECT_EQ(a.password, "secret");
  EXPECT_EQ(a.host, "::1");
  EXPECT_EQ(a.port, 7000);
  EXPECT_EQ(parse_redis_url("redis://[::1]").host, "::1");
  EXPECT_EQ(parse_redis_url("unix:/run/redis.sock").path, "/run/redis.sock");
  for (const char* bad : {"", "http://x", "redis://", "redis://h:0", "redis://h:70000",
                          "redis://h:12x", "redis://user@h", "unix:relative"}) {
    EXPECT_THROW(parse_redis_url(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace quire
