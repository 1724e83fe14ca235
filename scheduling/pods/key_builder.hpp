// Converts pods' demands to one string each, so that equal demands have equal strings. The form is
// unambiguous (lengths come first) and has no meaning outside the process.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.hpp"

namespace scheduling {

class KeyBuilder {
public:
    const std::string& text() const { return text_; }
    void clear() { text_.clear(); }

    void put(std::int64_t number) { text_.append(reinterpret_cast<const char*>(&number), sizeof number); }
    void put(std::string_view string) {
        put(static_cast<std::int64_t>(string.size()));
        text_.append(string);
    }
    void put(const std::string& string) { put(std::string_view(string)); }
    void put(const api::StringMap& map) {
        put(static_cast<std::int64_t>(map.size()));
        for (const auto& [name, value] : map) {
            put(name);
            put(value);
        }
    }
    template <class T>
    void put(const std::vector<T>& list) {
        put(static_cast<std::int64_t>(list.size()));
        for (const auto& element : list) put(element);
    }
    template <class T>
    void put(const std::optional<T>& optional) {
        put(static_cast<std::int64_t>(optional.has_value()));
        if (optional) put(*optional);
    }
    template <class T>
    void put(const api::Shared<T>& shared) {
        put(*shared);
    }
    void put(const api::SelectorRequirement& requirement);
    void put(const api::LabelSelector& selector);
    void put(const api::NodeSelectorTerm& term);
    void put(const api::NodeSelector& selector) { put(selector.nodeSelectorTerms); }
    void put(const api::Toleration& toleration);
    void put(const api::PreferredSchedulingTerm& term);
    void put(const api::PodAffinityTerm& term);
    void put(const api::WeightedPodAffinityTerm& term);
    void put(const api::PodAffinity& affinity);
    void put(const api::TopologySpreadConstraint& constraint);

private:
    std::string text_;
};

}  // namespace scheduling
