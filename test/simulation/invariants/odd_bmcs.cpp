// Invariant: however a BMC answers, three things hold. A machine in service gets its time to shut down before
// it is switched off hard. No process has two sessions at one BMC. A host without a claim can be used and
// holds nothing that the operator prepared.
#include <algorithm>
#include <array>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

// Time after which the operator must know that a Node has become Ready.
constexpr std::chrono::minutes kHeardOf{2};
constexpr std::chrono::seconds kClocksDiffer{2};

class OddAnswersCostNothing final : public Invariant {
public:
    explicit OddAnswersCostNothing(const Stage& stage) : Invariant(stage) {
        world_.bmcs.subscribe([this](const std::string& host, const std::string& type) {
            if (type == "ForceOff") check_force(host);
        });
        world_.bmcs.subscribe_to_sessions([this](const std::string& host) { check_sessions(host); });
    }

    Findings at_rest() const override {
        Findings findings;
        for (const auto& name : world_.bmcs.names()) {
            const auto* host = world_.view.find<NodeSmithHost>({kNodesNamespace, name});
            if (!host || host->metadata.deletionTimestamp || host->status.claimRef) continue;
            check_use(*host, findings);
            check_leftovers(*host, findings);
        }
        return findings;
    }

private:
    static bool is_ready_since(const api::Node& node, std::chrono::system_clock::time_point when) {
        const auto* ready = api::find_condition(node.status.conditions, api::conditions::kReady);
        return is_ready(node) && ready && ready->lastTransitionTime && ready->lastTransitionTime->at <= when;
    }

    // A request to a host that is off cuts no power. The operator repeats it as long as the BMC reports a
    // remembered power state, and the Node is Ready until its lease expires.
    void check_force(const std::string& name) const {
        auto& bmcs = world_.bmcs;
        if (bmcs.bmc(name).power() == Power::off) return;
        const auto* provider = world_.view.find<NodeSmithProvider>({kNodesNamespace, "rack"});
        const auto* node = world_.view.node_of_machine(bmcs.uuid(name));
        const bool may_be_unheard =
            world_.faults.has(Fault::watch_stalled) || world_.faults.has(Fault::watch_cut_when_quiet);
        const bool is_in_service =
            node && is_ready_since(*node, world_.clock.wall_now() - kHeardOf) && !may_be_unheard;
        if (!provider || !is_in_service || bmcs.meddled_with(bmcs.uuid(name))) return;
        const bool cannot = bmcs.bmc(name).profile().no_graceful_shutdown || bmcs.cannot_shut_down(name);
        const auto& power_off = provider->spec.redfish->powerOff;
        if (cannot || power_off.mode == api::v1alpha1::PowerOffMode::Force) return;
        const auto asked = bmcs.shutdown_asked(name);
        const auto grace = std::chrono::duration_cast<base::Duration>(power_off.gracefulTimeout.value) -
                           longest_way_to_provider(world_.faults) - kClocksDiffer;
        if (asked && world_.now() >= *asked + grace) return;
        stage_.violate("power is cut last",
                       "host " + name + ", whose Node " + node->metadata.name +
                           " is Ready, is switched off hard " +
                           (asked ? "before its time to shut down is over" : "without being asked before"));
    }

    // Sessions of dead processes expire by themselves, as no other process knows their tokens.
    void check_sessions(const std::string& name) const {
        for (const auto& [process, count] : world_.bmcs.open_sessions(name))
            if (count > 1)
                stage_.violate(
                    "one session for each BMC",
                    "the BMC of host " + name + " has " + std::to_string(count) + " sessions of " + process);
    }

    void check_use(const NodeSmithHost& host, Findings& findings) const {
        static constexpr std::array<std::string_view, 8> kAnswers{
            "Busy",         "Forbidden",        "LicenseRequired", "Unreachable",
            "Unauthorized", "UnexpectedAnswer", "NoSystemUUID",    "SystemNotChosen"};
        const auto& name = host.metadata.name;
        const auto* ready = api::find_condition(host.status.conditions, api::conditions::kReady);
        const bool is_kept_out = ready && std::ranges::find(kAnswers, ready->reason) != kAnswers.end();
        if (is_kept_out && !host.spec.maintenance)
            findings.push_back({"no odd answer keeps a host from use",
                                "host " + name + ": " + ready->reason + ": " + ready->message});
    }

    void check_leftovers(const NodeSmithHost& host, Findings& findings) const {
        const auto& name = host.metadata.name;
        auto& bmc = world_.bmcs.bmc(name);
        const bool is_left_alone = bmc.power() != Power::off || host.spec.maintenance ||
                                   world_.bmcs.is_foreign(name) ||
                                   world_.bmcs.meddled_with(world_.bmcs.uuid(name));
        if (is_left_alone) return;
        if (bmc.boot_enabled() != "Disabled" && bmc.boot_target() != "None")
            findings.push_back(
                {"nothing prepared is left behind",
                 "host " + name + " would boot from " + bmc.boot_target() + ", though no claim has it"});
        for (const auto& slot : bmc.profile().slots)
            if (bmc.media(slot.id).inserted)
                findings.push_back(
                    {"nothing prepared is left behind",
                     "host " + name + " has image " + bmc.media(slot.id).image + ", though no claim has it"});
    }
};

}  // namespace

std::unique_ptr<Invariant> odd_answers_cost_nothing(const Stage& stage) {
    return std::make_unique<OddAnswersCostNothing>(stage);
}

}  // namespace simulation
