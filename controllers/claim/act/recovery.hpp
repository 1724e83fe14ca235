// Finds the machine of a claim whose status does not show it. A tool restored the claim without its status, a
// backup of etcd brought back an older one, or someone replaced it. A second machine would have the same
// system UUID and MAC addresses.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/claim/act/actor.hpp"
#include "controllers/claim/decide/lifecycle.hpp"
#include "kube/controller.hpp"
#include "providers/machine.hpp"

namespace controllers::claim {

class Recovery : public Actor {
public:
    explicit Recovery(const Means& means) : Actor(means) {}

    // Notes from now on which claims get an older status. Call it before the informers run.
    void subscribe();
    // Notes that this process acts from now on.
    void begin();
    // Fills in what only this process remembers of the claim.
    Observation with_memories(Observation observation) const;
    // Reports whether the claim may have a machine that its status does not show, and that was not looked
    // for.
    bool may_have_unknown_machine(ClaimPointer claim) const;

    // Asks the provider for machines with the claim's mark; nullopt: none exists. Otherwise the status names
    // the machine, or why none can be recovered. Throws ProviderError, ApiError.
    asio::awaitable<std::optional<kube::Result>> take_up(Observation observation);

private:
    using Own = std::vector<std::pair<providers::Machine, ProviderPointer>>;

    bool is_of_another(const NodeSmithProvider& provider, const NodeSmithClaim& claim,
                       const providers::MachineRecord& record) const;
    struct Found {
        std::vector<providers::Machine> own;  // machines with the claim's mark
        std::string obstacle;                 // why there may be more; empty: there are none
        bool is_making_recorded = false;      // the recorded task is still making the machine
    };
    struct UnderWay {
        std::string obstacle;  // why the provider may be making an unrecorded machine of the claim; empty:
                               // it is not
        bool is_recorded = false;
    };
    asio::awaitable<Found> look(ProviderPointer provider, const NodeSmithClaim& claim);
    // Reports whether a provider has the machine that the status records, finished or not.
    asio::awaitable<bool> has_recorded(const Observation& observation, const Own& own);
    // Returns what the provider may be making for the claim that no list shows yet.
    asio::awaitable<UnderWay> half_made_of(ProviderPointer provider, const NodeSmithClaim& claim,
                                           std::shared_ptr<providers::Provider> backend);
    asio::awaitable<kube::Result> wait(Observation observation, std::string_view reason, std::string message);
    asio::awaitable<providers::Machine> as_it_stands(ProviderPointer provider, providers::Machine machine);
    asio::awaitable<kube::Result> record(Observation observation, providers::Machine machine);

    void note_looked(const std::string& uid);

    // Claims with an older status whose machine is to be found, by UID, with the machine (system UUID and
    // attempt) that was registered before; empty: none was.
    std::map<std::string, std::string> went_back_;
    std::set<std::string> looked_;   // UIDs of older claims whose machine this process has looked for
    std::set<std::string> existed_;  // UIDs of claims that existed when this process began to act
    std::optional<api::Time> began_;
};

}  // namespace controllers::claim
