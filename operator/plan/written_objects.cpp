#include "operator/plan/written_objects.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "api/names.hpp"
#include "base/saturating.hpp"
#include "base/text.hpp"
#include "operator/plan/cluster_snapshot.hpp"
#include "scheduling/pods/pod_defaults.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

const json::object* object_in(const json::object& parent, std::string_view name) {
    const auto* value = parent.if_contains(name);
    return value ? value->if_object() : nullptr;
}

std::optional<std::int64_t> number_in(const json::object& parent, std::string_view name) {
    const auto* value = parent.if_contains(name);
    return value && value->is_int64() ? std::optional(value->get_int64()) : std::nullopt;
}

bool is_kind(const json::object& document, std::string_view version, std::string_view kind) {
    return text_in(document, "apiVersion") == version && text_in(document, "kind") == kind;
}

bool flag_in(const json::object& parent, std::string_view name) {
    const auto* value = parent.if_contains(name);
    return value && value->is_bool() && value->get_bool();
}

// Returns the spec that describes a workload's pods; null if there is none. That of a CronJob is in the
// template of its Jobs.
const json::object* pods_spec(const json::object& document) {
    const auto* spec = object_in(document, "spec");
    const auto* job = spec ? object_in(*spec, "jobTemplate") : nullptr;
    return job ? object_in(*job, "spec") : spec;
}

bool is_suspended(const json::object& document, const json::object& spec) {
    const auto* outer = object_in(document, "spec");
    return flag_in(spec, "suspend") || (outer && flag_in(*outer, "suspend"));
}

// Returns how many pods the workload would have simultaneously; nullopt if it is no workload.
std::optional<std::int64_t> pods_wanted(const json::object& document, const json::object& spec) {
    // The controller makes no ReplicaSet for a new Deployment that is paused.
    if (is_deployment(document) && flag_in(spec, "paused")) return 0;
    for (const auto* kind : {"Deployment", "ReplicaSet", "StatefulSet"})
        if (is_kind(document, "apps/v1", kind)) return number_in(spec, "replicas").value_or(1);
    if (is_kind(document, "v1", "ReplicationController")) return number_in(spec, "replicas").value_or(1);
    if (!is_kind(document, "batch/v1", "Job") && !is_cron_job(document)) return std::nullopt;
    if (is_suspended(document, spec)) return 0;
    const auto parallel = number_in(spec, "parallelism").value_or(1);
    return std::min(parallel, number_in(spec, "completions").value_or(parallel));
}

bool has_pod_template(const json::object& document) {
    const auto* spec = pods_spec(document);
    const auto* pod_template = spec ? object_in(*spec, "template") : nullptr;
    return pod_template && object_in(*pod_template, "spec");
}

// Reports whether the kind belongs to Kubernetes itself. Such kinds have pods only with a pod template.
bool is_of_kubernetes(const json::object& document) {
    const auto version = text_in(document, "apiVersion");
    const auto group = version.substr(0, version.find('/'));
    return version.find('/') == std::string::npos || group.find('.') == std::string::npos ||
           group.ends_with(".k8s.io");
}

struct Owner {
    std::string kind;
    std::string name;
    std::string namespace_;
};

std::string uid_of(const Owner& owner) {
    return owner.kind + "/" + owner.name;
}

json::object pod_of(const json::object& pod_template, const Owner& owner, const std::string& name) {
    json::object pod = pod_template;
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    if (!object_in(pod, "metadata")) pod["metadata"] = json::object();
    auto& metadata = pod["metadata"].get_object();
    metadata["name"] = name;
    metadata["namespace"] = owner.namespace_;
    const json::object reference{
        {"kind", owner.kind}, {"name", owner.name}, {"uid", uid_of(owner)}, {"controller", true}};
    metadata["ownerReferences"] = json::array{reference};
    return pod;
}

// Adds the labels that the workload's controller gives the pod of this index, unless the template states
// them. The hash of a Deployment's template is not among them, because running pods may have it already.
// Sources: k8s.io/kubernetes/pkg/registry/batch/job/strategy.go (generateSelector),
// pkg/controller/job/indexed_job_utils.go, pkg/controller/statefulset/stateful_set_utils.go.
void add_controller_labels(json::object& pod, const json::object& spec, const Owner& owner,
                           std::int64_t index) {
    auto& metadata = pod["metadata"].get_object();
    auto& value = metadata["labels"];
    if (!value.is_object()) value = json::object();
    auto& labels = value.get_object();
    const auto number = std::to_string(index);
    if (owner.kind == "StatefulSet") {
        labels.emplace("statefulset.kubernetes.io/pod-name", text_in(metadata, "name"));
        labels.emplace("apps.kubernetes.io/pod-index", number);
    }
    if (owner.kind != "Job" && owner.kind != "CronJob") return;
    for (const std::string prefix : {"", "batch.kubernetes.io/"}) {
        labels.emplace(prefix + "job-name", owner.name);
        labels.emplace(prefix + "controller-uid", uid_of(owner));
    }
    if (text_in(spec, "completionMode") == "Indexed")
        labels.emplace("batch.kubernetes.io/job-completion-index", number);
}

// Removes the template's volume of that name, which the volume of a claim replaces.
void remove_volume(json::array& volumes, const std::string& name) {
    for (auto volume = volumes.begin(); volume != volumes.end();) {
        const bool is_it = volume->is_object() && text_in(volume->get_object(), "name") == name;
        volume = is_it ? volumes.erase(volume) : volume + 1;
    }
}

// Adds the volume claims of one pod of a StatefulSet. Each claim gets a volume with the name of its template.
void add_volume_claims(const json::array& templates, json::object& pod, WrittenWorkload& workload) {
    const auto& metadata = pod.at("metadata").get_object();
    for (const auto& one : templates) {
        auto claim = api::decode<api::PersistentVolumeClaim>(one);
        const auto volume = claim.metadata.name;
        claim.metadata.name += "-" + text_in(metadata, "name");
        claim.metadata.namespace_ = text_in(metadata, "namespace");
        if (!object_in(pod, "spec")) continue;
        auto& volumes = pod["spec"].get_object()["volumes"];
        if (!volumes.is_array()) volumes = json::array();
        remove_volume(volumes.get_array(), volume);
        volumes.get_array().push_back(json::object{
            {"name", volume}, {"persistentVolumeClaim", json::object{{"claimName", claim.metadata.name}}}});
        workload.volume_claims.push_back(std::move(claim));
    }
}

}  // namespace

void PriorityClasses::note(const json::object& document) {
    if (!is_kind(document, "scheduling.k8s.io/v1", "PriorityClass")) return;
    const auto* metadata = object_in(document, "metadata");
    const auto value = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        number_in(document, "value").value_or(0), std::numeric_limits<std::int32_t>::min(),
        std::numeric_limits<std::int32_t>::max()));
    if (metadata) values_[text_in(*metadata, "name")] = value;
    const auto* is_default = document.if_contains("globalDefault");
    if (is_default && is_default->is_bool() && is_default->get_bool()) default_ = value;
}

std::string PriorityClasses::complete(api::Pod& pod, const json::object& document) const {
    const auto* spec = object_in(document, "spec");
    const auto name = spec ? text_in(*spec, "priorityClassName") : std::string();
    const auto found = values_.find(name);
    if (!name.empty() && found == values_.end()) return "PriorityClass " + name + " does not exist";
    if (pod.spec.priority) return {};
    if (found != values_.end())
        pod.spec.priority = found->second;
    else if (default_ != 0)
        pod.spec.priority = default_;
    return {};
}

void complete(api::Pod& pod) {
    scheduling::set_pod_defaults(pod.spec);
    if (pod.metadata.uid.empty()) pod.metadata.uid = api::key_of(pod).str();
    const bool has_status = !pod.status.conditions.empty() || pod.status.phase != api::PodPhase::Unknown;
    if (has_status || !pod.spec.nodeName.empty()) return;
    pod.status.phase = api::PodPhase::Pending;
    api::Condition scheduled;
    scheduled.type = api::conditions::kPodScheduled;
    scheduled.status = api::ConditionStatus::False;
    scheduled.reason = api::reasons::kUnschedulable;
    scheduled.message = "the pod is only planned";
    pod.status.conditions->push_back(std::move(scheduled));
}

void WorkloadBounds::take(const std::string& workload, std::int64_t count, std::size_t bytes) {
    if (count <= 0) return;
    const auto pods = static_cast<std::size_t>(count);
    if (pods > pods_)
        throw ViewError(workload + " asks for too many pods: all workloads together may have 150000");
    if (bytes > bytes_ / pods)
        throw ViewError(
            workload +
            " has a template that is too large: the templates of all pods together may take 512 MiB");
    pods_ -= pods;
    bytes_ -= pods * bytes;
}

WrittenWorkload workload_of(const json::object& document, WorkloadBounds& bounds) {
    WrittenWorkload workload;
    const auto* metadata = object_in(document, "metadata");
    const auto* spec = pods_spec(document);
    const auto* pod_template = spec ? object_in(*spec, "template") : nullptr;
    if (!metadata || !pod_template || !is_written(document)) return workload;
    const auto count = pods_wanted(document, *spec);
    if (!count) return workload;
    const Owner owner{text_in(document, "kind"), written_name(*metadata), written_namespace(document)};
    const auto* templates = spec->if_contains("volumeClaimTemplates");
    auto bytes = json::serialize(*pod_template).size();
    if (templates) bytes += json::serialize(*templates).size();
    bounds.take(owner.kind + " " + owner.name, *count, bytes);
    for (std::int64_t i = 0; i < *count; ++i) {
        const auto index = first_ordinal(document) + i;
        auto pod = pod_of(*pod_template, owner, owner.name + "-" + std::to_string(index));
        add_controller_labels(pod, *spec, owner, index);
        if (templates && templates->is_array()) add_volume_claims(templates->get_array(), pod, workload);
        workload.pods.push_back(std::move(pod));
    }
    return workload;
}

std::string text_in(const json::object& parent, std::string_view name) {
    const auto* value = parent.if_contains(name);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string written_name(const json::object& metadata) {
    auto name = text_in(metadata, "name");
    if (!name.empty()) return name;
    name = text_in(metadata, "generateName");
    while (name.ends_with('-')) name.pop_back();
    return name;
}

std::string written_namespace(const json::object& document) {
    const auto* metadata = object_in(document, "metadata");
    auto namespace_ = metadata ? text_in(*metadata, "namespace") : std::string();
    return namespace_.empty() ? "default" : namespace_;
}

bool is_deployment(const json::object& document) {
    return is_kind(document, "apps/v1", "Deployment");
}

bool is_stateful_set(const json::object& document) {
    return is_kind(document, "apps/v1", "StatefulSet");
}

bool replaces_pods(const json::object& document) {
    if (is_deployment(document)) return true;
    const auto* spec = object_in(document, "spec");
    const auto* strategy = spec ? object_in(*spec, "updateStrategy") : nullptr;
    return is_stateful_set(document) && !(strategy && text_in(*strategy, "type") == "OnDelete");
}

std::optional<std::int64_t> stated_pods(const json::object& document) {
    const auto* spec = pods_spec(document);
    const bool has_replicas = !is_kind(document, "batch/v1", "Job") && !is_cron_job(document);
    if (!spec || !is_workload(document) || !has_replicas) return std::nullopt;
    return number_in(*spec, "replicas");
}

std::int64_t first_ordinal(const json::object& document) {
    const auto* spec = object_in(document, "spec");
    const auto* ordinals = spec ? object_in(*spec, "ordinals") : nullptr;
    return ordinals ? number_in(*ordinals, "start").value_or(0) : 0;
}

std::int64_t partition_of(const json::object& document) {
    const auto* spec = object_in(document, "spec");
    const auto* strategy = spec ? object_in(*spec, "updateStrategy") : nullptr;
    const auto* rolling = strategy ? object_in(*strategy, "rollingUpdate") : nullptr;
    return rolling ? number_in(*rolling, "partition").value_or(0) : 0;
}

bool creates_in_order(const json::object& document) {
    const auto* spec = object_in(document, "spec");
    return is_stateful_set(document) && spec && text_in(*spec, "podManagementPolicy") != "Parallel";
}

std::int64_t surge_of(const json::object& document) {
    constexpr std::int64_t kDefaultPercent = 25;
    constexpr std::int64_t kWhole = 100;
    const auto* spec = object_in(document, "spec");
    const auto* strategy = spec ? object_in(*spec, "strategy") : nullptr;
    if (strategy && text_in(*strategy, "type") == "Recreate") return 0;
    const auto* rolling = strategy ? object_in(*strategy, "rollingUpdate") : nullptr;
    if (const auto number = rolling ? number_in(*rolling, "maxSurge") : std::nullopt) return *number;
    auto percent = kDefaultPercent;
    if (const auto text = rolling ? text_in(*rolling, "maxSurge") : std::string(); text.ends_with('%'))
        std::from_chars(text.data(), text.data() + text.size(), percent);
    const auto replicas = spec ? number_in(*spec, "replicas").value_or(1) : 1;
    return (base::Saturating(replicas) * percent + kWhole - 1) / kWhole;
}

std::string why_without_pods(const json::object& document) {
    const auto* spec = pods_spec(document);
    if (!spec || !is_written(document)) return {};
    if (is_deployment(document) && flag_in(*spec, "paused"))
        return "it is paused, so a new Deployment gets no pods (spec.paused)";
    const bool is_job = is_kind(document, "batch/v1", "Job") || is_cron_job(document);
    return is_job && is_suspended(document, *spec) ? "it is suspended (spec.suspend)" : "";
}

std::string scheduling_gate_of(const json::object& pod) {
    const auto* spec = object_in(pod, "spec");
    const auto* gates = spec ? spec->if_contains("schedulingGates") : nullptr;
    if (!gates || !gates->is_array() || gates->get_array().empty()) return {};
    const auto* gate = gates->get_array().front().if_object();
    return gate ? text_in(*gate, "name") : std::string();
}

bool is_pod_of(const api::Pod& pod, const json::object& document) {
    const auto* metadata = object_in(document, "metadata");
    const auto* owner = api::controller_of(pod.metadata);
    if (!metadata || !owner) return false;
    if (pod.metadata.namespace_ != written_namespace(document)) return false;
    const auto name = text_in(*metadata, "name");
    // The ReplicaSet of a Deployment has its name and a hash.
    if (is_deployment(document))
        return owner->kind == "ReplicaSet" && owner->name.substr(0, owner->name.rfind('-')) == name;
    return owner->kind == text_in(document, "kind") && owner->name == name;
}

bool is_workload(const json::object& document) {
    return pods_wanted(document, {}).has_value();
}

bool is_written(const json::object& document) {
    const auto* metadata = object_in(document, "metadata");
    return metadata && text_in(*metadata, "uid").empty();
}

bool is_cron_job(const json::object& document) {
    return is_kind(document, "batch/v1", "CronJob");
}

std::string title_of(const json::object& document) {
    const auto* metadata = object_in(document, "metadata");
    const auto name = metadata ? written_name(*metadata) : std::string();
    return text_in(document, "kind") + " " + written_namespace(document) + "/" + name;
}

namespace {

// Returns how objects of the kind change which pods a workload has; empty: they do not.
std::string influence_of(const json::object& document) {
    const auto kind = text_in(document, "kind");
    if (text_in(document, "apiVersion") == "v1" && kind == "ResourceQuota")
        return "the API server may refuse pods beyond it";
    if (text_in(document, "apiVersion").starts_with("autoscaling/") && kind == "HorizontalPodAutoscaler")
        return "plan uses the number of pods that the workload itself states";
    return {};
}

}  // namespace

void UnknownKinds::note(const json::object& document) {
    if (const auto influence = influence_of(document); !influence.empty())
        with_influence_.emplace_back(written_namespace(document),
                                     title_of(document) + " is not considered: " + influence);
    else if (!is_written(document))
        return;
    else if (has_pod_template(document))
        with_pods_.push_back(title_of(document));
    else if (!is_of_kubernetes(document))
        ++others_[text_in(document, "kind")];
}

std::vector<std::string> UnknownKinds::sentences(const std::set<std::string>& namespaces) const {
    std::vector<std::string> sentences;
    for (const auto& title : with_pods_)
        sentences.push_back(title +
                            " is not counted: plan does not know its kind and version. Add its pods "
                            "to the file, or a Kubernetes workload with the same template");
    for (const auto& [namespace_, sentence] : with_influence_)
        if (namespaces.contains(namespace_)) sentences.push_back(sentence);
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : others_)
        kinds.push_back((kind.empty() ? "(no kind)" : kind) + " (" + std::to_string(count) + ")");
    if (!kinds.empty())
        sentences.push_back("kinds that plan does not know, of which it counts no pods: " +
                            base::joined(kinds));
    return sentences;
}

}  // namespace kubenodesmith
