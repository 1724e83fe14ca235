// A program that deletes Nodes of the operator. In some seeds it deletes each new Node after some seconds, as
// a cloud controller manager does that does not know these machines. In others it deletes any Node from time
// to time.
#pragma once

#include <list>

#include "test/simulation/outsiders.hpp"

namespace simulation {

class NodeDeleter final : public Outsider {
public:
    explicit NodeDeleter(World& world);
    void begin() override;
    void make_peace() override;

private:
    enum class Way { each_new_node, now_and_then };
    void arm();
    void remove(const std::string& name, const std::string& uid);
    void say_so(const api::Node& node);

    World& world_;
    std::unique_ptr<base::Random> random_;
    Way way_ = Way::each_new_node;
    bool says_so_ = false;
    base::TimePoint ends_{};
    bool is_at_work_ = false;
    std::unique_ptr<base::Alarm> next_;
    std::list<std::unique_ptr<base::Alarm>> pending_;
};

}  // namespace simulation
