#include "operator/command_line/references.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "operator/command_line/suggestions.hpp"

namespace kubenodesmith {
namespace {

const std::map<std::string, ObjectKind, std::less<>>& kinds_by_name() {
    static const auto all = [] {
        std::map<std::string, ObjectKind, std::less<>> names{{"pod", ObjectKind::pod},
                                                             {"po", ObjectKind::pod},
                                                             {"node", ObjectKind::node},
                                                             {"no", ObjectKind::node},
                                                             {"nscp", ObjectKind::control_plane}};
        for (const auto& [word, kind] : {std::pair{"claim", ObjectKind::claim},
                                         {"pool", ObjectKind::pool},
                                         {"provider", ObjectKind::provider},
                                         {"host", ObjectKind::host},
                                         {"controlplane", ObjectKind::control_plane}}) {
            for (const auto* prefix : {"", "ns", "nodesmith"})
                names.emplace(std::string(prefix) + word, kind);
        }
        auto plurals = names;
        for (const auto& [name, kind] : names) plurals.emplace(name + "s", kind);
        return plurals;
    }();
    return all;
}

ObjectKind kind_of(const std::string& word) {
    if (const auto kind = find_kind(word)) return *kind;
    std::vector<std::string> known;
    for (const auto& [name, kind] : kinds_by_name()) known.push_back(name);
    throw UsageError("\"" + word +
                     "\" is no kind that this command knows: pod, node, claim, pool, provider, host or "
                     "controlplane" +
                     did_you_mean(word, known));
}

std::vector<std::string> parts_of(const std::string& word) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start <= word.size();) {
        const auto end = std::min(word.find('/', start), word.size());
        parts.push_back(word.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

api::ObjectKey key_of(std::vector<std::string> parts, const std::string& namespace_,
                      const std::string& whole) {
    const bool is_complete = std::ranges::none_of(parts, &std::string::empty);
    if (!is_complete || parts.empty() || parts.size() > 2)
        throw UsageError("\"" + whole + "\" names no object; give KIND/NAME, or KIND NAME");
    if (parts.size() == 1) return {namespace_, parts[0]};
    if (!namespace_.empty() && namespace_ != parts[0])
        throw UsageError("the name says namespace " + parts[0] + " and the flag -n says " + namespace_);
    return {parts[0], parts[1]};
}

}  // namespace

// Accepts any case and an API group, so "NSPools.kubenodesmith.parawell.cloud" is a pool.
std::optional<ObjectKind> find_kind(std::string_view word) {
    const auto found = kinds_by_name().find(base::lower_case(word.substr(0, word.find('.'))));
    if (found == kinds_by_name().end()) return std::nullopt;
    return found->second;
}

Reference parse_reference(const std::vector<std::string>& words, const std::string& namespace_) {
    const auto whole =
        words.empty() ? std::string() : words.front() + (words.size() > 1 ? " " + words[1] : "");
    auto parts = words.empty() ? std::vector<std::string>() : parts_of(words.front());
    if (words.size() > 1) {
        if (parts.size() != 1)
            throw UsageError("\"" + words.front() + "\" names an object already, so \"" + words[1] +
                             "\" is one word too many");
        for (auto& part : parts_of(words[1])) parts.push_back(std::move(part));
    }
    if (parts.empty()) throw UsageError("no object is named; give KIND/NAME, or KIND NAME");
    const auto kind = kind_of(parts.front());
    if (parts.size() == 1)
        throw UsageError("the name of the " + std::string(word_of(kind)) + " is missing; give " +
                         parts.front() + "/NAME");
    parts.erase(parts.begin());
    auto key = key_of(std::move(parts), namespace_, whole);
    if (kind == ObjectKind::node) key.namespace_.clear();
    return {kind, std::move(key)};
}

api::ObjectKey parse_name(ObjectKind kind, const std::string& word, const std::string& namespace_) {
    auto parts = parts_of(word);
    if (parts.size() > 1) {
        const auto named = find_kind(parts.front());
        if (named && *named != kind)
            throw UsageError("\"" + word + "\" is a " + word_of(*named) + ", and a " + word_of(kind) +
                             " is needed");
        if (named) parts.erase(parts.begin());
    }
    return key_of(std::move(parts), namespace_, word);
}

const char* word_of(ObjectKind kind) {
    switch (kind) {
        case ObjectKind::pod:
            return "pod";
        case ObjectKind::node:
            return "node";
        case ObjectKind::claim:
            return "claim";
        case ObjectKind::pool:
            return "pool";
        case ObjectKind::provider:
            return "provider";
        case ObjectKind::host:
            return "host";
        case ObjectKind::control_plane:
            return "controlplane";
    }
    return "";
}

bool is_meant(const api::ObjectKey& asked, const api::ObjectKey& known) {
    return known.name == asked.name && (asked.namespace_.empty() || known.namespace_ == asked.namespace_);
}

}  // namespace kubenodesmith
