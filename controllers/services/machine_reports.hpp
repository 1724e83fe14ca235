// Passes the findings of garbage collection and of the certificate approver about claims' machines to the
// claims' reconciler, which alone writes their status. The data is in memory only, because a new process
// finds the same. It serves one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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

    // These words are in a refusal of the first certificate, and tell it from those of other requests.
    static constexpr std::string_view kFirstCertificate = "first certificate";
    // Certificate says whether the API server lets the operator approve the machine's first certificate.
    struct Certificate {
        std::string refusal;             // its words while it refuses the approval; empty: it does not
        std::optional<api::Time> ended;  // when the last refusal ended; nullopt: there was none
    };

    // Returns the report about the claim's present machine; null: none. It is
    // valid until the next non-const call.
    const Report* of(const NodeSmithClaim& claim) const;
    void report(const NodeSmithClaim& claim, Report report);
    // Returns what is known of the first certificate of the claim's present machine.
    Certificate certificate_of(const NodeSmithClaim& claim) const;
    // Notes that the approval of this request was refused. `request` is its UID.
    void note_refused_certificate(const NodeSmithClaim& claim, const std::string& request,
                                  std::string refusal);
    // Notes that the request was decided or is gone. It does nothing if its approval was not refused.
    void note_settled_certificate(const NodeSmithClaim& claim, const std::string& request, api::Time now);
    void forget(const api::ObjectKey& claim) {
        by_claim_.erase(claim);
        certificates_.erase(claim);
    }
    // Sets a callback that gets a claim's key for each report about it.
    void on_report(std::function<void(const api::ObjectKey& claim)> told) { told_ = std::move(told); }

private:
    struct Entry {
        std::int32_t attempt = 0;
        std::string system_uuid;
        Report report;
    };
    struct CertificateEntry {
        std::int32_t attempt = 0;
        std::string system_uuid;
        std::string request;
        Certificate certificate;
    };
    std::map<api::ObjectKey, Entry> by_claim_;
    std::map<api::ObjectKey, CertificateEntry> certificates_;
    std::function<void(const api::ObjectKey&)> told_;
};

}  // namespace controllers
