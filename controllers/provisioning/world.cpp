#include "controllers/provisioning/world.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/claim/facts/node_changes.hpp"
#include "controllers/claim/facts/node_search.hpp"
#include "controllers/claim/facts/power.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/provisioning/budgets.hpp"
#include "controllers/provisioning/cluster_objects.hpp"
#include "controllers/provisioning/demand_rules.hpp"
#include "controllers/provisioning/expected_node.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"
#include "controllers/provisioning/facts/room.hpp"
#include "controllers/provisioning/machine_offer.hpp"
#include "controllers/provisioning/pending_pods.hpp"
#include "controllers/provisioning/predictions.hpp"
#include "controllers/provisioning/young_nodes.hpp"
#include "controllers/state/contested_labels.hpp"
#include "controllers/state/pool_status.hpp"
#include "scheduling/table/label_table.hpp"

namespace controllers::provisioning {

using scheduling::Availability;

namespace {

const NodeSmithProvider* provider_of(const Informers& informers, const NodeSmithPool& pool) {
    // The store keeps it alive until the next suspension, and nothing here suspends.
    return informers.providers.store().get({pool.metadata.namespace_, pool.spec.providerRef}).get();
}

// WorldBuilder builds a World. The indices of pools, places and budgets are those of the snapshot.
class WorldBuilder {
public:
    WorldBuilder(const Informers& informers, claim::TemplateHashes& template_hashes,
                 const ClaimPointers& under_way, api::Time now)
        : informers_(informers), template_hashes_(template_hashes), under_way_(under_way), now_(now) {
        for (const auto& [key, claim] : informers_.claims.store().all())
            if (!claim->status.host.empty()) candidates_.insert({key.namespace_, claim->status.host});
    }

    void add_pool(PoolSupply supply) {
        const auto& pool = *supply.pool;
        const auto* provider = provider_of(informers_, pool);
        const auto& template_hash = template_hashes_.of(pool, provider);
        PoolObservation facts{pool,
                              informers_.claims.store().by_index(kClaimsByPool, api::key_of(pool).str()),
                              informers_.nodes.store().all()};
        facts.manager = manager_of(api::key_of(pool), informers_.control_planes.store().all());
        facts.provider = provider;
        const auto picture = as_its_nodes_show(supply.pool, facts, template_hash);
        scheduling::Pool entry;
        entry.namespace_ = pool.metadata.namespace_;
        entry.name = pool.metadata.name;
        entry.weight = pool.spec.weight;
        entry.closed = supply.gate.open ? std::string() : supply.gate.message;
        entry.closed_for_a_while = supply.gate.for_a_while;
        describe_machines(entry, *picture, provider, template_hash);
        expect_taints(entry, supply.undeclared_taints, now_);
        entry.labels = labels_at(pool, nullptr, nullptr);
        entry.notes_on_labels = notes_on_labels(pool, provider);
        if (provider && provider->spec.redfish)
            add_hosts(entry, pool, *provider);
        else
            add_places(entry, pool, provider);
        leave_out(entry, supply.refusals);
        expect_instance_type(entry, facts);
        budgets_.add(entry, supply);
        entry.min_nodes = pool.spec.limits.minNodes;
        const auto& headroom = pool.spec.scaleUp.headroom;
        entry.spare = {headroom.cpuCores, headroom.memoryMiB, headroom.nodes};
        pictures_.emplace(api::key_of(pool), picture);
        hashes_.push_back(template_hash);
        pool_indices_.emplace(api::key_of(pool), world_.pools.size());
        world_.snapshot.pools.push_back(std::move(entry));
        world_.pools.push_back(std::move(supply));
    }

    // Subtracts room that the provider does not know of. Claims without a host take it, and machines that the
    // provider has not counted yet. Claims that found no room take none.
    void take_room_of_coming_machines() {
        for (const auto& [key, claim] : informers_.claims.store().all()) take_room_of(*claim);
        for (const auto& claim : under_way_) take_room_of(*claim);
    }

    // Marks sizes that no host could take, so that they are not requested again immediately.
    void note_refused_sizes() {
        for (const auto& refusal : room_refusals(informers_, now_)) {
            for (const auto& [name, index] : place_indices_) {
                const bool concerns = refusal.zone.empty() ? name.starts_with(refusal.provider + "/")
                                                           : name == refusal.provider + "/" + refusal.zone;
                if (concerns) world_.snapshot.places[index].refused.push_back(refusal.size);
            }
        }
    }

    void add_nodes() {
        std::set<std::string> with_claim;
        for (const auto& [key, claim] : informers_.claims.store().all()) {
            auto node = claim::node_of(informers_, *claim);
            if (node) with_claim.insert(node->metadata.name);
            add_claim(*claim, std::move(node));
        }
        for (const auto& claim : under_way_) add_claim(*claim, nullptr);
        for (const auto& [key, node] : informers_.nodes.store().all())
            if (!with_claim.contains(key.name)) add_node(node, Availability::ready, std::nullopt);
    }

    void add_rest(PodPointers pods) {
        auto& snapshot = world_.snapshot;
        snapshot.pods = std::move(pods);
        add_cluster_objects(snapshot, informers_, now_);
        note_declared_features(snapshot);
        snapshot.waiting_daemon_pods = waiting_daemon_pods(informers_);
        const auto& control_planes = informers_.control_planes.store().all();
        snapshot.expendable_below = expendable_below(control_planes);
        snapshot.preferences = preferences_of(control_planes);
    }

    World take() { return std::move(world_); }

private:
    void take_room_of(const NodeSmithClaim& claim) {
        const bool takes_room = is_coming(claim) && limits::is_admitted(claim) && !lacks_room(claim);
        const auto pool = pool_indices_.find({claim.metadata.namespace_, claim.spec.poolRef});
        if (!takes_room || pool == pool_indices_.end()) return;
        auto size = limits::size_of(claim.spec, world_.pools[pool->second].pool.get());
        auto* place = claim.status.machineID.empty()
                          ? likely_place(world_.snapshot.pools[pool->second], claim.spec.zone, size)
                          : place_of_uncounted(claim);
        if (!place) return;
        if (place->is_whole) place->free_machines = 0;
        const auto* provider = provider_of(informers_, *world_.pools[pool->second].pool);
        if (provider && provider->spec.proxmox) size.memoryMiB += provider->spec.proxmox->vmMemOverheadMiB;
        place->free_cpu_cores = std::max<std::int64_t>(0, *place->free_cpu_cores - size.cpuCores);
        place->free_memory_mib = std::max<std::int64_t>(0, *place->free_memory_mib - size.memoryMiB);
    }

    // Returns null if the provider has counted its machine or does not report its host.
    scheduling::Place* place_of_uncounted(const NodeSmithClaim& claim) {
        const auto& status = claim.status;
        const auto provider =
            informers_.providers.store().get({claim.metadata.namespace_, status.providerRef});
        const auto place = provider ? place_indices_.find(api::key_of(*provider).str() + "/" + status.host)
                                    : place_indices_.end();
        if (place == place_indices_.end() || is_counted(claim, *provider)) return nullptr;
        return &world_.snapshot.places[place->second];
    }

    // Returns the place in the zone, otherwise the one with most free memory. A host that is
    // used as a whole must have the size.
    scheduling::Place* likely_place(const scheduling::Pool& pool, const std::string& zone,
                                    const api::v1alpha1::Size& size) {
        scheduling::Place* likely = nullptr;
        for (const auto& candidate : pool.places) {
            auto& place = world_.snapshot.places[candidate.place];
            if (!zone.empty() && candidate.zone != zone) continue;
            const bool fits = place.free_machines.value_or(1) > 0 && place.free_cpu_cores == size.cpuCores &&
                              place.free_memory_mib == size.memoryMiB;
            if (place.is_whole && !fits) continue;
            if (place.largest &&
                (place.largest->cpu_cores < size.cpuCores || place.largest->memory_mib < size.memoryMiB))
                continue;
            if (!likely || place.free_memory_mib > likely->free_memory_mib) likely = &place;
        }
        return likely;
    }

    // Returns the labels of the pool's Nodes: those common to all hosts, or all labels on one host.
    api::StringMap labels_at(const NodeSmithPool& pool, const NodeSmithProvider* provider,
                             const std::string* host, const api::v1alpha1::HostSpec* metal = nullptr) {
        NodeSmithClaim sample;
        sample.spec.poolRef = pool.metadata.name;
        sample.status.providerRef = pool.spec.providerRef;
        if (host) sample.status.host = sample.status.zone = *host;
        const claim::NodeOrigin origin{sample, &pool, host ? claim::zone_label(provider) : std::string(),
                                       metal, claim::region_of(provider_of(informers_, pool))};
        auto labels = claim::node_labels(origin);
        for (const auto& [key, text] : pool.spec.machineTemplate.labels) {
            const bool by_host =
                text.find(".Host") != std::string::npos || text.find(".Zone") != std::string::npos;
            if (text.find(".Claim") != std::string::npos || (by_host && !host)) labels.erase(key);
        }
        const auto expected = expected_node(sample, &pool, provider, nullptr);
        for (const auto& [key, value] : expected.metadata.labels)
            if (key.find("kubernetes.io/arch") != std::string::npos ||
                key.find("kubernetes.io/os") != std::string::npos)
                labels.try_emplace(key, value);
        labels.erase(std::string(api::labels::kClaim));
        labels.erase(std::string(api::labels::kHostname));
        take_contested_off(labels, pool);
        return labels;
    }

    // Adds the label with which the operator names the machine's size. If the pool has several sizes, the
    // value of a new Node is unknown.
    void expect_instance_type(scheduling::Pool& entry, const PoolObservation& facts) const {
        const std::string key(claim::kInstanceType);
        const auto is_set_by_others = [&](const ClaimPointer& claim) {
            const auto node = claim::node_of(informers_, *claim);
            const auto* type = node ? api::find(node->metadata.labels, key) : nullptr;
            return type && *type != expected_instance_type(*claim, &facts.object);
        };
        if (entry.labels.contains(key) || std::ranges::any_of(facts.claims, is_set_by_others)) return;
        std::set<std::string> types;
        for (const auto& shape : entry.shapes)
            types.insert(claim::instance_type_of(claim::size_text({shape.cpu_cores, shape.memory_mib})));
        entry.labels[key] = types.size() == 1 ? *types.begin() : std::string(scheduling::kUnlikeText);
        const std::vector<std::string> sorted(types.begin(), types.end());
        entry.notes_on_labels.try_emplace(
            key, "the operator sets it to the machine's size" +
                     (types.empty() ? std::string() : ": " + base::joined_first(sorted, 5)) +
                     (types.size() == 1 ? ""
                                        : "; it chooses no size by it: for one size, make a pool with that "
                                          "size alone"));
    }

    void add_places(scheduling::Pool& entry, const NodeSmithPool& pool, const NodeSmithProvider* provider) {
        if (!provider) return;
        const auto prefix = api::key_of(*provider).str() + "/";
        for (const auto& host : provider->status.hosts) {
            if (!host.online) {
                if (!host.message.empty())
                    entry.why_no_place +=
                        (entry.why_no_place.empty() ? "" : "; ") + host.name + ": " + host.message;
                scheduling::BusyHost busy{host.name, labels_at(pool, provider, &host.name)};
                // Proxmox does not tell the size of a host that was off for long.
                const auto& largest = host.largestMachine;
                if (largest && largest->cpuCores > 0 && largest->memoryMiB > 0)
                    busy.largest = scheduling::MachineSize{largest->cpuCores, largest->memoryMiB};
                entry.busy.push_back(std::move(busy));
                continue;
            }
            const auto [known, is_new] =
                place_indices_.emplace(prefix + host.name, world_.snapshot.places.size());
            if (is_new) {
                scheduling::Place place;
                place.name = host.name;
                if (const auto& largest = host.largestMachine)
                    place.largest = scheduling::MachineSize{largest->cpuCores, largest->memoryMiB};
                place.free_cpu_cores = host.freeCPUCores;
                place.free_memory_mib = host.freeMemoryMiB;
                world_.snapshot.places.push_back(std::move(place));
            }
            entry.places.push_back({known->second, host.name, labels_at(pool, provider, &host.name)});
        }
    }

    // Adds bare-metal hosts. Each free host is one place for one machine of exactly its size.
    void add_hosts(scheduling::Pool& entry, const NodeSmithPool& pool, const NodeSmithProvider& provider) {
        entry.shapes.clear();
        std::set<std::pair<std::int64_t, std::int64_t>> sizes;
        for (const auto& host :
             informers_.hosts.store().by_index(kHostsByProvider, api::key_of(provider).str())) {
            if (!why_unsuitable(*host, pool, provider).empty()) continue;
            if (!is_free(*host)) {
                scheduling::BusyHost busy{host->metadata.name,
                                          labels_at(pool, &provider, &host->metadata.name, &host->spec)};
                busy.is_whole = true;
                if (const auto& capacity = host->status.capacity)
                    busy.largest = scheduling::MachineSize{capacity->cpuCores, capacity->memoryMiB};
                entry.busy.push_back(std::move(busy));
                continue;
            }
            const auto& capacity = *host->status.capacity;
            const auto [known, is_new] =
                place_indices_.emplace(api::key_of(*host).str(), world_.snapshot.places.size());
            if (is_new) {
                scheduling::Place place;
                place.name = host->metadata.name;
                place.free_cpu_cores = capacity.cpuCores;
                place.free_memory_mib = capacity.memoryMiB;
                place.free_machines = 1;
                place.is_whole = true;
                world_.snapshot.places.push_back(std::move(place));
            }
            const auto& name = host->metadata.name;
            entry.places.push_back({known->second, name, labels_at(pool, &provider, &name, &host->spec)});
            const bool is_new_size = sizes.emplace(capacity.cpuCores, capacity.memoryMiB).second;
            if (is_new_size)
                entry.shapes.push_back({std::to_string(capacity.cpuCores) + "c", capacity.cpuCores,
                                        capacity.memoryMiB, entry.pods_per_node});
        }
    }

    bool is_free(const NodeSmithHost& host) const {
        const auto& status = host.status;
        return api::is_true(status.conditions, conditions::kReady) && !status.claimRef && status.capacity &&
               !candidates_.contains(api::key_of(host));
    }

    void add_claim(const NodeSmithClaim& claim, NodePointer node) {
        const auto pool = informers_.pools.store().get({claim.metadata.namespace_, claim.spec.poolRef});
        const bool in_service =
            disruption::is_staying(claim) && api::is_true(claim.status.conditions, conditions::kInitialized);
        if (!in_service && removal_hangs(claim)) {
            // The Node is added unchanged, with its taints: the kube-scheduler counts
            // it in spreads while it exists.
            if (node) add_node(std::move(node), Availability::ready, std::nullopt);
        } else if (!disruption::is_staying(claim)) {
            if (!node) return;
            add_node(std::move(node), Availability::leaving, &claim);
            world_.snapshot.nodes.back().is_vacated_domain = disruption::is_domain_until_gone(claim, now_);
        } else if (in_service) {
            if (node) add_in_service(claim, std::move(node), pool.get());
        } else {
            const auto* provider = pool ? provider_of(informers_, *pool) : nullptr;
            if (!node && !can_be_waited_for(claim, provider, now_)) return;
            const auto host = informers_.hosts.store().get({claim.metadata.namespace_, claim.status.host});
            const auto picture = pictures_.find({claim.metadata.namespace_, claim.spec.poolRef});
            const auto* known = picture == pictures_.end() ? pool.get() : picture->second.get();
            auto expected = expected_node(claim, known, provider, node.get(), host ? &host->spec : nullptr);
            add_labels_of_only_place(expected, claim, provider);
            auto coming = std::make_shared<const api::Node>(std::move(expected));
            add_node(host ? std::move(coming) : within_its_machine(std::move(coming), claim, pool.get()),
                     Availability::coming, &claim);
            world_.snapshot.nodes.back().launched_for = launched_for(claim);
            world_.snapshot.nodes.back().is_unplaced = !node && claim.status.host.empty();
            auto& startup = world_.snapshot.nodes.back().startup_taints;
            if (pool) startup = pool->spec.machineTemplate.startupTaints;
            startup.insert(startup.end(), claim.spec.startupTaints.begin(), claim.spec.startupTaints.end());
            if (node) look_past({claim, *node, pool.get(), host ? &host->spec : nullptr});
        }
    }

    void add_in_service(const NodeSmithClaim& claim, NodePointer node, const NodeSmithPool* pool) {
        const auto host = informers_.hosts.store().get({claim.metadata.namespace_, claim.status.host});
        // A bare-metal host has its real size, whatever its claim requested.
        add_node(host ? node : within_its_machine(node, claim, pool), Availability::ready, &claim);
        look_past({claim, *node, pool, host ? &host->spec : nullptr});
        auto& added = world_.snapshot.nodes.back();
        added.is_settling = settles_until(claim) > now_;
        if (claim::is_being_started(claim, now_)) expect_back(added);
        // The scheduler needs time for many pods. Until then the room is reserved
        // for the pods it was launched for.
        const auto since = claim::usable_since(claim);
        if (!since || now_.at < since->at + kSchedulerPatience) added.launched_for = launched_for(claim);
    }

    // Treats the taints of a Node with a silent kubelet as temporary, because they
    // vanish when its machine runs again.
    static void expect_back(scheduling::NodeInfo& added) {
        added.availability = Availability::coming;
        for (const auto& taint : added.node->spec.taints)
            if (taint.key.starts_with("node.kubernetes.io/")) added.startup_taints.push_back(taint);
    }

    void look_past(const claim::TaintFacts& facts) {
        auto& added = world_.snapshot.nodes.back();
        auto note = look_past_taints(added, facts, now_);
        if (!note.empty()) world_.notes_on_nodes[added.node->metadata.name] = std::move(note);
    }

    // Adds the labels that a single place determines. A claim names a zone only if its pods need it,
    // and a host only once it is placed. If there is one host, its zone is known before, and pods
    // with a zone spread count there.
    void add_labels_of_only_place(api::Node& expected, const NodeSmithClaim& claim,
                                  const NodeSmithProvider* provider) const {
        const auto pool = pool_indices_.find({claim.metadata.namespace_, claim.spec.poolRef});
        if (pool == pool_indices_.end() || !provider || provider->spec.redfish || !claim.status.host.empty())
            return;
        const auto& places = world_.snapshot.pools[pool->second].places;
        if (places.size() != 1) return;
        for (const auto& [key, value] : places.front().labels)
            expected.metadata.labels->try_emplace(key, value);
    }

    void add_node(NodePointer node, Availability availability, std::optional<const NodeSmithClaim*> claim) {
        scheduling::NodeInfo entry;
        const auto& name = node->metadata.name;
        entry.pods = informers_.pods.store().by_index(kPodsByNode, name);
        entry.availability = availability;
        entry.csi = informers_.csi_nodes.store().get({"", name});
        world_.snapshot.tied_pods.merge(tied_pods_on(*node));
        if (claim) {
            const auto pool = pool_indices_.find({(*claim)->metadata.namespace_, (*claim)->spec.poolRef});
            if (pool != pool_indices_.end()) {
                entry.pool = pool->second;
                entry.is_of_present_template = (*claim)->status.templateHash == hashes_[pool->second];
            }
        }
        entry.node = std::move(node);
        world_.snapshot.nodes.push_back(std::move(entry));
    }

    std::set<std::string> tied_pods_on(const api::Node& node) const {
        if (informers_.persistent_volumes.store().size() == 0) return {};
        return pods_tied_to(informers_, node.metadata.name, local_volumes_on(informers_, node));
    }

    const Informers& informers_;
    claim::TemplateHashes& template_hashes_;
    const ClaimPointers& under_way_;
    api::Time now_;
    World world_;
    std::set<kube::ObjectKey> candidates_;             // NodeSmithHosts that a claim has or is about to take
    std::map<kube::ObjectKey, PoolPointer> pictures_;  // see as_its_nodes_show()
    std::map<kube::ObjectKey, std::size_t> pool_indices_;
    std::vector<std::string> hashes_;  // template hashes of pools, by index
    std::map<std::string, std::size_t> place_indices_;
    Budgets budgets_{world_};
};

}  // namespace

World build_world(const Informers& informers, claim::TemplateHashes& template_hashes,
                  std::vector<PoolSupply> supplies, PodPointers pods, const ClaimPointers& under_way,
                  api::Time now) {
    WorldBuilder builder(informers, template_hashes, under_way, now);
    for (auto& supply : supplies) builder.add_pool(std::move(supply));
    builder.take_room_of_coming_machines();
    builder.note_refused_sizes();
    builder.add_nodes();
    builder.add_rest(std::move(pods));
    return builder.take();
}

}  // namespace controllers::provisioning
