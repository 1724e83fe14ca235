// How much of nodes is in use, by what pods request. Pods of DaemonSets, static and ended ones do not count.
// Pure.
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
// What the Node says it has; 0 for what it does not.
api::v1alpha1::Size size_of(const api::Node& node);
NodeUse use_of(const api::Node& node, const PodPointers& pods);
// The larger of CPU and memory, as a share of what is allocatable.
double utilization_percent(const NodeUse& use);
// What the requests would cost, as a share of what a machine of that size does.
double price_percent(const NodeUse& use, const api::v1alpha1::Size& size, const scheduling::Prices& prices);

// Of the nodes of a pool.
class PoolUse {
public:
    // A node whose pods need a place; whether it is there for them, and for those of others, from now on.
    void add(const NodeUse& node, bool stays);
    // One that stays so far does not; its pods need a place still.
    void lose(const NodeUse& node);
    // Whether all pods would fit on the nodes that stay, or on one of these fewer, if only sums counted and
    // so much of each resource had to be free.
    bool fits(std::int64_t headroom_percent) const;
    bool fits_on_fewer(std::int64_t headroom_percent) const;
    // The same without this one, which stays so far.
    bool fits_without(const NodeUse& node, std::int64_t headroom_percent) const;

private:
    bool fits_in(Amount room, std::int64_t headroom_percent) const;

    Amount requested_;
    Amount allocatable_;
    Amount smallest_;  // of the nodes that stay, by resource
    bool any_ = false;
};

}  // namespace controllers::disruption
