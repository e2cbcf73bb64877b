// SPDX-License-Identifier: Apache-2.0
#include "semantic/lexicon.h"

#include <unordered_set>

#include "semantic/word_list.h"

namespace quire {

namespace {

using Words = std::unordered_set<std::string_view>;

Words words_of(std::string_view list) {
  Words words;
  each_word(list, [&](std::string_view word) { words.insert(word); });
  return words;
}

constexpr std::string_view kPrepositions =
    "from to into onto in on at by than before after over under for with of against via as about "
    "between through during without within above below near until since upon per towards toward "
    "across behind beyond among around";

constexpr std::string_view kFunctionWords =
    "a an the this that these those some any all every each both either neither such "
    "is am are was were be been being do does did doing done have has had having "
    "will would shall should can could may might must ought "
    "i me my mine myself you your yours yourself he him his himself she her hers herself it its "
    "itself we us our ours ourselves they them their theirs themselves one ones someone anyone "
    "everyone something anything everything somebody anybody everybody "
    "and or but nor so if then else because while though although whether "
    "not no never none nobody nothing nowhere hardly barely scarcely "
    "who whom whose what which when where why how "
    "there here just also too very really quite only even still yet already again "
    "out off up down away back more less most least much many few several lot lots "
    "etc eg ie";

constexpr std::string_view kRequestWords =
    "please tell explain show give help know understand wonder wondering wondered wants want need "
    "like hi hello hey thanks thank thx dear kindly sorry excuse ok "
    "okay yes well let say see get ask asking asked question questions answer way ways step steps "
    "best possible able use used using go going able manage try trying tried possible people "
    "person "
    "describe suggest recommend provide list mean means meaning";

constexpr std::string_view kNegators =
    "not no never without neither nor none nobody nothing nowhere hardly barely scarcely rarely "
    "seldom non lack lacks lacking lacked fail fails failed failing refuse refuses refused "
    "refusing "
    "deny denies denied denying avoid avoids avoided avoiding prevent prevents prevented "
    "preventing "
    "except excluding unless cannot unable contrary";

}  // namespace

bool is_preposition(std::string_view folded) {
  static const Words words = words_of(kPrepositions);
  return words.contains(folded);
}

bool is_function_word(std::string_view folded) {
  static const Words words = words_of(kFunctionWords);
  return words.contains(folded) || is_preposition(folded);
}

bool is_request_word(std::string_view folded) {
  static const Words words = words_of(kRequestWords);
  return words.contains(folded);
}

bool is_content(const Word& word) {
  if (word.kind == WordKind::kPause || word.kind == WordKind::kHan) return false;
  if (word.kind != WordKind::kWord) return true;
  if (word.capital && word.text.size() == 1) return true;
  return !is_function_word(word.folded) && !is_request_word(word.folded);
}

bool is_negator(std::string_view folded) {
  static const Words words = words_of(kNegators);
  return words.contains(folded);
}

}  // namespace quire
