// People and programs that write what the API server stores and the operator cannot decode: DaemonSets, pods
// and budgets of a tenant, Nodes, volumes. Each stays for seconds or minutes. In every fourth seed with
// faults.
#pragma once

#include <list>
#include <set>

#include "test/simulation/outsiders.hpp"

namespace simulation {

class OddObjects final : public Outsider {
public:
    explicit OddObjects(World& world);
    void begin() override;
    void make_peace() override;

private:
    void arm();
    void write_one();
    void remove(const fake::Key& key);

    World& world_;
    std::unique_ptr<base::Random> random_;
    bool is_at_work_ = false;
    int made_ = 0;
    std::set<fake::Key> present_;
    std::unique_ptr<base::Alarm> next_;
    std::list<std::unique_ptr<base::Alarm>> ends_;
};

}  // namespace simulation
