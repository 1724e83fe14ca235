#include "providers/proxmox/health.hpp"

#include <cstdlib>

#include "providers/proxmox/fields.hpp"
#include "providers/proxmox/vm_config.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kStateAge = std::chrono::seconds{10};

bool is_about_tls(const std::string& text) {
    return text.find("certificate") != std::string::npos || text.find("TLS") != std::string::npos;
}

Health failed(const ApiError& error) {
    Health health;
    health.message = error.what();
    switch (error.kind) {
        case ErrorKind::unauthenticated:
            health.reason = "AuthenticationFailed";
            break;
        case ErrorKind::permission:
            health.reason = "MissingPrivileges";
            health.reachable = true;
            break;
        default:
            health.reason = is_about_tls(health.message) ? "TLSVerificationFailed" : "Unreachable";
            break;
    }
    return health;
}

}  // namespace

asio::awaitable<Health> check_health(const Settings& settings, Client& client, ClusterView& view,
                                     Templates& templates) {
    try {
        const auto version = co_await client.read(get_version());
        const auto permissions = co_await view.permissions(base::Duration::zero());
        Health health;
        health.reachable = true;
        if (version.is_object()) health.version = text_of(version.get_object(), "version");
        health.boot_disk_gib = new_boot_disk_gib(
            std::map<std::string, std::string>(settings.vm_options.begin(), settings.vm_options.end()));
        std::vector<Guest> sources;
        if (const auto& wish = settings.spec.template_) {
            const auto state = co_await view.state(kStateAge);
            auto found = find_templates(*wish, *state);
            health.template_reason = std::move(found.reason);
            health.template_message = std::move(found.message);
            sources = std::move(found.templates);
            health.template_revisions = co_await templates.revisions(state);
            health.boot_disk_gib = co_await templates.boot_disk_gib(state);
        }
        const auto missing =
            missing_privileges(settings, permissions, std::atoi(health.version.c_str()), sources);
        health.credentials_ok = missing.empty();
        if (!missing.empty()) {
            health.reason = "MissingPrivileges";
            health.message =
                client.user() + " lacks " + list_text(missing) +
                " (a token with privilege separation has only what its own ACL and its user's both give)";
        }
        co_return health;
    } catch (const ApiError& error) {
        co_return failed(error);
    }
}

}  // namespace providers::proxmox
