#include "test/support/fake_api_target.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

namespace fake {
namespace {

std::string trimmed(const std::string& text) {
    auto begin = text.find_first_not_of(' ');
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    int depth = 0;
    std::string part;
    for (char c : text) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == separator && depth == 0) {
            parts.push_back(trimmed(part));
            part.clear();
        } else {
            part += c;
        }
    }
    if (!trimmed(part).empty() || !parts.empty()) parts.push_back(trimmed(part));
    return parts;
}

std::optional<std::string> text_along(const json::object& object, const auto& path) {
    const auto* at = &object;
    const json::value* found = nullptr;
    for (const auto& name : path) {
        if (found) at = found->if_object();
        found = at ? at->if_contains(name) : nullptr;
        if (!found) return std::nullopt;
    }
    if (!found) return std::nullopt;
    return found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
}

}  // namespace

std::string Target::get(const std::string& parameter) const {
    auto found = query.find(parameter);
    return found == query.end() ? std::string() : found->second;
}

bool Target::flag(const std::string& parameter) const {
    auto value = get(parameter);
    return value == "true" || value == "1";
}

std::optional<Target> parse_target(const std::string& text) {
    auto url = boost::urls::parse_origin_form(text);
    if (!url) return std::nullopt;
    std::vector<std::string> parts;
    for (auto segment : url->segments()) parts.emplace_back(segment);
    Target target;
    for (auto parameter : url->params()) target.query[std::string(parameter.key)] = parameter.value;

    std::size_t at = 0;
    auto next = [&] { return at < parts.size() ? parts[at++] : std::string(); };
    auto root = next();
    if (root == "apis") {
        target.group = next();
    } else if (root != "api") {
        return std::nullopt;
    }
    target.version = next();
    auto plural = next();
    if (plural == "namespaces" && parts.size() - at >= 2) {
        target.namespace_ = next();
        plural = next();
    }
    if (plural.empty()) return std::nullopt;
    target.resource = target.group.empty() ? plural : plural + "." + target.group;
    target.name = next();
    target.subresource = next();
    return target;
}

Selector::Selector(const std::string& labels, const std::string& fields)
    : labels_(parse_labels(labels)), fields_(parse_fields(fields)) {}

std::vector<Selector::Term> Selector::parse_labels(const std::string& text) {
    auto terms = parse(text);
    for (auto& term : terms) term.path.insert(term.path.begin(), {"metadata", "labels"});
    return terms;
}

std::vector<Selector::Term> Selector::parse_fields(const std::string& text) {
    auto terms = parse(text);
    for (auto& term : terms) term.path = split(term.path.front(), '.');
    return terms;
}

std::vector<Selector::Term> Selector::parse(const std::string& text) {
    std::vector<Term> terms;
    for (const auto& part : split(text, ',')) {
        auto parenthesis = part.find('(');
        if (parenthesis != std::string::npos) {
            auto words = split(trimmed(part.substr(0, parenthesis)), ' ');
            auto values = part.substr(parenthesis + 1, part.rfind(')') - parenthesis - 1);
            terms.push_back({{words.front()},
                             split(values, ','),
                             words.back() == "notin" ? Term::Kind::not_in : Term::Kind::in});
        } else if (auto unequal = part.find("!="); unequal != std::string::npos) {
            terms.push_back({{trimmed(part.substr(0, unequal))},
                             {trimmed(part.substr(unequal + 2))},
                             Term::Kind::not_in});
        } else if (auto equal = part.find('='); equal != std::string::npos) {
            auto value = part.find_first_not_of('=', equal);
            terms.push_back({{trimmed(part.substr(0, equal))},
                             {value == std::string::npos ? "" : trimmed(part.substr(value))},
                             Term::Kind::in});
        } else if (part.starts_with('!')) {
            terms.push_back({{trimmed(part.substr(1))}, {}, Term::Kind::absent});
        } else if (!part.empty()) {
            terms.push_back({{part}, {}, Term::Kind::exists});
        }
    }
    return terms;
}

bool Selector::holds(const Term& term, const std::optional<std::string>& value) {
    bool listed = value && std::find(term.values.begin(), term.values.end(), *value) != term.values.end();
    switch (term.kind) {
        case Term::Kind::in:
            return listed;
        case Term::Kind::not_in:
            return !listed;
        case Term::Kind::exists:
            return value.has_value();
        case Term::Kind::absent:
            return !value;
    }
    return false;
}

bool Selector::matches(const json::object& object) const {
    return std::all_of(labels_.begin(), labels_.end(),
                       [&](const Term& term) { return holds(term, text_at(object, term.path)); }) &&
           std::all_of(fields_.begin(), fields_.end(), [&](const Term& term) {
               // The server treats a field that is not set as the empty string.
               return holds(term, text_at(object, term.path).value_or(""));
           });
}

std::optional<std::string> text_at(const json::object& object, std::initializer_list<std::string_view> path) {
    return text_along(object, path);
}

std::optional<std::string> text_at(const json::object& object, const std::vector<std::string>& path) {
    return text_along(object, path);
}

}  // namespace fake
