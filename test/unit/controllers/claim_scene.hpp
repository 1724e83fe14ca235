#pragma once

#include "controllers/claim/decide/cleanup.hpp"
#include "controllers/claim/decide/launch.hpp"
#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/node_changes.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

// Decisions of claims in tests: a claim at some stage of its life, and the operator's decision about it.
namespace test {

using namespace controllers;
using namespace controllers::claim;
using namespace std::chrono_literals;
namespace conditions = api::conditions;
using objects::at;

inline const std::string kUid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

// Scene is a claim at a stage of its life, with everything that this stage has on record.
struct Scene {
    NodeSmithPool pool = objects::pool("p");
    NodeSmithClaim claim = objects::created_claim("c", pool, 1);
    std::optional<api::Node> node;
    std::optional<api::Node> namesake;
    bool leftover = false;
    std::string node_refusal;
    std::string contest;
    std::string name_taken;
    controllers::MachineReports::Report machine;
    controllers::MachineReports::Certificate certificate;
    bool with_pool = true;
    bool is_pool_unreadable = false;
    api::v1alpha1::NodeSmithProvider provider = objects::provider("proxmox");
    bool volumes = false;
    std::optional<Hold> hold;
    api::Time leads_since;
    api::Time now = at(0s);

    Scene() {
        claim.metadata.uid = kUid;
        claim.metadata.finalizers = {std::string(api::finalizers::kClaim)};
    }
    Situation situation() const {
        Situation s{claim};
        if (with_pool) s.pool = &pool;
        s.is_pool_unreadable = is_pool_unreadable;
        s.provider = &provider;
        if (node) s.node = &*node;
        if (namesake) s.namesake = &*namesake;
        s.namesake_is_leftover = leftover;
        s.node_refusal = node_refusal;
        s.contest = contest;
        s.name_taken = name_taken;
        if (node) s.deviations = deviations(*node, origin());
        s.machine = machine;
        s.certificate = certificate;
        s.launch_hold = hold;
        s.volumes_attached = volumes;
        s.leads_since = leads_since;
        s.now = now;
        return s;
    }
    NodeOrigin origin() const {
        return {claim,           with_pool ? &pool : nullptr, zone_label(&provider),
                nullptr,         region_of(&provider),        true,
                !contest.empty()};
    }
    Decision decide() const { return controllers::claim::decide(situation()); }
    void set(std::string_view type, ConditionStatus status, std::string_view reason = "Test",
             api::Time when = at(0s)) {
        controllers::claim::set(claim.status, type, status, reason, "", when);
    }

    Scene& begun(std::int32_t attempt = 1) {
        claim.status.providerRef = "proxmox";
        claim.status.launchAttempts = attempt;
        claim.status.systemUUID = system_uuid(kUid, attempt);
        set(conditions::kLaunched, ConditionStatus::False, reasons::kWaiting);
        return *this;
    }
    Scene& placed(std::int32_t attempt = 1) {
        begun(attempt);
        claim.status.host = "pve1";
        claim.status.machineID = "101";
        return *this;
    }
    Scene& launched() {
        placed();
        claim.status.providerID = "proxmox://lab/vms/101";
        set(conditions::kLaunched, ConditionStatus::True);
        return *this;
    }
    Scene& joined() {
        launched();
        node = objects::node("c");
        node->status.nodeInfo.systemUUID = claim.status.systemUUID;
        return *this;
    }
    Scene& registered() {
        joined();
        claim.status.nodeName = "c";
        node->metadata.labels[std::string(api::labels::kClaim)] = "c";
        node->metadata.labels[pool.spec.poolLabelKey] = "p";
        node->metadata.labels[std::string(api::labels::kHost)] = claim.status.host;
        set(conditions::kRegistered, ConditionStatus::True);
        return *this;
    }
    Scene& in_service() {
        registered();
        set(conditions::kInitialized, ConditionStatus::True);
        set(conditions::kReady, ConditionStatus::True);
        return *this;
    }
    Scene& deleted(api::Time when = at(0s)) {
        claim.metadata.deletionTimestamp = when;
        return *this;
    }
    // Records that the API server has no Node of the machine.
    Scene& searched_in_vain() {
        CHECK(decide().step == Step::look_for_node);
        claim.status = after_vain_search(situation());
        return *this;
    }
    Scene& tainted() {
        node = leaving(*node, {claim, &pool, ""});
        return *this;
    }
};

inline const api::Condition& condition(const ClaimStatus& status, std::string_view type) {
    const auto* found = api::find_condition(status.conditions, type);
    REQUIRE(found);
    return *found;
}

}  // namespace test
