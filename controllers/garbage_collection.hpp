// Checks each provider every few minutes. Removes our machines that no claim owns after a grace period, and
// deletes Nodes that were left behind. Reports moved or vanished machines to the claims' reconciler. Reports
// what might still be alive and never touches it: restoring an etcd backup must never cost a fleet.
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
#include "controllers/services/write_turns.hpp"
#include "kube/controller.hpp"
#include "kube/event_recorder.hpp"

namespace controllers {

// The keys are those of NodeSmithProviders.
class GarbageCollector final : public kube::Reconciler, InContext {
public:
    GarbageCollector(const Context& context, ProviderInstances& instances, MachineReports& machine_reports);
    void subscribe(kube::WorkQueue& queue);
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    // Removal records the attempts to remove an orphan. They may take several calls and may fail for hours.
    struct Removal {
        int attempts = 0;
        base::TimePoint next{};
        std::string task;      // ID of the provider task that removes it
        std::string message;   // last message of that task
        std::string obstacle;  // why the last attempt failed; empty: it succeeded
    };

    using ProviderObject = ProviderPointer;
    using Backend = std::shared_ptr<providers::Provider>;

    // Runs a part of the round and adds its failure to the findings.
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
    // Calls the provider only after the pause that follows the last attempt. Returns why the machine cannot
    // be removed; empty: it is gone, or nothing prevents its removal.
    asio::awaitable<std::string> remove(ProviderObject object, Backend backend, providers::Machine machine);
    // Returns how long to wait before the next call.
    asio::awaitable<base::Duration> remove_once(ProviderObject object, Backend backend,
                                                providers::Machine machine, Removal& removal);
    // Returns the orphan's name and, if its removal takes long, what the removal waits for.
    std::string described_removal(const ProviderObject& object, const providers::Machine& machine) const;
    asio::awaitable<void> collect_nodes(ProviderObject object, Backend backend,
                                        std::vector<providers::Machine> machines, OrphanFindings& findings);
    asio::awaitable<void> collect_node(NodePointer node);
    // Finds half-made machines, except those of claims that are still being launched.
    asio::awaitable<void> find_leftovers(ProviderObject object, Backend backend, OrphanFindings& findings);
    // Finds machines of this cluster at the same backend that have neither a provider nor a claim. They are
    // only reported: their provider may be missing because an old etcd backup was restored.
    asio::awaitable<void> find_abandoned(ProviderObject object, Backend backend, OrphanFindings& findings);
    asio::awaitable<void> report(ProviderObject object, OrphanFindings findings);
    // Reports whether this process has seen the object (by identity) for at least the grace period.
    // The first call starts the period.
    bool is_overdue(const ProviderObject& object, const std::string& what);
    // Reports whether an earlier round has seen the object too.
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
    std::map<kube::ObjectKey, WriteTurns> turns_;  // of the Nodes that are deleted
};

}  // namespace controllers
