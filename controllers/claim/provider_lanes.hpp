// Divides the workers of the claims among the providers, so that a provider that
// hangs delays only its own claims. The requests for certificates are divided among
// the namespaces of their claims in the same way.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "api/resource.hpp"
#include "kube/work_queue.hpp"

namespace controllers::claim {

class ProviderLanes {
public:
    // Sets the queue that waiting keys are added to again.
    void use(kube::WorkQueue& queue) { queue_ = &queue; }

    // Place counts as one claim of the provider in work while it lives.
    class Place {
    public:
        Place(ProviderLanes& lanes, api::ObjectKey provider)
            : lanes_(lanes), provider_(std::move(provider)) {}
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        ~Place() { lanes_.leave(provider_); }

    private:
        ProviderLanes& lanes_;
        api::ObjectKey provider_;
    };
    // Returns null if `most` claims of the provider are in work. The claim is
    // queued again when one of them ends.
    std::unique_ptr<Place> enter(const api::ObjectKey& provider, const api::ObjectKey& claim,
                                 std::size_t most) {
        auto& lane = lanes_[provider];
        if (lane.in_work >= most) {
            // Each change of a claim asks again.
            if (lane.known.insert(claim).second) lane.waiting.push_back(claim);
            return nullptr;
        }
        ++lane.in_work;
        return std::make_unique<Place>(*this, provider);
    }

private:
    struct Lane {
        std::size_t in_work = 0;
        std::deque<api::ObjectKey> waiting;
        std::set<api::ObjectKey> known;  // the waiting ones
    };

    void leave(const api::ObjectKey& provider) {
        auto& lane = lanes_.at(provider);
        --lane.in_work;
        if (!lane.waiting.empty()) {
            queue_->add(lane.waiting.front());
            lane.known.erase(lane.waiting.front());
            lane.waiting.pop_front();
        }
        if (lane.in_work > 0) return;
        // The claim queued above may be gone and then never wake another one, so all are queued.
        for (const auto& claim : lane.waiting) queue_->add(claim);
        lanes_.erase(provider);
    }

    kube::WorkQueue* queue_ = nullptr;
    std::map<api::ObjectKey, Lane> lanes_;
};

}  // namespace controllers::claim
