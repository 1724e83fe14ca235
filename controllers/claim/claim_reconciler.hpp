// Reconciles NodeSmithClaims: observes, decides (lifecycle.hpp), records, and takes one step.
#pragma once

#include <limits>

#include "controllers/cache/context.hpp"
#include "controllers/claim/act/adoption.hpp"
#include "controllers/claim/act/launcher.hpp"
#include "controllers/claim/act/node_keeper.hpp"
#include "controllers/claim/act/power_cycler.hpp"
#include "controllers/claim/act/recovery.hpp"
#include "controllers/claim/act/remover.hpp"
#include "controllers/claim/act/starter.hpp"
#include "controllers/claim/boot_watch.hpp"
#include "controllers/claim/facts/template_hash.hpp"
#include "controllers/claim/provider_lanes.hpp"

namespace controllers {

class ClaimReconciler final : public kube::Reconciler, InContext {
public:
    ClaimReconciler(const Context& context, ProviderInstances& instances, Reservations& reservations,
                    Drainer& drainer, claim::BootData& boot_data, MachineReports& machine_reports,
                    DisruptionReports& disruption_reports, asio::any_io_executor executor);

    void subscribe(kube::WorkQueue& queue);
    // Divides this many workers equally among the providers. Without it each provider may use all workers.
    void share_workers(std::size_t workers) { workers_ = workers; }
    void begin() override { recovery_.begin(); }
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    std::size_t most_of_provider() const;
    // Returns the provider that the claim's work may have to wait for.
    kube::ObjectKey lane_of(const kube::ObjectKey& key) const;
    asio::awaitable<kube::Result> pass(kube::ObjectKey key);
    claim::Observation observe(ClaimPointer stored);
    asio::awaitable<kube::Result> take(claim::Step step, claim::Observation observation);
    // Records a failure in a condition. Returns whether the claim can proceed nevertheless.
    asio::awaitable<bool> note_failure(kube::ObjectKey key, std::string_view reason, std::string message);

    claim::ProviderLanes lanes_;
    std::size_t workers_ = std::numeric_limits<std::size_t>::max();
    claim::BootData& boot_data_;
    MachineReports& machine_reports_;
    DisruptionReports& disruption_reports_;
    claim::TemplateHashes hashes_;
    claim::Writer writer_;
    const claim::Actor::Means means_;
    Addresses addresses_;
    claim::PlacementTurns placements_;
    claim::Launcher launcher_;
    claim::NodeKeeper nodes_;
    claim::Remover remover_;
    claim::PowerCycler power_cycler_;
    claim::Starter starter_;
    claim::Adoption adoption_;
    claim::Recovery recovery_;
    claim::BootWatch watch_;
};

}  // namespace controllers
