// Sets the Ready condition of our objects in unmanaged namespaces to NamespaceNotManaged. Nothing else
// of them is read or written. Anyone may create such objects. So each kind gets one write a second, in
// turn by namespace, and little memory.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "kube/controller.hpp"

namespace controllers {

// WaitingObjects holds the objects that wait for their condition. Beyond the limits objects are skipped until
// they change or the operator relists.
class WaitingObjects {
public:
    static constexpr std::size_t kMostOfNamespace = 100;
    static constexpr std::size_t kMost = 10'000;

    void add(const api::ObjectKey& key);
    // Removes an object whose condition another operator has set.
    void remove(const api::ObjectKey& key);
    // Returns the first object of the namespace whose turn it is; nullopt: none waits.
    std::optional<api::ObjectKey> take();
    std::size_t size() const { return size_; }

private:
    std::map<std::string, std::set<std::string>> names_;  // by namespace; no set is empty
    std::size_t size_ = 0;
    std::string last_;  // the namespace that had the last turn
};

// Returns the object with its condition set; nullopt: the condition is already set. Pure.
template <api::Kind T>
std::optional<T> told_unmanaged(const T& object, const ManagedNamespaces& managed, api::Time now);

template <api::Kind T>
class UnmanagedReconciler final : public kube::Reconciler {
public:
    // All arguments must outlive this object; `informer` is one of `informers`.
    UnmanagedReconciler(kube::Informer<T>& informer, const ManagedNamespaces& managed, kube::Client& client,
                        base::Clock& clock);
    void subscribe(kube::WorkQueue& queue);
    // Writes the condition of one waiting object. The key stands for all objects of the kind.
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    asio::awaitable<void> tell(kube::ObjectKey key);

    kube::Informer<T>& informer_;
    const ManagedNamespaces& managed_;
    kube::Client& client_;
    base::Clock& clock_;
    WaitingObjects waiting_;
};

// UnmanagedReconcilers holds one reconciler for each of our kinds.
struct UnmanagedReconcilers {
    UnmanagedReconcilers(Informers& informers, kube::Client& client, base::Clock& clock);
    UnmanagedReconciler<NodeSmithProvider> providers;
    UnmanagedReconciler<NodeSmithPool> pools;
    UnmanagedReconciler<NodeSmithClaim> claims;
    UnmanagedReconciler<NodeSmithControlPlane> control_planes;
    UnmanagedReconciler<NodeSmithHost> hosts;
};

}  // namespace controllers
