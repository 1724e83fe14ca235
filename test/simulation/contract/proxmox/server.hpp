// The Proxmox simulator that the contract is checked against: its core in memory and virtual time, or, where
// PROXMOX_SIMULATOR names the ready file of the program, that program over HTTPS. There each exchange is also
// made with a core of its own, and both must answer the same but for what differs by nature.
#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/http.hpp"

namespace contract::proxmox {

namespace json = boost::json;

struct Answer {
    int status = 0;  // 0: the connection was lost
    std::string reason;
    std::string content_type;
    std::string text;

    json::value body() const;  // null if it is no JSON
    json::value data() const;  // member "data" of the body, null if there is none
    // Names of the parameters that were wrong.
    std::vector<std::string> errors() const;
};

class Server {
public:
    Server() = default;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    virtual ~Server() = default;

    virtual Answer send(const base::HttpRequest& request) = 0;
    // Follows a task to its end; returns its exit status.
    virtual std::string finish(const std::string& upid) = 0;
    // The control interface (test/simulators/proxmox/server/control.hpp). Fails the test if it refuses.
    virtual void control(const std::string& method, const std::string& target, const json::value& body) = 0;
    // Lets simulated time pass.
    virtual void pause(base::Duration duration) = 0;
};

std::unique_ptr<Server> make_server();

// What two answers differ in, as texts: status, reason phrase, type, and the body's fields, of which times,
// counters and random values only need to be of the same JSON kind.
std::vector<std::string> differences(const Answer& left, const Answer& right);

}  // namespace contract::proxmox
