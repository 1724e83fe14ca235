// Passes garbage collection's findings about claims' machines to the claims' reconciler, which alone writes
// their status. The data is in memory only, because a new process finds the same. It serves one thread.
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
        std::string host;       // its present host; empty: the one in the claim
        std::string zone;       // zone of that host; empty: unknown
        std::string doubt{};    // why is_gone alone proves nothing; empty: no doubt
        std::string cluster{};  // identity of the provider's cluster that has it; empty: as claimed
    };

    // Returns the report about the claim's present machine; null: none. It is
    // valid until the next non-const call.
    const Report* of(const NodeSmithClaim& claim) const;
    void report(const NodeSmithClaim& claim, Report report);
    void forget(const api::ObjectKey& claim) { by_claim_.erase(claim); }
    // Sets a callback that gets a claim's key for each report about it.
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
