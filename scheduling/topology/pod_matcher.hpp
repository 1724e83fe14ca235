// Which pods a term of pod affinity or a spread constraint speaks of.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/core.hpp"

namespace scheduling {

// One selector in some namespaces.
struct PodSelection {
    bool in_all_namespaces = false;
    std::set<std::string> namespaces;
    std::optional<api::LabelSelector> selector;  // absent: no pod at all

    bool matches(const api::Pod& pod) const;
};

// Pods that all selections agree on.
struct PodMatcher {
    std::vector<PodSelection> selections;

    bool matches(const api::Pod& pod) const;
};

// Resolves what terms leave to the pod that has them: its namespace and its labels.
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
