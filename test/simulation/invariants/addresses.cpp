// The part of invariant 7 that concerns networks. No address and no MAC address is assigned twice. A guest
// has exactly the addresses that are reserved for its claim. All addresses become free when claims end.
#include <algorithm>
#include <map>
#include <set>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"

namespace simulation {
namespace {

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
        return findings;
    }

private:
    void check_reservations() {
        std::map<std::string, std::string> holders;
        for (const auto& [key, pool] : world_.view.all<NodeSmithPool>()) {
            for (const auto& reservation : pool->status.addresses) {
                const auto holder = key.name + "/" + reservation.claim;
                const auto [other, is_new] = holders.emplace(reservation.address, holder);
                if (is_new) continue;
                // Two pools may reserve the same address simultaneously. Both then notice it, and give the
                // address back before any machine uses it.
                if (is_used(reservation) && is_used({reservation.address, claim_of(other->second), ""}))
                    stage_.violate("no address is given twice", reservation.address + " is reserved for " +
                                                                    other->second + " and for " + holder);
            }
        }
    }

    static std::string claim_of(const std::string& holder) { return holder.substr(holder.find('/') + 1); }

    bool is_used(const api::v1alpha1::AddressReservation& reservation) const {
        const auto* claim = world_.view.find<NodeSmithClaim>({kNodesNamespace, reservation.claim});
        return claim && !claim->status.machineID.empty();
    }

    void check_guests() {
        std::map<std::string, std::string> guests;
        for (const auto& [uuid, addresses] : world_.guests.addresses()) {
            if (is_unknown(uuid)) continue;
            for (const auto& address : addresses) {
                const auto [other, is_new] = guests.emplace(address, uuid);
                if (!is_new)
                    stage_.violate("no address is given twice",
                                   "machines " + uuid + " and " + other->second + " have " + address);
            }
        }
    }

    // Reports whether nothing in the cluster knows the machine or its addresses. Its claim kept the machine
    // (deletionPolicy Retain), and then its user deleted the Node.
    bool is_unknown(const std::string& uuid) const {
        if (world_.view.node_of_machine(uuid)) return false;
        const auto& claims = world_.view.all<NodeSmithClaim>();
        return std::ranges::none_of(
            claims, [&](const auto& entry) { return entry.second->status.systemUUID == uuid; });
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
};

}  // namespace

std::unique_ptr<Invariant> addresses_are_given_once(const Stage& stage) {
    return std::make_unique<AddressesAreGivenOnce>(stage);
}

}  // namespace simulation
