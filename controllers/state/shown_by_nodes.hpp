// Combines what several Nodes of a pool show of its new machines. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers {

// Time for which a value is kept that no Node shows any longer.
inline constexpr api::Duration kKeptUnseen(std::chrono::hours{7 * 24});

// Shown combines the values of several Nodes. The result is the largest value that two Nodes
// reach, or that one alone may show.
class Shown {
public:
    void add(std::int64_t plausible, std::int64_t alone) {
        alone_ = std::max(alone_.value_or(alone), alone);
        add_witness(plausible);
    }
    // Adds what is known from former Nodes. It confirms what a Node shows, and is no value by itself.
    void add_witness(std::int64_t plausible) {
        if (!first_ || plausible >= *first_) {
            second_ = first_;
            first_ = plausible;
        } else {
            second_ = std::max(second_.value_or(plausible), plausible);
        }
    }
    std::optional<std::int64_t> value() const {
        return second_ && alone_ ? std::max(*second_, *alone_) : alone_;
    }

private:
    std::optional<std::int64_t> first_;
    std::optional<std::int64_t> second_;
    std::optional<std::int64_t> alone_;
};

// Returns the Node once it has joined. A kubelet then knows its reserve and its number
// of pods, long before it is Ready.
inline const api::Node* joined_node_of(const NodeSmithClaim& claim, const Nodes& nodes) {
    return api::is_true(claim.status.conditions, conditions::kRegistered) ? node_of(claim, nodes) : nullptr;
}

}  // namespace controllers
