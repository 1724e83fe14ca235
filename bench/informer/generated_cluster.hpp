// GeneratedCluster is the API server of a cluster that is too large to build. It answers lists and watches
// with realistic objects made on request. It supports no writes.
#pragma once

#include <optional>
#include <string_view>

#include "base/http.hpp"

namespace bench {

class GeneratedCluster {
public:
    // `updates` changes of pods follow the list, spread over all pods.
    GeneratedCluster(int pods, int nodes, int updates) : pods_(pods), nodes_(nodes), updates_(updates) {}

    // Returns lists in pages; kinds other than pods and nodes are empty. nullopt: a watch without changes.
    std::optional<base::HttpResponse> answer(const base::HttpRequest& request);

    // Returns an event for a watch without changes.
    static base::HttpResponse bookmark();

    int requests() const { return requests_; }

private:
    std::optional<base::HttpResponse> watch(std::string_view path);
    base::HttpResponse page(std::string_view path, int from, int limit) const;

    int pods_;
    int nodes_;
    int updates_;
    int told_ = 0;  // number of the updates sent so far
    int requests_ = 0;
};

}  // namespace bench
