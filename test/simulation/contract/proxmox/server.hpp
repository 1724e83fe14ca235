// The Proxmox simulator that the contract is checked against. It is the core in memory and virtual time, or
// the program over HTTPS if PROXMOX_SIMULATOR names its ready file. Beside the program, a separate core gets
// the same requests. Both must give the same answers, except for values that differ by nature.
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

    json::value body() const;  // null if the body is no JSON
    json::value data() const;  // member "data" of the body; null if it is missing
    // Returns the names of the parameters that were wrong.
    std::vector<std::string> errors() const;
};

class Server {
public:
    Server() = default;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    virtual ~Server() = default;

    virtual Answer send(const base::HttpRequest& request) = 0;
    // Follows a task to its end and returns its exit status.
    virtual std::string finish(const std::string& upid) = 0;
    // Calls the control interface (test/simulators/proxmox/server/control.hpp). Fails the test if it refuses.
    virtual void control(const std::string& method, const std::string& target, const json::value& body) = 0;
    // Lets simulated time pass.
    virtual void pause(base::Duration duration) = 0;
};

std::unique_ptr<Server> make_server();

// Returns the differences of two answers as texts: status, reason phrase, type, and the fields of the body.
// Times, counters and random values only need the same JSON kind.
std::vector<std::string> differences(const Answer& left, const Answer& right);

}  // namespace contract::proxmox
