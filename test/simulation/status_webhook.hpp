// An admission webhook for the status of one of our kinds, for approvals of certificates, or for Secrets,
// Nodes or Events, that does not answer. The API server waits for it for 30 s, the longest time that it
// allows, and then refuses the write.
#pragma once

#include <memory>
#include <string>

#include "test/simulation/outsiders.hpp"

namespace simulation {

class StatusWebhook final : public Outsider {
public:
    explicit StatusWebhook(World& world);
    ~StatusWebhook() override;
    void begin() override;
    void make_peace() override;

private:
    void turn(bool hangs);
    Admission admit(const base::HttpRequest& request);
    std::string draw_kind();

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
    std::function<Admission(const base::HttpRequest&)> others_;  // other webhooks
};

}  // namespace simulation
