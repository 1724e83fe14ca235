// A cloud controller or a person that overwrites or removes labels of our Nodes. It begins at the start or
// later, and goes on for a while or as long as there is trouble.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "test/simulation/outsiders.hpp"
#include "test/simulation/world.hpp"

namespace simulation {

class LabelWriters final : public Outsider {
public:
    explicit LabelWriters(World& world);

    void begin() override;
    void make_peace() override;

private:
    void label_templates();
    void arm();
    void act();
    void write(const api::Node& node);

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
    std::string key_;
    std::optional<std::string> value_;  // nullopt: removes the label
    base::TimePoint begins_;
    base::TimePoint ends_;
};

}  // namespace simulation
