#include "controllers/provisioning/facts/claim_factory.hpp"

#include <algorithm>
#include <ranges>

#include "base/text.hpp"
#include "controllers/limits/limits.hpp"

namespace controllers::provisioning {

namespace {

constexpr std::size_t kSuffixLength = 5;
constexpr std::uint64_t kNames = 60'466'176;  // 36^5
constexpr std::size_t kLongestPrefix = 63 - 1 - kSuffixLength;
// The annotations may have 256 KiB in total; a node rarely holds more pods than this.
constexpr std::size_t kMostPodsNoted = 256;
constexpr std::size_t kMostPodsNamed = 5;

// Computes FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
std::uint64_t hash_of(const std::string& text) {
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash;
}

// Permutes the names for each pool: the factor has no divisor in common with 36^5.
std::string suffix_of(const std::string& pool_uid, std::int64_t sequence) {
    constexpr std::uint64_t kFactor = 27'644'437;
    auto number =
        (hash_of(pool_uid) % kNames + static_cast<std::uint64_t>(sequence) % kNames * kFactor) % kNames;
    std::string suffix(kSuffixLength, '0');
    for (auto& c : suffix) {
        c = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
        number /= 36;
    }
    return suffix;
}

std::string host_name_of(std::string_view prefix) {
    auto text = base::lower_case(prefix);
    for (auto& c : text) {
        const bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!fits) c = '-';
    }
    text.resize(std::min(text.size(), kLongestPrefix));
    while (!text.empty() && text.back() == '-') text.pop_back();
    return text;
}

// Adds labels without placeholders. The others are no label values yet; the Node gets them filled in.
void add_plain_labels(api::StringMap& labels, const api::StringMap& templates) {
    for (const auto& [key, value] : templates)
        if (value.find("{{") == std::string::npos) labels.emplace(key, value);
}

void add_lineage(NodeSmithClaim& claim, const NodeSmithPool& pool, const PlannedClaim& planned_claim) {
    if (!planned_claim.replaces) return;
    auto& annotations = *claim.metadata.annotations;
    annotations[std::string(api::annotations::kReplaces)] = planned_claim.replaces->claim;
    annotations[std::string(api::annotations::kReplacesFor)] = planned_claim.replaces->cause;
    annotations[std::string(api::annotations::kReplacementsInARow)] =
        std::to_string(planned_claim.replaces->count);
    const auto* asked = api::find(pool.metadata.annotations, api::annotations::kRetryReplacement);
    if (asked) annotations[std::string(api::annotations::kRetryReplacement)] = *asked;
}

}  // namespace

std::string claim_name(const NodeSmithPool& pool, std::int64_t sequence) {
    const auto& wanted = pool.spec.machineTemplate.kubeNodeNamePrefix;
    const auto prefix = host_name_of(wanted.empty() ? pool.metadata.name : wanted);
    return prefix + "-" + suffix_of(pool.metadata.uid, sequence);
}

NodeSmithClaim make_claim(const NodeSmithPool& pool, std::int64_t sequence,
                          const PlannedClaim& planned_claim) {
    NodeSmithClaim claim;
    claim.metadata.namespace_ = pool.metadata.namespace_;
    claim.metadata.name = claim_name(pool, sequence);
    claim.metadata.labels[pool.spec.poolLabelKey] = pool.metadata.name;
    add_plain_labels(*claim.metadata.labels, pool.spec.machineTemplate.labels);
    if (!planned_claim.pod_uids.empty())
        claim.metadata.annotations[std::string(api::annotations::kLaunchedFor)] =
            base::joined(planned_claim.pod_uids | std::views::take(kMostPodsNoted), ",");
    if (!planned_claim.pod_kinds.empty())
        claim.metadata.annotations[std::string(api::annotations::kLaunchedForKinds)] =
            base::joined(planned_claim.pod_kinds | std::views::take(kMostPodsNoted), ",");
    add_lineage(claim, pool, planned_claim);
    claim.metadata.finalizers->emplace_back(api::finalizers::kClaim);
    api::OwnerReference owner;
    owner.apiVersion = NodeSmithPool::kResource.api_version();
    owner.kind = NodeSmithPool::kResource.kind;
    owner.name = pool.metadata.name;
    owner.uid = pool.metadata.uid;
    owner.controller = true;
    owner.blockOwnerDeletion = true;
    claim.metadata.ownerReferences->push_back(std::move(owner));

    claim.spec.poolRef = pool.metadata.name;
    claim.spec.requirements = planned_claim.size;
    claim.spec.extendedResources = pool.spec.machineTemplate.extendedResources;
    claim.spec.zone = planned_claim.zone;
    claim.spec.deletionPolicy = pool.spec.deletionPolicy;
    claim.spec.expireAfter = pool.spec.disruption.expireAfter;
    auto& expire_after = claim.spec.expireAfter->duration;
    if (expire_after) expire_after = std::min(*expire_after, api::v1alpha1::kLongestDuration);
    claim.spec.idempotencyKey = limits::idempotency_key(pool.metadata.uid, sequence);
    return claim;
}

std::vector<std::string> launched_for(const NodeSmithClaim& claim) {
    return listed(claim, api::annotations::kLaunchedFor, "kubenodesmith.io/bought-for");
}

std::vector<std::string> listed(const NodeSmithClaim& claim, std::string_view annotation,
                                std::string_view former) {
    std::vector<std::string> entries;
    const auto* noted = api::find(claim.metadata.annotations, annotation);
    if (!noted) noted = api::find(claim.metadata.annotations, former);
    if (!noted) return entries;
    for (std::size_t start = 0; start < noted->size();) {
        const auto end = std::min(noted->find(',', start), noted->size());
        if (end > start) entries.push_back(noted->substr(start, end - start));
        start = end + 1;
    }
    return entries;
}

std::string explain(const PlannedClaim& planned_claim) {
    if (planned_claim.pods.empty()) return planned_claim.reason;
    std::vector<std::string> names;
    for (const auto& pod : planned_claim.pods) names.push_back(pod.str());
    return std::string(names.size() == 1 ? "for pod " : "for pods ") +
           base::joined_first(names, kMostPodsNamed);
}

}  // namespace controllers::provisioning
