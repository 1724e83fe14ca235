#include "controllers/state/contested_labels.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controllers/cache/condition_update.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/label_rules.hpp"
#include "controllers/claim/facts/label_upkeep.hpp"
#include "controllers/claim/facts/node_changes.hpp"

namespace controllers {

using api::v1alpha1::PoolContestedLabel;
using api::v1alpha1::PoolStatus;

namespace {

constexpr std::size_t kMostContestedRemembered = 16;
constexpr auto kStaysAgain = std::chrono::minutes{10};

bool is_same(const auto& a, const auto& b) {
    return a.key == b.key && a.effect == b.effect;
}

bool is_contested_on(const NodeSmithClaim& claim, const PoolContestedLabel& label) {
    return std::ranges::any_of(claim.status.contestedLabels,
                               [&](const auto& other) { return is_same(other, label); });
}

// Reports whether the pool has changed or removed the label since.
bool is_changed(const NodeSmithPool& pool, const PoolContestedLabel& label) {
    const auto& machine = pool.spec.machineTemplate;
    if (!label.effect.empty()) return !api::find_taint(machine.taints, label.key, label.effect);
    const auto* text = api::find(machine.labels, label.key);
    if (!text) return label.key != pool.spec.poolLabelKey && label.key != api::labels::kHost;
    return text->find("{{") == std::string::npos && *text != label.value;
}

bool is_on(const api::Node& node, const PoolContestedLabel& label) {
    if (!label.effect.empty()) return api::find_taint(node.spec.taints, label.key, label.effect);
    const auto* found = api::find(node.metadata.labels, label.key);
    return found && (label.key == api::labels::kHost || *found == label.value);
}

// Reports whether a newer Node has the label, and it was not restored there for a while.
bool stays_on(const PoolObservation& facts, const NodeSmithClaim& claim, const PoolContestedLabel& label,
              api::Time now) {
    const auto since = api::true_since(claim.status.conditions, conditions::kRegistered);
    if (!since || now.at - since->at < kStaysAgain || is_contested_on(claim, label)) return false;
    const auto* node = node_of(claim, facts.nodes);
    return node && is_on(*node, label);
}

void forget(const PoolObservation& facts, std::vector<PoolContestedLabel>& labels, api::Time now) {
    std::erase_if(labels, [&](const PoolContestedLabel& label) {
        const auto& claims = facts.claims;
        if (std::ranges::any_of(claims, [&](const auto& claim) { return is_contested_on(*claim, label); }))
            return false;
        return is_changed(facts.object, label) || std::ranges::any_of(claims, [&](const auto& claim) {
                   return stays_on(facts, *claim, label, now);
               });
    });
}

// Reports whether two Nodes lost the label. A Node's own kubelet can change most of its labels, so one
// Node proves nothing about the others.
bool is_shown_by_two(const PoolObservation& facts, const auto& seen) {
    const auto shows = [&](const auto& claim) {
        return std::ranges::any_of(claim->status.contestedLabels, [&](const auto& other) {
            return is_same(other, seen) && claim::does_not_stay(other);
        });
    };
    return std::ranges::count_if(facts.claims, shows) >= 2;
}

void learn(const PoolObservation& facts, std::vector<PoolContestedLabel>& labels) {
    for (const auto& claim : facts.claims) {
        for (const auto& seen : claim->status.contestedLabels) {
            if (!claim::does_not_stay(seen)) continue;
            auto known =
                std::ranges::find_if(labels, [&](const auto& label) { return is_same(label, seen); });
            if (known == labels.end()) {
                if (labels.size() >= kMostContestedRemembered || !is_shown_by_two(facts, seen)) continue;
                known = labels.insert(labels.end(), PoolContestedLabel{});
            }
            // Values may differ between Nodes. The known one does not change with each of them.
            const bool is_newer = known->node.empty() || known->node == claim->status.nodeName;
            if (!is_newer) continue;
            *known = {seen.key, seen.effect, seen.value, seen.found, seen.manager, claim->status.nodeName,
                      seen.time};
        }
    }
}

std::string describe(const PoolContestedLabel& label) {
    auto text = claim::name_of_contested(label.key, label.effect);
    if (label.effect.empty()) text += "=" + label.value;
    text += " does not stay on Node " + label.node + ": another program ";
    if (!label.manager.empty()) text += "(field manager " + label.manager + ") ";
    return text + (label.found.empty() ? "removes it" : "writes " + label.found + " instead");
}

}  // namespace

void note_contested_labels(const PoolObservation& facts, PoolStatus& status, api::Time now) {
    forget(facts, status.contestedLabels, now);
    learn(facts, status.contestedLabels);
    std::string text;
    for (const auto& label : status.contestedLabels) text += (text.empty() ? "" : "; ") + describe(label);
    if (!text.empty())
        text +=
            ". The operator restores it with growing pauses, no machine is replaced for it, and pods that "
            "require the label get no machine of this pool: stop that program, or remove it from "
            "spec.machineTemplate";
    set_while_told(status.conditions,
                   update(conditions::kLabelsContested, ConditionStatus::True, reasons::kOverwrittenByOthers,
                          std::move(text), facts.object.metadata.generation),
                   now);
}

void take_contested_off(api::StringMap& labels, const NodeSmithPool& pool) {
    for (const auto& label : pool.status.contestedLabels)
        if (label.effect.empty()) labels.erase(label.key);
}

namespace {

// Returns, for example, "not online: pve2, pve3".
std::string offline_hosts(const NodeSmithProvider* provider) {
    if (!provider || !provider->spec.proxmox) return {};
    std::vector<std::string> names;
    for (const auto& host : provider->status.hosts)
        if (!host.online) names.push_back(host.name);
    return names.empty() ? "" : "offline: " + base::joined(names);
}

}  // namespace

api::StringMap notes_on_labels(const NodeSmithPool& pool, const NodeSmithProvider* provider) {
    auto notes = labels_without_effect(pool, provider);
    if (provider && provider->spec.proxmox && claim::region_of(provider).empty())
        notes.emplace(api::labels::kRegion,
                      "spec.proxmox.region of provider " + provider->metadata.name + " is not set");
    notes.emplace("kubernetes.io/arch",
                  "machineTemplate.architecture is " + pool.spec.machineTemplate.architecture);
    if (auto offline = offline_hosts(provider); !offline.empty())
        notes.emplace(claim::zone_label(provider), std::move(offline));
    for (const auto& label : pool.status.contestedLabels)
        if (label.effect.empty()) notes[label.key] = describe(label);
    return notes;
}

}  // namespace controllers
