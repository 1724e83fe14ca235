// The figures that pvestatd broadcasts. Every 10 s each live host sends the others its own figures and those
// of its machines. The cluster-wide lists show these figures, not the present ones.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"

namespace proxmox_simulator {

namespace json = boost::json;

class Cluster;

class Statistics {
public:
    explicit Statistics(Cluster& cluster);

    // Returns the last values of a host. Returns nullopt if there were none within the last 5 minutes, or if
    // the observing host believes that it is down.
    std::optional<json::object> of_host(const std::string& host, const std::string& observer) const;
    std::optional<json::object> of_machine(const std::string& host, int vmid) const;
    std::optional<json::object> of_storage(const std::string& host, const std::string& storage) const;
    // Makes all hosts report now, as if ten seconds had passed.
    void refresh();

private:
    struct Report {
        base::TimePoint time;
        json::object host;
        std::map<int, json::object> machines;
        std::map<std::string, json::object> storages;
    };

    void schedule();
    const Report* fresh(const std::string& host) const;

    Cluster& cluster_;
    std::map<std::string, Report> reports_;
    std::unique_ptr<base::Alarm> alarm_;
};

}  // namespace proxmox_simulator
