// A copy of the control plane with its own operator, which sees the same Proxmox cluster and BMCs. This is a
// disaster drill with its network attached. The copy has no kubelets and no controllers. Its users removed
// all pods and some claims, so its operator wants to remove machines of the original. What it destroys is
// noted (Interference::destroyed_by_copies).
#pragma once

#include <memory>
#include <string>

#include "test/simulation/operators.hpp"

namespace simulation {

class ControlPlaneCopy {
public:
    // Copies the objects as they are now, and starts the operator.
    explicit ControlPlaneCopy(World& world);
    // Requires that the world runs no alarm or handler now.
    ~ControlPlaneCopy();
    ControlPlaneCopy(const ControlPlaneCopy&) = delete;
    ControlPlaneCopy& operator=(const ControlPlaneCopy&) = delete;

    // Ends the operator for good.
    void end();
    fake::ApiServer& server();

private:
    class Witness;
    struct Parts;
    void leave_only_what_serves();

    World& world_;
    std::unique_ptr<Parts> parts_;
};

// Returns the epoch of the other operator that the provider's condition names; "": it names none.
std::string epoch_of_other_operator(const NodeSmithProvider& provider);

}  // namespace simulation
