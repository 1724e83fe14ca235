// People who run databases with volumes on the disks of our machines. They scale them to zero and up again.
// They keep data of deleted claims, give some of it up, and decide about machines that are kept.
#pragma once

#include <map>
#include <string>

#include "test/simulation/outsiders.hpp"

namespace simulation {

// Label of a PersistentVolume: the only Node that has its data. The judges read it, the operator does not.
inline constexpr const char* kOnlyOn = "simulation/only-on";

class LocalData final : public Outsider {
public:
    explicit LocalData(World& world);
    void begin() override;
    void make_peace() override;

private:
    struct Database {
        bool runs = false;
        int pods = 0;  // number of pods so far
    };

    void arm();
    void act();
    // Does the work of the controllers of StatefulSets, of volumes and of their protection.
    void keep_up();
    // Lets people decide about kept machines after a while.
    void decide();
    void make_volume();
    void scale();
    void drop_claim();
    void let_data_go();
    void add_affinity(api::PersistentVolume& volume, const std::string& node);
    // Lets the driver on each Node register itself, as its DaemonSet does.
    void register_drivers();
    // Reports whether the driver registered itself so long ago that the operator had time to notice.
    bool has_driver(const std::string& node) const;
    void run(const std::string& name, Database& database);
    void remove_volume(const std::string& name);
    // Returns a Node in service that is not being removed; "" if there is none.
    std::string any_node();

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::map<std::string, Database> databases_;          // by name of the volume
    std::map<std::string, base::TimePoint> kept_since_;  // by UID of the claim
    std::map<std::string, base::TimePoint> registered_;  // by UID of the Node
    std::unique_ptr<base::Alarm> next_, next_round_, end_;
    int made_ = 0;
};

}  // namespace simulation
