// One host behind a BMC that plays a recorded tree, in virtual time: examined, made ready, woken and put to
// sleep by a Redfish provider as the controllers do it.
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
    // `host` is what its user says of it.
    PlayedHost(const json::object& documents, NodeSmithHost host, Play play = {});

    // Twice, as a host needs it to be given to a claim; its status is then in host().
    void examine();
    const NodeSmithHost& host() const { return host_; }
    const providers::HostReport& report() const { return report_; }
    redfish_player::Player& player() { return player_; }
    redfish_tests::World& world() { return world_; }
    // What its BMC answers instead of what it should.
    redfish_simulator::OddAnswers& odd() { return world_.odd("recorded"); }

    // True: it is on.
    bool wake();
    // Its Node registers and serves for half an hour.
    void join();
    // True: it is off and free again.
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
