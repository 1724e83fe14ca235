// A second cluster whose operator shares the rack. It has its own API server, scheduler, kubelets and
// operator, and the same hosts behind the same BMCs. It exists in half of the racks. It only wakes hosts for
// pods that come and go, and its operator is killed from time to time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "test/simulation/operators.hpp"

namespace simulation {

// Reports whether hosts are locked on their BMC. If there are two clusters, both lock.
bool locks_hosts(const World& world);
// Draws whether hosts are locked, and the contents of the asset tags. Call it before the world is populated.
void draw_host_lock(Scenario& scenario, base::Random& random);

class OtherCluster {
public:
    explicit OtherCluster(World& world);
    ~OtherCluster();
    OtherCluster(const OtherCluster&) = delete;
    OtherCluster& operator=(const OtherCluster&) = delete;

    bool exists() const { return parts_ != nullptr; }
    void begin();
    // Removes its pods. Its people turn off each host that its operator reports as left on.
    void make_peace();
    void shut_down();

    // Returns the view of the cluster, which must exist.
    ClusterSnapshot& view();
    // Returns the faults that remain when the world is at rest; empty if there are none.
    std::vector<std::string> leftovers() const;
    // Reports whether one of its processes was killed or paused, so that its requests may come late.
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
