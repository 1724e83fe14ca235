// A second cluster whose operator shares the rack: its own API server, scheduler, kubelets and operator, with
// the same hosts behind the same BMCs. In half of the racks; all it does is wake hosts for pods that come and
// go, and be killed now and then.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "test/simulation/operators.hpp"

namespace simulation {

// Hosts are locked on their BMC, by both clusters where there are two.
bool locks_hosts(const World& world);
// Draws that, and what stands in the asset tags. Before the world is populated.
void draw_host_lock(Scenario& scenario, base::Random& random);

class OtherCluster {
public:
    explicit OtherCluster(World& world);
    ~OtherCluster();
    OtherCluster(const OtherCluster&) = delete;
    OtherCluster& operator=(const OtherCluster&) = delete;

    bool exists() const { return parts_ != nullptr; }
    void begin();
    // Its pods go, and its people turn off what its operator left on and says so.
    void make_peace();
    void shut_down();

    // Of a cluster that exists.
    ClusterSnapshot& view();
    // What is not as it should be when all has come to rest; empty: nothing.
    std::vector<std::string> leftovers() const;
    // One of its processes was killed, or paused: what it had begun may come late.
    bool has_late_requests() const;

private:
    struct Parts;
    void follow(const NodeSmithClaim& claim);
    void arm_scaling();
    void arm_killing();
    void tidy();
    void state_gone(const kube::ObjectKey& claim);

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<Parts> parts_;
    std::string pool_;
    std::unique_ptr<base::Alarm> scaling_;
    std::unique_ptr<base::Alarm> rush_;
    std::unique_ptr<base::Alarm> killing_;
    std::unique_ptr<base::Alarm> tidying_;
};

}  // namespace simulation
