#include "migrate/rules.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "base/text.hpp"

namespace kubenodesmith::migrate {
namespace {

namespace json = boost::json;

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (true) {
        const auto end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const auto first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return "";
    return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

bool matches(std::string_view key, Setting& setting) {
    const auto pattern = split(key, '.');
    if (pattern.size() != setting.path.size()) return false;
    setting.names.clear();
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == "*") {
            setting.names.push_back(setting.path[i]);
        } else if (pattern[i] != setting.path[i]) {
            return false;
        }
    }
    return true;
}

bool is_empty(const json::value& value) {
    return value.is_null() || (value.is_string() && value.get_string().empty());
}

// Walk visits the source and accounts for each key.
class Walk {
public:
    Walk(std::span<const Rule> rules, Draft& draft, Report& report)
        : rules_(rules), draft_(draft), report_(report) {}

    void enter(Setting setting) {
        for (const auto& rule : rules_) {
            for (const auto& key : split(rule.key, '|'))
                if (matches(key, setting)) return apply(rule, setting);
        }
        if (const auto* object = setting.value.if_object()) {
            for (const auto& [key, value] : *object) enter_member(setting, key, value);
        } else if (const auto* array = setting.value.if_array();
                   array && !array->empty() && array->front().is_object()) {
            for (std::size_t i = 0; i < array->size(); ++i) {
                enter_member(setting, std::to_string(i), (*array)[i]);
            }
        } else {
            report_.lines.push_back(
                {base::joined(setting.path, "."), Outcome::none, "", "not a known key; ignored"});
        }
    }

private:
    void enter_member(const Setting& parent, const std::string& key, const json::value& value) {
        Setting member{parent.path, value, {}, {}};
        member.path.push_back(key);
        enter(std::move(member));
    }

    void apply(const Rule& rule, Setting& setting) {
        ReportLine line{base::joined(setting.path, "."), rule.outcome, std::string(rule.target),
                        std::string(rule.note)};
        if (is_empty(setting.value)) {
            line.note = "has no value";
        } else if (rule.apply) {
            try {
                rule.apply(draft_, setting);
            } catch (const std::invalid_argument& error) {
                throw std::invalid_argument(line.key + ": " + error.what());
            }
            if (!setting.remark.empty()) {
                if (line.outcome == Outcome::mapped) line.outcome = Outcome::different;
                line.note += (line.note.empty() ? "" : "; ") + setting.remark;
            }
        }
        report_.lines.push_back(std::move(line));
    }

    std::span<const Rule> rules_;
    Draft& draft_;
    Report& report_;
};

}  // namespace

std::int64_t Setting::integer() const {
    if (value.is_int64()) return value.get_int64();
    const double exact = number();
    if (exact != std::floor(exact) || std::abs(exact) > 1e15) {
        throw std::invalid_argument("expected a whole number");
    }
    return static_cast<std::int64_t>(exact);
}

double Setting::number() const {
    if (value.is_int64()) return static_cast<double>(value.get_int64());
    if (value.is_double()) return value.get_double();
    if (value.is_string()) {
        const auto text = trimmed(value.get_string());
        double result = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
        if (!text.empty() && error == std::errc{} && end == text.data() + text.size()) return result;
    }
    throw std::invalid_argument("expected a number");
}

bool Setting::boolean() const {
    if (value.is_bool()) return value.get_bool();
    if (value.is_string()) {
        const auto text = trimmed(value.get_string());
        if (text == "true" || text == "True" || text == "TRUE" || text == "1") return true;
        if (text == "false" || text == "False" || text == "FALSE" || text == "0") return false;
    }
    throw std::invalid_argument("expected true or false");
}

std::string Setting::text() const {
    if (value.is_string()) return std::string(value.get_string());
    if (value.is_int64()) return std::to_string(value.get_int64());
    throw std::invalid_argument("expected text");
}

std::vector<std::string> Setting::list() const {
    std::vector<std::string> result;
    if (const auto* array = value.if_array()) {
        for (const auto& element : *array) {
            if (!element.is_string()) throw std::invalid_argument("expected a list of names");
            result.emplace_back(element.get_string());
        }
        return result;
    }
    for (const auto& part : split(text(), ',')) {
        if (auto name = trimmed(part); !name.empty()) result.push_back(std::move(name));
    }
    return result;
}

void apply_rules(std::span<const Rule> rules, const json::object& source, Draft& draft, Report& report) {
    Walk(rules, draft, report).enter({{}, source, {}, {}});
}

}  // namespace kubenodesmith::migrate
