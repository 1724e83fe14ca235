// Proxmox as the world sees it: faults of its API and its tasks, and actions of its administrators without
// the operator's knowledge.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/simulation/faults.hpp"
#include "test/simulation/guests/guests.hpp"
#include "test/simulators/proxmox/core/simulator.hpp"

namespace simulation {

// Line in the log of a task that fails with "exit code 1".
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
    std::set<std::string> busy_disks_;  // disks of VMIDs that cannot be destroyed while there is trouble
};

// Mark is what a machine's description says. This code reads it independently of the operator's.
struct Mark {
    std::string cluster;
    std::string claim_uid;
    std::int64_t attempt = 0;
};
std::optional<Mark> read_mark(const proxmox::Machine& machine);
// Tag of a stopped machine that is kept for inspection.
inline constexpr const char* kKeptTag = "kubenodesmith-kept";
// Returns the SMBIOS UUID in lower case; "" if there is none.
std::string uuid_of(const proxmox::Machine& machine);

class Administrators {
public:
    Administrators(proxmox::Simulator& simulator, Guests& guests, simulation::FaultPlan& faults,
                   Trace& trace);

    // Returns the machines with a mark that nobody changed, sorted by VMID.
    std::vector<int> marked() const;
    // Returns read_mark(), cached as long as the description stays the same.
    const std::optional<Mark>& mark_of(const proxmox::Machine& machine) const;
    void destroy(int vmid);
    // Clears away what a dead task left behind, as the operator asks for.
    void clear_away(int vmid);
    void stop(int vmid);
    // Changes the mark, so that the machine can no longer be proven to be the operator's.
    void spoil_mark(int vmid);
    void plant_copy(int vmid);
    // Returns false if no template was made from an image.
    bool plant_copy_of_template();
    // Gives the copies of templates that the operator reports other names.
    void rename_copies(const std::function<bool(int vmid)>& is_reported);
    // Returns the VMID, which is the next free one.
    int plant_stranger(int vmid, const std::string& host, proxmox::Config config);
    void plant_stranger(int vmid);
    // Destroys a stranger and frees its VMID.
    void remove_stranger(int vmid);
    void fill_storage(bool full);

    // Returns by VMID since when a machine must be left alone.
    const std::map<int, base::TimePoint>& untouchable() const { return untouchable_; }
    // Forgets machines that are gone, because the next machine with such an ID is another one.
    void forget_gone();
    bool is_stranger(int vmid) const { return guests_.strangers().contains(vmid); }
    // Reports whether an administrator stopped or destroyed the machine with this UUID.
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
    std::map<std::string, std::uint64_t> sizes_;  // former sizes of storages that are full now
    struct ReadMark {
        std::string description;
        std::optional<Mark> mark;
    };
    mutable std::map<int, ReadMark> marks_;  // by VMID
};

}  // namespace simulation
