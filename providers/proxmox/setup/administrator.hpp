// Administrator prepares a cluster with the ticket of an administrator's login.
#pragma once

#include "providers/proxmox/setup/access_plan.hpp"
#include "providers/proxmox/wire/client.hpp"
#include "providers/proxmox_setup.hpp"

namespace providers::proxmox {

class Administrator final : public ProxmoxAdministrator {
public:
    // Proxmox takes a ticket in place of the password, and then asks for no second factor. The environment
    // must outlive this.
    Administrator(const ProxmoxLogin& login, std::string ticket, ProviderEnvironment& environment);

    asio::awaitable<ProxmoxSite> look() override;
    asio::awaitable<ProxmoxPlan> plan(ProxmoxSetup wish) override;
    asio::awaitable<std::string> carry_out(ProxmoxPlan plan) override;

private:
    asio::awaitable<std::string> version();
    asio::awaitable<AccessState> access_state(ProxmoxSetup wish);
    asio::awaitable<Permissions> permissions_of(std::string subject);
    asio::awaitable<TemplateParts> template_parts(std::int64_t vmid);
    asio::awaitable<std::set<std::string>> bridges_of(std::string host);

    std::string username_;
    ProxmoxClient client_;
};

}  // namespace providers::proxmox
