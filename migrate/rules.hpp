// A migration as a table of rules, one for each key of the source.
#pragma once

#include <boost/json/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/draft.hpp"
#include "migrate/report.hpp"

namespace kubenodesmith::migrate {

// Setting is one key of the source with its value.
struct Setting {
    std::vector<std::string> path;
    boost::json::value value;
    std::vector<std::string> names;  // names that matched the rule's "*"
    std::string remark;              // a rule's remark about this value; the outcome becomes `different`

    // Return the value as the type that the rule needs. Text in that form is also accepted, as environment
    // variables are text. Throw std::invalid_argument, which never contains the value.
    std::int64_t integer() const;
    double number() const;
    bool boolean() const;
    std::string text() const;
    std::vector<std::string> list() const;  // of strings, or comma-separated text
};

struct Rule {
    // For example "providers.*.options.endpoint"; "*" matches any one name. "a|b" names several keys with the
    // same rule.
    std::string_view key;
    Outcome outcome = Outcome::none;
    std::string_view target;
    std::string_view note;
    void (*apply)(Draft& draft, Setting& setting) = nullptr;  // puts the value into the draft
};

// Applies the rules to every key of `source`. A mapping with a rule is one value; the rules apply inside
// others. Keys without a rule are reported as unknown, and keys without a value are reported. Throws
// std::invalid_argument with the key.
void apply_rules(std::span<const Rule> rules, const boost::json::object& source, Draft& draft,
                 Report& report);

}  // namespace kubenodesmith::migrate
