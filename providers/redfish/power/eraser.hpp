// Eraser erases the drives of hosts that are off, before they are given back.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <string>

#include "providers/redfish/hosts/binding.hpp"
#include "providers/redfish/power/removal_results.hpp"

namespace providers::redfish {

class Eraser {
public:
    // All arguments must outlive this.
    Eraser(BmcConnections& fleet, Binding& binding, base::Clock& clock)
        : fleet_(fleet), binding_(binding), clock_(clock) {}

    // Takes one step. Returns nullopt if every drive is erased.
    asio::awaitable<std::optional<RemoveResult>> wipe(Host host, std::string claim_uid,
                                                      std::shared_ptr<Station> station, System system);
    // Takes up what an earlier process recorded, unless this one knows more.
    void resume(const std::string& host, const std::string& claim_uid, const std::string& record);
    // Forgets what was erased, because the host was on since.
    void begin_anew(const std::string& host, const std::string& claim_uid);
    bool begins_anew(const std::string& host, const std::string& claim_uid) {
        return wipe_of(host, claim_uid).begins_anew;
    }
    // Returns the result with the erasures as its task, which its claim records.
    RemoveResult with_record(RemoveResult result, const std::string& host,
                             const std::string& claim_uid) const;
    void forget(const std::string& host) { wipes_.erase(host); }

private:
    // Wipe has the erasures of a host for one claim.
    struct Wipe {
        std::string claim_uid;
        std::string record;  // of an earlier process, see recorded_erasures()
        std::map<std::string, Erasure> drives;
        bool begins_anew = false;  // the host was on since, so what is recorded does not count
    };
    // Returns the wipe of the host for the claim. Nothing that was erased for another claim counts.
    Wipe& wipe_of(const std::string& host, const std::string& claim_uid);
    std::optional<RemoveResult> why_not_erase(const Host& host, const std::string& drive,
                                              const std::string& words) const;
    asio::awaitable<std::optional<RemoveResult>> erase(Host host, std::string claim_uid, std::string drive,
                                                       std::shared_ptr<Station> station);

    BmcConnections& fleet_;
    Binding& binding_;
    base::Clock& clock_;
    std::map<std::string, Wipe> wipes_;  // by host
};

}  // namespace providers::redfish
