// People and programs that write objects which the API server stores and the operator cannot decode. These
// are DaemonSets, pods and budgets of a tenant, Nodes, and volumes. Others give a pool a value of a newer
// version. Each object stays for seconds or minutes. They exist in every fourth seed with faults.
#pragma once

#include <boost/json/object.hpp>
#include <list>
#include <map>
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
    void make_strange();
    void restore(const fake::Key& pool);
    void remove(const fake::Key& key);

    World& world_;
    std::unique_ptr<base::Random> random_;
    bool is_at_work_ = false;
    int made_ = 0;
    std::set<fake::Key> present_;
    std::map<fake::Key, boost::json::object> strange_;  // pools with their former spec.disruption
    std::unique_ptr<base::Alarm> next_;
    std::list<std::unique_ptr<base::Alarm>> ends_;
};

}  // namespace simulation
