// Tests all decisions with the largest and the smallest numbers that the API server stores. The sanitizer of
// preset asan finds overflows. The decisions are compared with those for ordinary numbers.
#include <boost/json/serialize.hpp>

#include "api/json.hpp"
#include "api/type.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/disruption_world.hpp"
#include "test/unit/controllers/provisioning_world.hpp"

namespace {

using namespace std::chrono_literals;
using namespace objects;
namespace json = boost::json;
using World = test::DisruptionWorld;
using Launching = World::Launching;

// A day is longer than any test here, so longer durations must give the same result.
constexpr const char* kLong = "24h";
constexpr std::array kLonger{"87600h", "2562047h47m16.854775807s", "9999999h"};
constexpr std::array kShort{"0", "1ns"};

bool is_duration(const api::Type& type) {
    if (type.shape != api::Shape::Text || type.set_integer) return false;
    return &type == &api::type_of<api::Duration>() || &type == &api::type_of<api::DurationOrNever>();
}

// Adds the JSON Pointers of all durations of a type.
void add_durations(const api::Type& type, const std::string& pointer, std::vector<std::string>& found) {
    if (type.shape == api::Shape::Object)
        for (const auto& field : type.fields)
            add_durations(*field.type, pointer + "/" + std::string(field.name), found);
    else if (type.shape == api::Shape::Optional)
        add_durations(*type.element, pointer, found);
    else if (type.shape == api::Shape::List)
        add_durations(*type.element, pointer + "/0", found);
    else if (is_duration(type))
        found.push_back(pointer);
}

template <class T>
std::vector<std::string> durations_of() {
    std::vector<std::string> found;
    add_durations(*api::find_field(api::type_of<T>(), "spec")->type, "/spec", found);
    return found;
}

// Sets a value and makes missing parents. Only "0" is an index of a list.
void set_at(json::value& document, std::string_view pointer, const std::string& value) {
    if (pointer.empty()) {
        document = json::string(value);
        return;
    }
    const auto end = std::min(pointer.find('/', 1), pointer.size());
    const std::string name(pointer.substr(1, end - 1));
    if (name == "0") {
        if (!document.is_array()) document = json::array();
        if (document.as_array().empty()) document.as_array().emplace_back(json::object());
        return set_at(document.as_array().front(), pointer.substr(end), value);
    }
    if (!document.is_object()) document = json::object();
    set_at(document.as_object()[name], pointer.substr(end), value);
}

template <class T>
T with(const T& object, const std::string& pointer, const std::string& value) {
    auto document = api::encode(object);
    set_at(document, pointer, value);
    return api::decode<T>(document);
}

// Busy has two nodes and pods that end slowly. One node was made from another template, and the other one's
// claim is deleted. One more pod needs a machine. A forced drain and a pause are part of it.
struct Busy : World {
    Busy() : World({"a", "b", "c"}, Launching::on) {
        server.options().pods_end_after = 40s;
        edit_pool([](NodeSmithPool& pool) {
            pool.spec.scaleDown.drainTimeout = 1min;
            pool.spec.scaleDown.drainTimeoutAction = api::v1alpha1::DrainTimeoutAction::Force;
            pool.status.lastScaleUpTime = pool.status.lastScaleDownTime = kStart;
        });
        put_running_pod("one", "a");
        put_running_pod("two", "b");
        put_running_pod("large", "c", "1900m");
        server.edit<NodeSmithClaim>({"default", "b"}, [](NodeSmithClaim& claim) {
            claim.spec.expireAfter.reset();
            claim.spec.terminationGracePeriod = api::Duration(1min);
        });
    }

    template <class T>
    void set(const api::ObjectKey& key, const std::string& pointer, const std::string& value) {
        server.edit<T>(key, [&](T& object) { object = with(object, pointer, value); });
    }
    void set_duration(const std::string& kind, const std::string& pointer, const std::string& value) {
        if (kind == "pool") set<NodeSmithPool>({"default", "small"}, pointer, value);
        if (kind == "claim") set<NodeSmithClaim>({"default", "b"}, pointer, value);
        if (kind == "provider") set<NodeSmithProvider>({"default", "proxmox"}, pointer, value);
        if (kind == "control plane") set<NodeSmithControlPlane>({"default", "main"}, pointer, value);
    }
    // Returns the state after some minutes.
    std::string outcome() {
        live(20s, 5s);
        made_from("a", "3-another template");
        server.remove<NodeSmithClaim>({"default", "b"});
        put_replica("three", "1");
        replicas["three"] = "1";
        live(4min, 5s);
        if (server.get<api::Node>({"", "c"})) set_ready("c", false);
        live(11min, 15s);
        std::string text;
        for (const auto& claim : server.list<NodeSmithClaim>()) {
            text += claim.metadata.name + (claim.metadata.deletionTimestamp ? " is deleted:" : ":");
            for (const auto& condition : claim.status.conditions)
                text += " " + condition.type + "=" + std::string(to_string(condition.status)) + "/" +
                        condition.reason;
            text += "\n";
        }
        for (const auto& node : server.list<api::Node>()) text += "Node " + node.metadata.name + "\n";
        for (const auto& pod : server.list<api::Pod>())
            text += pod.metadata.name + " on " + pod.spec.nodeName + "\n";
        return text + std::to_string(cloud.machines.size()) + " machines\n";
    }
};

std::string outcome_with(const std::string& kind, const std::string& pointer, const std::string& value) {
    Busy world;
    world.set_duration(kind, pointer, value);
    return world.outcome();
}

struct Leaf {
    std::string kind;
    std::string pointer;
};

std::vector<Leaf> all_durations() {
    std::vector<Leaf> leaves;
    const auto add = [&leaves](const std::string& kind, const std::vector<std::string>& pointers) {
        for (const auto& pointer : pointers) leaves.push_back({kind, pointer});
    };
    add("pool", durations_of<NodeSmithPool>());
    add("claim", durations_of<NodeSmithClaim>());
    add("provider", durations_of<NodeSmithProvider>());
    add("control plane", durations_of<NodeSmithControlPlane>());
    return leaves;
}

// These worlds have no such backend, but they decode its settings.
bool is_of_backend(const Leaf& leaf) {
    return leaf.pointer.starts_with("/spec/proxmox") || leaf.pointer.starts_with("/spec/redfish");
}

}  // namespace

TEST_CASE("the durations of all kinds are found") {
    std::vector<std::string> pool = durations_of<NodeSmithPool>();
    CHECK(std::ranges::count(pool, "/spec/disruption/expireAfter") == 1);
    CHECK(std::ranges::count(pool, "/spec/disruption/budgets/0/duration") == 1);
    CHECK(std::ranges::count(pool, "/spec/scaleUp/retry/maxBackoff") == 1);
    CHECK(all_durations().size() >= 35);
}

TEST_CASE("a duration that is longer than time goes on acts like a long one") {
    for (const auto& leaf : all_durations()) {
        if (is_of_backend(leaf)) continue;
        const auto ordinary = outcome_with(leaf.kind, leaf.pointer, kLong);
        for (const auto* value : kLonger) {
            INFO(leaf.kind << leaf.pointer << ": " << value);
            CHECK(outcome_with(leaf.kind, leaf.pointer, value) == ordinary);
        }
    }
}

TEST_CASE("all durations together may be as long as they can be written") {
    const auto outcome = [](const char* value) {
        Busy world;
        for (const auto& leaf : all_durations())
            if (!is_of_backend(leaf)) world.set_duration(leaf.kind, leaf.pointer, value);
        return world.outcome();
    };
    const auto ordinary = outcome(kLong);
    for (const auto* value : kLonger) {
        INFO(value);
        CHECK(outcome(value) == ordinary);
    }
}

TEST_CASE("durations of nothing and of next to nothing act alike") {
    for (const auto& leaf : all_durations()) {
        if (is_of_backend(leaf)) continue;
        for (const auto* value : kShort) {
            INFO(leaf.kind << leaf.pointer << ": " << value);
            CHECK(outcome_with(leaf.kind, leaf.pointer, value).ends_with("machines\n"));
        }
    }
}

TEST_CASE("a pod is waited for however long its grace period is") {
    const auto is_waited_for = [](std::int64_t grace, bool by_drift) {
        World world({"a"}, Launching::on, 4);
        world.server.options().pods_end_after.reset();
        world.put_running_pod("slow", "a");
        world.server.edit<api::Pod>({"default", "slow"}, [&](api::Pod& pod) {
            pod.spec.terminationGracePeriodSeconds = grace;
            pod.metadata.finalizers = {"example.org/a"};
        });
        // The operator does not begin a drain that would end before the grace period, but somebody else may
        // delete the pod.
        if (by_drift) {
            world.server.remove<api::Pod>({"default", "slow"});
            world.made_from("a", "3-another template");
        } else {
            world.server.remove<NodeSmithClaim>({"default", "a"});
        }
        world.live(20min, 5s);
        const auto pod = world.server.get<api::Pod>({"default", "slow"});
        // A node is not drained for drift if the drain cannot end in time.
        CHECK((pod && (by_drift || pod->metadata.deletionTimestamp)));
        const auto claim = world.find("a");
        return claim && world.cloud.machines.contains(claim->status.machineID);
    };
    CHECK_FALSE(is_waited_for(30, false));
    for (const bool by_drift : {false, true}) {
        for (const std::int64_t grace :
             {std::int64_t{3600}, std::int64_t{8'000'000'000}, std::int64_t{9'999'999'999},
              std::int64_t{99'999'999'999'999}, base::Saturating::kMax}) {
            INFO(grace << (by_drift ? " s, drifted" : " s, claim deleted"));
            CHECK(is_waited_for(grace, by_drift));
        }
    }
}

TEST_CASE("a pod that asks for more than there is leaves the others their machines") {
    constexpr const char* kMost = "9223372036854775807";
    const auto claims_with = [&](const std::map<std::string, std::string>& requests) {
        test::ProvisioningWorld world(test::ProvisioningWorld::fixed_size_pool());
        world.put_pending_pod("first", "1500m");
        world.run_for(30s);
        world.join_all();
        const auto node = world.claims().at(0).metadata.name;
        world.bind("first", node);
        if (!requests.empty()) {
            auto giant = builders::PodBuilder("giant", "1", "1Mi");
            giant.pod.spec.containers->clear();
            for (int i = 0; i < 12; ++i) {
                giant.pod.spec.containers->emplace_back().name = "c" + std::to_string(i);
                giant.pod.spec.initContainers->emplace_back().name = "i" + std::to_string(i);
            }
            for (auto* containers : {&*giant.pod.spec.containers, &*giant.pod.spec.initContainers})
                for (auto& container : *containers)
                    for (const auto& [name, amount] : requests)
                        container.resources.requests[name] = api::Quantity::parse(amount);
            giant.pod.spec.overhead["cpu"] = api::Quantity::parse(kMost);
            world.server.put(giant.on(node).pod);
            world.put_pending(giant);
        }
        world.put_pending_pods(6);
        world.run_for(1min);
        return world.claims().size();
    };
    const auto ordinary = claims_with({});
    CHECK(ordinary == 7);
    for (const char* name :
         {"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu", "pods"}) {
        INFO(name);
        CHECK(claims_with({{name, kMost}}) == ordinary);
    }
    CHECK(
        claims_with(
            {{"cpu", kMost}, {"memory", kMost}, {"ephemeral-storage", kMost}, {"example.com/gpu", kMost}}) ==
        ordinary);
}

TEST_CASE("nodes that offer the largest amounts, and pods that ask for them, are decided on") {
    constexpr const char* kMost = "9223372036854775807";
    Busy world;
    for (const char* name : {"a", "b", "c"}) {
        world.server.edit<api::Node>({"", name}, [&](api::Node& node) {
            for (const char* resource : {"memory", "ephemeral-storage", "pods", "example.com/gpu"})
                node.status.capacity[resource] = node.status.allocatable[resource] =
                    api::Quantity::parse(kMost);
        });
        world.server.edit<api::Pod>(
            {"default", std::string(name) == "a" ? "one" : "two"}, [&](api::Pod& pod) {
                for (const char* resource : {"memory", "ephemeral-storage", "example.com/gpu"})
                    pod.spec.containers->at(0).resources.requests[resource] = api::Quantity::parse(kMost);
            });
    }
    CHECK(world.outcome().ends_with("machines\n"));
}
