#include "operator/plan/written_world.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "api/json.hpp"
#include "api/names.hpp"
#include "base/text.hpp"
#include "operator/plan/validation.hpp"
#include "scheduling/nodes/node_digest.hpp"
#include "scheduling/pods/claim_name.hpp"
#include "scheduling/pods/pod_class.hpp"
#include "scheduling/table/amounts.hpp"
#include "scheduling/volumes/volumes.hpp"

namespace kubenodesmith {

namespace {

namespace json = boost::json;

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
// Differs from the resourceVersion of any object, as a store does not take the same version twice.
constexpr std::string_view kReplaced = "replaced";
// The controller of a Deployment gives its pods this label, with another value for each template.
constexpr std::string_view kTemplateHash = "pod-template-hash";
constexpr std::string_view kNewHash = "planned";

// Returns the topologies in which the class allows its volumes.
std::vector<api::NodeSelectorTerm> terms_of(const api::StorageClass& storage_class) {
    std::vector<api::NodeSelectorTerm> terms;
    for (const auto& topology : storage_class.allowedTopologies) {
        auto& term = terms.emplace_back();
        for (const auto& label : topology.matchLabelExpressions)
            term.matchExpressions.push_back({label.key, api::SelectorOperator::In, label.values});
    }
    return terms;
}

template <class List>
bool has_all(const List& list, const List& wanted) {
    return std::ranges::all_of(wanted,
                               [&](const auto& each) { return std::ranges::find(list, each) != list.end(); });
}

std::set<std::string> claims_of(const api::PodSpec& spec) {
    std::set<std::string> claims;
    for (const auto& volume : spec.volumes)
        if (volume.persistentVolumeClaim) claims.insert(volume.persistentVolumeClaim->claimName);
    return claims;
}

// Reports whether a running pod has all that the scheduler reads of the written one. Admission may have added
// more to it.
bool asks_for_the_same(const api::PodSpec& written, const api::PodSpec& running) {
    scheduling::ResourceNames names;
    return scheduling::requests_of(written, names) == scheduling::requests_of(running, names) &&
           has_all(*running.nodeSelector, *written.nodeSelector) &&
           has_all(*running.tolerations, *written.tolerations) &&
           (!written.affinity || running.affinity == written.affinity) &&
           (written.topologySpreadConstraints.empty() ||
            running.topologySpreadConstraints == written.topologySpreadConstraints) &&
           std::ranges::equal(scheduling::host_ports_of(running), scheduling::host_ports_of(written),
                              [](const auto& a, const auto& b) {
                                  return a.port == b.port && a.protocol == b.protocol &&
                                         a.address == b.address;
                              }) &&
           std::ranges::includes(claims_of(running), claims_of(written));
}

}  // namespace

WrittenWorld::WrittenWorld(controllers::Informers& informers, const PriorityClasses& priorities)
    : informers_(informers),
      priorities_(priorities),
      admission_(informers.limit_ranges.store().values(), informers.runtime_classes.store().values()) {}

void WrittenWorld::note_refusal(const std::string& title, const std::string& what,
                                const std::string& refusal) {
    if (!refusal.empty())
        notes_.push_back(title + " is not counted: the API server would refuse " + what + ": " + refusal);
}

void WrittenWorld::take_claim(api::PersistentVolumeClaim claim, const std::string& title) {
    if (!informers_.persistent_volume_claims.store().get(api::key_of(claim)))
        note_refusal(title, "it", add(std::move(claim)));
}

// The scheduler ignores gated pods.
bool WrittenWorld::is_gated(const json::object& pod, const std::string& title) {
    const auto gate = scheduling_gate_of(pod);
    if (!gate.empty())
        notes_.push_back(title + " is not counted: scheduling gate " + gate +
                         " keeps the scheduler from placing it (spec.schedulingGates)");
    return !gate.empty();
}

void WrittenWorld::take_pod(const json::object& document) {
    auto pod = decode_object<api::Pod>(document);
    const auto title = title_of(document);
    if (is_gated(document, title)) return;
    if (pod.metadata.name.empty())
        pod.metadata.name =
            unused_name(pod.metadata.namespace_, written_name(document.at("metadata").as_object()) + "-");
    if (!informers_.pods.store().get(api::key_of(pod)))
        note_refusal(title, "it", add(std::move(pod), document));
}

void WrittenWorld::take_workload(const json::object& document) {
    auto workload = workload_of(document, bounds_);
    const auto title = title_of(document);
    if (const auto fault = why_invalid(document); !fault.empty()) return note_refusal(title, "it", fault);
    if (const auto why = why_without_pods(document); !why.empty())
        notes_.push_back(title + " counts as no pods: " + why);
    else
        scale_down(document);
    if (workload.pods.empty() || is_gated(workload.pods.front(), title)) return;
    const auto refusal = add_pods(document, std::move(workload));
    note_refusal(title, "its pods", refusal);
    if (is_cron_job(document) && is_written(document) && refusal.empty())
        notes_.push_back(title + " counts as the pods of one run");
}

std::string WrittenWorld::add_pods(const json::object& document, WrittenWorkload workload) {
    for (auto& claim : workload.volume_claims) {
        if (informers_.persistent_volume_claims.store().get(api::key_of(claim))) continue;
        if (auto refusal = add(std::move(claim)); !refusal.empty()) return refusal;
    }
    if (is_stateful_set(document)) return add_numbered(document, workload);
    std::optional<std::size_t> running;
    std::string hash(kNewHash);
    for (const auto& written : workload.pods) {
        auto pod = decode_object<api::Pod>(written);
        if (!running) {
            const auto kept = keep_running_pods(document, pod);
            running = kept.size();
            if (!kept.empty())
                if (const auto* known = api::find(kept.front()->metadata.labels, kTemplateHash))
                    hash = *known;
        }
        if (*running > 0) {
            --*running;
            continue;
        }
        if (is_deployment(document)) pod.metadata.labels->try_emplace(std::string(kTemplateHash), hash);
        const auto& owner = pod.metadata.ownerReferences->front().name;
        pod.metadata.name = unused_name(pod.metadata.namespace_, owner + "-");
        if (auto refusal = add(std::move(pod), written); !refusal.empty()) return refusal;
    }
    return {};
}

namespace {

std::vector<std::shared_ptr<const api::Pod>> running_pods_of(const controllers::Informers& informers,
                                                             const json::object& document) {
    std::vector<std::shared_ptr<const api::Pod>> pods;
    for (const auto& [key, pod] : informers.pods.store().all())
        if (is_pod_of(*pod, document) && !scheduling::is_finished(*pod) && !pod->metadata.deletionTimestamp)
            pods.push_back(pod);
    return pods;
}

// Returns the ordinal in the name of a StatefulSet's pod.
std::optional<std::int64_t> ordinal_of(const api::Pod& pod) {
    const auto& name = pod.metadata.name;
    const auto* first = name.data() + name.rfind('-') + 1;
    std::int64_t ordinal = 0;
    const auto parsed = std::from_chars(first, name.data() + name.size(), ordinal);
    return parsed.ec == std::errc() ? std::optional(ordinal) : std::nullopt;
}

}  // namespace

std::string WrittenWorld::add_numbered(const json::object& document, const WrittenWorkload& workload) {
    const auto partition = partition_of(document);
    std::size_t added = 0;
    for (const auto& written : workload.pods) {
        auto pod = decode_object<api::Pod>(written);
        const auto running = informers_.pods.store().get(api::key_of(pod));
        const bool may_replace = replaces_pods(document) && ordinal_of(pod).value_or(partition) >= partition;
        if (running && (!may_replace || stays(*running, pod))) continue;
        if (running) pod.metadata.resourceVersion = kReplaced;
        if (auto refusal = add(std::move(pod), written); !refusal.empty()) return refusal;
        ++added;
    }
    if (added > 1 && creates_in_order(document))
        notes_.push_back(title_of(document) +
                         " creates its pods one after the other, each when those before it are Ready "
                         "(podManagementPolicy), and their machines as late");
    return {};
}

void WrittenWorld::end(const api::Pod& pod) {
    auto ended = pod;
    ended.metadata.resourceVersion = kReplaced;
    ended.status.phase = api::PodPhase::Succeeded;
    informers_.pods.observe(std::move(ended));
}

void WrittenWorld::scale_down(const json::object& document) {
    const auto wanted = stated_pods(document);
    if (!wanted) return;
    auto pods = running_pods_of(informers_, document);
    if (is_stateful_set(document)) {
        const auto first = first_ordinal(document);
        for (const auto& pod : pods)
            if (const auto ordinal = ordinal_of(*pod);
                ordinal && (*ordinal < first || *ordinal - first >= *wanted))
                end(*pod);
        return;
    }
    const auto left = static_cast<std::size_t>(std::max<std::int64_t>(*wanted, 0));
    if (pods.size() <= left) return;
    // The controllers end pods without a node first, and then rather young ones.
    const auto rank = [](const auto& pod) {
        return std::tuple(pod->spec.nodeName.empty(), pod->metadata.creationTimestamp.value_or(api::Time()),
                          pod->metadata.name);
    };
    std::ranges::sort(pods, [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    for (std::size_t i = left; i < pods.size(); ++i) end(*pods[i]);
    if (left > 0)
        notes_.push_back(
            title_of(document) + " has " +
            base::counted(static_cast<std::int64_t>(pods.size() - left), "pod") +
            " more than it asks for: plan ends the youngest, and its controller may choose others");
}

bool WrittenWorld::stays(const api::Pod& running, const api::Pod& written) const {
    auto completed = written.spec;
    return admission_.admit(written.metadata.namespace_, completed).empty() &&
           asks_for_the_same(completed, running.spec);
}

std::vector<std::shared_ptr<const api::Pod>> WrittenWorld::keep_running_pods(const json::object& document,
                                                                             const api::Pod& written) {
    std::vector<std::shared_ptr<const api::Pod>> kept, replaced;
    for (auto& pod : running_pods_of(informers_, document)) {
        const bool is_kept = !replaces_pods(document) || stays(*pod, written);
        (is_kept ? kept : replaced).push_back(std::move(pod));
    }
    const auto surge = static_cast<std::size_t>(std::max<std::int64_t>(surge_of(document), 0));
    for (std::size_t i = surge; i < replaced.size(); ++i) end(*replaced[i]);
    return kept;
}

std::string WrittenWorld::unused_name(const std::string& namespace_, const std::string& prefix) {
    auto& number = next_numbers_[{namespace_, prefix}];
    auto name = prefix + std::to_string(number++);
    while (informers_.pods.store().get({namespace_, name})) name = prefix + std::to_string(number++);
    return name;
}

void WrittenWorld::look_at(const api::DaemonSet& daemon_set, const std::string& title) {
    auto pod = daemon_set.spec.template_.spec;
    auto refusal = admission_.admit(daemon_set.metadata.namespace_, pod);
    if (refusal.empty()) refusal = why_invalid(pod);
    note_refusal(title, "its pods", refusal);
    adopt_pods(api::key_of(daemon_set));
}

// Gives a written DaemonSet the UID by which its running pods name their owner, if the files have only these.
void WrittenWorld::adopt_pods(const api::ObjectKey& daemon_set) {
    const auto known = informers_.daemon_sets.store().get(daemon_set);
    if (!known || !known->metadata.uid.empty()) return;
    for (const auto& [key, pod] : informers_.pods.store().all()) {
        const auto* owner = api::controller_of(pod->metadata);
        if (!owner || owner->kind != "DaemonSet" || owner->name != daemon_set.name ||
            key.namespace_ != daemon_set.namespace_)
            continue;
        auto adopting = *known;
        adopting.metadata.uid = owner->uid;
        adopting.metadata.resourceVersion += kReplaced;
        informers_.daemon_sets.observe(std::move(adopting));
        return;
    }
}

std::string WrittenWorld::add(api::Pod pod, const json::object& document) {
    auto refusal = admission_.admit(pod.metadata.namespace_, pod.spec);
    if (refusal.empty()) refusal = why_invalid(pod.spec);
    if (refusal.empty()) refusal = priorities_.complete(pod, document);
    if (!refusal.empty()) return refusal;
    complete(pod);
    refusal = add_ephemeral(pod);
    if (!refusal.empty()) return refusal;
    namespaces_.insert(pod.metadata.namespace_);
    informers_.pods.observe(std::move(pod));
    return {};
}

// Adds the claims of generic ephemeral volumes. In a cluster, a controller creates them once the pod exists.
std::string WrittenWorld::add_ephemeral(const api::Pod& pod) {
    for (const auto& volume : *pod.spec.volumes) {
        if (!volume.ephemeral || !volume.ephemeral->volumeClaimTemplate) continue;
        api::PersistentVolumeClaim claim;
        claim.metadata.name = *scheduling::claim_name_of(pod, volume);
        claim.metadata.namespace_ = pod.metadata.namespace_;
        if (informers_.persistent_volume_claims.store().get(api::key_of(claim))) continue;
        auto& owner = claim.metadata.ownerReferences->emplace_back();
        owner.kind = "Pod";
        owner.name = pod.metadata.name;
        owner.uid = pod.metadata.uid;
        owner.controller = true;
        claim.spec = volume.ephemeral->volumeClaimTemplate->spec;
        if (auto refusal = add(std::move(claim)); !refusal.empty()) return refusal;
    }
    return {};
}

std::string WrittenWorld::add(api::PersistentVolumeClaim claim) {
    auto refusal = admission_.limit_ranges().refusal(claim.metadata.namespace_, claim.spec);
    if (!refusal.empty()) return refusal;
    const auto& classes = informers_.storage_classes.store();
    const auto& name = claim.spec.storageClassName;
    const auto* storage_class =
        name ? classes.get({"", *name}).get() : scheduling::default_class(classes.values());
    const bool is_bound_at_once = storage_class && claim.spec.volumeName.empty() &&
                                  storage_class->volumeBindingMode == api::VolumeBindingMode::Immediate &&
                                  storage_class->provisioner != kNoProvisioner;
    if (is_bound_at_once) bind_at_once(claim, *storage_class);
    informers_.persistent_volume_claims.observe(std::move(claim));
    return {};
}

// Binds the claim to a new volume, anywhere its class allows. In a cluster, the driver creates such a volume
// before the pod is scheduled.
void WrittenWorld::bind_at_once(api::PersistentVolumeClaim& claim, const api::StorageClass& storage_class) {
    api::PersistentVolume volume;
    volume.metadata.name = "of-" + claim.metadata.namespace_ + "-" + claim.metadata.name;
    volume.spec.csi.emplace().driver = storage_class.provisioner;
    volume.spec.storageClassName = storage_class.metadata.name;
    volume.spec.claimRef.emplace();
    volume.spec.claimRef->namespace_ = claim.metadata.namespace_;
    volume.spec.claimRef->name = claim.metadata.name;
    volume.status.phase = "Bound";
    if (auto terms = terms_of(storage_class); !terms.empty())
        volume.spec.nodeAffinity.emplace().required.emplace().nodeSelectorTerms = std::move(terms);
    claim.spec.volumeName = volume.metadata.name;
    claim.status.phase = "Bound";
    informers_.persistent_volumes.observe(std::move(volume));
}

}  // namespace kubenodesmith
