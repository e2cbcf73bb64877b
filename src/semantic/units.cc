// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "semantic/lexicon.h"
#include "semantic/word_list.h"

namespace quire {

namespace {

struct Units {
  std::string_view name;
  std::string_view forms;         // anywhere
  std::string_view after_number;  // only after a number
};
constexpr Units kUnits[] = {{"millisecond", "millisecond milliseconds msec", "ms"},
                            {"microsecond", "microsecond microseconds", "us"},
                            {"second", "seconds sec secs", "s second"},
                            {"minute", "minute minutes", "min mins"},
                            {"hour", "hour hours hourly hr hrs", "h"},
                            {"day", "day days daily", "d"},
                            {"week", "week weeks weekly", ""},
                            {"fortnight", "fortnight", ""},
                            {"month", "month months monthly", "mo"},
                            {"quarter", "quarterly", ""},
                            {"year", "year years yearly annual annually yr yrs", "y"},
                            {"decade", "decade decades", ""},
                            {"century", "century centuries", ""},
                            {"millimeter", "millimeter millimeters millimetre millimetres", "mm"},
                            {"centimeter", "centimeter centimeters centimetre centimetres", "cm"},
                            {"meter", "meter meters metre metres", "m"},
                            {"kilometer", "kilometer kilometers kilometre kilometres", "km kms"},
                            {"inch", "inch inches", "in"},
                            {"foot", "feet", "ft foot"},
                            {"yard", "yards", "yd yard"},
                            {"mile", "mile miles", "mi"},
                            {"acre", "acre acres", ""},
                            {"hectare", "hectare hectares", "ha"},
                            {"milligram", "milligram milligrams", "mg"},
                            {"microgram", "microgram micrograms", "mcg"},
                            {"gram", "gram grams gramme grammes", "g"},
                            {"kilogram", "kilogram kilograms kilo kilos", "kg kgs"},
                            {"ton", "tonne tonnes ton tons", "t"},
                            {"ounce", "ounce ounces", "oz"},
                            {"pound", "pound pounds gbp", "lb lbs"},
                            {"stone", "", "stone stones st"},
                            {"milliliter", "milliliter milliliters millilitre millilitres", "ml"},
                            {"liter", "liter liters litre litres", "l"},
                            {"gallon", "gallon gallons", "gal"},
                            {"pint", "pint pints", "pt"},
                            {"quart", "quart quarts", ""},
                            {"cup", "", "cup cups"},
                            {"teaspoon", "teaspoon teaspoons", "tsp"},
                            {"tablespoon", "tablespoon tablespoons", "tbsp"},
                            {"bit", "bit bits", ""},
                            {"byte", "byte bytes", "b"},
                            {"kilobyte", "kilobyte kilobytes kb", ""},
                            {"megabyte", "megabyte megabytes mb", ""},
                            {"gigabyte", "gigabyte gigabytes gb", ""},
                            {"terabyte", "terabyte terabytes tb", ""},
                            {"kibibyte", "kib", ""},
                            {"mebibyte", "mib", ""},
                            {"gibibyte", "gib", ""},
                            {"hertz", "hertz hz", ""},
                            {"kilohertz", "khz", ""},
                            {"megahertz", "mhz", ""},
                            {"gigahertz", "ghz", ""},
                            {"celsius", "celsius centigrade", "c °c"},
                            {"fahrenheit", "fahrenheit", "f °f"},
                            {"kelvin", "kelvin kelvins", "k"},
                            {"watt", "watt watts", "w"},
                            {"kilowatt", "kilowatt kw", ""},
                            {"volt", "volt volts", "v"},
                            {"ampere", "ampere amperes amp amps", "a"},
                            {"joule", "joule joules", "j"},
                            {"calorie", "calorie calories kcal", ""},
                            {"dollar", "dollar dollars usd bucks", ""},
                            {"euro", "euro euros eur", ""},
                            {"yen", "yen jpy", ""},
                            {"yuan", "yuan rmb cny", ""},
                            {"rupee", "rupee rupees inr", ""},
                            {"franc", "franc francs chf", ""},
                            {"peso", "peso pesos", ""},
                            {"rouble", "rouble roubles ruble rubles", ""},
                            {"cent", "cent cents", ""},
                            {"percent", "percent percentage", ""},
                            {"degree", "", "degree degrees"},
                            {"radian", "radian radians", "rad"},
                            {"knot", "knots", ""},
                            {"morning", "", "am"},
                            {"afternoon", "", "pm"}};

}  // namespace

std::string_view unit_of(std::string_view folded, bool after_number) {
  struct Table {
    std::unordered_map<std::string_view, std::string_view> anywhere, after_number;
    Table() {
      for (const Units& unit : kUnits) {
        each_word(unit.forms, [&](std::string_view form) { anywhere[form] = unit.name; });
        each_word(unit.after_number,
                  [&](std::string_view form) { after_number[form] = unit.name; });
      }
    }
  };
  static const Table table;
  if (after_number) {
    const auto found = table.after_number.find(folded);
    if (found != table.after_number.end()) return found->second;
  }
  const auto found = table.anywhere.find(folded);
  return found == table.anywhere.end() ? std::string_view() : found->second;
}

}  // namespace quire
