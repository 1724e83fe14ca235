#include "api/json.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "test/support/catch.hpp"

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

template <class T>
T from(std::string_view text) {
    return api::decode<T>(json::parse(json::string_view(text.data(), text.size())));
}

template <class T>
std::string pointer_of_error(std::string_view text) {
    try {
        from<T>(text);
    } catch (const api::DecodeError& error) {
        return error.pointer;
    }
    return "(no error)";
}

}  // namespace

TEST_CASE("absent and null members keep their defaults, and unknown ones are ignored") {
    const auto pod =
        from<api::Pod>(R"({"kind":"Pod","future":{"a":[1]},"metadata":{"name":"p","managedFields":[{}]},
        "spec":{"priority":null,"hostNetwork":null,"containers":[{"name":"c","env":[{"name":"A"}]}]},"status":{}})");
    CHECK(pod.metadata.name == "p");
    CHECK(pod.spec.priority == std::nullopt);
    CHECK_FALSE(pod.spec.hostNetwork);
    CHECK(pod.spec.containers.size() == 1);
    CHECK(pod.status.phase == api::PodPhase::Unknown);

    const auto pool = from<api::v1alpha1::NodeSmithPool>(R"({"spec":{"providerRef":"p","limits":{}}})");
    CHECK(pool.spec == [] {
        api::v1alpha1::PoolSpec spec;
        spec.providerRef = "p";
        return spec;
    }());
    CHECK(pool.spec.disruption.budgets.size() == 1);
}

TEST_CASE("a list replaces its default, also an empty one") {
    const auto pool = from<api::v1alpha1::NodeSmithPool>(R"({"spec":{"disruption":{"budgets":[]}}})");
    CHECK(pool.spec.disruption.budgets.empty());
    const json::value encoded = api::encode(pool);
    CHECK(encoded.at_pointer("/spec/disruption/budgets").as_array().empty());
    CHECK(api::decode<api::v1alpha1::NodeSmithPool>(encoded) == pool);
}

TEST_CASE("members named like C++ keywords lose their underscore") {
    const auto pod =
        from<api::Pod>(R"({"metadata":{"namespace":"n"},"spec":{"tolerations":[{"operator":"Exists"}]}})");
    CHECK(pod.metadata.namespace_ == "n");
    CHECK(pod.spec.tolerations->front().operator_ == api::TolerationOperator::Exists);
    CHECK(api::encode(pod).at_pointer("/metadata/namespace") == "n");
    const auto set = from<api::DaemonSet>(R"({"spec":{"template":{"spec":{"nodeName":"x"}}}})");
    CHECK(set.spec.template_.spec.nodeName == "x");
}

TEST_CASE("a decode error names the place as a JSON Pointer and never shows the value") {
    CHECK(pointer_of_error<api::Node>(R"({"spec":{"taints":[{"key":"a"},{"effect":7}]}})") ==
          "/spec/taints/1/effect");
    CHECK(pointer_of_error<api::Node>(R"({"metadata":{"labels":{"a/b~c":1}}})") ==
          "/metadata/labels/a~1b~0c");
    CHECK(pointer_of_error<api::Node>(R"([])").empty());
    CHECK(pointer_of_error<api::Node>(R"({"status":{"capacity":{"cpu":"secret-stuff"}}})") ==
          "/status/capacity/cpu");
    CHECK(pointer_of_error<api::Pod>(R"({"spec":{"priority":1.5}})") == "/spec/priority");
    CHECK(pointer_of_error<api::Pod>(R"({"spec":{"hostNetwork":"yes"}})") == "/spec/hostNetwork");
    CHECK(pointer_of_error<api::Pod>(R"({"spec":{"containers":{}}})") == "/spec/containers");
    CHECK(pointer_of_error<api::Secret>(R"({"data":{"token":"not base64!"}})") == "/data/token");
    CHECK(pointer_of_error<api::v1alpha1::NodeSmithPool>(R"({"spec":{"scaleDown":{"policy":7}}})") ==
          "/spec/scaleDown/policy");
    CHECK(pointer_of_error<api::v1alpha1::NodeSmithPool>(
              R"({"spec":{"scaleDown":{"minNodeAge":"5 minutes"}}})") == "/spec/scaleDown/minNodeAge");
    try {
        from<api::Secret>(R"({"data":{"token":"hunter2 hunter2"}})");
        FAIL("decoded");
    } catch (const api::DecodeError& error) {
        CHECK(std::string(error.what()).find("hunter2") == std::string::npos);
        CHECK(std::string(error.what()) == "/data/token: expected base64");
    }
}

TEST_CASE("a number beyond the range of its field becomes the nearest one that fits") {
    const auto pod = from<api::Pod>(R"({"spec":{"priority":99999999999,
        "terminationGracePeriodSeconds":99999999999999999999,"containers":[{"name":"c","ports":[
        {"containerPort":-9223372036854775808},{"containerPort":18446744073709551615}]}]}})");
    CHECK(pod.spec.priority == std::numeric_limits<std::int32_t>::max());
    CHECK(pod.spec.terminationGracePeriodSeconds == std::numeric_limits<std::int64_t>::max());
    CHECK(pod.spec.containers->at(0).ports.at(0).containerPort == std::numeric_limits<std::int32_t>::min());
    CHECK(pod.spec.containers->at(0).ports.at(1).containerPort == std::numeric_limits<std::int32_t>::max());
    CHECK(from<api::Pod>(R"({"spec":{"priority":1e3}})").spec.priority == 1000);
    CHECK(pointer_of_error<api::Pod>(R"({"spec":{"priority":1.5}})") == "/spec/priority");
}

TEST_CASE("durations and times beyond their range become the nearest ones that fit") {
    const auto pool = from<api::v1alpha1::NodeSmithPool>(
        R"({"spec":{"disruption":{"expireAfter":"9999999h"},"scaleDown":{"minNodeAge":"3000000h"}}})");
    CHECK(pool.spec.disruption.expireAfter.duration == api::Duration(base::Duration::max()));
    CHECK(pool.spec.scaleDown.minNodeAge == api::Duration(base::Duration::max()));
    const auto late = from<api::Pod>(R"({"metadata":{"deletionTimestamp":"9999-12-31T23:59:59Z"}})");
    CHECK(late.metadata.deletionTimestamp->str() == "9999-12-31T23:59:59Z");
    CHECK(from<api::Pod>(R"({"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"}})")
              .metadata.creationTimestamp->str() == "0001-01-01T00:00:00Z");
}

TEST_CASE("a value of a newer Kubernetes does not make an object unreadable") {
    const auto pod = from<api::Pod>(R"({"spec":{"tolerations":[{"operator":"Gt"}],
        "topologySpreadConstraints":[{"whenUnsatisfiable":"Shrug"}]},"status":{"phase":"Hibernating"}})");
    CHECK(pod.spec.tolerations->front().operator_ == api::TolerationOperator::Unrecognized);
    CHECK(pod.spec.topologySpreadConstraints->front().whenUnsatisfiable ==
          api::UnsatisfiableConstraintAction::Unrecognized);
    CHECK(pod.status.phase == api::PodPhase::Unrecognized);
}

TEST_CASE("objects are written with apiVersion and kind and without empty members") {
    api::Node node;
    node.metadata.name = "n";
    node.spec.taints = {{"k", "", "NoSchedule", {}}};
    CHECK(api::encode(node) == json::parse(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},
        "spec":{"taints":[{"key":"k","effect":"NoSchedule"}],"unschedulable":false}})"));
    api::Lease lease;
    CHECK(api::encode(lease).at("apiVersion") == "coordination.k8s.io/v1");
    api::v1alpha1::NodeSmithClaim claim;
    CHECK(api::encode(claim).at("apiVersion") == "kubenodesmith.parawell.cloud/v1alpha1");
}

TEST_CASE("an empty optional is left out and a present empty struct is kept") {
    api::Pod pod;
    pod.spec.volumes->emplace_back().emptyDir.emplace();
    const json::value encoded = api::encode(pod);
    CHECK(encoded.at_pointer("/spec/volumes/0").as_object().contains("emptyDir"));
    CHECK_FALSE(encoded.at_pointer("/spec/volumes/0").as_object().contains("hostPath"));
    CHECK_FALSE(encoded.at_pointer("/spec").as_object().contains("affinity"));
    CHECK(api::decode<api::Pod>(encoded) == pod);
}

TEST_CASE("an empty string that differs from the default survives") {
    auto provider = from<api::v1alpha1::NodeSmithProvider>(R"({"spec":{"type":"proxmox","proxmox":
        {"endpoint":"https://h:8006/api2/json","placement":{"zoneLabel":""}}}})");
    CHECK(provider.spec.proxmox->placement.zoneLabel.empty());
    CHECK(api::decode<api::v1alpha1::NodeSmithProvider>(api::encode(provider)) == provider);
}

TEST_CASE("values with a wire form of their own go both ways") {
    const auto budget =
        from<api::PodDisruptionBudget>(R"({"spec":{"minAvailable":"50%","maxUnavailable":1}})");
    CHECK(budget.spec.minAvailable->resolve(3) == 2);
    CHECK(budget.spec.maxUnavailable->resolve(3) == 1);
    CHECK(api::encode(budget).at_pointer("/spec/maxUnavailable") == 1);
    CHECK(api::encode(budget).at_pointer("/spec/minAvailable") == "50%");

    const auto node = from<api::Node>(R"({"status":{"capacity":{"cpu":4,"memory":"8Gi"}}})");
    CHECK(node.status.capacity.at("cpu").milli() == 4000);
    CHECK(api::encode(node).at_pointer("/status/capacity/cpu") == "4");

    const auto secret = from<api::Secret>(R"({"data":{"a":"AAEC/w==","b":"Zm9v","c":""}})");
    CHECK(secret.data.at("a").value == std::string("\x00\x01\x02\xff", 4));
    CHECK(secret.data.at("b").value == "foo");
    CHECK(secret.data.at("c").value.empty());
    CHECK(api::encode(secret).at_pointer("/data/a") == "AAEC/w==");

    const auto lease = from<api::Lease>(R"({"spec":{"renewTime":"2026-01-31T12:00:00.123456Z"}})");
    CHECK(api::encode(lease).at_pointer("/spec/renewTime") == "2026-01-31T12:00:00.123456Z");
}

TEST_CASE("free-form values are kept as they are") {
    const auto provider =
        from<api::v1alpha1::NodeSmithProvider>(R"({"spec":{"additionalSettings":{"a":{"b":[1,"c"]}},
        "proxmox":{"vmOptions":[{"name":"onboot","value":1},{"name":"cpu","value":"host"}]}}})");
    CHECK(provider.spec.proxmox->vmOptions.at(0).value == 1);
    CHECK(provider.spec.proxmox->vmOptions.at(1).value == "host");
    CHECK(provider.spec.additionalSettings.at("a").at("b").at(1) == "c");
}

TEST_CASE("a merge patch holds exactly what changed") {
    auto before =
        from<api::Node>(R"({"metadata":{"name":"n","labels":{"a":"1","b":"2"}},"spec":{"providerID":"x",
        "taints":[{"key":"t","effect":"NoExecute","timeAdded":"2026-01-31T12:00:00Z"}]}})");
    auto after = before;
    CHECK(api::merge_patch(before, after).empty());

    after.metadata.labels->erase("a");
    after.metadata.labels["c"] = "3";
    after.spec.providerID.clear();
    after.spec.taints.push_back({"u", "", "NoSchedule", {}});
    CHECK(api::merge_patch(before, after) == json::parse(R"({
        "metadata":{"labels":{"a":null,"c":"3"}},
        "spec":{"providerID":null,"taints":[
            {"key":"t","effect":"NoExecute","timeAdded":"2026-01-31T12:00:00Z"},
            {"key":"u","effect":"NoSchedule"}]}})")
                                                 .as_object());
}

TEST_CASE("a merge patch removes the last entry of a map and an optional struct") {
    auto before = from<api::v1alpha1::NodeSmithClaim>(R"({"status":{"lastFailure":{"reason":"x"},
        "capacity":{"cpu":"1"},"conditions":[{"type":"Ready","status":"True"}]}})");
    auto after = before;
    after.status.lastFailure.reset();
    after.status.capacity.clear();
    after.status.conditions.clear();
    CHECK(api::merge_patch(before, after) ==
          json::parse(R"({"status":{"lastFailure":null,"capacity":null,"conditions":null}})").as_object());
}
