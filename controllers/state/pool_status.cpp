#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "bootstrap/settings.hpp"
#include "controllers/cache/condition_update.hpp"
#include "controllers/claim/facts/boot_rights.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/label_rules.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/claim/facts/node_changes.hpp"
#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/provisioning/facts/room.hpp"
#include "controllers/state/acceptance.hpp"
#include "controllers/state/contested_labels.hpp"
#include "controllers/state/course.hpp"
#include "controllers/state/creation_failures.hpp"
#include "controllers/state/failure_pause.hpp"
#include "controllers/state/learning.hpp"
#include "controllers/state/losses.hpp"
#include "controllers/state/pool_status.hpp"
#include "scheduling/amount_text.hpp"

namespace controllers {

using api::v1alpha1::PoolStatus;
using api::v1alpha1::Size;

namespace {

using Update = api::ConditionUpdate;

constexpr std::size_t kMostHostsTold = 5;

Update managed(const PoolObservation& facts) {
    if (facts.manager)
        return update(conditions::kManaged, ConditionStatus::True, reasons::kSelected,
                      "managed by control plane " + facts.manager->metadata.name);
    return update(
        conditions::kManaged, ConditionStatus::False, reasons::kNotSelected,
        "no NodeSmithControlPlane of this namespace lists the pool in spec.pools (nor \"*\"): nothing "
        "is created or removed; add it there");
}

Update provider_ready(const PoolObservation& facts) {
    const auto& name = facts.object.spec.providerRef;
    if (!facts.provider)
        return update(conditions::kProviderReady, ConditionStatus::False, reasons::kProviderNotFound,
                      "there is no NodeSmithProvider " + name + " in this namespace");
    const auto* ready = api::find_condition(facts.provider->status.conditions, conditions::kReady);
    if (!ready)
        return update(conditions::kProviderReady, ConditionStatus::Unknown, reasons::kNotReconciled,
                      "provider " + name + " was not examined yet");
    auto missing = missing_for_boot(*facts.provider, bootstrap_of(facts.object, facts.manager));
    if (ready->status == ConditionStatus::True && !missing.empty())
        return update(conditions::kProviderReady, ConditionStatus::False, reasons::kMissingPrivileges,
                      "provider " + name + ": " + missing);
    if (ready->status == ConditionStatus::True)
        return update(conditions::kProviderReady, ConditionStatus::True, reasons::kReady,
                      "provider " + name + " is Ready");
    return update(conditions::kProviderReady, ConditionStatus::False, reasons::kProviderNotReady,
                  "provider " + name + ": " + ready->message);
}

// Returns why no bare-metal host can be used for the next machine; empty: one can, or none is known.
std::string why_no_host(const PoolObservation& facts) {
    const auto& provider = *facts.provider;
    std::map<std::string, std::int64_t> unsuitable;  // hosts by reason
    bool any_suits = false;
    for (const auto& host : facts.bare_metal) {
        const auto why = why_unsuitable(*host, facts.object, provider);
        if (why.empty() && is_free(*host)) return {};
        if (why.empty())
            any_suits = true;
        else
            ++unsuitable[why];
    }
    if (facts.bare_metal.empty()) return {};
    const auto reasons = base::joined(unsuitable, ", ", [](const auto& entry) {
        return base::counted(entry.second, "host") + " " + entry.first;
    });
    const auto text = "no NodeSmithHost of provider " + provider.metadata.name;
    if (any_suits)
        return text + " is free: wait, or add hosts (kubectl get nshost shows the state of each)" +
               (reasons.empty() ? "" : "; unsuitable: " + reasons);
    return text + " suits the pool: " + reasons + "; add hosts, or correct the field";
}

// Returns why no host can take a machine of the size, by the provider's last data;
// empty: one can, or none is known.
std::string why_no_room(const PoolObservation& facts, const Size& size) {
    if (!facts.provider) return {};
    if (facts.provider->spec.redfish) return why_no_host(facts);
    std::string text;
    std::size_t named = 0;
    for (const auto& host : facts.provider->status.hosts) {
        const bool is_large = !host.largestMachine || (host.largestMachine->cpuCores >= size.cpuCores &&
                                                       host.largestMachine->memoryMiB >= size.memoryMiB);
        const bool has_room = host.freeCPUCores >= size.cpuCores && host.freeMemoryMiB >= size.memoryMiB;
        if (host.online && is_large && has_room) return {};
        if (++named > kMostHostsTold) continue;
        // The text contains no figures, because these would change with every machine.
        text += (named > 1 ? "; " : "") + host.name + ": " +
                (!host.online ? host.message
                 : is_large   ? std::string("is full")
                              : std::string("is too small for it"));
    }
    if (named == 0) return {};
    if (named > kMostHostsTold)
        text += "; and " + base::counted(static_cast<std::int64_t>(named - kMostHostsTold), "more host");
    return "no host has room for its smallest machine (" + claim::size_text(size) + "): " + text;
}

// Returns the condition of a claim that waits for what the next one would wait for, too: the API server
// refuses its requests, also that for its certificate, or its boot data are incomplete. Null: there is none.
const api::Condition* held_like_the_next(const ClaimPointers& claims, std::string& name) {
    for (const auto& claim : claims) {
        if (claim->metadata.deletionTimestamp || claim::is_true(*claim, conditions::kFailed)) continue;
        for (const auto type : {conditions::kLaunched, conditions::kRegistered}) {
            const auto* condition = api::find_condition(claim->status.conditions, type);
            const bool is_held = condition && condition->status != ConditionStatus::True &&
                                 (condition->reason == reasons::kRequestRefused ||
                                  condition->reason == reasons::kBootDataMissing);
            if (!is_held) continue;
            name = claim->metadata.name;
            return condition;
        }
    }
    return nullptr;
}

// Returns why the pool's scaleUp delays the next machine.
std::optional<limits::LimitHit> delayed_by_scale_up(const PoolObservation& facts, const PoolStatus& status,
                                                    const PoolCounts& counts, api::Time now) {
    const auto& scale_up = facts.object.spec.scaleUp;
    if (scale_up.maxConcurrent > 0 && counts.pending_nodes >= scale_up.maxConcurrent)
        return limits::LimitHit{"MaxConcurrent", base::counted(counts.pending_nodes, "node") + " " +
                                                     base::is_or_are(counts.pending_nodes) +
                                                     " already being created (scaleUp.maxConcurrent)"};
    if (const auto opens = scale_up_opens(facts.object, status); opens && now < *opens)
        return limits::LimitHit{"StabilizationWindow",
                                "the pool grew less than scaleUp.stabilizationWindow ago"};
    return std::nullopt;
}

// Returns ", of at most 2 CPUs, as its limits leave no more".
std::string what_limits_leave(const limits::Limits& limits, const limits::Usage& used) {
    std::string left;
    if (limits.cpuCores > 0) left = base::counted(limits.cpuCores - used.cpuCores, "CPU");
    if (limits.memoryMiB > 0)
        left += (left.empty() ? "" : " and ") + std::to_string(limits.memoryMiB - used.memoryMiB) + " MiB";
    return left.empty() ? "" : ", with at most " + left + ", which is all that the limits leave";
}

// Returns what prevents all pools of the control plane from creating a machine of the size.
std::optional<limits::LimitHit> held_by_manager(const NodeSmithControlPlane& manager, const Size& size) {
    const auto name = "control plane " + manager.metadata.name + ": ";
    const auto used = limits::usage_of(manager.status.reserved);
    if (auto hit = limits::admits(limits::limits_of(manager.spec), used, limits::one_machine(size)))
        return limits::LimitHit{hit->reason, name + hit->message};
    const auto* healthy = api::find_condition(manager.status.conditions, conditions::kClusterHealthy);
    if (healthy && healthy->status == ConditionStatus::False)
        return limits::LimitHit{healthy->reason, name + healthy->message};
    return std::nullopt;
}

// Names machines that are kept for volumes, because they count against the limits until a person decides.
std::string note_on_kept(const ClaimPointers& claims) {
    std::vector<std::string> names;
    for (const auto& claim : claims)
        if (is_kept_for_volumes(*claim)) names.push_back(claim->metadata.name);
    if (names.empty()) return {};
    constexpr std::size_t kMostKeptNamed = 3;
    return "; " + base::counted(std::ssize(names), "machine") + " " + base::is_or_are(std::ssize(names)) +
           " kept for the volumes on disk until a person decides, and " +
           (names.size() == 1 ? "counts" : "count") + " against the limits: see claim " +
           base::joined_first(names, kMostKeptNamed);
}

// Returns why the rate of creations holds the next machine; empty: it does not.
std::string rate_text(const PoolObservation& facts) {
    const auto most = facts.manager->spec.rateLimits.maxCreationsPerHour;
    if (most <= 0 || facts.creations_last_hour < most) return {};
    return "control plane " + facts.manager->metadata.name + ": " + base::counted(most, "claim") +
           (most == 1 ? " was" : " were") + " created in the last hour (rateLimits.maxCreationsPerHour)";
}

std::string pause_text(const api::v1alpha1::Losses& losses) {
    return "nothing is created before " + losses.nextRetryTime->str() + ", because " + losses_text(losses);
}

// Returns which machine the pool waits for, if machines are created one at a time after failures or losses.
std::string one_at_a_time(const PoolObservation& facts, const PoolStatus& status, api::Time now) {
    auto judged = facts.object;
    judged.status = status;
    if (const auto probe = probe_of(judged, facts.claims, now); probe.is_needed && !probe.claim.empty())
        return probe_text(probe);
    if (const auto trial = trial_of(judged, facts.claims, now); trial.is_needed && !trial.claim.empty())
        return trial_text(judged, trial);
    return {};
}

// Reports whether one more machine of the smallest size could be created.
Update available(const PoolObservation& facts, const PoolStatus& status, const Update& is_ready,
                 const PoolCounts& counts, api::Time now) {
    const auto no = [](std::string_view reason, std::string message) {
        return update(conditions::kAvailable, ConditionStatus::False, reason, std::move(message));
    };
    if (is_ready.status != ConditionStatus::True || is_turned_off(is_ready.reason))
        return no(is_ready.reason, is_ready.message);
    std::string held_claim;
    if (const auto* held = held_like_the_next(facts.claims, held_claim))
        return no(held->reason, "claim " + held_claim + ": " + held->message);
    if (!facts.claims_refused.empty())
        return no(reasons::kClaimsRefused, facts.claims_refused +
                                               "; the operator tries again at least once a minute while pods "
                                               "wait, so it is enough to correct the cause");
    auto learned = facts.object;
    learned.status.learnedReserved = status.learnedReserved;
    if (auto nothing = why_nothing_offered(learned); !nothing.empty())
        return no(reasons::kNothingOffered, std::move(nothing));
    const auto size = limits::smallest_size(facts.object.spec.machineTemplate);
    const auto used = limits::at_least(counts.usage, limits::usage_of(status.reserved));
    if (const auto hit =
            limits::admits(limits::limits_of(facts.object.spec), used, limits::one_machine(size)))
        return no(hit->reason, hit->message);
    if (auto held = held_by_manager(*facts.manager, size)) return no(held->reason, held->message);
    if (auto limited = rate_text(facts); !limited.empty())
        return no(reasons::kRateLimited, std::move(limited));
    if (!facts.no_address.empty()) return no(reasons::kAddressesExhausted, facts.no_address);
    if (status.nextRetryTime && now < *status.nextRetryTime)
        return no(reasons::kBackingOff, base::counted(status.consecutiveFailures, "claim") +
                                            " failed in a row: nothing is created before " +
                                            status.nextRetryTime->str() + note_on_refusals(status) +
                                            last_failure(facts.claims));
    if (pauses_after_losses(status, now)) return no(reasons::kBackingOff, pause_text(*status.losses));
    if (auto waits = one_at_a_time(facts, status, now); !waits.empty())
        return no(kOneAtATime, std::move(waits));
    if (auto delayed = delayed_by_scale_up(facts, status, counts, now))
        return no(delayed->reason, delayed->message);
    if (auto full = why_no_room(facts, size); !full.empty())
        return no(reasons::kInsufficientCapacity, std::move(full));
    if (auto failures = repeated_failures(facts.claims, status); !failures.empty())
        return no(reasons::kCreationFails, std::move(failures));
    return update(
        conditions::kAvailable, ConditionStatus::True, reasons::kAvailable,
        "another machine can be created" + what_limits_leave(limits::limits_of(facts.object.spec), used));
}

Update progressing(const PoolStatus& status, const PoolCounts& counts, api::Time now) {
    if (counts.pending_nodes > 0)
        return update(conditions::kProgressing, ConditionStatus::True, reasons::kScalingUp,
                      base::counted(counts.pending_nodes, "node") +
                          (counts.pending_nodes == 1 ? " is being created" : " are being created"));
    if (counts.claims.deleting > 0)
        return update(conditions::kProgressing, ConditionStatus::True, reasons::kScalingDown,
                      base::counted(counts.claims.deleting, "node") +
                          (counts.claims.deleting == 1 ? " is being removed" : " are being removed"));
    if (pauses_after_losses(status, now))
        return update(conditions::kProgressing, ConditionStatus::False, reasons::kBackingOff,
                      pause_text(*status.losses));
    return update(conditions::kProgressing, ConditionStatus::False, reasons::kStable,
                  "no node is being created or removed");
}

Update ready(const PoolObservation& facts, const Update& is_managed, const Update& provider) {
    const auto no = [](std::string_view reason, std::string message) {
        return update(conditions::kReady, ConditionStatus::False, reason, std::move(message));
    };
    const auto turned_off = [](std::string_view reason, std::string message) {
        return update(conditions::kReady, ConditionStatus::True, reason, std::move(message));
    };
    if (facts.object.metadata.deletionTimestamp)
        return no(reasons::kDeleting,
                  "is being deleted: waiting until its claims and their machines are gone" +
                      (facts.deletion_refused.empty() ? "" : "; " + facts.deletion_refused));
    if (facts.label_conflict)
        return no(
            reasons::kLabelConflict,
            "pool " + api::key_of(*facts.label_conflict).str() + " is older and has the same name and " +
                "spec.poolLabelKey, so their Nodes could not be told apart: rename one or change its key");
    if (const auto problem = label_problem(facts.object); !problem.reason.empty())
        return no(problem.reason, problem.message);
    if (is_managed.status != ConditionStatus::True) return turned_off(is_managed.reason, is_managed.message);
    if (auto why = why_not_understood(facts.manager->metadata); !why.empty())
        return no(reasons::kUnknownValue, "control plane " + facts.manager->metadata.name + ": " + why);
    if (const auto mode = facts.manager->spec.mode; mode != api::v1alpha1::Mode::Active) {
        const auto name = mode == api::v1alpha1::Mode::Paused ? reasons::kPaused : reasons::kObserve;
        return turned_off(name, "control plane " + facts.manager->metadata.name + " has spec.mode " +
                                    std::string(name) + ": nothing is created or removed; set it to Active");
    }
    if (provider.status != ConditionStatus::True) {
        auto result = provider;
        result.type = conditions::kReady;
        return result;
    }
    std::string notes;
    for (const auto& [key, note] : labels_without_effect(facts.object, facts.provider))
        notes += "; but " + note;
    return update(conditions::kReady, ConditionStatus::True, reasons::kReady,
                  "machines can be created and removed" + notes);
}

// Reports in conditions what others do to the pool's Nodes, while they do it.
void note_others(NodeSmithPool& pool, const std::string& address_conflicts, api::Time now) {
    const auto& losses = pool.status.losses;
    const bool any = losses && losses->count > 0;
    const auto note = [&](std::string_view type, std::string_view reason, std::string message) {
        set_while_told(
            pool.status.conditions,
            update(type, ConditionStatus::True, reason, std::move(message), pool.metadata.generation), now);
    };
    note(conditions::kTakenAway, any ? losses->reason : "", any ? losses_text(*losses) : "");
    note(conditions::kUndeclaredTaints, reasons::kTaintStays, stays_text(pool));
    note(conditions::kAddressConflict, reasons::kAddressHeldTwice, address_conflicts);
}

// Returns the machine that never joined and is kept for inspection.
std::optional<api::v1alpha1::KeptMachine> kept_machine(const ClaimPointers& claims) {
    const NodeSmithClaim* last = nullptr;
    for (const auto& claim : claims) {
        const auto& since = claim->status.keptSince;
        if (!since || claim->metadata.deletionTimestamp) continue;
        if (!last ||
            std::tie(last->status.keptSince, last->metadata.name) < std::tie(since, claim->metadata.name))
            last = claim.get();
    }
    if (!last) return std::nullopt;
    const auto& status = last->status;
    return api::v1alpha1::KeptMachine{last->metadata.name, status.host, status.machineID,
                                      status.lastFailure ? status.lastFailure->message : "",
                                      status.keptSince};
}

// Returns the host of the claim that was placed last, among the remaining claims.
std::string youngest_host(const ClaimPointers& claims) {
    const NodeSmithClaim* youngest = nullptr;
    for (const auto& claim : claims) {
        if (claim->status.host.empty()) continue;
        const bool is_younger =
            !youngest || std::tie(youngest->metadata.creationTimestamp, youngest->metadata.name) <
                             std::tie(claim->metadata.creationTimestamp, claim->metadata.name);
        if (is_younger) youngest = claim.get();
    }
    return youngest ? youngest->status.host : std::string();
}

}  // namespace

bool is_free(const NodeSmithHost& host) {
    return api::is_true(host.status.conditions, conditions::kReady) && !host.status.claimRef;
}

std::string why_unsuitable(const NodeSmithHost& host, const NodeSmithPool& pool,
                           const NodeSmithProvider& provider) {
    const auto& selector = provider.spec.redfish->hostSelector;
    if (selector && !api::matches(*selector, host.metadata.labels))
        return "without the labels of the provider's hostSelector";
    const auto& machine = pool.spec.machineTemplate;
    if (!host.status.architecture.empty() && host.status.architecture != machine.architecture)
        return "with another architecture than " + machine.architecture + " (machineTemplate.architecture)";
    const auto is_stated = [&machine](const api::Taint& taint) {
        return std::ranges::any_of(
            machine.taints, [&taint](const api::Taint& stated) { return api::same_taint(stated, taint); });
    };
    if (!std::ranges::all_of(host.spec.taints, is_stated))
        return "with a taint that machineTemplate.taints does not state";
    return {};
}

std::optional<api::Time> scale_up_opens(const NodeSmithPool& pool, const PoolStatus& status) {
    const auto window = std::chrono::ceil<std::chrono::seconds>(pool.spec.scaleUp.stabilizationWindow.value);
    if (!status.lastScaleUpTime || window <= std::chrono::seconds{0}) return std::nullopt;
    return api::Time(status.lastScaleUpTime->at + window);
}

PoolStatus next_status(const PoolObservation& facts, api::Time now) {
    auto status = facts.object.status;
    const auto counts = counts_of(facts.object, facts.claims, facts.nodes);
    status.observedGeneration = facts.object.metadata.generation;
    status.nodes = counts.nodes;
    status.readyNodes = counts.ready_nodes;
    status.pendingNodes = counts.pending_nodes;
    status.claims = counts.claims;
    status.cpuCores = counts.usage.cpuCores;
    status.memoryMiB = counts.usage.memoryMiB;
    note_learned(facts, status, now);
    count_failures(facts, status);
    count_losses(facts.object, facts.claims, status, now);
    status.undeclaredTaints = learn_taints(facts.object, facts.claims, now);
    status.keptMachine = kept_machine(facts.claims);
    if (const auto host = youngest_host(facts.claims); !host.empty()) status.lastPlacedHost = host;

    const auto is_managed = managed(facts);
    const auto provider = provider_ready(facts);
    const auto is_ready = ready(facts, is_managed, provider);
    auto is_available = available(facts, status, is_ready, counts, now);
    is_available.message += note_on_kept(facts.claims);
    for (auto next : {is_ready, is_available, progressing(status, counts, now), is_managed, provider}) {
        next.observedGeneration = facts.object.metadata.generation;
        api::set_condition(status.conditions, next, now);
    }
    judge_boot(facts, status, now);
    note_contested_labels(facts, status, now);
    auto after = facts.object;
    after.status = std::move(status);
    note_others(after, facts.address_conflicts, now);
    conclude(after, facts.provider, now);
    return after.status;
}

using api::v1alpha1::BootstrapMethod;

namespace {

// Reports whether the machine boots from the network, a CD or an imported
// disk, whose content is unknown here.
bool boots_something(const api::v1alpha1::VMOption& option) {
    const auto* text = option.value.if_string();
    if (!text) return false;
    return option.name == "boot" || text->find("import-from=") != text->npos ||
           text->find("media=cdrom") != text->npos;
}

std::string why_nothing_boots(const PoolObservation& facts) {
    const auto method = bootstrap_of(facts.object, facts.manager).method;
    if (method == BootstrapMethod::None || !facts.provider || !facts.provider->spec.proxmox) return {};
    const auto& proxmox = *facts.provider->spec.proxmox;
    if (proxmox.template_ || std::ranges::any_of(proxmox.vmOptions, boots_something)) return {};
    const bool by_cloud_init = method == BootstrapMethod::CloudInit;
    return std::string("its machines have to join by ") +
           (by_cloud_init ? "cloud-init (bootstrap.method CloudInit)"
                          : "their guest agent (bootstrap.method GuestAgent)") +
           ", but they are blank: NodeSmithProvider " + facts.provider->metadata.name +
           " has no spec.proxmox.template. Name a template that has " +
           (by_cloud_init ? "cloud-init" : "the agent") +
           ", or add {name: boot, value: order=net0} to spec.proxmox.vmOptions if your network boots such an "
           "image";
}

}  // namespace

void judge_boot(const PoolObservation& facts, api::v1alpha1::PoolStatus& status, api::Time now) {
    const auto* reason = "BootstrapInvalid";
    auto problem = bootstrap::contradiction(bootstrap_of(facts.object, facts.manager));
    if (problem.empty()) {
        reason = "NothingToBoot";
        problem = why_nothing_boots(facts);
    }
    set_while_told(status.conditions,
                   update(conditions::kConfigurationValid, ConditionStatus::False, reason, std::move(problem),
                          facts.object.metadata.generation),
                   now);
}

}  // namespace controllers
