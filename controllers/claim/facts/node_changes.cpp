#include "controllers/claim/facts/node_changes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "controllers/claim/facts/label_rules.hpp"

namespace controllers::claim {

namespace labels = api::labels;
namespace taints = api::taints;

namespace {

// Load balancers look at the label's key only. The value shows whether we or a person set it.
constexpr const char* kExcludedByOperator = "kubenodesmith";
constexpr std::size_t kLongestLabelValue = 63;

bool remove_taint(std::vector<api::Taint>& list, std::string_view key) {
    return std::erase_if(list, [key](const api::Taint& taint) { return taint.key == key; }) > 0;
}

void identify(api::StringMap& wanted, const NodeOrigin& origin) {
    wanted[std::string(labels::kClaim)] = origin.claim.metadata.name;
    if (!origin.pool) return;
    const auto& key = origin.pool->spec.poolLabelKey;
    // The pool is older than the rule that refuses such a key, and its condition reports that.
    if (!is_reserved_pool_label(key)) wanted[key] = origin.pool->metadata.name;
}

void render_into(api::StringMap& result, const api::StringMap& templates, const NodeSmithClaim& claim) {
    for (const auto& [key, value] : templates) result[key] = render(value, claim);
}

void merge(api::StringMap& into, const api::StringMap& wanted) {
    for (const auto& [key, value] : wanted) into[key] = value;
}

}  // namespace

std::string instance_type_of(std::string size) {
    std::ranges::replace(size, '/', '-');
    const bool is_ours = !size.empty() && size.size() <= kLongestLabelValue &&
                         size.find_first_not_of("0123456789cGiM-") == std::string::npos &&
                         size.front() != '-' && size.back() != '-';
    return is_ours ? size : std::string();
}

void add_taints(std::vector<api::Taint>& list, const std::vector<api::Taint>& wanted) {
    for (const auto& taint : wanted)
        if (!api::find_taint(list, taint.key, taint.effect)) list.push_back(taint);
}

std::vector<api::Taint> with_changes(std::vector<api::Taint> list, const std::vector<api::Taint>& before,
                                     const std::vector<api::Taint>& after) {
    const auto is_in = [](const std::vector<api::Taint>& taints, const api::Taint& taint) {
        return api::find_taint(taints, taint.key, taint.effect) != nullptr;
    };
    std::erase_if(list,
                  [&](const api::Taint& taint) { return is_in(before, taint) && !is_in(after, taint); });
    std::vector<api::Taint> added;
    for (const auto& taint : after)
        if (!is_in(before, taint)) added.push_back(taint);
    add_taints(list, added);
    return list;
}

std::string zone_label(const NodeSmithProvider* provider) {
    if (provider && provider->spec.proxmox) return provider->spec.proxmox->placement.zoneLabel;
    if (provider && provider->spec.redfish) return {};
    return std::string(labels::kZone);
}

std::string region_of(const NodeSmithProvider* provider) {
    return provider && provider->spec.proxmox ? provider->spec.proxmox->region : std::string();
}

std::string render(const std::string& text, const NodeSmithClaim& claim) {
    const std::pair<const char*, const std::string&> values[] = {{".Host", claim.status.host},
                                                                 {".Pool", claim.spec.poolRef},
                                                                 {".Provider", claim.status.providerRef},
                                                                 {".Claim", claim.metadata.name},
                                                                 {".Zone", claim.status.zone}};
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        auto open = text.find("{{", at);
        auto close = open == std::string::npos ? open : text.find("}}", open);
        if (close == std::string::npos) return result + text.substr(at);
        auto name = text.substr(open + 2, close - open - 2);
        std::erase(name, ' ');
        auto known = std::find_if(std::begin(values), std::end(values),
                                  [&](const auto& v) { return name == v.first; });
        result += text.substr(at, open - at);
        result += known == std::end(values) ? text.substr(open, close + 2 - open) : known->second;
        at = close + 2;
    }
    return result;
}

api::StringMap node_labels(const NodeOrigin& origin) {
    api::StringMap wanted;
    if (origin.host) wanted = origin.host->labels;
    if (origin.pool) render_into(wanted, origin.pool->spec.machineTemplate.labels, origin.claim);
    render_into(wanted, origin.claim.spec.labels, origin.claim);
    std::erase_if(wanted, [](const auto& label) {
        return is_set_by_kubelet(label.first) || is_word_of_people(label.first);
    });
    const auto& status = origin.claim.status;
    if (!status.host.empty()) wanted[std::string(labels::kHost)] = status.host;
    if (!origin.zone_label.empty() && !status.zone.empty()) wanted[origin.zone_label] = status.zone;
    if (!origin.region.empty()) wanted.try_emplace(std::string(labels::kRegion), origin.region);
    if (origin.is_contested)
        std::erase_if(wanted, [](const auto& label) { return is_kept_from_kubelets(label.first); });
    identify(wanted, origin);
    return wanted;
}

bool is_closed(const api::Node& node) {
    return api::find_taint(node.spec.taints, taints::kUnregistered, taints::kNoExecute) != nullptr;
}

api::Node registered(const api::Node& node, const NodeOrigin& origin) {
    auto result = node;
    const bool told_of_taints = remove_taint(result.spec.taints, taints::kUnregistered) ||
                                node.metadata.labels->contains(std::string(labels::kClaim));
    auto wanted = node_labels(origin);
    // A cloud controller manager sets the region too, which is not contested.
    const std::string region(labels::kRegion);
    if (node.metadata.labels->contains(region) && !origin.region.empty() &&
        wanted.at(region) == origin.region)
        wanted.erase(region);
    merge(*result.metadata.labels, wanted);
    if (origin.pool) {
        const auto& machine = origin.pool->spec.machineTemplate;
        render_into(*result.metadata.annotations, machine.annotations, origin.claim);
        add_taints(result.spec.taints, machine.taints);
        if (!told_of_taints) add_taints(result.spec.taints, machine.startupTaints);
    }
    if (origin.host) add_taints(result.spec.taints, origin.host->taints);
    add_taints(result.spec.taints, origin.claim.spec.taints);
    if (!told_of_taints) add_taints(result.spec.taints, origin.claim.spec.startupTaints);
    const bool cloud_controller =
        api::find_taint(node.spec.taints, taints::kUninitialized, taints::kNoSchedule);
    if (result.spec.providerID.empty() && !cloud_controller) {
        result.spec.providerID = origin.claim.status.providerID;
    }
    // Template, kubelet and cloud controllers may set the type, too, and it is not restored.
    const auto type = instance_type_of(origin.claim.status.size);
    if (!type.empty() && !cloud_controller)
        result.metadata.labels->try_emplace(std::string(kInstanceType), type);
    return result;
}

api::Node kept(const api::Node& node, const NodeOrigin& origin) {
    auto result = node;
    identify(*result.metadata.labels, origin);
    return result;
}

api::Node leaving(const api::Node& node, const NodeOrigin& origin) {
    auto result = kept(node, origin);
    result.metadata.labels->try_emplace(std::string(labels::kExcludeFromLoadBalancers), kExcludedByOperator);
    api::Taint taint;
    taint.key = taints::kDisrupted;
    taint.effect = taints::kNoSchedule;
    add_taints(result.spec.taints, {taint});
    return result;
}

void admit_connections(api::Node& node) {
    const auto* value = api::find(node.metadata.labels, labels::kExcludeFromLoadBalancers);
    if (value && *value == kExcludedByOperator)
        node.metadata.labels->erase(std::string(labels::kExcludeFromLoadBalancers));
}

api::Node released(const api::Node& node) {
    auto result = node;
    result.metadata.labels->erase(std::string(labels::kClaim));
    if (remove_taint(result.spec.taints, taints::kDisrupted)) {
        admit_connections(result);
    }
    return result;
}

bool is_labelled(const api::Node& node, const NodeSmithClaim& claim) {
    const auto* label = api::find(node.metadata.labels, labels::kClaim);
    return label && *label == claim.metadata.name;
}

}  // namespace controllers::claim
