// A migration as a table: what becomes of each key of the source.
#pragma once

#include <boost/json/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/draft.hpp"
#include "migrate/report.hpp"

namespace kubenodesmith::migrate {

// One key of the source with its value.
struct Setting {
    std::vector<std::string> path;
    boost::json::value value;
    std::vector<std::string> names;  // what the rule's "*" stood for
    std::string remark;              // what a rule has to say about this value; makes the outcome `different`

    // The value as the type that the rule needs; text that reads as such counts too, as it comes from
    // environment variables. Throw std::invalid_argument, which never holds the value.
    std::int64_t integer() const;
    double number() const;
    bool boolean() const;
    std::string text() const;
    std::vector<std::string> list() const;  // of strings, or comma-separated text
};

struct Rule {
    // "providers.*.options.endpoint"; "*" is any one name. Of several keys with the same fate: "a|b".
    std::string_view key;
    Outcome outcome = Outcome::none;
    std::string_view target;
    std::string_view note;
    void (*apply)(Draft& draft, Setting& setting) = nullptr;  // puts the value into the draft
};

// Applies the rules to every key of `source`. A mapping with a rule of its own is one value, others are
// entered. Keys without a rule are reported as unknown, keys without a value as such.
// Throws std::invalid_argument that names the key.
void apply_rules(std::span<const Rule> rules, const boost::json::object& source, Draft& draft,
                 Report& report);

}  // namespace kubenodesmith::migrate
