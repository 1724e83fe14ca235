// The API server of a cluster too large to be had: answers lists and watches with realistic objects that are
// made when they are asked for. It knows no writes.
#pragma once

#include <optional>
#include <string_view>

#include "base/http.hpp"

namespace bench {

class GeneratedCluster {
public:
    // `updates` changes of pods follow the list, spread over all of them.
    GeneratedCluster(int pods, int nodes, int updates) : pods_(pods), nodes_(nodes), updates_(updates) {}

    // Lists in pages; kinds other than pods and nodes are empty. nullopt: a watch that has nothing to tell.
    std::optional<base::HttpResponse> answer(const base::HttpRequest& request);

    // What a watch may say that has nothing to tell.
    static base::HttpResponse bookmark();

    int requests() const { return requests_; }

private:
    std::optional<base::HttpResponse> watch(std::string_view path);
    base::HttpResponse page(std::string_view path, int from, int limit) const;

    int pods_;
    int nodes_;
    int updates_;
    int told_ = 0;  // of the updates
    int requests_ = 0;
};

}  // namespace bench
