// The part of invariant 7 that concerns networks. No address is assigned twice on one network, and no MAC
// address twice at all. Equal addresses on different networks are independent. A guest has no address that is
// not reserved for its claim. All addresses become free when claims end.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"

namespace simulation {
namespace {

const std::string kNamed = "network ";

class AddressesAreGivenOnce final : public Invariant {
public:
    using Invariant::Invariant;

    void after_change() override {
        check_reservations();
        check_guests();
        check_mac_addresses();
    }

    // An address that is not free by now never becomes free.
    Findings at_rest() const override {
        Findings findings;
        for (const auto& [key, pool] : world_.view.all<NodeSmithPool>()) {
            for (const auto& reservation : pool->status.addresses) {
                if (world_.view.find<NodeSmithClaim>({key.namespace_, reservation.claim})) continue;
                findings.push_back({"addresses come back", "pool " + key.name + " keeps " +
                                                               reservation.address + " for claim " +
                                                               reservation.claim + ", which is gone"});
            }
        }
        for (const auto& [uuid, addresses] : world_.guests.addresses())
            for (const auto& address : addresses) check_reserved(uuid, address, findings);
        return findings;
    }

private:
    using Reservation = api::v1alpha1::AddressReservation;
    using OnNetwork = std::pair<std::string, std::string>;  // network and address

    struct Holder {
        std::string pool;
        const Reservation* reservation;
        std::string str() const { return pool + "/" + reservation->claim; }
    };

    // Returns what tells networks with equal addresses apart: the name that a user gave one, or bridge and
    // VLAN. All providers of a world are on one Proxmox cluster. Empty: the provider is gone.
    std::string network_of(const NodeSmithPool& pool, const std::string& interface) const {
        const auto* provider =
            world_.view.find<NodeSmithProvider>({pool.metadata.namespace_, pool.spec.providerRef});
        if (!provider || !provider->spec.proxmox) return {};
        const auto& spec = *provider->spec.proxmox;
        const auto* asked = spec.cloudInit ? &spec.cloudInit->network : nullptr;
        if (pool.spec.machineTemplate.network) asked = &*pool.spec.machineTemplate.network;
        if (asked && !asked->name.empty() && asked->interface == interface) return kNamed + asked->name;
        for (const auto& each : spec.networkInterfaces)
            if (each.name == interface) return network(each.bridge, std::to_string(each.vlanTag.value_or(0)));
        return network("", "0");
    }

    static std::string network(const std::string& bridge, const std::string& vlan) {
        return "bridge " + bridge + ", VLAN " + vlan;
    }

    static std::string interface_of(const Reservation* reservation) {
        return reservation && !reservation->interface.empty() ? reservation->interface : "net0";
    }

    void check_reservations() {
        std::map<OnNetwork, Holder> holders;
        std::map<std::string, std::string> networks;  // by address
        for (const auto& [key, pool] : world_.view.all<NodeSmithPool>()) {
            std::map<std::string, std::string> by_interface;
            for (const auto& reservation : pool->status.addresses) {
                auto& there = by_interface[interface_of(&reservation)];
                if (there.empty()) there = network_of(*pool, interface_of(&reservation));
                if (there.empty()) continue;
                if (networks.emplace(reservation.address, there).first->second != there)
                    count_once(reservation.address, key.name);
                const auto [other, is_new] =
                    holders.try_emplace({there, reservation.address}, Holder{key.name, &reservation});
                if (is_new) continue;
                // Two pools may reserve the same address simultaneously. Both then notice it, and give the
                // address back before any machine uses it.
                const Holder holder{key.name, &reservation};
                if (is_used(reservation) && is_used(*other->second.reservation))
                    stage_.violate("no address is given twice",
                                   reservation.address + " (" + there + ") is reserved for " +
                                       other->second.str() + " and for " + holder.str());
            }
        }
    }

    void count_once(const std::string& address, const std::string& pool) {
        if (independent_.emplace(address, pool).second)
            world_.happenings.count("addresses: one address was given on two networks");
    }

    bool is_used(const Reservation& reservation) const {
        const auto* claim = world_.view.find<NodeSmithClaim>({kNodesNamespace, reservation.claim});
        return claim && !claim->status.machineID.empty();
    }

    void check_guests() {
        std::map<OnNetwork, std::string> guests;
        for (const auto& [uuid, addresses] : world_.guests.addresses()) {
            const auto* claim = claim_of(uuid);
            const auto* node = claim ? nullptr : world_.view.node_of_machine(uuid);
            // Nothing in the cluster knows a machine whose claim kept it (deletionPolicy Retain), and whose
            // Node its user then deleted.
            if (!claim && !node) continue;
            for (const auto& address : addresses) {
                const auto there = claim ? network_of_guest(*claim, address) : network_of_kept(*node);
                const auto [other, is_new] = guests.emplace(OnNetwork{there, address}, uuid);
                if (!is_new && !there.empty())
                    stage_.violate("no address is given twice", "machines " + uuid + " and " + other->second +
                                                                    " have " + address + " (" + there + ")");
            }
        }
    }

    const NodeSmithClaim* claim_of(const std::string& uuid) const {
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>())
            if (claim->status.systemUUID == uuid) return claim.get();
        return nullptr;
    }

    const NodeSmithPool* pool_of(const NodeSmithClaim& claim) const {
        return world_.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
    }

    static const Reservation* reservation_of(const NodeSmithPool& pool, const NodeSmithClaim& claim,
                                             const std::string& address) {
        const auto& all = pool.status.addresses;
        const auto found = std::ranges::find_if(all, [&](const Reservation& each) {
            return each.address == address && each.claim == claim.metadata.name;
        });
        return found == all.end() ? nullptr : &*found;
    }

    // Returns the network that the machine is really on, unless a user says that it is another one.
    std::string network_of_guest(const NodeSmithClaim& claim, const std::string& address) const {
        const auto* pool = pool_of(claim);
        if (!pool) return {};
        const auto interface = interface_of(reservation_of(*pool, claim, address));
        auto told = network_of(*pool, interface);
        if (told.empty() || told.starts_with(kNamed)) return told;
        const auto& machines = world_.proxmox.cluster().world.machines;
        const auto machine = machines.find(std::atoi(claim.status.machineID.c_str()));
        if (machine == machines.end()) return told;
        std::string bridge, vlan = "0";
        for (const auto& part :
             proxmox::split(proxmox::config_text(machine->second.config, interface), ',')) {
            if (part.starts_with("bridge=")) bridge = part.substr(part.find('=') + 1);
            if (part.starts_with("tag=")) vlan = part.substr(part.find('=') + 1);
        }
        return network(bridge, vlan);
    }

    std::string network_of_kept(const api::Node& node) const {
        const auto* name = api::find(node.metadata.labels, api::labels::kPool);
        const auto* pool = name ? world_.view.find<NodeSmithPool>({kNodesNamespace, *name}) : nullptr;
        return pool ? network_of(*pool, "net0") : std::string();
    }

    void check_reserved(const std::string& uuid, const std::string& address, Findings& findings) const {
        const auto* claim = claim_of(uuid);
        const auto* pool = claim ? pool_of(*claim) : nullptr;
        if (!pool || reservation_of(*pool, *claim, address)) return;
        findings.push_back({"guests use reserved addresses",
                            "the machine of claim " + claim->metadata.name + " has " + address +
                                ", which pool " + pool->metadata.name + " has not reserved for it"});
    }

    void check_mac_addresses() {
        std::map<std::string, int> machines;
        for (const auto vmid : world_.administrators.marked()) {
            const auto& config = world_.proxmox.cluster().world.machines.at(vmid).config;
            for (const auto& [option, value] : config) {
                if (!proxmox::is_network_interface(option)) continue;
                const auto mac_address = value.substr(0, value.find(','));
                const auto [other, is_new] = machines.emplace(mac_address, vmid);
                if (!is_new)
                    stage_.violate("no MAC address is given twice",
                                   "machines " + std::to_string(vmid) + " and " +
                                       std::to_string(other->second) + " have " + mac_address);
            }
        }
    }

    std::set<OnNetwork> independent_;  // addresses on several networks, and the pools that have them
};

}  // namespace

std::unique_ptr<Invariant> addresses_are_given_once(const Stage& stage) {
    return std::make_unique<AddressesAreGivenOnce>(stage);
}

}  // namespace simulation
