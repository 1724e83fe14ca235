#include "report/troubles.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/boot_rights.hpp"

namespace report {
namespace {

using api::ConditionStatus;
namespace conditions = api::conditions;
namespace reasons = api::reasons;

constexpr std::size_t kMostNamed = 3;
constexpr std::size_t kLongestMessage = 400;

// Conditions, besides Ready, that signal a problem, each with the status that signals it.
constexpr std::array kAlarms{std::pair{conditions::kOrphansFound, ConditionStatus::True},
                             std::pair{conditions::kMachinesVanished, ConditionStatus::True},
                             std::pair{conditions::kOtherOperatorFound, ConditionStatus::True},
                             std::pair{conditions::kStorageLow, ConditionStatus::True},
                             std::pair{conditions::kLabelsContested, ConditionStatus::True},
                             std::pair{conditions::kReplacementDoesNotHelp, ConditionStatus::True},
                             std::pair{conditions::kKeptForVolumes, ConditionStatus::True},
                             std::pair{conditions::kIdentityContested, ConditionStatus::True},
                             std::pair{conditions::kMachineFound, ConditionStatus::False},
                             std::pair{conditions::kBootImagesUsable, ConditionStatus::False},
                             std::pair{conditions::kGuestAgentUsable, ConditionStatus::False},
                             std::pair{conditions::kCredentialsProtected, ConditionStatus::False},
                             std::pair{conditions::kClusterHealthy, ConditionStatus::False},
                             std::pair{conditions::kManaged, ConditionStatus::False}};

bool is_alarm(const api::Condition& condition) {
    return std::ranges::any_of(kAlarms, [&](const auto& alarm) {
        return condition.type == alarm.first && condition.status == alarm.second;
    });
}

class Finder {
public:
    Finder(const ClusterReport& report, const std::string& namespace_)
        : report_(report), namespace_(namespace_) {}

    std::vector<Trouble> find() {
        for (const auto& provider : report_.providers) look_at_provider(*provider);
        look_at(report_.control_planes, "controlplane");
        look_at(report_.pools, "pool");
        for (const auto& facts : report_.claims) look_at_claim(facts);
        look_at(report_.hosts, "host");
        look_at_pods();
        return std::move(troubles_);
    }

private:
    bool concerns(const api::ObjectKey& key) const {
        return namespace_.empty() || key.namespace_ == namespace_;
    }

    // Adds a trouble. Objects with the same trouble share a line.
    void note(const std::string& kind, const api::ObjectKey& object, const std::string& reason,
              const std::string& message, std::optional<api::Time> since) {
        const auto [found, is_new] = by_cause_.try_emplace({kind, reason, message}, troubles_.size());
        if (is_new) {
            troubles_.push_back({kind, {object}, reason, message, since});
            return;
        }
        auto& known = troubles_[found->second];
        if (since && (!known.since || *since < *known.since)) known.since = since;
        known.objects.push_back(object);
    }

    void note(const std::string& kind, const api::ObjectKey& object, const api::Condition& condition) {
        note(kind, object, condition.reason, condition.message, condition.lastTransitionTime);
    }

    void look_at(const std::string& kind, const api::ObjectKey& object, const api::Conditions& all) {
        if (all.empty()) note(kind, object, "NotExamined", "no operator has examined it yet", std::nullopt);
        const auto* ready = api::find_condition(all, conditions::kReady);
        const bool goes_on = api::is_true(all, conditions::kReconciling);
        if (ready && ready->status == ConditionStatus::False && !goes_on) note(kind, object, *ready);
        for (const auto& condition : all)
            if (is_alarm(condition)) note(kind, object, condition);
    }

    // Rights at guest agents concern only people whose machines join by them.
    void look_at_provider(const api::v1alpha1::NodeSmithProvider& provider) {
        if (!concerns(api::key_of(provider))) return;
        auto all = provider.status.conditions;
        if (!joins_by_guest_agent(provider))
            std::erase_if(all, [](const api::Condition& condition) {
                return condition.type == conditions::kGuestAgentUsable;
            });
        look_at("provider", api::key_of(provider), all);
    }

    bool joins_by_guest_agent(const api::v1alpha1::NodeSmithProvider& provider) const {
        controllers::ControlPlanes managers;
        for (const auto& manager : report_.control_planes) managers.emplace(api::key_of(*manager), manager);
        return std::ranges::any_of(report_.pools, [&](const auto& pool) {
            return pool->metadata.namespace_ == provider.metadata.namespace_ &&
                   pool->spec.providerRef == provider.metadata.name &&
                   controllers::bootstrap_of(*pool, controllers::manager_of(api::key_of(*pool), managers))
                           .method == api::v1alpha1::BootstrapMethod::GuestAgent;
        });
    }

    template <class T>
    void look_at(const Pointers<T>& objects, const std::string& kind) {
        for (const auto& object : objects)
            if (concerns(api::key_of(*object)))
                look_at(kind, api::key_of(*object), object->status.conditions);
    }

    void look_at_claim(const ClaimFacts& facts) {
        if (!concerns(facts.key())) return;
        const auto& status = facts.claim->status;
        const auto before = troubles_.size();
        if (!status.conditions.empty()) look_at("claim", facts.key(), status.conditions);
        const auto& failure = status.lastFailure;
        const bool is_told = troubles_.size() > before || facts.phase() == api::v1alpha1::ClaimPhase::Ready;
        if (failure && !is_told) note("claim", facts.key(), failure->reason, failure->message, failure->time);
    }

    void look_at_pods() {
        for (const auto& pod : report_.unschedulable) {
            if (!concerns(api::key_of(*pod))) continue;
            const auto* scheduled = api::find_condition(pod->status.conditions, conditions::kPodScheduled);
            if (scheduled) note("pod", api::key_of(*pod), *scheduled);
        }
    }

    const ClusterReport& report_;
    const std::string& namespace_;
    std::vector<Trouble> troubles_;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> by_cause_;
};

}  // namespace

std::vector<Trouble> troubles_of(const ClusterReport& report, const std::string& namespace_) {
    return Finder(report, namespace_).find();
}

std::string sentence_of(const Trouble& trouble, api::Time now) {
    const auto names =
        base::joined_first(trouble.objects | std::views::transform(&api::ObjectKey::str), kMostNamed);
    auto text = trouble.kind + " " + names;
    if (trouble.kind == "pod") text += trouble.objects.size() == 1 ? " waits" : " wait";
    if (!trouble.reason.empty()) text += ": " + trouble.reason;
    if (!trouble.message.empty()) text += ": " + base::shortened(trouble.message, kLongestMessage);
    const auto since = api::age(trouble.since, now);
    return since.empty() ? text : text + " (since " + since + ")";
}

}  // namespace report
