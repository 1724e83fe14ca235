#include "scheduling/pods/pod_kind.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>

#include "scheduling/pods/claim_name.hpp"
#include "scheduling/pods/features.hpp"
#include "scheduling/pods/key_builder.hpp"
#include "scheduling/pods/pod_class.hpp"
#include "scheduling/table/amounts.hpp"

namespace scheduling {

namespace {

// These labels have one value for each pod, each revision or each Job of a CronJob.
constexpr std::array<std::string_view, 9> kLabelsOfOne{
    "pod-template-hash",
    "controller-revision-hash",
    "pod-template-generation",
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "job-name",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "batch.kubernetes.io/controller-uid",
};
constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";

bool is_of_one(std::string_view label) {
    return label == kCompletionIndex || std::ranges::find(kLabelsOfOne, label) != kLabelsOfOne.end();
}

void put_labels(KeyBuilder& key, const api::StringMap& labels) {
    for (const auto& [name, value] : labels) {
        if (is_of_one(name)) continue;
        key.put(name);
        key.put(value);
    }
}

void put_demands(KeyBuilder& key, const api::PodSpec& pod) {
    key.put(pod.nodeSelector);
    key.put(pod.tolerations);
    key.put(pod.topologySpreadConstraints);
    if (!pod.affinity) return;
    const auto& affinity = *pod.affinity;
    key.put(affinity.podAffinity);
    key.put(affinity.podAntiAffinity);
    if (!affinity.nodeAffinity) return;
    key.put(affinity.nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution);
    key.put(affinity.nodeAffinity->preferredDuringSchedulingIgnoredDuringExecution);
}

void put_requests(KeyBuilder& key, const api::PodSpec& pod) {
    ResourceNames names;
    const auto requests = requests_of(pod, names);
    for (const auto amount : requests.base) key.put(amount);
    std::map<std::string, std::int64_t> extra;
    for (const auto& entry : requests.extra) extra[names.name_of(entry.resource)] = entry.amount;
    for (const auto& [name, amount] : extra) {
        key.put(name);
        key.put(amount);
    }
    for (const auto& port : host_ports_of(pod)) {
        key.put(port.address);
        key.put(port.protocol);
        key.put(std::int64_t{port.port});
    }
}

// Computes FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
std::string digest_of(const std::string& text) {
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    std::string digits(16, '0');
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, hash >>= 4)
        *digit = "0123456789abcdef"[hash & 0xf];
    return digits;
}

}  // namespace

std::string kind_of(const api::Pod& pod,
                    const std::function<std::string(const std::string& claim)>& describe_claim) {
    KeyBuilder key;
    key.put(pod.metadata.namespace_);
    put_labels(key, pod.metadata.labels);
    put_demands(key, pod.spec);
    put_requests(key, pod.spec);
    for (const auto& volume : pod.spec.volumes)
        if (const auto name = claim_name_of(pod, volume)) key.put(describe_claim(*name));
    for (const auto feature : required_features(pod.spec)) key.put(feature);
    for (const auto& claim : pod.spec.resourceClaims) {
        key.put(claim.resourceClaimName);
        key.put(claim.resourceClaimTemplateName);
    }
    return digest_of(key.text());
}

}  // namespace scheduling
