#include "scheduling/nodes/rows.hpp"

#include <algorithm>
#include <tuple>

#include "api/names.hpp"
#include "scheduling/pods/tolerations.hpp"

namespace scheduling {

namespace {

std::vector<api::Taint> effective_taints(const NodeInfo& node) {
    std::vector<api::Taint> taints;
    const bool is_coming = node.availability == Availability::coming;
    for (const auto& taint : node.node->spec.taints) {
        const bool is_startup = std::ranges::any_of(
            node.startup_taints, [&](const api::Taint& startup) { return api::same_taint(startup, taint); });
        if (is_coming && (is_startup || passes_by_itself(taint))) continue;
        taints.push_back(taint);
    }
    if (node.node->spec.unschedulable) {
        auto& cordon = taints.emplace_back();
        cordon.key = api::taints::kUnschedulable;
        cordon.effect = api::taints::kNoSchedule;
    }
    return taints;
}

// A coming node declares what its pool's youngest one does.
const std::vector<std::string>* features_of(const Snapshot& snapshot, const NodeInfo& node) {
    if (node.availability != Availability::coming) return &node.node->status.declaredFeatures;
    if (!node.pool || !snapshot.pools[*node.pool].declared_features) return nullptr;
    return &*snapshot.pools[*node.pool].declared_features;
}

bool needs_own_taints(const NodeInfo& node) {
    return node.node->spec.unschedulable ||
           (node.availability == Availability::coming && !node.node->spec.taints.empty());
}

}  // namespace

std::vector<std::size_t> Rows::in_order() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < snapshot_.nodes.size(); ++i)
        if (snapshot_.nodes[i].availability != Availability::leaving) order.push_back(i);
    // The oldest coming nodes are first, so that earlier plans for them are
    // repeated before younger ones are used.
    const auto key = [&](std::size_t i) {
        const auto& node = snapshot_.nodes[i];
        const auto& metadata = node.node->metadata;
        const bool is_coming = node.availability == Availability::coming;
        const auto created = is_coming ? metadata.creationTimestamp.value_or(api::Time()) : api::Time();
        return std::tuple(is_coming, created, std::string_view(metadata.name), i);
    };
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    return order;
}

std::vector<LabelRow> Rows::label_rows() {
    std::vector<LabelRow> rows;
    for (const auto i : nodes_) {
        const auto& metadata = snapshot_.nodes[i].node->metadata;
        rows.push_back({&*metadata.labels, nullptr, metadata.name});
    }
    for (const auto& pool : snapshot_.pools) {
        first_template_.push_back(rows.size());
        for (const auto& place : pool.places) rows.push_back({&place.labels, &pool.labels, {}});
    }
    return rows;
}

std::vector<RowTraits> Rows::traits(ResourceNames& names) {
    for (const auto i : nodes_) {
        const auto& node = snapshot_.nodes[i];
        allocatable_.push_back(&digests_.of(node).allocatable);
        const bool own = needs_own_taints(node);
        taints_.push_back(own ? &own_taints_.emplace_back(effective_taints(node)) : &node.node->spec.taints);
    }
    std::vector<const std::vector<std::string>*> features;
    for (const auto i : nodes_) features.push_back(features_of(snapshot_, snapshot_.nodes[i]));
    for (const auto& pool : snapshot_.pools) {
        const auto& offered = offered_.emplace_back(amounts_of(pool.extended_resources, names));
        for (std::size_t i = 0; i < pool.places.size(); ++i) {
            allocatable_.push_back(&offered);
            taints_.push_back(&pool.taints);
            features.push_back(pool.declared_features ? &*pool.declared_features : nullptr);
        }
    }
    std::vector<RowTraits> traits;
    traits.reserve(taints_.size());
    for (std::size_t row = 0; row < taints_.size(); ++row)
        traits.push_back({taints_[row], allocatable_[row], features[row]});
    return traits;
}

std::optional<std::size_t> Rows::pool_of(std::size_t row) const {
    if (row < nodes()) return node(row).pool;
    const auto next = std::ranges::upper_bound(first_template_, row);
    return static_cast<std::size_t>(next - first_template_.begin()) - 1;
}

bool Rows::has_soft_taints() const {
    return std::ranges::any_of(taints_, [](const auto* taints) {
        return std::ranges::any_of(
            *taints, [](const api::Taint& taint) { return taint.effect == api::taints::kPreferNoSchedule; });
    });
}

Rows::Rows(const Snapshot& snapshot, NodeDigests& digests)
    : snapshot_(snapshot),
      digests_(digests),
      nodes_(in_order()),
      labels_(label_rows()),
      evaluator_(labels_, traits(digests.resource_names())) {
    for (const auto i : nodes_) digest_of_.push_back(&digests.of(snapshot.nodes[i]));
    ready_ = static_cast<std::size_t>(std::ranges::count_if(
        nodes_, [&](std::size_t i) { return snapshot.nodes[i].availability == Availability::ready; }));
}

}  // namespace scheduling
