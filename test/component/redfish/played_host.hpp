// One host behind a BMC that plays a recorded tree, in virtual time. A Redfish provider examines it, makes it
// ready, wakes it and puts it to sleep, as the controllers do.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "api/v1alpha1/host.hpp"
#include "test/simulators/redfish_player/transport.hpp"
#include "test/unit/redfish/world.hpp"

namespace recorded {

namespace json = boost::json;
using api::v1alpha1::NodeSmithHost;

struct Play {
    api::v1alpha1::RedfishSpec spec;
    bool hears_shutdown = true;
};

class PlayedHost {
public:
    // `host` holds what its user states.
    PlayedHost(const json::object& documents, NodeSmithHost host, Play play = {});

    // Examines the host twice, as it needs before a claim can get it. Its status is then in host().
    void examine();
    const NodeSmithHost& host() const { return host_; }
    const providers::HostReport& report() const { return report_; }
    redfish_player::Player& player() { return player_; }
    redfish_tests::World& world() { return world_; }
    // Returns the wrong answers of its BMC.
    redfish_simulator::OddAnswers& odd() { return world_.odd("recorded"); }

    // Returns whether the host is on.
    bool wake();
    // Lets its Node register and serve for half an hour.
    void join();
    // Returns whether the host is off and free again.
    bool sleep();
    const std::string& outcome() const { return claim_.outcome; }

private:
    void tell_inventory();

    redfish_tests::World world_;
    redfish_player::Player player_;
    NodeSmithHost host_;
    providers::HostReport report_;
    redfish_tests::World::Claim claim_;
};

}  // namespace recorded
