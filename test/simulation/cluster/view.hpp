// The objects of the in-memory API server as typed values, without those of tenants. The models of scheduler,
// kubelets and controllers use it, and so do the invariants. It is always current, unlike the operator's
// cache.
#pragma once

#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "api/core.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/host.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "base/random.hpp"
#include "test/support/fake_api_server.hpp"

namespace simulation {

using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithControlPlane;
using api::v1alpha1::NodeSmithHost;
using api::v1alpha1::NodeSmithPool;
using api::v1alpha1::NodeSmithProvider;

// The namespace whose objects are in no view (tenants.hpp).
inline constexpr const char* kTenants = "tenants";

template <api::Kind T>
using Objects = std::map<api::ObjectKey, std::shared_ptr<const T>>;

// `before` is null for an added object, `after` for a removed one.
template <api::Kind T>
using Listener = std::function<void(const T* before, const T* after)>;

class ClusterSnapshot {
public:
    // The server must outlive the view.
    explicit ClusterSnapshot(fake::ApiServer& server);
    ClusterSnapshot(const ClusterSnapshot&) = delete;
    ClusterSnapshot& operator=(const ClusterSnapshot&) = delete;

    template <api::Kind T>
    const Objects<T>& all() const {
        return std::get<Kept<T>>(kept_).objects;
    }
    template <api::Kind T>
    const T* find(const api::ObjectKey& key) const {
        auto found = all<T>().find(key);
        return found == all<T>().end() ? nullptr : found->second.get();
    }
    // Registers a listener. Listeners are called immediately, in the order of subscription, and must not
    // change objects themselves.
    template <api::Kind T>
    void subscribe(Listener<T> listener) {
        std::get<Kept<T>>(kept_).listeners.push_back(std::move(listener));
    }

    // Returns a random object, or null if there is none.
    template <api::Kind T>
    const T* any(base::Random& random) const {
        const auto& all = this->all<T>();
        if (all.empty()) return nullptr;
        return std::next(all.begin(), static_cast<std::ptrdiff_t>(random.below(all.size())))->second.get();
    }

    const api::Node* node_of_machine(const std::string& system_uuid) const;
    const NodeSmithClaim* claim_by_uid(const std::string& uid) const;
    std::vector<const api::Pod*> pods_on(const std::string& node) const;

private:
    template <api::Kind T>
    struct Kept {
        Objects<T> objects;
        std::vector<Listener<T>> listeners;
        void apply(const fake::Change& change);
    };

    std::tuple<Kept<api::Pod>, Kept<api::Node>, Kept<api::DaemonSet>, Kept<api::PodDisruptionBudget>,
               Kept<api::Secret>, Kept<api::VolumeAttachment>, Kept<api::PersistentVolume>,
               Kept<api::PersistentVolumeClaim>, Kept<api::StorageClass>, Kept<api::CSINode>,
               Kept<api::Event>, Kept<NodeSmithClaim>, Kept<NodeSmithPool>, Kept<NodeSmithProvider>,
               Kept<NodeSmithControlPlane>, Kept<NodeSmithHost>>
        kept_;
};

bool is_ready(const api::Node& node);
// Reports whether the pod runs or is about to: it has neither ended nor is it being deleted.
bool is_alive(const api::Pod& pod);
bool has_ended(const api::Pod& pod);
// Reports whether the pod is static or of a DaemonSet. Such a pod stays on its Node whatever happens.
bool belongs_to_node(const api::Pod& pod);
// Returns the pod's requests: the sum of its containers (the models use no init containers).
api::ResourceList requests_of(const api::Pod& pod);
bool tolerates(const api::Pod& pod, const api::Taint& taint);

}  // namespace simulation
