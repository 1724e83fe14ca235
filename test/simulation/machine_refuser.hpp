// A provider that refuses to create machines, for minutes or hours, a few times a day. It does all else.
#pragma once

#include <memory>
#include <string>

#include "test/simulation/outsiders.hpp"

namespace simulation {

class MachineRefuser final : public Outsider {
public:
    // The refuser recognizes the provider by the ID of its token.
    MachineRefuser(World& world, std::string provider, std::string token_id);
    ~MachineRefuser() override;
    void begin() override;
    void make_peace() override;

private:
    void wait();
    void refuse();
    void end();

    World& world_;
    std::string provider_, token_id_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
};

}  // namespace simulation
