// Computes how much of a node is in use, by its pods' requests. Pods of DaemonSets, static
// and ended pods do not count. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "api/core.hpp"
#include "api/node.hpp"
#include "api/v1alpha1/common.hpp"
#include "base/saturating.hpp"
#include "controllers/cache/kinds.hpp"
#include "scheduling/input/prices.hpp"

namespace controllers::disruption {

struct Amount {
    base::Saturating cpu = 0;     // millicores
    base::Saturating memory = 0;  // bytes
};

struct NodeUse {
    Amount requested;
    Amount allocatable;
};
// Returns the size that the Node reports; 0 for missing resources.
api::v1alpha1::Size size_of(const api::Node& node);
NodeUse use_of(const api::Node& node, const PodPointers& pods);
// Returns the larger share of CPU and memory, relative to allocatable.
double utilization_percent(const NodeUse& use);
// Returns the price of the requests as a percentage of the price of a machine of that size.
double price_percent(const NodeUse& use, const api::v1alpha1::Size& size, const scheduling::Prices& prices);

// PoolUse sums up the nodes of a pool.
class PoolUse {
public:
    // Adds a node whose pods need a place. `stays` says whether the node provides room from now on.
    void add(const NodeUse& node, bool stays);
    // Removes a node that counted as staying; its pods still need a place.
    void lose(const NodeUse& node);
    // Reports whether all pods would fit on the remaining nodes. It compares sums and leaves this
    // percentage of each resource free.
    bool fits(std::int64_t headroom_percent) const;
    bool fits_on_fewer(std::int64_t headroom_percent) const;
    // Does the same without this node, which counts as staying so far.
    bool fits_without(const NodeUse& node, std::int64_t headroom_percent) const;

private:
    bool fits_in(Amount room, std::int64_t headroom_percent) const;

    Amount requested_;
    Amount allocatable_;
    Amount smallest_;  // smallest remaining node, by resource
    bool any_ = false;
};

}  // namespace controllers::disruption
