// What garbage collection finds out about the machines of claims: facts for the claims' reconciler, which
// alone writes their status. In memory only, as a process that starts anew finds out the same. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "controllers/cache/kinds.hpp"

namespace controllers {

class MachineReports {
public:
    struct Report {
        bool is_gone = false;   // its provider verified that it does not exist
        std::string host;       // where it is now; empty: where the claim says
        std::string zone;       // of that host; empty: unknown
        std::string doubt{};    // why is_gone alone proves nothing; empty: nothing speaks against it
        std::string cluster{};  // identity of the provider's cluster that it was found on; empty: as claimed
    };

    // Of the claim's present machine; null: nothing. Valid until the next call that is not const.
    const Report* of(const NodeSmithClaim& claim) const;
    void report(const NodeSmithClaim& claim, Report report);
    void forget(const api::ObjectKey& claim) { by_claim_.erase(claim); }
    // `told` is called with the key of a claim each time that something is reported of it.
    void on_report(std::function<void(const api::ObjectKey& claim)> told) { told_ = std::move(told); }

private:
    struct Entry {
        std::int32_t attempt = 0;
        std::string system_uuid;
        Report report;
    };
    std::map<api::ObjectKey, Entry> by_claim_;
    std::function<void(const api::ObjectKey&)> told_;
};

}  // namespace controllers
