#include "test/simulation/local_data.hpp"

#include <algorithm>
#include <set>

#include "test/simulation/dice.hpp"

namespace simulation {
namespace {

constexpr std::uint64_t kOneOf = 4;
constexpr const char* kDriver = "disk.example";
constexpr const char* kDriverKey = "topology.disk.example/node";
constexpr const char* kClass = "local-disk";
constexpr const char* kOwnClass = "local-scratch";  // class of volumes whose data may be lost
constexpr std::chrono::seconds kRound{10};
constexpr std::chrono::minutes kPatience{15};
constexpr std::chrono::minutes kLongestLife{30};  // longest life of data once there is peace

std::string claim_name(const std::string& volume) {
    return "data-" + volume;
}

api::StorageClass a_class(const std::string& name) {
    api::StorageClass storage_class;
    storage_class.metadata.name = name;
    storage_class.provisioner = kDriver;
    storage_class.volumeBindingMode = api::VolumeBindingMode::WaitForFirstConsumer;
    return storage_class;
}

api::NodeSelectorTerm term_in(const std::string& key, std::vector<std::string> values) {
    api::NodeSelectorTerm term;
    term.matchExpressions.push_back({key, api::SelectorOperator::In, std::move(values)});
    return term;
}

std::string driver_id(const std::string& node) {
    return "disk-of-" + node;
}

}  // namespace

LocalData::LocalData(World& world) : world_(world), random_(world.random_for("local data")) {}

void LocalData::begin() {
    if (world_.faults.is_calm() || world_.random_for("has local data")->below(kOneOf) != 0) return;
    world_.server.put(a_class(kClass));
    auto scratch = a_class(kOwnClass);
    scratch.metadata.annotations = {{std::string(api::annotations::kLocalData), "Disposable"}};
    world_.server.put(scratch);
    arm();
    keep_up();
}

void LocalData::arm() {
    const auto pause = Dice(*random_).seconds(10, 300);
    next_ = world_.clock.call_at(world_.now() + pause, [this] {
        act();
        arm();
    });
}

void LocalData::act() {
    switch (random_->below(8)) {
        case 0:
        case 1:
        case 2:
            return make_volume();
        case 3:
        case 4:
            return scale();
        case 5:
            return drop_claim();
        case 6:
            return let_data_go();
        default:
            return;
    }
}

std::string LocalData::any_node() {
    std::vector<std::string> nodes;
    for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
        const auto& conditions = claim->status.conditions;
        const auto* node = world_.view.find<api::Node>({"", claim->status.nodeName});
        if (claim->metadata.deletionTimestamp || api::is_true(conditions, api::conditions::kDisrupted) ||
            api::is_true(conditions, api::conditions::kFailed) ||
            !api::is_true(conditions, api::conditions::kReady))
            continue;
        if (node && is_ready(*node) && node->spec.taints.empty()) nodes.push_back(node->metadata.name);
    }
    return nodes.empty() ? "" : nodes[random_->below(nodes.size())];
}

void LocalData::register_drivers() {
    std::vector<api::ObjectKey> joined;
    for (const auto& [key, node] : world_.view.all<api::Node>())
        if (!registered_.contains(node->metadata.uid)) joined.push_back(key);
    for (const auto& key : joined) {
        const auto id = driver_id(key.name);
        const auto node = world_.server.edit<api::Node>(
            key, [&id](api::Node& labelled) { labelled.metadata.labels[kDriverKey] = id; });
        registered_[node.metadata.uid] = world_.now();
        api::CSINode csi;
        csi.metadata.name = key.name;
        csi.spec.drivers.push_back({kDriver, id, {kDriverKey}, {}});
        world_.server.put(csi);
    }
}

bool LocalData::has_driver(const std::string& node) const {
    const auto* object = world_.view.find<api::Node>({"", node});
    const auto known = object ? registered_.find(object->metadata.uid) : registered_.end();
    return known != registered_.end() && known->second + kPatience <= world_.now();
}

void LocalData::add_affinity(api::PersistentVolume& volume, const std::string& node) {
    auto& terms = volume.spec.nodeAffinity.emplace().required.emplace(api::NodeSelector{}).nodeSelectorTerms;
    const std::string hostname(api::labels::kHostname);
    auto& labels = *volume.metadata.labels;
    labels[kOnlyOn] = node;
    switch (random_->below(6)) {
        case 0: {
            api::NodeSelectorTerm term;
            term.matchFields.push_back({"metadata.name", api::SelectorOperator::In, {node}});
            terms.push_back(term);
            return;
        }
        case 1:
            if (!has_driver(node)) {
                terms.push_back(term_in(hostname, {node}));
                return;
            }
            world_.happenings.count("local data: a volume that names its node by the driver's ID");
            volume.spec.csi = api::CSIPersistentVolumeSource{kDriver};
            terms.push_back(term_in(kDriverKey, {driver_id(node)}));
            return;
        case 2:
            terms.push_back(term_in(hostname, {"gone-" + node, node}));
            return;
        case 3: {
            // The volume is usable in the whole zone, even if the zone has few nodes.
            const auto* object = world_.view.find<api::Node>({"", node});
            const auto* zone = api::find(object->metadata.labels, api::labels::kZone);
            if (zone) labels.erase(kOnlyOn);
            terms.push_back(zone ? term_in(std::string(api::labels::kZone), {*zone})
                                 : term_in(hostname, {node}));
            return;
        }
        default:
            terms.push_back(term_in(hostname, {node}));
    }
}

void LocalData::make_volume() {
    const auto node = any_node();
    if (node.empty()) return;
    const auto name = "disk-" + std::to_string(++made_);
    api::PersistentVolume volume;
    volume.metadata.name = name;
    volume.spec.storageClassName = random_->below(8) == 0 ? kOwnClass : kClass;
    volume.spec.accessModes = {"ReadWriteOnce"};
    volume.spec.persistentVolumeReclaimPolicy = random_->below(2) == 0 ? "Retain" : "Delete";
    volume.spec.claimRef = {"PersistentVolumeClaim", "", kNamespace, claim_name(name), "", ""};
    add_affinity(volume, node);
    volume.status.phase = "Bound";

    api::PersistentVolumeClaim claim;
    claim.metadata.namespace_ = kNamespace;
    claim.metadata.name = claim_name(name);
    claim.spec.storageClassName = volume.spec.storageClassName;
    claim.spec.accessModes = volume.spec.accessModes;
    claim.spec.volumeName = name;
    claim.status.phase = "Bound";
    const auto pods = world_.view.pods_on(node);
    const bool is_of_pod = !pods.empty() && random_->below(8) == 0;
    if (is_of_pod)
        claim.metadata.ownerReferences = {
            {"v1", "Pod", pods.front()->metadata.name, pods.front()->metadata.uid, true, true}};
    volume.spec.claimRef->uid = world_.server.put(claim).metadata.uid;
    world_.server.put(volume);
    world_.trace.line("user", "has volume ", name, " on ", node, is_of_pod ? ", for a pod" : "");
    world_.happenings.count(is_of_pod ? "local data: a volume that ends with its pod"
                                      : "local data: a bound volume");
    if (!is_of_pod) databases_[name].runs = random_->below(2) == 0;
}

void LocalData::scale() {
    if (databases_.empty()) return;
    auto& [name, database] =
        *std::next(databases_.begin(), static_cast<std::ptrdiff_t>(random_->below(databases_.size())));
    database.runs = !database.runs;
    world_.trace.line("user", "scales the database of ", name, database.runs ? " up" : " to zero");
    world_.happenings.count(database.runs ? "local data: a database was scaled up again"
                                          : "local data: a database was scaled to zero");
}

// Deletes a claim. Its volume is deleted with it, or released and kept.
void LocalData::drop_claim() {
    if (databases_.empty()) return;
    const auto name =
        std::next(databases_.begin(), static_cast<std::ptrdiff_t>(random_->below(databases_.size())))->first;
    remove_volume(name);
    world_.happenings.count("local data: a claim was deleted");
}

void LocalData::remove_volume(const std::string& name) {
    const auto pod = world_.view.find<api::Pod>({kNamespace, "db-" + name});
    if (pod) world_.server.remove<api::Pod>({kNamespace, "db-" + name});
    databases_.erase(name);
    if (world_.server.get<api::PersistentVolumeClaim>({kNamespace, claim_name(name)}))
        world_.server.remove<api::PersistentVolumeClaim>({kNamespace, claim_name(name)});
    const auto volume = world_.server.get<api::PersistentVolume>({"", name});
    if (!volume) return;
    if (volume->spec.persistentVolumeReclaimPolicy == "Retain")
        world_.server.edit<api::PersistentVolume>(
            {"", name}, [](api::PersistentVolume& released) { released.status.phase = "Released"; });
    else
        world_.server.remove<api::PersistentVolume>({"", name});
}

void LocalData::let_data_go() {
    if (databases_.empty() || random_->below(3) != 0) return;
    const auto name =
        std::next(databases_.begin(), static_cast<std::ptrdiff_t>(random_->below(databases_.size())))->first;
    world_.server.edit<api::PersistentVolumeClaim>(
        {kNamespace, claim_name(name)}, [](api::PersistentVolumeClaim& claim) {
            claim.metadata.annotations[std::string(api::annotations::kLocalData)] = "Disposable";
        });
    world_.happenings.count("local data: a claim's data may be lost");
}

void LocalData::run(const std::string& name, Database& database) {
    const api::ObjectKey key{kNamespace, "db-" + name};
    const auto* pod = world_.view.find<api::Pod>(key);
    if (!database.runs && pod && is_alive(*pod)) world_.server.remove<api::Pod>(key);
    if (!database.runs || pod) return;
    api::Pod made;
    made.metadata.namespace_ = kNamespace;
    made.metadata.name = key.name;
    made.metadata.labels = {{"app", "db-" + name}};
    made.metadata.ownerReferences = {
        {"apps/v1", "StatefulSet", "db-" + name, "uid-of-db-" + name, true, true}};
    api::Container container;
    container.name = "db";
    container.resources.requests = {{"cpu", api::Quantity::parse("50m")},
                                    {"memory", api::Quantity::parse("32Mi")}};
    made.spec.containers->push_back(container);
    api::Volume volume;
    volume.name = "data";
    volume.persistentVolumeClaim = api::PersistentVolumeClaimVolumeSource{claim_name(name)};
    made.spec.volumes->push_back(volume);
    made.status.phase = api::PodPhase::Pending;
    world_.server.put(made);
    ++database.pods;
}

void LocalData::keep_up() {
    for (auto& [name, database] : databases_) run(name, database);
    register_drivers();
    // The garbage collector deletes objects of Nodes and pods that are gone.
    for (const auto& [key, csi] : std::map(world_.view.all<api::CSINode>()))
        if (!world_.view.find<api::Node>(key)) world_.server.remove<api::CSINode>(key);
    for (const auto& [key, claim] : std::map(world_.view.all<api::PersistentVolumeClaim>())) {
        const auto* owner = api::controller_of(claim->metadata);
        if (!owner || world_.view.find<api::Pod>({kNamespace, owner->name})) continue;
        world_.server.remove<api::PersistentVolumeClaim>(key);
        if (world_.view.find<api::PersistentVolume>({"", claim->spec.volumeName}))
            world_.server.remove<api::PersistentVolume>({"", claim->spec.volumeName});
    }
    decide();
    next_round_ = world_.clock.call_at(world_.now() + kRound, [this] { keep_up(); });
}

void LocalData::decide() {
    std::map<std::string, base::TimePoint> still;
    std::vector<api::ObjectKey> decided;
    for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
        const auto& annotations = claim->metadata.annotations;
        if (!api::is_true(claim->status.conditions, api::conditions::kKeptForVolumes) ||
            api::find(annotations, api::annotations::kLocalVolumes))
            continue;
        const auto known = kept_since_.find(claim->metadata.uid);
        if (known == kept_since_.end()) world_.happenings.count("local data: a machine was kept");
        const auto since = known == kept_since_.end() ? world_.now() : known->second;
        still[claim->metadata.uid] = since;
        if (since + kPatience <= world_.now()) decided.push_back(key);
    }
    kept_since_ = std::move(still);
    for (const auto& key : decided) {
        if (random_->below(2) == 0) continue;
        world_.trace.line("user", "gives up the data on the machine of ", key.str());
        world_.happenings.count("local data: a kept machine's data was given up");
        world_.server.edit<NodeSmithClaim>(key, [](NodeSmithClaim& claim) {
            claim.metadata.annotations[std::string(api::annotations::kLocalVolumes)] = "discard";
        });
    }
}

// People first decide about kept machines, then they take the databases down, so that the world can come to
// rest.
void LocalData::make_peace() {
    next_.reset();
    if (!next_round_) return;
    end_ = world_.clock.call_at(world_.now() + kLongestLife, [this] {
        for (const auto& [name, database] : std::map(databases_)) remove_volume(name);
    });
}

}  // namespace simulation
