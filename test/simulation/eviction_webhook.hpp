// An admission webhook for evictions, as operators of databases and message brokers install. For a while it
// denies the evictions of some pods, fails, or does not answer. Meanwhile a user deletes a claim, so that a
// node is drained.
#pragma once

#include <memory>
#include <string>

#include "test/simulation/outsiders.hpp"

namespace simulation {

class EvictionWebhook final : public Outsider {
public:
    // Share of the worlds with trouble that have this webhook.
    static constexpr double kShare = 0.25;
    explicit EvictionWebhook(World& world, double share = kShare);
    ~EvictionWebhook() override;
    void begin() override;
    void make_peace() override;

private:
    void turn(bool is_at_work);
    // Lets a user delete the claim of the node with the most pods.
    void have_node_drained();
    Admission admit(const base::HttpRequest& request) const;

    World& world_;
    double share_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_, next_drain_;
};

}  // namespace simulation
