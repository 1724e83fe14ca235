#include "controllers/cache/informers.hpp"

#include <algorithm>
#include <exception>

#include "base/text.hpp"
#include "base/uuid.hpp"
#include "bootstrap/token.hpp"

namespace controllers {

namespace {

using Values = std::vector<std::string>;

Values only(const std::string& value) {
    if (value.empty()) return {};
    return {value};
}

Values reference(const std::string& namespace_, const std::string& name) {
    if (name.empty()) return {};
    return {namespace_ + "/" + name};
}

template <api::Kind T>
kube::Transform<T> forgetting() {
    return [](T& object) { forget_unread(object); };
}

kube::ListOptions unfinished_pods() {
    kube::ListOptions options;
    options.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
    return options;
}

// Returns the places of a volume that cannot be decoded; nullopt: its places are what cannot be read.
kube::Places places_of_misfit(const api::PersistentVolume& rest, const api::DecodeError& error) {
    const std::string affinity = "/spec/nodeAffinity";
    if (affinity.starts_with(error.pointer) || error.pointer.starts_with(affinity)) return std::nullopt;
    auto places = places_of(rest);
    // An affinity without a place may have lost it to a second error.
    if (places.empty() && rest.spec.nodeAffinity) return std::nullopt;
    return places;
}

void index_core(Informers& informers) {
    auto& pods = informers.pods.store();
    pods.add_index(kPodsByNode, [](const api::Pod& pod) { return only(pod.spec.nodeName); });
    pods.add_index(kPodsUnschedulable,
                   [](const api::Pod& pod) { return is_unschedulable(pod) ? Values{"true"} : Values{}; });
    auto& nodes = informers.nodes.store();
    nodes.add_index(kNodesBySystemUuid, [](const api::Node& node) {
        return only(base::lower_case(node.status.nodeInfo.systemUUID));
    });
    nodes.add_index(kNodesByProviderId, [](const api::Node& node) { return only(node.spec.providerID); });
    nodes.add_index(kNodesByHostname, [](const api::Node& node) { return only(hostname_of(node)); });
    informers.volume_attachments.store().add_index(
        kVolumeAttachmentsByNode, [](const api::VolumeAttachment& a) { return only(a.spec.nodeName); });
    informers.persistent_volumes.store().add_index(kVolumesByPlace, places_of);
    informers.persistent_volumes.locate_misfits(places_of_misfit);
}

void index_ours(Informers& informers) {
    using namespace api::v1alpha1;
    auto& claims = informers.claims.store();
    claims.add_index(kClaimsByPool, [](const NodeSmithClaim& claim) {
        return reference(claim.metadata.namespace_, claim.spec.poolRef);
    });
    claims.add_index(kClaimsByNode, [](const NodeSmithClaim& claim) { return only(claim.status.nodeName); });
    claims.add_index(kClaimsBySystemUuid, [](const NodeSmithClaim& claim) {
        return only(base::lower_case(claim.status.systemUUID));
    });
    claims.add_index(kClaimsByToken, [](const NodeSmithClaim& claim) {
        if (claim.status.launchAttempts == 0) return Values{};
        return only(bootstrap::token_id(claim.metadata.uid, claim.status.launchAttempts));
    });
    claims.add_index(kClaimsByName, [](const NodeSmithClaim& claim) { return only(claim.metadata.name); });
    auto& hosts = informers.hosts.store();
    hosts.add_index(kHostsByProvider, [](const NodeSmithHost& host) {
        return reference(host.metadata.namespace_, host.spec.providerRef);
    });
    hosts.add_index(kHostsBySystemUuid,
                    [](const NodeSmithHost& host) { return only(uuid_key(host.status.systemUUID)); });
    informers.pools.store().add_index(kPoolsByProvider, [](const NodeSmithPool& pool) {
        return reference(pool.metadata.namespace_, pool.spec.providerRef);
    });
}

template <class Informer>
void admit_managed_to(Informer& informer, const ManagedNamespaces& managed) {
    informer.admit_only(
        [&managed](const auto& object) { return managed.contains(object.metadata.namespace_); });
}

void admit_managed(Informers& informers) {
    admit_managed_to(informers.providers, informers.managed);
    admit_managed_to(informers.pools, informers.managed);
    admit_managed_to(informers.claims, informers.managed);
    admit_managed_to(informers.control_planes, informers.managed);
    admit_managed_to(informers.hosts, informers.managed);
}

// Calls `each` with all informers: those of Kubernetes' own kinds, then those of ours.
template <class MaybeConst, class Function>
void for_all(MaybeConst& i, Function each) {
    each(i.pods);
    each(i.nodes);
    each(i.daemon_sets);
    each(i.namespaces);
    each(i.limit_ranges);
    each(i.runtime_classes);
    each(i.persistent_volumes);
    each(i.persistent_volume_claims);
    each(i.storage_classes);
    each(i.csi_drivers);
    each(i.csi_storage_capacities);
    each(i.csi_nodes);
    each(i.volume_attachments);
    each(i.pod_disruption_budgets);
    each(i.providers);
    each(i.pools);
    each(i.claims);
    each(i.control_planes);
    each(i.hosts);
}

}  // namespace

Informers::Informers(kube::Client& client, base::Clock& clock, base::Random& random,
                     asio::any_io_executor executor, ManagedNamespaces managed_namespaces)
    : managed(std::move(managed_namespaces)),
      pods(client, clock, random, executor, unfinished_pods(), forgetting<api::Pod>()),
      nodes(client, clock, random, executor, {}, forgetting<api::Node>()),
      daemon_sets(client, clock, random, executor, {}, forgetting<api::DaemonSet>()),
      namespaces(client, clock, random, executor, {}, forgetting<api::Namespace>()),
      limit_ranges(client, clock, random, executor, {}, forgetting<api::LimitRange>()),
      runtime_classes(client, clock, random, executor, {}, forgetting<api::RuntimeClass>()),
      persistent_volumes(client, clock, random, executor, {}, forgetting<api::PersistentVolume>()),
      persistent_volume_claims(client, clock, random, executor, {}, forgetting<api::PersistentVolumeClaim>()),
      storage_classes(client, clock, random, executor, {}, forgetting<api::StorageClass>()),
      csi_drivers(client, clock, random, executor, {}, forgetting<api::CSIDriver>()),
      csi_storage_capacities(client, clock, random, executor, {}, forgetting<api::CSIStorageCapacity>()),
      csi_nodes(client, clock, random, executor, {}, forgetting<api::CSINode>()),
      volume_attachments(client, clock, random, executor, {}, forgetting<api::VolumeAttachment>()),
      pod_disruption_budgets(client, clock, random, executor, {}, forgetting<api::PodDisruptionBudget>()),
      providers(client, clock, random, executor, {}, forgetting<api::v1alpha1::NodeSmithProvider>()),
      pools(client, clock, random, executor, {}, forgetting<api::v1alpha1::NodeSmithPool>()),
      claims(client, clock, random, executor, {}, forgetting<api::v1alpha1::NodeSmithClaim>()),
      control_planes(client, clock, random, executor, {}, forgetting<api::v1alpha1::NodeSmithControlPlane>()),
      hosts(client, clock, random, executor, {}, forgetting<api::v1alpha1::NodeSmithHost>()),
      request_history(clock),
      released_volumes(clock),
      pod_groups(clock) {
    pods.on_change([this](const api::Pod* before, const api::Pod* after) {
        request_history.observe(before, after);
        released_volumes.observe(before, after);
    });
    pods.share_parts([this](api::Pod& pod) { parts_.share(pod); });
    index_core(*this);
    index_ours(*this);
    admit_managed(*this);
    for_all(*this, [this](auto& informer) { informer.on_restore([this] { list_anew(); }); });
}

Informers::~Informers() = default;

void Informers::spawn_all(base::TaskGroup& group) {
    for_all(*this, [&group](auto& informer) { group.spawn(informer.run()); });
}

namespace {

using Works = std::vector<asio::awaitable<void>>;

// Reads all kinds, even if one cannot be read. Throws the first failure at the end.
asio::awaitable<void> one_by_one(Works works) {
    std::exception_ptr failure;
    for (auto& work : works) {
        try {
            co_await std::move(work);
        } catch (const std::exception&) {
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

asio::awaitable<void> Informers::wait_synced() {
    Works waits;
    for_all(*this, [&waits](auto& informer) { waits.push_back(informer.wait_synced()); });
    return one_by_one(std::move(waits));
}

asio::awaitable<void> Informers::catch_up(kube::Client& client) {
    Works lists;
    lists.push_back(control_planes.observe_list(client, managed.to_list()));
    lists.push_back(pools.observe_list(client, managed.to_list()));
    lists.push_back(claims.observe_list(client, managed.to_list()));
    return one_by_one(std::move(lists));
}

std::string Informers::stale_kinds() const {
    static constexpr base::Duration kStale = std::chrono::minutes{10};
    std::string names;
    for_all(*this, [&names](const auto& informer) {
        const auto age = informer.age();
        if (age && *age > kStale)
            names += (names.empty() ? "" : ", ") + std::string(informer.resource().plural);
    });
    return names;
}

void Informers::report_odd_objects_to(kube::EventRecorder& events) {
    for_all(*this, [&events](auto& informer) { informer.report_odd_objects_to(events); });
}

std::string Informers::describe_caches() const {
    std::string text;
    for_all(*this, [&text](const auto& informer) {
        const auto age = informer.age();
        text += std::string(informer.resource().plural) + ": ";
        text +=
            age ? "current " + api::Duration(std::chrono::floor<std::chrono::seconds>(*age)).str() + " ago"
                : "not read yet";
        const auto odd = static_cast<std::int64_t>(informer.undecodable().size());
        if (odd > 0) text += ", " + base::counted(odd, "object") + " cannot be decoded";
        text += "\n";
    });
    return text;
}

void Informers::list_anew() {
    for_all(*this, [](auto& informer) { informer.list_anew(); });
    if (on_list_anew) on_list_anew();
}

bool Informers::synced() const {
    bool all = true;
    for_all(*this, [&all](const auto& informer) { all = all && informer.synced(); });
    return all;
}

const std::string& hostname_of(const api::Node& node) {
    const auto* hostname = api::find(node.metadata.labels, api::labels::kHostname);
    return hostname && !hostname->empty() ? *hostname : node.metadata.name;
}

bool may_name_nodes(std::string_view label) {
    if (label == api::labels::kHostname) return true;
    // A zone may have the name of its only node on bare metal.
    for (const std::string_view domain :
         {"topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/", "topology.kubenodesmith.io/",
          "kubenodesmith.io/", "kubernetes.io/", "beta.kubernetes.io/", "node.kubernetes.io/",
          "node-role.kubernetes.io/"})
        if (label.starts_with(domain)) return false;
    return true;
}

std::vector<std::string> places_of(const api::PersistentVolume& volume) {
    Values places;
    if (!volume.spec.nodeAffinity || !volume.spec.nodeAffinity->required) return places;
    // A volume that this many nodes can use is bound to none of them.
    constexpr std::size_t kMostPlaces = 64;
    const auto add = [&places](const api::SelectorRequirement& requirement) {
        if (requirement.operator_ != api::SelectorOperator::In) return;
        if (places.size() + requirement.values.size() > kMostPlaces) return;
        places.insert(places.end(), requirement.values.begin(), requirement.values.end());
    };
    for (const auto& term : volume.spec.nodeAffinity->required->nodeSelectorTerms) {
        for (const auto& field : term.matchFields) add(field);
        for (const auto& expression : term.matchExpressions)
            if (may_name_nodes(expression.key)) add(expression);
    }
    return places;
}

std::string uuid_key(const std::string& system_uuid) {
    if (system_uuid.empty()) return {};
    return std::min(base::lower_case(system_uuid), base::byte_swapped(system_uuid));
}

bool is_unschedulable(const api::Pod& pod) {
    if (pod.metadata.deletionTimestamp || !pod.spec.nodeName.empty()) return false;
    if (pod.status.phase != api::PodPhase::Pending) return false;
    const auto* scheduled = api::find_condition(pod.status.conditions, conditions::kPodScheduled);
    return scheduled && scheduled->status == ConditionStatus::False &&
           scheduled->reason == reasons::kUnschedulable;
}

PodPointers unschedulable_pods(const Informers& informers) {
    return informers.pods.store().by_index(kPodsUnschedulable, "true");
}

}  // namespace controllers
