// Simulated BMCs as servers. A transport reaches a BMC by its URL.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/http_client.hpp"
#include "test/simulators/redfish/bmc.hpp"

namespace redfish_simulator {

class Network {
public:
    explicit Network(base::Clock& clock) : clock_(clock) {}

    // Requests must use exactly this URL.
    Bmc& add(const std::string& url, Profile profile);
    Bmc& at(const std::string& url) { return *bmcs_.at(url); }
    std::unique_ptr<base::HttpTransport> connect(const base::HttpClientOptions& options);

    // Makes the BMC at the URL unreachable.
    void unplug(const std::string& url) { unplugged_[url] = true; }
    void plug_in(const std::string& url) { unplugged_[url] = false; }

    // Number of calls under way now, at most so far, and at most for one BMC.
    std::size_t in_flight = 0;
    std::size_t most_in_flight = 0;
    std::size_t most_per_bmc = 0;
    std::size_t connections = 0;  // number of existing transports
    std::size_t calls = 0;

private:
    friend class Transport;

    base::Clock& clock_;
    std::map<std::string, std::unique_ptr<Bmc>> bmcs_;
    std::map<std::string, bool> unplugged_;
    std::map<std::string, std::size_t> by_bmc_;
};

}  // namespace redfish_simulator
