// Proxmox as the world sees it: faults at its API and in its tasks, and what its administrators do behind the
// operator's back.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/simulation/faults.hpp"
#include "test/simulation/guests/guests.hpp"
#include "test/simulators/proxmox/core/simulator.hpp"

namespace simulation {

// In the log of a task that fails with "exit code 1".
inline constexpr const char* kInjectedCause = "kvm: injected: the cause of it";

class ProxmoxFaults final : public proxmox::FaultPlan {
public:
    explicit ProxmoxFaults(simulation::FaultPlan& faults) : faults_(faults) {}
    std::optional<proxmox::RequestFault> on_request(const std::string& method,
                                                    const std::string& path) override;
    std::optional<proxmox::TaskFault> on_task(const std::string& type, const std::string& id) override;
    std::optional<proxmox::RequestFault> on_option(int vmid, const std::string& option) override;
    base::Duration on_remote_shell() override;

private:
    simulation::FaultPlan& faults_;
    std::set<std::string> busy_disks_;  // of VMIDs that cannot be destroyed as long as there is trouble
};

// What a machine says of itself, read independently of the operator's code.
struct Mark {
    std::string cluster;
    std::string claim_uid;
    std::int64_t attempt = 0;
};
std::optional<Mark> read_mark(const proxmox::Machine& machine);
// Of a machine that is kept, stopped, for a look.
inline constexpr const char* kKeptTag = "kubenodesmith-kept";
// SMBIOS UUID, lower case; "" if there is none.
std::string uuid_of(const proxmox::Machine& machine);

class Administrators {
public:
    Administrators(proxmox::Simulator& simulator, Guests& guests, simulation::FaultPlan& faults,
                   Trace& trace);

    // Machines with a mark that nobody tampered with, in the order of their VMIDs.
    std::vector<int> marked() const;
    // read_mark(), remembered as long as the description stays the same.
    const std::optional<Mark>& mark_of(const proxmox::Machine& machine) const;
    void destroy(int vmid);
    // What a task left behind when it died, as the operator asks for.
    void clear_away(int vmid);
    void stop(int vmid);
    // From now on the machine cannot be proven to be the operator's.
    void spoil_mark(int vmid);
    void plant_copy(int vmid);
    // Returns the VMID, the next one that is free.
    int plant_stranger(int vmid, const std::string& host, proxmox::Config config);
    void plant_stranger(int vmid);
    // Destroys a stranger and lets its VMID be anybody's again.
    void remove_stranger(int vmid);
    void fill_storage(bool full);

    // By VMID, with the time since when; such machines must be left alone.
    const std::map<int, base::TimePoint>& untouchable() const { return untouchable_; }
    // Whoever gets their IDs next is another machine.
    void forget_gone();
    bool is_stranger(int vmid) const { return guests_.strangers().contains(vmid); }
    // Machines (by UUID) that an administrator stopped or destroyed.
    bool meddled_with(const std::string& uuid) const { return meddled_.contains(uuid); }

private:
    void plant(int vmid, const std::string& host, proxmox::Config config);
    void take_away(int vmid);
    int free_id_after(int vmid) const;
    proxmox::World& world() const { return simulator_.cluster().world; }

    proxmox::Simulator& simulator_;
    Guests& guests_;
    simulation::FaultPlan& faults_;
    Trace& trace_;
    std::map<int, base::TimePoint> untouchable_;
    std::set<std::string> meddled_;
    std::map<std::string, std::uint64_t> sizes_;  // of storages that are full now
    struct ReadMark {
        std::string description;
        std::optional<Mark> mark;
    };
    mutable std::map<int, ReadMark> marks_;  // by VMID
};

}  // namespace simulation
