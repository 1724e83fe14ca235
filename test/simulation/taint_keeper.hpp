// A network or storage agent that keeps a taint on each new Node until the agent runs there. No pool knows
// the taint. In some worlds the agent never becomes ready.
#pragma once

#include <list>
#include <set>

#include "test/simulation/outsiders.hpp"

namespace simulation {

class TaintKeeper final : public Outsider {
public:
    explicit TaintKeeper(World& world);
    void begin() override;
    void make_peace() override;

private:
    enum class Moment { at_registration, late, when_ready };
    void follow(const api::Node* before, const api::Node& after);
    void put_on(const std::string& name, const std::string& uid);
    void take_off(const std::string& name);
    void later(base::Duration wait, std::function<void()> action);

    World& world_;
    std::unique_ptr<base::Random> random_;
    Moment moment_ = Moment::at_registration;
    api::Taint taint_;
    bool never_ready_ = false;
    bool is_at_work_ = false;
    std::set<std::string> known_;  // UIDs of Nodes that had the taint
    std::list<std::unique_ptr<base::Alarm>> pending_;
};

}  // namespace simulation
