// The kubelets of all machines, and the controllers that judge them: a Node's conditions and taints follow
// whether its machine runs and is well; its pods start, end, and are given up as in a real cluster.
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

// What a kubelet tells of itself when it registers.
struct Registration {
    std::string node;
    std::string system_uuid;
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
    std::int64_t disk_mib = 0;  // 0: none, its root is on the network
    api::StringMap labels;
    std::vector<api::Taint> taints;
    std::string provider_id;
    std::int64_t max_pods = 0;           // 0: as kubelets of the seed have it
    bool awaits_cloud_provider = false;  // registers with the taint that a cloud controller manager takes off
    base::Duration ready_after = std::chrono::seconds{5};
    std::set<std::string> addresses;  // those that it was given; others are of no interest
};

// What the kubelets of a seed keep for the system, whatever the pools say of it, and how many pods they take.
struct KubeletHabits {
    std::int64_t cpu_millicores = 100;
    std::int64_t memory_mib = 256;
    std::int64_t disk_percent = 10;
    std::int64_t pods = 110;

    // As pools say by default.
    bool are_usual() const { return *this == KubeletHabits{}; }
    bool operator==(const KubeletHabits&) const = default;
    api::ResourceList capacity(const Registration& machine) const;
    api::ResourceList allocatable(const Registration& machine) const;
    // On that machine: nobody keeps more than a quarter of one for its system. What kubelets that lie say is
    // drawn by forgers.
    KubeletHabits on(const Registration& machine) const;
};

// A pod with this annotation takes so many seconds to end (at most its grace period), otherwise one.
inline constexpr const char* kEndsAfter = "simulation/ends-after-seconds";

class Kubelets {
public:
    Kubelets(fake::ApiServer& server, ClusterSnapshot& view, Trace& trace,
             std::unique_ptr<base::Random> random, KubeletHabits habits);

    // Creates the Node, or takes over the one of that name as a kubelet does. False: a Node of that name is
    // Ready, which `kubeadm join` refuses.
    bool join(const Registration& registration);
    // The machine was rebooted: a kubelet that had joined is back.
    bool resume(const std::string& system_uuid);
    void machine_stopped(const std::string& system_uuid);
    // The disk is lost: a machine of that identity starts from nothing.
    void wipe(const std::string& system_uuid);
    // A kubelet that is not well posts Ready=False.
    void set_well(const std::string& node, bool well);
    bool runs(const std::string& node) const;
    // Nodes whose kubelet runs, in the order of their names.
    std::vector<std::string> running() const;
    const KubeletHabits& habits() const { return habits_; }

private:
    struct Kubelet {
        Registration registration;
        bool up = true;
        bool wiped = false;
        bool well = true;
        bool started = false;  // Ready for the first time
        base::TimePoint registered_at{};
        base::TimePoint silent_since{};
        base::TimePoint unfit_since{};
        base::TimePoint schedulable_at{};  // while it is Ready
    };

    const Kubelet* of_node(const std::string& node) const;
    api::Node fresh_node(const Registration& registration) const;
    void judge();
    void judge(Kubelet& kubelet);
    // What a cloud controller manager does with a Node that waits for it, in its own time.
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
    std::uint64_t longest_lag_ms_;             // of the taints of a Node that becomes Ready
    std::map<std::string, Kubelet> kubelets_;  // by system UUID
    std::map<std::string, std::unique_ptr<base::Alarm>> starting_, ending_;  // by pod UID
    Reactor judge_;
    Reactor collect_;
};

}  // namespace simulation
