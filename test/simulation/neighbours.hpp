// Other users of the rack: another cluster's operator, or people. They turn on hosts that are off, at moments
// when our operator does not look. They use them for a while and turn them off again. They also turn off each
// host that our operator reports as left on because it may be theirs.
#pragma once

#include <list>
#include <memory>
#include <set>
#include <string>

#include "test/simulation/world.hpp"

namespace simulation {

class Neighbours {
public:
    explicit Neighbours(World& world);
    void begin();
    void make_peace();

private:
    void arm();
    void take_one();
    void heed_reports();

    World& world_;
    std::unique_ptr<base::Random> random_;
    double per_hour_;
    std::unique_ptr<base::Alarm> next_;
    std::list<std::unique_ptr<base::Alarm>> returns_;
    std::set<std::string> taken_;
};

}  // namespace simulation
