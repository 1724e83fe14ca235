// Invariant 8: no secret appears in a log, an Event, a status or any object other than a Secret.
#include <set>

#include "base/log.hpp"
#include "test/simulation/invariants/invariant.hpp"
#include "test/simulators/proxmox/core/world_file.hpp"

namespace simulation {
namespace {

class SecretsStaySecret final : public Invariant {
public:
    explicit SecretsStaySecret(const Stage& stage)
        : Invariant(stage), secrets_{proxmox::kDefaultTokenSecret, redfish_simulator::Profile{}.password} {
        world_.view.subscribe<api::Secret>([this](const api::Secret* before, const api::Secret* after) {
            if (before || !after || after->type != "bootstrap.kubernetes.io/token") return;
            auto found = after->data.find("token-secret");
            if (found != after->data.end()) secrets_.insert(found->second.value);
        });
        world_.observe([this](const Process&, const base::HttpRequest& request, const base::HttpResponse&) {
            if (request.target.find("/secrets") == std::string::npos) look_into(request.body, request.target);
            look_into(request.target, "a request's path");
        });
        base::log::redirect([this](base::log::Level, std::string_view line) {
            world_.trace.line("log", line);
            look_into(line, "the log");
        });
    }
    ~SecretsStaySecret() override { base::log::redirect({}); }

private:
    void look_into(std::string_view text, const std::string& where) {
        for (const auto& secret : secrets_) {
            if (text.find(secret) != std::string_view::npos) {
                stage_.violate("secrets stay secret", "a secret is in " + where);
            }
        }
    }

    std::set<std::string> secrets_;
};

}  // namespace

std::unique_ptr<Invariant> secrets_stay_secret(const Stage& stage) {
    return std::make_unique<SecretsStaySecret>(stage);
}

}  // namespace simulation
