// Observes a pool and its nodes in the stores.
#pragma once

#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/node_search.hpp"
#include "controllers/claim/facts/template_hash.hpp"
#include "controllers/disruption/methods/pool_view.hpp"
#include "controllers/disruption/stopped_machines.hpp"
#include "controllers/services/disruption_reports.hpp"

namespace controllers::disruption {

class PoolObserver {
public:
    // `stopped` may be null: then no machine is known to be stopped.
    PoolObserver(const Informers& informers, const base::Clock& clock, const DisruptionReports& reports,
                 const StoppedMachines* stopped)
        : informers_(informers), clock_(clock), reports_(reports), stopped_(stopped) {}

    // Returns the view of the pool as it is now, or as given if it is gone.
    PoolView observe(const PoolView::Pool& pool);

private:
    void look_at_manager(PoolView& view);
    void count(PoolView& view, const NodeSmithClaim& claim) const;
    Member look_at_member(const PoolView& view, const std::string& template_hash, ClaimPointer claim,
                          NodePointer node) const;
    static void note_spare(PoolView& view);

    const Informers& informers_;
    const base::Clock& clock_;
    const DisruptionReports& reports_;
    const StoppedMachines* stopped_;
    claim::TemplateHashes hashes_;
};

}  // namespace controllers::disruption
