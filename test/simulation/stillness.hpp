// Measures since when nobody has written anything but the Lease, neither to the API server nor to Proxmox.
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

    // Returns the time of the last write by anybody, whether it took effect or was refused.
    base::TimePoint since() const { return since_; }
    // Counts the writes of the operator from now on.
    void begin_count();
    // Returns the number of writes with examples; "" if there were none.
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
