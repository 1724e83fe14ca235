// Looks after each provider every few minutes: machines of ours that no claim owns any more are removed
// after a grace period, Nodes that stayed behind are deleted, and of claims whose machine was moved or has
// vanished the claims' reconciler is told.
// What might still be alive is reported, never touched: a restored backup of etcd must not cost a counts.
#pragma once

#include <map>
#include <string>

#include "controllers/cache/context.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/machine_census.hpp"
#include "controllers/orphan_findings.hpp"
#include "controllers/services/machine_reports.hpp"
#include "controllers/services/provider_instances.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"

namespace controllers {

// Keys are those of NodeSmithProviders.
class GarbageCollector final : public kube::Reconciler, InContext {
public:
    GarbageCollector(const Context& context, ProviderInstances& instances, MachineReports& machine_reports);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    // Remembers an orphan's removal, which may take several calls, and may fail for hours.
    struct Removal {
        int attempts = 0;
        base::TimePoint next{};
        std::string task;      // at work for it at the provider
        std::string message;   // what it last said
        std::string obstacle;  // why the last attempt failed; empty: it did not
    };

    using ProviderObject = ProviderPointer;
    using Backend = std::shared_ptr<providers::Provider>;

    // Runs a part of the round; its failure becomes a line of the findings.
    asio::awaitable<void> attempt(asio::awaitable<void> part, std::string what, OrphanFindings& findings);
    // Asks the API server whether the machine has an owner after all.
    asio::awaitable<bool> is_claimed(providers::Machine machine);
    asio::awaitable<bool> is_of_unmanaged_claim(NodePointer node);
    // Asks the API server for a Node that may serve on the machine.
    asio::awaitable<bool> is_in_use_after_all(providers::Machine machine);
    asio::awaitable<void> collect_machines(ProviderObject object, Backend backend,
                                           std::vector<providers::Machine> machines,
                                           OrphanFindings& findings);
    asio::awaitable<void> collect(ProviderObject object, Backend backend, providers::Machine machine,
                                  OrphanFindings& findings);
    // Returns what stands in the way; empty: it is gone or going. Calls the provider no sooner than the pause
    // after the last attempt allows.
    // Returns why it cannot be removed; empty: it can, or is gone.
    asio::awaitable<std::string> remove(ProviderObject object, Backend backend, providers::Machine machine);
    // Returns how long to wait before the next call.
    asio::awaitable<base::Duration> remove_once(ProviderObject object, Backend backend,
                                                providers::Machine machine, Removal& removal);
    // The orphan's name, and what its removal waits for, if that takes long.
    std::string described_removal(const ProviderObject& object, const providers::Machine& machine) const;
    asio::awaitable<void> collect_nodes(ProviderObject object, Backend backend,
                                        std::vector<providers::Machine> machines, OrphanFindings& findings);
    asio::awaitable<void> collect_node(NodePointer node);
    // What died on its way to become a machine and is no matter of a claim that is still being launched.
    asio::awaitable<void> find_leftovers(ProviderObject object, Backend backend, OrphanFindings& findings);
    // Machines of this cluster at the same backend that neither a provider nor a claim leads to. They are
    // reported only: a provider may be missing because an old backup of etcd was restored.
    asio::awaitable<void> find_abandoned(ProviderObject object, Backend backend, OrphanFindings& findings);
    asio::awaitable<void> report(ProviderObject object, OrphanFindings findings);
    // Whether this process has seen it (by identity) for at least the grace period; the first call counts
    // from now.
    bool is_overdue(const ProviderObject& object, const std::string& what);
    // Also in an earlier round.
    bool is_seen_again(const ProviderObject& object, const std::string& what);
    base::Duration seen_for(const ProviderObject& object, const std::string& what);

    ProviderInstances& instances_;
    MachineCensus census_;
    base::Family<base::Gauge>& orphans_;
    base::Family<base::Counter>& removed_;
    struct Sighting {
        base::TimePoint first;
        base::TimePoint last;
        Removal removal;
    };
    std::map<kube::ObjectKey, std::map<std::string, Sighting>> sightings_;
};

}  // namespace controllers
