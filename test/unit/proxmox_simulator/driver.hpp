// A simulator in virtual time, with short functions to call it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/simulators/proxmox/core/simulator.hpp"
#include "test/simulators/proxmox/core/world_file.hpp"
#include "test/support/virtual_clock.hpp"

namespace proxmox_simulator::test {

using namespace std::chrono_literals;

struct Answer {
    int status = 0;
    std::string reason, body;
    base::Duration took{};
    bool lost = false;  // there was no response

    json::value data() const;
    // Returns the names of the wrong parameters.
    std::vector<std::string> errors() const;
};

class Driver {
public:
    explicit Driver(World world = default_world(), std::uint64_t seed = 1);
    ~Driver();

    // These functions send a request and wait in virtual time. Form parameters are given encoded:
    // "vmid=100&name=a".
    Answer get(const std::string& path) { return send("GET", path, ""); }
    Answer post(const std::string& path, const std::string& form = "") { return send("POST", path, form); }
    Answer put(const std::string& path, const std::string& form) { return send("PUT", path, form); }
    Answer remove(const std::string& path) { return send("DELETE", path, ""); }
    Answer send(std::string method, std::string path, std::string form);
    Answer send(base::HttpRequest request);
    // Sends a request without waiting. The answer is there once time has passed.
    std::shared_ptr<std::optional<Answer>> start(base::HttpRequest request);
    base::HttpRequest request(std::string method, const std::string& path, std::string form = "") const;

    // Returns the exit status of the task that this answer names.
    std::string finish(const Answer& answer);
    void wait(base::Duration duration) { clock.run_for(context, duration); }

    Cluster& cluster() { return simulator.cluster(); }
    World& world() { return simulator.cluster().world; }

    asio::io_context context{1};
    fake::VirtualClock clock;
    std::unique_ptr<base::Random> random;
    Simulator simulator;
    std::string token = std::string("PVEAPIToken=automation@pve!kubenodesmith=") + kDefaultTokenSecret;
};

}  // namespace proxmox_simulator::test
