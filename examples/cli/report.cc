// SPDX-License-Identifier: Apache-2.0
#include "report.h"

namespace cli {
namespace {

Json why_json(const quire::WhyNotMore& why) {
  Json out = {{"reason", to_string(why.reason)}};
  put(out, "at", why.at);
  put(out, "had", why.had);
  put(out, "got", why.got);
  if (!why.field.empty()) out["field"] = why.field;
  return out;
}

Json reuse_json(const quire::ReuseReport& r) {
  Json passed_over = Json::array();
  for (const auto& p : r.passed_over) {
    passed_over.push_back({{"id", p.id}, {"score", p.score}, {"matched", p.matched}});
    if (!p.guard.empty()) passed_over.back().update({{"refused", p.guard}, {"saw", p.saw}});
  }
  Json json = {{"reason", r.miss}, {"waited", r.waited}};
  if (r.id != 0) {
    json.update(
        {{"id", r.id}, {"score", r.score}, {"matched", r.matched}, {"age_ms", r.age.count()}});
  }
  json["passed_over"] = std::move(passed_over);
  return json;
}

}  // namespace

Json cache_json(const quire::CacheReport& c) {
  const quire::Reused& r = c.reused;
  Json json = {{"source", to_string(c.source)},
               {"kv", c.kv},
               {"length", c.length},
               {"reused",
                {{"memory", r.memory},
                 {"copied", r.copied},
                 {"disk", r.disk},
                 {"remote", r.remote},
                 {"snapshot", r.snapshot}}},
               {"why_not_more", why_json(c.why_not_more)}};
  if (c.reuse) json["reuse"] = reuse_json(*c.reuse);
  return json;
}

Json timings_json(const quire::Timings& t) {
  return {{"queue_ms", t.queue_ms},
          {"prefill_ms", t.prefill_ms},
          {"ttft_ms", t.ttft_ms},
          {"decode_ms", t.decode_ms},
          {"prefill_tokens_per_s", t.prefill_tokens_per_s},
          {"decode_tokens_per_s", t.decode_tokens_per_s}};
}

}  // namespace cli
