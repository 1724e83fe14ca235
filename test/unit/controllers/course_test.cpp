// Tests what generic tools conclude from objects of all our kinds (test/adoption/courses.yaml).
#include "controllers/state/course.hpp"

#include <fstream>
#include <set>
#include <sstream>

#include "api/json.hpp"
#include "api/names.hpp"
#include "api/yaml.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using api::ConditionStatus;
using api::v1alpha1::NodeSmithHost;
using objects::NodeSmithClaim;
using objects::NodeSmithControlPlane;
using objects::NodeSmithPool;
using objects::NodeSmithProvider;
namespace conditions = api::conditions;
namespace json = boost::json;

namespace {

std::string annotation(const api::ObjectMeta& metadata, const char* name) {
    const auto* found = api::find(metadata.annotations, name);
    return found ? *found : std::string();
}

// Decides as kstatus does, which does not know the kind.
template <class T>
std::string kstatus_of(const T& object) {
    if (object.metadata.deletionTimestamp) return "Terminating";
    const auto& observed = object.status.observedGeneration;
    if (observed && observed != object.metadata.generation) return "InProgress";
    for (const auto& condition : object.status.conditions) {
        const bool holds = condition.status == ConditionStatus::True;
        if (condition.type == "Reconciling" && holds) return "InProgress";
        if (condition.type == "Stalled" && holds) return "Failed";
    }
    const auto* ready = api::find_condition(object.status.conditions, "Ready");
    return !ready || ready->status == ConditionStatus::True ? "Current" : "InProgress";
}

// Returns lines such as "Ready=False NodeNotReady: the Node is not Ready", sorted.
std::string text_of(api::Conditions conditions) {
    std::sort(conditions.begin(), conditions.end(),
              [](const auto& a, const auto& b) { return a.type < b.type; });
    std::string text;
    for (const auto& condition : conditions)
        text += condition.type + "=" + std::string(to_string(condition.status)) + " " + condition.reason +
                ": " + condition.message + "\n";
    return text;
}

NodeSmithProvider provider_that_is(const std::string& what) {
    auto provider =
        objects::provider("proxmox", what.empty() ? ConditionStatus::True : ConditionStatus::False);
    if (what == "stalled")
        objects::set_condition(provider.status.conditions, conditions::kStalled, ConditionStatus::True);
    return provider;
}

void conclude_again(NodeSmithClaim& claim) {
    const auto node = annotation(claim.metadata, "node");
    controllers::conclude(claim, node.empty() ? std::nullopt : std::optional(node == "Ready"),
                          objects::kStart);
}
void conclude_again(NodeSmithProvider& provider) {
    controllers::conclude(provider, objects::kStart);
}
void conclude_again(NodeSmithPool& pool) {
    const auto provider = provider_that_is(annotation(pool.metadata, "provider"));
    controllers::conclude(pool, &provider, objects::kStart);
}
void conclude_again(NodeSmithControlPlane& control_plane) {
    const bool waits = annotation(control_plane.metadata, "provider") == "away";
    controllers::conclude(control_plane, waits, objects::kStart);
}
void conclude_again(NodeSmithHost& host) {
    controllers::conclude(host, objects::kStart);
}

template <class T>
void check(const json::value& document) {
    const auto described = api::decode<T>(document);
    INFO(T::kResource.kind << " " << described.metadata.name);
    auto object = described;
    for (const auto type : {conditions::kReconciling, conditions::kStalled})
        api::remove_condition(object.status.conditions, type);
    // In other kinds, Ready contains more than the other conditions, so it is kept.
    if (std::is_same_v<T, NodeSmithClaim>)
        api::remove_condition(object.status.conditions, conditions::kReady);
    conclude_again(object);
    CHECK(text_of(object.status.conditions) == text_of(described.status.conditions));
    CHECK(kstatus_of(described) == annotation(described.metadata, "kstatus"));
    const auto* ready = api::find_condition(object.status.conditions, conditions::kReady);
    REQUIRE(ready);
    CHECK_FALSE(ready->reason.empty());
    const auto once = object.status;
    conclude_again(object);
    CHECK(object.status == once);
}

std::vector<json::value> documents() {
    std::ifstream file(KUBENODESMITH_SOURCE "/test/adoption/courses.yaml");
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    return api::parse_yaml_documents(text.str());
}

}  // namespace

TEST_CASE("objects of every kind say to kstatus what goes on with them") {
    std::set<std::string> kinds;
    for (const auto& document : documents()) {
        const std::string kind(document.at("kind").as_string());
        kinds.insert(kind);
        if (kind == "NodeSmithClaim") check<NodeSmithClaim>(document);
        if (kind == "NodeSmithProvider") check<NodeSmithProvider>(document);
        if (kind == "NodeSmithPool") check<NodeSmithPool>(document);
        if (kind == "NodeSmithControlPlane") check<NodeSmithControlPlane>(document);
        if (kind == "NodeSmithHost") check<NodeSmithHost>(document);
    }
    CHECK(kinds.size() == 5);
}

TEST_CASE("a claim whose Node is not known for a moment stays as Ready as it was") {
    auto claim = objects::a_claim("a", objects::pool("small")).in_service().claim;
    controllers::conclude(claim, std::nullopt, objects::kStart);
    CHECK(api::is_true(claim.status.conditions, "Ready"));
    controllers::conclude(claim, false, objects::kStart);
    controllers::conclude(claim, std::nullopt, objects::kStart);
    CHECK(api::is_false(claim.status.conditions, "Ready"));
}

TEST_CASE("a claim whose Node is not proven to be its own is not Ready, and waits for people") {
    auto claim = objects::a_claim("a", objects::pool("small")).in_service().claim;
    controllers::conclude(claim, std::nullopt, objects::kStart, "Node x is left alone");
    const auto* ready = api::find_condition(claim.status.conditions, "Ready");
    CHECK(ready->reason == "NodeIdentityMismatch");
    CHECK(ready->message == "Node x is left alone");
    CHECK(kstatus_of(claim) == "Failed");
}

TEST_CASE("Reconciling and Stalled are never reported together, and neither when Ready is True") {
    auto provider = objects::provider("proxmox");
    const auto say = [&](ConditionStatus status, const std::string& reason) {
        objects::set_condition(provider.status.conditions, "Ready", status, objects::kStart, reason);
        controllers::conclude(provider, objects::kStart);
        const auto& all = provider.status.conditions;
        return std::string(api::find_condition(all, "Reconciling") ? "R" : "") +
               (api::find_condition(all, "Stalled") ? "S" : "");
    };
    CHECK(say(ConditionStatus::False, "Unreachable") == "R");
    CHECK(say(ConditionStatus::False, "AuthenticationFailed") == "S");
    CHECK(say(ConditionStatus::True, "Ready").empty());
}

TEST_CASE("an outage is passing for five minutes, and then waits for people until it is over") {
    auto provider = objects::provider("proxmox");
    const auto say = [&](std::chrono::seconds after, ConditionStatus status) {
        const auto now = objects::at(after);
        const auto reason = status == ConditionStatus::True ? "Ready" : "Unreachable";
        for (const auto type : {conditions::kReady, conditions::kReachable})
            objects::set_condition(provider.status.conditions, type, status, now, reason);
        controllers::conclude(provider, now);
        return kstatus_of(provider);
    };
    using namespace std::chrono_literals;
    CHECK(say(0s, ConditionStatus::True) == "Current");
    CHECK(say(10s, ConditionStatus::False) == "InProgress");
    CHECK(say(309s, ConditionStatus::False) == "InProgress");
    CHECK(say(310s, ConditionStatus::False) == "Failed");
    CHECK(say(311s, ConditionStatus::True) == "Current");
    CHECK(say(400s, ConditionStatus::False) == "InProgress");
}
