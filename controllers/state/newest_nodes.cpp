#include "controllers/state/newest_nodes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/saturating.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/limits/limits.hpp"
#include "controllers/state/shown_by_nodes.hpp"
#include "scheduling/nodes/daemon_pods.hpp"

namespace controllers {

using api::v1alpha1::LearnedDaemonSet;
using api::v1alpha1::LearnedVolumeLimit;

namespace {

constexpr std::size_t kMostNodes = 8;
// The CRD has the same bounds.
constexpr std::size_t kMostDaemonSets = 64;
constexpr std::size_t kMostDrivers = 16;
constexpr std::int64_t kMostVolumes = 1000;

// A DaemonSet's pod takes at most three quarters of the largest machine, as in new_machines.cpp. One Node
// alone moves what is expected of it by a quarter of that machine.
constexpr std::int64_t kPartsOfMachine = 4;
constexpr std::int64_t kMostParts = 3;

// One Node alone lowers a limit to this number. Smaller ones are rare, and with one of them few pods with
// several volumes would get a machine.
constexpr std::int64_t kLeastOfOne = 8;
constexpr std::int64_t kUnlimited = base::Saturating::kMax;

// Reports whether the entry was learned from the present template and has not expired.
template <class Entry>
bool still_counts(const Entry& entry, const std::string& template_hash, api::Time now) {
    return entry.templateHash == template_hash && (!entry.expires || now < *entry.expires);
}

// Returns the entry as it is kept while no Node shows it.
template <class Entry>
Entry unseen(Entry entry, api::Time now) {
    if (!entry.expires) entry.expires = claim::later(now, kKeptUnseen);
    return entry;
}

std::int64_t mib_of(const scheduling::Amounts& amounts) {
    return (amounts.base[scheduling::kMemory] + (scheduling::kMiB - 1)) / scheduling::kMiB;
}

// RequestsOfPods combines what the pods of one DaemonSet request on several Nodes.
class RequestsOfPods {
public:
    RequestsOfPods(const scheduling::Amounts& stated, const api::v1alpha1::Size& largest)
        : stated_{stated.base[scheduling::kCpu], mib_of(stated)},
          largest_{base::Saturating(largest.cpuCores) * 1000, largest.memoryMiB} {}

    void add(const scheduling::Amounts& asked) {
        add(millicores_, asked.base[scheduling::kCpu], stated_.first, largest_.first);
        add(memory_mib_, mib_of(asked), stated_.second, largest_.second);
    }
    void add_known(const LearnedDaemonSet& known) {
        millicores_.add_witness(known.cpuMillicores);
        memory_mib_.add_witness(known.memoryMiB);
    }
    bool is_shown() const { return millicores_.value().has_value(); }
    // Reports whether the template alone says too little. Must be shown.
    bool exceed_template() const {
        return *millicores_.value() > stated_.first || *memory_mib_.value() > stated_.second;
    }
    void write_to(LearnedDaemonSet& entry) const {
        entry.cpuMillicores = *millicores_.value();
        entry.memoryMiB = *memory_mib_.value();
    }

private:
    static void add(Shown& shown, std::int64_t asked, std::int64_t stated, std::int64_t largest) {
        const std::int64_t part = largest / kPartsOfMachine;
        const auto plausible = std::min(asked, kMostParts * part);
        const std::int64_t most_alone = base::Saturating(stated) + part;
        shown.add(plausible, std::min(plausible, most_alone));
    }

    std::pair<std::int64_t, std::int64_t> stated_;   // by the template: millicores and MiB
    std::pair<std::int64_t, std::int64_t> largest_;  // the pool's largest machine
    Shown millicores_;
    Shown memory_mib_;
};

struct PodOnNode {
    const api::Pod* pod = nullptr;
    std::size_t node = 0;  // index into PoolObservation::newest_nodes
};

// PodsOfDaemonSets finds the pods that show what the next pod of a DaemonSet requests.
class PodsOfDaemonSets {
public:
    PodsOfDaemonSets(const PoolObservation& facts, const std::string& template_hash) {
        for (std::size_t node = 0; node < facts.newest_nodes.size(); ++node) {
            if (facts.newest_nodes[node].template_hash != template_hash) continue;
            for (const auto& pod : facts.newest_nodes[node].daemon_pods)
                if (const auto* owner = api::controller_of(pod->metadata))
                    by_owner_[owner->uid].push_back({pod.get(), node});
        }
    }
    // Returns the youngest pod of each Node, if it is of the youngest revision.
    std::vector<const api::Pod*> of(const api::DaemonSet& daemon_set) const {
        const auto found = by_owner_.find(daemon_set.metadata.uid);
        if (found == by_owner_.end()) return {};
        auto all = found->second;
        std::erase_if(all, [&](const PodOnNode& each) {
            return !scheduling::is_of_present_template(daemon_set, *each.pod);
        });
        std::ranges::sort(all, [](const PodOnNode& a, const PodOnNode& b) {
            return scheduling::is_younger(*a.pod, *b.pod);
        });
        std::vector<const api::Pod*> youngest;
        std::set<std::size_t> nodes;
        for (const auto& each : all)
            if (scheduling::revision_of(*each.pod) == scheduling::revision_of(*all.front().pod) &&
                nodes.insert(each.node).second)
                youngest.push_back(each.pod);
        return youngest;
    }

private:
    std::map<std::string_view, std::vector<PodOnNode>> by_owner_;  // by UID
};

// Returns null if nothing is known of the DaemonSet's present pods.
const LearnedDaemonSet* learned_before(const std::vector<LearnedDaemonSet>& known,
                                       const api::DaemonSet& daemon_set) {
    const auto found = std::ranges::find(known, daemon_set.metadata.uid, &LearnedDaemonSet::uid);
    if (found == known.end() || found->templateGeneration != scheduling::template_generation(daemon_set))
        return nullptr;
    return &*found;
}

}  // namespace

void add_newest_nodes(PoolObservation& facts, const Informers& informers) {
    std::vector<std::pair<const api::Node*, const NodeSmithClaim*>> newest;
    for (const auto& claim : facts.claims)
        if (const auto* node = joined_node_of(*claim, facts.nodes)) newest.emplace_back(node, claim.get());
    if (!newest.empty() || !facts.object.status.learnedDaemonSets.empty())
        facts.daemon_sets = informers.daemon_sets.store().values();
    if (newest.empty()) return;
    facts.csi_drivers = informers.csi_drivers.store().values();
    std::ranges::sort(newest, std::ranges::greater(), [](const auto& entry) {
        return std::tie(entry.first->metadata.creationTimestamp, entry.first->metadata.name);
    });
    if (newest.size() > kMostNodes) newest.resize(kMostNodes);
    auto waiting = unschedulable_pods(informers);
    std::erase_if(waiting, [](const PodPointer& pod) { return !scheduling::is_of_daemon_set(*pod); });
    for (const auto& [node, claim] : newest) {
        const auto& name = node->metadata.name;
        NewestNode entry{claim->status.templateHash, informers.pods.store().by_index(kPodsByNode, name),
                         informers.csi_nodes.store().get({"", name})};
        std::erase_if(entry.daemon_pods,
                      [](const PodPointer& pod) { return !scheduling::is_of_daemon_set(*pod); });
        for (const auto& pod : waiting)
            if (scheduling::node_aimed_at(*pod) == name) entry.daemon_pods.push_back(pod);
        facts.newest_nodes.push_back(std::move(entry));
    }
}

std::vector<LearnedDaemonSet> learn_daemon_sets(const PoolObservation& facts,
                                                const std::string& template_hash, api::Time now) {
    const auto largest = limits::largest_size(facts.object.spec.machineTemplate);
    auto known = facts.object.status.learnedDaemonSets;
    std::erase_if(known, [&](const auto& entry) { return !still_counts(entry, template_hash, now); });
    const PodsOfDaemonSets pods(facts, template_hash);
    scheduling::ResourceNames names;
    // The oldest come first, as for the room on a machine. So new DaemonSets displace none.
    auto daemon_sets = facts.daemon_sets;
    std::ranges::sort(daemon_sets, {}, [](const auto& daemon_set) {
        return std::tie(daemon_set->metadata.creationTimestamp, daemon_set->metadata.uid);
    });
    std::vector<LearnedDaemonSet> learned;
    for (const auto& daemon_set : daemon_sets) {
        if (learned.size() == kMostDaemonSets) break;
        const auto& metadata = daemon_set->metadata;
        if (metadata.deletionTimestamp) continue;
        RequestsOfPods requests(scheduling::requests_of(daemon_set->spec.template_.spec, names), largest);
        for (const auto* pod : pods.of(*daemon_set)) requests.add(scheduling::requests_of(pod->spec, names));
        const auto* entry = learned_before(known, *daemon_set);
        if (entry && requests.is_shown()) requests.add_known(*entry);
        if (!requests.is_shown()) {
            if (entry) learned.push_back(unseen(*entry, now));
        } else if (requests.exceed_template()) {
            auto& shown = learned.emplace_back();
            shown.namespace_ = metadata.namespace_;
            shown.name = metadata.name;
            shown.uid = metadata.uid;
            shown.templateGeneration = scheduling::template_generation(*daemon_set);
            shown.templateHash = template_hash;
            requests.write_to(shown);
        }
    }
    return learned;
}

std::vector<LearnedVolumeLimit> learn_volume_limits(const PoolObservation& facts,
                                                    const std::string& template_hash, api::Time now) {
    auto known = facts.object.status.learnedVolumeLimits;
    std::erase_if(known, [&](const auto& entry) { return !still_counts(entry, template_hash, now); });
    // Kubelets name drivers as they like, but create no CSIDriver.
    std::set<std::string_view> drivers;
    for (const auto& driver : facts.csi_drivers) drivers.insert(driver->metadata.name);
    // The minimum counts, so it is the maximum with reversed sign.
    std::map<std::string_view, Shown> shown;
    for (const auto& node : facts.newest_nodes) {
        if (node.template_hash != template_hash || !node.csi) continue;
        for (const auto& driver : node.csi->spec.drivers) {
            if (!drivers.contains(driver.name)) continue;
            const std::int64_t count = driver.allocatable ? driver.allocatable->count.value_or(0) : 0;
            const auto limit = count > 0 && count <= kMostVolumes ? count : kUnlimited;
            shown[driver.name].add(-limit, -std::max(limit, kLeastOfOne));
        }
    }
    for (const auto& entry : known)
        if (const auto found = shown.find(entry.driver); found != shown.end())
            found->second.add_witness(-entry.count);
    std::vector<LearnedVolumeLimit> learned;
    for (const auto& [driver, limit] : shown)
        if (*limit.value() != -kUnlimited && learned.size() < kMostDrivers)
            learned.push_back({std::string(driver), -*limit.value(), template_hash, std::nullopt});
    for (const auto& entry : known)
        if (!shown.contains(entry.driver) && learned.size() < kMostDrivers)
            learned.push_back(unseen(entry, now));
    return learned;
}

}  // namespace controllers
