// Whether machines of Nodes that are not Ready are switched off, as their providers say.
#pragma once

#include <map>
#include <string>

#include "controllers/cache/kinds.hpp"
#include "controllers/services/provider_instances.hpp"

namespace controllers::disruption {

class StoppedMachines {
public:
    StoppedMachines(const Informers& informers, base::Clock& clock, ProviderInstances& instances)
        : informers_(informers), clock_(clock), instances_(instances) {}

    // Asks about those of the pool that were not asked about for a while.
    asio::awaitable<void> look(PoolPointer pool);
    bool contains(const std::string& claim_uid) const;
    void forget(const std::string& claim_uid);

private:
    // Whether its Node is not Ready for so long that its machine is worth a look.
    bool concerns(const NodeSmithClaim& claim) const;
    asio::awaitable<void> ask(ClaimPointer claim);

    const Informers& informers_;
    base::Clock& clock_;
    ProviderInstances& instances_;
    std::map<std::string, base::TimePoint> asked_;  // by claim UID
    std::map<std::string, bool> stopped_;           // by claim UID
};

}  // namespace controllers::disruption
