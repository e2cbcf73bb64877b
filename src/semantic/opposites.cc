// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <unordered_map>

#include "semantic/lexicon.h"
#include "semantic/word_list.h"

namespace quire {

namespace {

// Opposites, positive | negative. First those whose negative end says "not" by itself.
constexpr std::string_view kStrong[] = {
    "enabled enable activate active|disabled disable deactivate inactive",
    "allow permit legal lawful authorize|forbid prohibit forbidden ban disallow illegal unlawful",
    "correct right true accurate valid|incorrect wrong false inaccurate invalid untrue",
    "possible feasible|impossible infeasible",
    "good great excellent well|bad terrible awful poor horrible",
    "success succeed successful|failure unsuccessful",
    "agree|disagree",
    "appear|disappear vanish",
    "same identical equal|unequal",
    "safe|unsafe dangerous",
    "visible|invisible",
    "complete|incomplete",
    "secure|insecure",
    "relevant|irrelevant",
    "regular|irregular",
    "available|unavailable",
    "happy glad|unhappy sad",
    "certain sure|uncertain unsure doubtful",
    "necessary|unnecessary",
    "healthy|unhealthy sick ill",
    "alive|dead",
    "honest|dishonest",
    "logical|illogical",
    "wise smart clever intelligent|foolish stupid dumb silly",
    "fair|unfair",
    "able|incapable",
    "direct|indirect",
    "proper|improper",
    "perfect|imperfect",
    "polite|impolite rude",
    "patient|impatient",
    "moral|immoral",
    "mature|immature",
    "sufficient enough|insufficient",
    "consistent|inconsistent",
    "efficient|inefficient",
    "effective|ineffective",
    "appropriate|inappropriate",
    "eligible|ineligible",
    "reversible|irreversible",
    "responsible|irresponsible",
    "rational|irrational",
    "satisfied|dissatisfied",
    "interesting|boring uninteresting",
    "important|unimportant trivial",
    "normal|abnormal",
    "violent|nonviolent",
    "present|absent",
    "clear|unclear vague",
    "usual|unusual",
    "expected|unexpected",
    "significant|insignificant",
    "aware|unaware",
    "like love|dislike hate",
    "mutable|immutable",
    "capable|incapable",
    "viable|unviable",
    "believable|unbelievable"};

constexpr std::string_view kWeak[] = {"same identical equal|different",
                                      "before|after",
                                      "above over|below under beneath",
                                      "more|less fewer",
                                      "most|least fewest",
                                      "increase raise grow gain|decrease reduce shrink lose",
                                      "increase raise|lower drop",
                                      "maximum max maximal|minimum min minimal",
                                      "open|close shut closed",
                                      "ascend|descend asc",
                                      "start begin launch|stop end finish quit",
                                      "advantage benefit pro|disadvantage drawback con",
                                      "encrypt|decrypt",
                                      "old|new young",
                                      "elder senior|junior",
                                      "early|late",
                                      "install|uninstall remove",
                                      "input|output",
                                      "import|export",
                                      "upload|download",
                                      "buy purchase|sell",
                                      "send|receive",
                                      "push|pull",
                                      "add insert|remove delete subtract drop",
                                      "create|delete destroy",
                                      "first|last",
                                      "fast quick rapid|slow",
                                      "cheap inexpensive|expensive costly",
                                      "high tall|low short",
                                      "long detailed|short brief",
                                      "large big huge|small little tiny",
                                      "large big|smallest",
                                      "hot warm|cold cool",
                                      "light|dark",
                                      "light|heavy",
                                      "left|right",
                                      "inside|outside",
                                      "internal|external",
                                      "inner|outer",
                                      "public|private",
                                      "online|offline",
                                      "male|female",
                                      "man|woman",
                                      "boy|girl",
                                      "husband|wife",
                                      "father|mother",
                                      "son|daughter",
                                      "brother|sister",
                                      "king|queen",
                                      "uncle|aunt",
                                      "him|her",
                                      "buyer|seller",
                                      "employer|employee",
                                      "teacher|student pupil",
                                      "lend|borrow",
                                      "win|lose",
                                      "lender|borrower",
                                      "landlord|tenant",
                                      "host|guest",
                                      "arrive|leave depart",
                                      "arrival|departure",
                                      "enter|exit leave",
                                      "debit|credit",
                                      "deposit|withdraw withdrawal",
                                      "profit|loss",
                                      "asset|liability",
                                      "income|expense",
                                      "attack|defend defence defense",
                                      "cause|prevent cure",
                                      "front|back rear",
                                      "top|bottom",
                                      "north|south",
                                      "east|west",
                                      "northern|southern",
                                      "eastern|western",
                                      "day|night",
                                      "morning|evening night",
                                      "weekday|weekend",
                                      "summer|winter",
                                      "spring|autumn fall",
                                      "often frequent routine usual|rare infrequent seldom",
                                      "always|never",
                                      "temporary|permanent",
                                      "manual|automatic",
                                      "free|paid",
                                      "optional|required mandatory compulsory",
                                      "stable|beta unstable",
                                      "latest newest|oldest",
                                      "current|former previous historical past",
                                      "hide|show reveal",
                                      "expand|collapse",
                                      "merge combine|split separate",
                                      "compress|decompress",
                                      "zip|unzip",
                                      "encode|decode",
                                      "serialize|deserialize",
                                      "attach|detach",
                                      "subscribe|unsubscribe",
                                      "approve|reject decline",
                                      "accept|decline reject",
                                      "rise|fall",
                                      "strong|weak",
                                      "thick|thin",
                                      "wide|narrow",
                                      "deep|shallow",
                                      "full|empty",
                                      "wet|dry",
                                      "hard|soft",
                                      "rich wealthy|poor",
                                      "friend|enemy foe",
                                      "life|death",
                                      "born birth|die death",
                                      "victory|defeat",
                                      "war|peace",
                                      "majority|minority",
                                      "major|minor",
                                      "singular|plural",
                                      "positive|negative",
                                      "plus|minus",
                                      "multiply|divide",
                                      "read|write",
                                      "save|load",
                                      "login|logout",
                                      "block|unblock allow",
                                      "lock|unlock",
                                      "include|exclude",
                                      "connect|disconnect",
                                      "move|remain stay",
                                      "own|sell",
                                      "keep|discard",
                                      "support|oppose",
                                      "begin|cease",
                                      "continue|cease stop discontinue",
                                      "easy simple|hard difficult",
                                      "easy simple|complex complicated",
                                      "clean|dirty",
                                      "near close|far distant",
                                      "ancient|modern",
                                      "upper|lower",
                                      "over|under",
                                      "forward|backward",
                                      "horizontal|vertical",
                                      "import|export",
                                      "future|past",
                                      "next|previous",
                                      "former|latter",
                                      "beautiful|ugly",
                                      "true|fake",
                                      "real|fake",
                                      "remember|forget",
                                      "find|lose",
                                      "pass|fail",
                                      "promote|demote",
                                      "hire|fire",
                                      "marry|divorce",
                                      "freeze|thaw",
                                      "float|sink",
                                      "follow|precede lead",
                                      "client|server",
                                      "local|remote global",
                                      "synchronous|asynchronous",
                                      "static|dynamic",
                                      "odd|even",
                                      "prime|composite",
                                      "solid|liquid",
                                      "generative|discriminative",
                                      "domestic|international foreign",
                                      "rural|urban",
                                      "guilty|innocent",
                                      "deny|confirm admit",
                                      "ignorance|involvement knowledge",
                                      "child|adult",
                                      "adult|minor underage",
                                      "immune|subject susceptible",
                                      "native|foreign",
                                      "raise|lower",
                                      "laugh|cry",
                                      "awake|asleep",
                                      "boring|funny",
                                      "strict|lenient",
                                      "encourage|discourage",
                                      "improve|worsen",
                                      "repeatedly|once",
                                      "regular|rare",
                                      "dead|alive",
                                      "sunrise|sunset",
                                      "odd|normal"};

struct Poles {
  std::unordered_map<std::string, std::vector<Pole>> of;
  int axes = 0;

  void add(std::string_view pair, bool strong) {
    const std::size_t bar = pair.find('|');
    const auto side = [&](std::string_view list, bool negative) {
      each_word(list, [&](std::string_view word) {
        of[stem_of(word)].push_back({axes, negative, strong});
      });
    };
    side(pair.substr(0, bar), false);
    side(pair.substr(bar + 1), true);
    ++axes;
  }

  Poles() {
    for (const std::string_view pair : kStrong) add(pair, true);
    for (const std::string_view pair : kWeak) add(pair, false);
  }
};

}  // namespace

std::vector<Pole> poles_of(std::string_view stem) {
  static const Poles poles;
  const auto find = [](std::string_view word) {
    const auto found = poles.of.find(std::string(word));
    return found == poles.of.end() ? std::vector<Pole>() : found->second;
  };
  std::vector<Pole> result = find(stem);
  // Comparatives: older, biggest, easier.
  for (const std::string_view ending : {"er", "est"}) {
    if (!result.empty() || !stem.ends_with(ending) || stem.size() < ending.size() + 3) continue;
    const std::string_view base = stem.substr(0, stem.size() - ending.size());
    result = find(base);
    if (result.empty() && base.back() == base[base.size() - 2]) {
      result = find(base.substr(0, base.size() - 1));
    }
  }
  return result;
}

}  // namespace quire
