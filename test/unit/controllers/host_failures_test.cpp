// Tests what claims report about hosts that failed them.
#include "controllers/claim/facts/host_failures.hpp"

#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;
using namespace std::chrono_literals;

namespace {

using Counts = std::map<std::string, int>;

objects::NodeSmithClaim failed_on(const std::string& name, const std::string& host,
                                  std::chrono::seconds when) {
    auto claim = objects::claim(name, objects::pool("small"));
    claim.status.providerRef = "proxmox";
    claim.status.lastFailure = {"CloneFailed", "no", host, objects::at(when)};
    return claim;
}

const kube::ObjectKey kProvider{"default", "proxmox"};

}  // namespace

TEST_CASE("a claim whose first machine ran in vain counts as a launch, whatever the next attempts do") {
    NodeSmithClaim claim;
    claim.status.launchAttempts = 1;
    SECTION("it ran") {
        objects::set_condition(claim.status.conditions, api::conditions::kLaunched,
                               api::ConditionStatus::True);
    }
    SECTION("it was never made") {}
    const bool ran = api::is_true(claim.status.conditions, api::conditions::kLaunched);
    claim::fail_attempt(claim.status, {"RegistrationTimeout", "silent", "pve1"}, 2, objects::at(1s));
    claim::forget_attempt(claim.status, {}, objects::at(2s));
    ++claim.status.launchAttempts;
    claim::fail_attempt(claim.status, {"CreateFailed", "full", "pve1"}, 2, objects::at(3s));
    REQUIRE(api::is_true(claim.status.conditions, api::conditions::kFailed));
    CHECK(controllers::provisioning::never_had_machine(claim) == !ran);
}

TEST_CASE("hosts that failed claims of the provider are known to all its claims for half an hour") {
    auto elsewhere = failed_on("d", "pve1", 100s);
    elsewhere.status.providerRef = "other";
    const auto claims =
        objects::pointers({failed_on("a", "pve1", 100s), failed_on("b", "pve1", 200s),
                           failed_on("c", "pve2", 200s), elsewhere, failed_on("e", "", 200s)});
    CHECK(claim::recent_host_failures(claims, kProvider, objects::at(300s)) ==
          Counts{{"pve1", 2}, {"pve2", 1}});
    CHECK(claim::recent_host_failures(claims, kProvider, objects::at(1950s)) ==
          Counts{{"pve1", 1}, {"pve2", 1}});
    CHECK(claim::recent_host_failures(claims, kProvider, objects::at(2001s)).empty());
}

TEST_CASE("each host that failed an attempt of a claim is known to the other claims, not only the last one") {
    auto tried_three = failed_on("a", "pve3", 100s);
    tried_three.status.failedHosts = {"pve1", "pve2", "pve3"};
    const auto claims = objects::pointers({tried_three, failed_on("b", "pve2", 200s)});
    CHECK(claim::recent_host_failures(claims, kProvider, objects::at(300s)) ==
          Counts{{"pve1", 1}, {"pve2", 2}, {"pve3", 1}});
}

TEST_CASE("a machine that joined from a host clears what the host did before") {
    auto joined = objects::in_service(objects::claim("b", objects::pool("small")), objects::at(150s));
    joined.status.host = "pve1";
    const auto claims =
        objects::pointers({failed_on("a", "pve1", 100s), failed_on("c", "pve1", 200s), joined});
    CHECK(claim::recent_host_failures(claims, kProvider, objects::at(300s)) == Counts{{"pve1", 1}});
}

TEST_CASE("an excused failure uses up no attempt, its host is remembered, and there is an end to excuses") {
    api::v1alpha1::ClaimStatus status;
    for (int attempt = 1; attempt <= claim::kMostExcused + 2; ++attempt) {
        status.launchAttempts = attempt;
        const auto host = attempt % 2 ? "pve1" : "pve2";
        claim::fail_attempt(status, {"CloneFailed", "full", host, true}, 3, objects::at(1s));
        CHECK_FALSE(api::is_true(status.conditions, api::conditions::kFailed));
        if (attempt == 1)
            CHECK(api::find_condition(status.conditions, api::conditions::kLaunched)->message ==
                  "attempt 1 failed but does not count, because its cause may pass: full");
    }
    CHECK(status.failedHosts == std::vector<std::string>{"pve1", "pve2"});
    CHECK(status.excusedAttempts == claim::kMostExcused);
    ++status.launchAttempts;
    claim::fail_attempt(status, {"CloneFailed", "full", "pve1", true}, 3, objects::at(1s));
    CHECK(api::is_true(status.conditions, api::conditions::kFailed));
    CHECK(api::find_condition(status.conditions, api::conditions::kFailed)->message ==
          "attempt 3 of 3 failed: full");
}

TEST_CASE("a claim that failed before a machine of it ran is no launch that did not help") {
    auto claim = objects::claim("a", objects::pool("small"));
    claim.metadata.annotations[std::string(api::annotations::kLaunchedFor)] = "pod-1";
    const auto launches = [&] {
        return provisioning::launches_last_hour(objects::pointers({claim}), {}, objects::at(10s))["pod-1"];
    };
    CHECK(launches() == 1);
    objects::set_condition(claim.status.conditions, api::conditions::kFailed, api::ConditionStatus::True);
    CHECK(launches() == 0);
    claim.status.boot.emplace().startedTime = objects::at(5s);
    CHECK(launches() == 1);
}
