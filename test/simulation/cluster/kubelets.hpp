// The kubelets of all machines, and the controllers that judge them. A Node's conditions and taints follow
// whether its machine runs and is well. Its pods start, end and are given up as in a real cluster.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "test/simulation/cluster/reactor.hpp"
#include "test/simulation/cluster/view.hpp"
#include "test/simulation/trace.hpp"

namespace simulation {

// Registration is what a kubelet reports about itself when it registers.
struct Registration {
    std::string node;
    std::string system_uuid;
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
    std::int64_t disk_mib = 0;  // 0: no local disk; the root is on the network
    api::StringMap labels;
    std::vector<api::Taint> taints;
    std::string provider_id;
    std::int64_t max_pods = 0;           // 0: the default of the seed's kubelets
    bool awaits_cloud_provider = false;  // registers with the taint that a cloud controller manager removes
    base::Duration ready_after = std::chrono::seconds{5};
    std::set<std::string> addresses;  // addresses that were assigned to it; others do not matter
};

// KubeletHabits says how much the kubelets of a seed reserve for the system, whatever the pools say, and how
// many pods they take.
struct KubeletHabits {
    std::int64_t cpu_millicores = 100;
    std::int64_t memory_mib = 256;
    std::int64_t disk_percent = 10;
    std::int64_t pods = 110;

    // Reports whether the habits are the defaults of pools.
    bool are_usual() const { return *this == KubeletHabits{}; }
    bool operator==(const KubeletHabits&) const = default;
    api::ResourceList capacity(const Registration& machine) const;
    api::ResourceList allocatable(const Registration& machine) const;
    // Returns the habits on that machine, where a kubelet reserves at most a quarter of it. Forgers draw the
    // figures of kubelets that lie.
    KubeletHabits on(const Registration& machine) const;
};

// A pod with this annotation takes so many seconds to end, at most its grace period. Other pods take one
// second.
inline constexpr const char* kEndsAfter = "simulation/ends-after-seconds";

class Kubelets {
public:
    Kubelets(fake::ApiServer& server, ClusterSnapshot& view, Trace& trace,
             std::unique_ptr<base::Random> random, KubeletHabits habits);

    // Creates the Node, or takes over an existing one of that name, as a kubelet does. Returns false if a
    // Node of that name is Ready, which `kubeadm join` refuses.
    bool join(const Registration& registration);
    // Reports whether a kubelet that had joined runs again after a reboot of its machine.
    bool resume(const std::string& system_uuid);
    void machine_stopped(const std::string& system_uuid);
    // Loses the disk, so that a machine of that identity starts from nothing.
    void wipe(const std::string& system_uuid);
    // Sets whether the kubelet is well. A kubelet that is not well posts Ready=False.
    void set_well(const std::string& node, bool well);
    bool runs(const std::string& node) const;
    // Returns the Nodes whose kubelet runs, sorted by name.
    std::vector<std::string> running() const;
    const KubeletHabits& habits() const { return habits_; }

private:
    struct Kubelet {
        Registration registration;
        bool up = true;
        bool wiped = false;
        bool well = true;
        bool started = false;  // it was Ready for the first time
        base::TimePoint registered_at{};
        base::TimePoint silent_since{};
        base::TimePoint unfit_since{};
        base::TimePoint schedulable_at{};  // while it is Ready
    };

    const Kubelet* of_node(const std::string& node) const;
    api::Node fresh_node(const Registration& registration) const;
    void judge();
    void judge(Kubelet& kubelet);
    // Does what a cloud controller manager does, after some time, with a Node that waits for it.
    void initialize(const Kubelet& kubelet, const api::Node& node);
    void write_readiness(Kubelet& kubelet, const api::Node& node, api::ConditionStatus ready);
    base::Duration draw_lag();
    void give_up_pods(const Kubelet& kubelet, const std::string& node);
    void collect_lost_pods();
    void follow(const api::Pod* before, const api::Pod* after);
    void start_pod(const std::string& uid, const api::ObjectKey& key);
    void end_pod(const std::string& uid, const api::ObjectKey& key);

    fake::ApiServer& server_;
    base::Clock& clock_;
    ClusterSnapshot& view_;
    Trace& trace_;
    std::unique_ptr<base::Random> random_;
    KubeletHabits habits_;
    std::uint64_t longest_lag_ms_;             // lag of the taints of a Node that becomes Ready
    std::map<std::string, Kubelet> kubelets_;  // by system UUID
    std::map<std::string, std::unique_ptr<base::Alarm>> starting_, ending_;  // by pod UID
    Reactor judge_;
    Reactor collect_;
};

}  // namespace simulation
