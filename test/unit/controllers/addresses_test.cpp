// Tests static addresses. Each is assigned once, also with two operators, and becomes free when no machine
// can use it.
#include "controllers/services/addresses.hpp"

#include <set>

#include "controllers/services/address_networks.hpp"
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/unit/controllers/cluster.hpp"

using namespace std::chrono_literals;
using controllers::Addresses;
using objects::NodeSmithPool;

namespace {

struct World : test::Cluster {
    kube::ObjectKey key{"default", "small"};
    api::v1alpha1::MachineNetwork network;

    World() {
        put_basics();
        for (const auto* name : {"small", "large"}) server.put(objects::pool(name));
        network.mode = api::v1alpha1::NetworkMode::Static;
        network.addresses = {"10.0.4.1-10.0.4.3"};
        network.gateway = "10.0.4.1";
        start();
    }
    // Returns the address, or the reason why there is none.
    std::string reserve(const std::string& claim, const std::string& pool = "small") {
        Addresses addresses(informers, client);
        const auto result = test::run(context, clock, addresses.reserve({"default", pool}, claim, network));
        const auto* refusal = std::get_if<Addresses::Refusal>(&result);
        if (refusal) return std::string(refusal->reason);
        std::string all;
        for (const auto& [address, who, interface] : std::get<Addresses::Reserved>(result))
            all += (all.empty() ? "" : " ") + (interface == "net0" ? "" : interface + ":") + address;
        return all;
    }
    void release_unused() {
        Addresses addresses(informers, client);
        test::run(context, clock, addresses.release_unused(key));
        run_for(100ms);
    }
    void put_claim(const std::string& name) {
        server.put(objects::claim(name, pool()));
        run_for(100ms);
    }
};

}  // namespace

TEST_CASE("an address is given once, whatever the pool, and the gateway's never") {
    World world;
    CHECK(world.reserve("a") == "10.0.4.2");
    CHECK(world.pool().status.addresses.front().claim == "a");
    CHECK(world.reserve("a") == "10.0.4.2");  // a second request, as after a restart
    CHECK(world.reserve("b", "large") == "10.0.4.3");
    CHECK(world.reserve("c") == "AddressesExhausted");
    CHECK(world.pool().status.addresses.size() == 1);
}

TEST_CASE("every interface and family gets an address of its own, all of them or none") {
    World world;
    world.network.ipv6 = api::v1alpha1::IPv6Network{{"fd00::1-fd00::3"}, 64, "fd00::1"};
    auto& second = world.network.interfaces.emplace_back();
    second.name = "net1";
    second.mode = api::v1alpha1::NetworkMode::Static;
    second.addresses = {"10.1.0.7-10.1.0.9"};
    second.routes = {{"10.9.0.0/16", "10.1.0.7"}};
    CHECK(world.reserve("a") == "10.0.4.2 fd00::2 net1:10.1.0.8");
    CHECK(world.reserve("a") == "10.0.4.2 fd00::2 net1:10.1.0.8");
    CHECK(world.pool().status.addresses.size() == 3);
    CHECK(world.reserve("b", "large") == "10.0.4.3 fd00::3 net1:10.1.0.9");
    world.network.addresses = {"10.0.4.1-10.0.4.9"};
    CHECK(world.reserve("c") == "AddressesExhausted");
    CHECK(world.pool().status.addresses.size() == 3);
    world.put_claim("b");
    world.release_unused();
    CHECK(world.pool().status.addresses.empty());
}

TEST_CASE("two families in one list, where another list holds the second, are a refusal") {
    World world;
    world.network.ipv6 = api::v1alpha1::IPv6Network{{"fd00::2"}, 64, ""};
    world.network.addresses.push_back("fd00::9");
    CHECK(world.reserve("a") == "AddressesInvalid");
    world.network.addresses.pop_back();
    world.network.ipv6->addresses = {"10.0.4.9"};
    CHECK(world.reserve("a") == "AddressesInvalid");
}

TEST_CASE("addresses that Nodes have are taken, for kept machines have no claim") {
    World world;
    api::Node node;
    node.metadata.name = "kept";
    node.status.addresses = {{"InternalIP", "10.0.4.2"}};
    world.server.put(node);
    world.run_for(100ms);
    CHECK(world.reserve("a") == "10.0.4.3");
}

TEST_CASE("a Node's kubelet takes one address of each family and spoils no range with what is none") {
    World world;
    world.network.addresses = {"10.0.4.1-10.0.4.9", "fd00::1-fd00::9"};
    api::Node node;
    node.metadata.name = "greedy";
    node.status.addresses = {
        {"InternalIP", "not-an-ip"}, {"InternalIP", "10.0.4.2"}, {"InternalIP", "fd00::1"}};
    for (int last = 3; last <= 9; ++last)
        node.status.addresses.push_back({"InternalIP", "10.0.4." + std::to_string(last)});
    world.server.put(node);
    world.run_for(100ms);
    CHECK(world.reserve("a") == "10.0.4.3");
}

TEST_CASE("of a claim's Node the reservation counts, and not what its kubelet says") {
    World world;
    auto claim = objects::claim("theirs", world.pool());
    claim.status.nodeName = "theirs";
    world.server.put(claim);
    api::Node node;
    node.metadata.name = "theirs";
    node.status.addresses = {{"InternalIP", "10.0.4.2"}};
    world.server.put(node);
    world.run_for(100ms);
    CHECK(world.reserve("a") == "10.0.4.2");
}

TEST_CASE("a range that is none is a refusal that names it") {
    World world;
    world.network.addresses = {"10.0.4"};
    CHECK(world.reserve("a") == "AddressesInvalid");
}

TEST_CASE("an address that another operator gave to another pool meanwhile is given back") {
    World world;
    world.requests.on_effect = [&world](const base::HttpRequest& request) {
        if (request.method != "PATCH") return;
        world.requests.on_effect = nullptr;
        auto large = *world.server.get<NodeSmithPool>({"default", "large"});
        large.status.addresses.push_back({"10.0.4.2", "theirs", "net0"});
        world.server.put(large);
    };
    CHECK(world.reserve("a") == "AddressesExhausted");
    CHECK(world.pool().status.addresses.empty());
    world.run_for(1s);
    CHECK(world.reserve("a") == "10.0.4.3");
}

namespace {

// TwoProviders adds a pool of another provider, in another namespace, that holds 10.0.4.2.
struct TwoProviders : World {
    api::v1alpha1::NodeSmithProvider mine = objects::provider("proxmox");
    api::v1alpha1::NodeSmithProvider theirs = objects::provider("elsewhere");
    NodeSmithPool theirs_pool = objects::pool("theirs");

    TwoProviders() {
        for (auto* provider : {&mine, &theirs}) {
            provider->spec.proxmox->networkInterfaces = {{"net0", "virtio", "vmbr0", std::nullopt, ""}};
            provider->status.cluster = {"lab", "fingerprint-1"};
        }
        theirs.metadata.namespace_ = theirs_pool.metadata.namespace_ = "team-b";
        theirs_pool.spec.providerRef = "elsewhere";
        theirs_pool.status.addresses = {{"10.0.4.2", "theirs-1", "net0"}};
    }
    void put_all() {
        for (const auto* provider : {&mine, &theirs}) server.put(*provider);
        server.put(theirs_pool);
        run_for(1s);
    }
    api::v1alpha1::NetworkInterface& interface() { return theirs.spec.proxmox->networkInterfaces.front(); }
};

}  // namespace

TEST_CASE("an address is given once on a network, whichever provider and namespace its pool is of") {
    TwoProviders world;
    SECTION("of the same Proxmox, bridge and VLAN") {}
    SECTION("of a Proxmox that is not known") {
        world.theirs.status.cluster.reset();
    }
    SECTION("on the bridge of a template") {
        world.theirs.spec.proxmox->networkInterfaces.clear();
    }
    SECTION("of bare metal, whose network is not known") {
        world.theirs.spec.proxmox.reset();
        world.theirs.spec.redfish.emplace();
    }
    SECTION("of the same name") {
        world.interface().vlanTag = 7;
        world.network.name = "office";
        world.theirs_pool.spec.machineTemplate.network.emplace().name = "office";
    }
    world.put_all();
    CHECK(world.reserve("a") == "10.0.4.3");
}

TEST_CASE("a cluster that one provider knows by its certificates and another by its name is one network") {
    TwoProviders world;
    world.theirs.status.cluster->id = "name " + world.theirs.status.cluster->name;
    bool is_another = false;
    SECTION("of the same name") {}
    SECTION("of another name") {
        world.theirs.status.cluster = {"elsewhere", "name elsewhere"};
        is_another = true;
    }
    world.put_all();
    CHECK((world.reserve("a") == "10.0.4.2") == is_another);
}

TEST_CASE("equal ranges of different networks stay independent") {
    TwoProviders world;
    SECTION("of another Proxmox cluster") {
        world.theirs.status.cluster->id = "fingerprint-2";
    }
    SECTION("of another bridge") {
        world.interface().bridge = "vmbr1";
    }
    SECTION("of another VLAN") {
        world.interface().vlanTag = 7;
    }
    SECTION("of another name, though all else is equal") {
        world.network.name = "office";
        world.theirs_pool.spec.machineTemplate.network.emplace().name = "lab";
    }
    SECTION("of a name, beside one that has none") {
        world.network.name = "office";
    }
    world.put_all();
    CHECK(world.reserve("a") == "10.0.4.2");
}

namespace {

// TwoSites adds a second interface with equal ranges to the pools of two bare-metal sites. The pool of the
// other site holds 192.168.9.10 there.
struct TwoSites : TwoProviders {
    std::string second = "storage-a";
    std::string their_second = "storage-b";

    void put_all() {
        for (auto* provider : {&mine, &theirs}) {
            provider->spec.proxmox.reset();
            provider->spec.redfish.emplace();
        }
        network.name = "site-a";
        network.interfaces = {with_name(second)};
        auto& their_network = theirs_pool.spec.machineTemplate.network.emplace();
        their_network.name = "site-b";
        their_network.interfaces = {with_name(their_second)};
        theirs_pool.status.addresses = {{"10.0.4.2", "theirs-1", "net0"},
                                        {"192.168.9.10", "theirs-1", "net1"}};
        server.edit<NodeSmithPool>(
            key, [this](NodeSmithPool& pool) { pool.spec.machineTemplate.network = network; });
        TwoProviders::put_all();
    }
    static api::v1alpha1::FurtherInterface with_name(const std::string& name) {
        api::v1alpha1::FurtherInterface interface;
        interface.name = "net1";
        interface.networkName = name;
        interface.mode = api::v1alpha1::NetworkMode::Static;
        interface.addresses = {"192.168.9.10-192.168.9.20"};
        return interface;
    }
};

}  // namespace

TEST_CASE("second interfaces of two sites with equal ranges share addresses only on one network") {
    TwoSites world;
    bool is_another = false;
    SECTION("of different names") {
        is_another = true;
    }
    SECTION("of a name, beside one that has none") {
        world.their_second.clear();
        is_another = true;
    }
    SECTION("of equal names") {
        world.their_second = world.second;
    }
    // A name of the first interface says nothing of the others, which pools shared before it was set.
    SECTION("without names, whatever the first interface's network is called") {
        world.second.clear();
        world.their_second.clear();
    }
    world.put_all();
    CHECK(world.reserve("a") == (is_another ? "10.0.4.2 net1:192.168.9.10" : "10.0.4.2 net1:192.168.9.11"));
    CHECK(world.reserve("b") == (is_another ? "10.0.4.3 net1:192.168.9.11" : "10.0.4.3 net1:192.168.9.12"));
}

TEST_CASE("an address that two claims hold on second networks of different names is no conflict") {
    TwoSites world;
    SECTION("of different names") {}
    SECTION("of equal names") {
        world.their_second = world.second;
    }
    const bool is_one = world.second == world.their_second;
    world.put_all();
    world.server.edit<NodeSmithPool>(
        world.key, [](NodeSmithPool& pool) { pool.status.addresses = {{"192.168.9.10", "a", "net1"}}; });
    world.run_for(1s);
    const auto conflicts = controllers::address_conflicts(world.informers, world.pool());
    CHECK(conflicts.size() == (is_one ? 1 : 0));
    // The advice names the field of that interface.
    if (is_one)
        CHECK_THAT(controllers::conflicts_text(conflicts),
                   Catch::Contains("network.interfaces[].networkName"));
}

TEST_CASE("two claims that hold one address are told on their pools, and both keep it") {
    TwoProviders world;
    const auto conflicts = [&world](const std::string& pool) {
        return controllers::conflicts_text(controllers::address_conflicts(world.informers, world.pool(pool)));
    };
    world.server.edit<NodeSmithPool>(world.key, [](NodeSmithPool& pool) {
        pool.status.addresses = {{"10.0.4.2", "a", "net0"}, {"10.0.4.3", "b", "net0"}};
    });
    SECTION("of two pools") {
        world.put_all();
        CHECK_THAT(conflicts("small"), Catch::StartsWith("10.0.4.2 belongs to claim a and to claim theirs-1 "
                                                         "of pool team-b/theirs. Both keep the address"));
    }
    SECTION("of one") {
        world.server.edit<NodeSmithPool>(
            world.key, [](NodeSmithPool& pool) { pool.status.addresses[1].address = "10.0.4.2"; });
        world.run_for(1s);
        CHECK_THAT(conflicts("small"), Catch::Contains("10.0.4.2 belongs to claim a and to claim b"));
    }
    SECTION("not where the networks differ") {
        world.interface().vlanTag = 7;
        world.put_all();
        CHECK(conflicts("small").empty());
    }
}

TEST_CASE("a stopped machine that is kept for inspection holds no address") {
    World world;
    world.put_claim("a");
    world.reserve("a");
    world.server.edit<objects::NodeSmithClaim>({"default", "a"}, [](auto& claim) {
        objects::set_condition(claim.status.conditions, api::conditions::kFailed, api::ConditionStatus::True);
        claim.status.keptSince = objects::at(0s);
    });
    world.run_for(100ms);
    world.release_unused();
    CHECK(world.pool().status.addresses.empty());
}

TEST_CASE("an address is free again when its claim has ended, or has failed and has no machine") {
    World world;
    for (const auto* name : {"a", "b"}) {
        world.put_claim(name);
        world.reserve(name);
    }
    world.release_unused();
    CHECK(world.pool().status.addresses.size() == 2);
    world.server.edit<objects::NodeSmithClaim>({"default", "a"}, [](auto& claim) {
        objects::set_condition(claim.status.conditions, api::conditions::kFailed, api::ConditionStatus::True);
    });
    world.run_for(100ms);
    world.release_unused();
    CHECK(world.pool().status.addresses.size() == 2);  // the machine may still exist
    world.server.edit<objects::NodeSmithClaim>({"default", "a"}, [](auto& claim) {
        objects::set_condition(claim.status.conditions, api::conditions::kMachineDeleted,
                               api::ConditionStatus::True);
    });
    world.server.remove<objects::NodeSmithClaim>({"default", "b"});
    world.run_for(100ms);
    world.release_unused();
    CHECK(world.pool().status.addresses.empty());
}
