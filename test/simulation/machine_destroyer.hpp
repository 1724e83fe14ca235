// Another party's clean-up job that destroys virtual machines of the operator.
#pragma once

#include "test/simulation/outsiders.hpp"

namespace simulation {

class MachineDestroyer final : public Outsider {
public:
    explicit MachineDestroyer(World& world);
    void begin() override;
    void make_peace() override;

private:
    void act();

    World& world_;
    std::unique_ptr<base::Random> random_;
    base::TimePoint ends_{};
    std::unique_ptr<base::Alarm> next_;
};

}  // namespace simulation
