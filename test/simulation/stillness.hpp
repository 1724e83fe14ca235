// Since when nobody has written anything but the Lease: neither to the API server, nor to Proxmox.
#pragma once

#include <string>

#include "test/simulation/world.hpp"

namespace simulation {

class Stillness {
public:
    // The world must not outlive it.
    explicit Stillness(World& world);
    Stillness(const Stillness&) = delete;
    Stillness& operator=(const Stillness&) = delete;

    // The last write of anybody, in effect or refused.
    base::TimePoint since() const { return since_; }
    // From now on writes of the operator are counted.
    void begin_count();
    // How many there were, with examples; "" if none.
    std::string counted() const;

private:
    void note(const std::string& example);

    World& world_;
    base::TimePoint since_{};
    bool counting_ = false;
    int writes_ = 0;
    std::string examples_;
};

}  // namespace simulation
