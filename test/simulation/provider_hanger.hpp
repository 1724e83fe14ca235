// A provider that takes requests and answers none of them, for minutes or hours, a few times a day.
#pragma once

#include <memory>
#include <string>

#include "test/simulation/outsiders.hpp"

namespace simulation {

class ProviderHanger final : public Outsider {
public:
    // The hanger recognizes the provider by the ID of its token.
    ProviderHanger(World& world, std::string provider, std::string token_id);
    ~ProviderHanger() override;
    void begin() override;
    void make_peace() override;

private:
    void wait();
    void hang();
    void end();

    World& world_;
    std::string provider_, token_id_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
};

}  // namespace simulation
