// Determines which pods a term of pod affinity or a spread constraint selects.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/core.hpp"

namespace scheduling {

// PodSelection is one selector in some namespaces.
struct PodSelection {
    bool in_all_namespaces = false;
    std::set<std::string> namespaces;
    std::optional<api::LabelSelector> selector;  // absent: no pod at all

    bool matches(const api::Pod& pod) const;
};

// PodMatcher selects the pods that match all selections.
struct PodMatcher {
    std::vector<PodSelection> selections;

    bool matches(const api::Pod& pod) const;
};

// SelectionReader resolves the parts of terms that depend on their pod: its namespace and its labels.
class SelectionReader {
public:
    explicit SelectionReader(const std::vector<std::shared_ptr<const api::Namespace>>& namespaces)
        : namespaces_(namespaces) {}

    PodSelection read(const api::PodAffinityTerm& term, const api::Pod& owner) const;
    static PodSelection read(const api::TopologySpreadConstraint& constraint, const api::Pod& owner);

private:
    const std::vector<std::shared_ptr<const api::Namespace>>& namespaces_;
};

}  // namespace scheduling
