// Objects of our kinds in namespaces that are not managed: each is told so by its condition Ready, and
// nothing else of it is read or written. Their authors may be anybody: they get one write a second for each
// kind, in turn by namespace, and little memory.
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

// Who waits to be told. What comes beyond the bounds is left untold until it changes or the operator lists
// anew.
class WaitingObjects {
public:
    static constexpr std::size_t kMostOfNamespace = 100;
    static constexpr std::size_t kMost = 10'000;

    void add(const api::ObjectKey& key);
    // It has been told by another operator.
    void remove(const api::ObjectKey& key);
    // The first of the namespace whose turn it is; nullopt: nobody waits.
    std::optional<api::ObjectKey> take();
    std::size_t size() const { return size_; }

private:
    std::map<std::string, std::set<std::string>> names_;  // by namespace, none is empty
    std::size_t size_ = 0;
    std::string last_;  // the namespace that had its turn
};

// nullopt: it says already that its namespace is not managed. Pure.
template <api::Kind T>
std::optional<T> told_unmanaged(const T& object, const ManagedNamespaces& managed, api::Time now);

template <api::Kind T>
class UnmanagedReconciler final : public kube::Reconciler {
public:
    // All must outlive this; `informer` is one of `informers`.
    UnmanagedReconciler(kube::Informer<T>& informer, const ManagedNamespaces& managed, kube::Client& client,
                        base::Clock& clock);
    void subscribe(kube::WorkQueue& queue);
    // The key stands for all objects of the kind: one of them is told.
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    asio::awaitable<void> tell(kube::ObjectKey key);

    kube::Informer<T>& informer_;
    const ManagedNamespaces& managed_;
    kube::Client& client_;
    base::Clock& clock_;
    WaitingObjects waiting_;
};

// One for each of our kinds.
struct UnmanagedReconcilers {
    UnmanagedReconcilers(Informers& informers, kube::Client& client, base::Clock& clock);
    UnmanagedReconciler<NodeSmithProvider> providers;
    UnmanagedReconciler<NodeSmithPool> pools;
    UnmanagedReconciler<NodeSmithClaim> claims;
    UnmanagedReconciler<NodeSmithControlPlane> control_planes;
    UnmanagedReconciler<NodeSmithHost> hosts;
};

}  // namespace controllers
