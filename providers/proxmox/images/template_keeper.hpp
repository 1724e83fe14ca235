// TemplateKeeper keeps templates of the configured image: one on each host that needs it, and no others.
#pragma once

#include <string>

#include "providers/health.hpp"
#include "providers/proxmox/images/template_maker.hpp"
#include "providers/proxmox/images/template_remover.hpp"

namespace providers::proxmox {

class TemplateKeeper {
public:
    // All arguments must outlive this. See TemplateMaker for `in_the_making`.
    TemplateKeeper(const Settings& settings, ProxmoxClient& client, ClusterView& view, Templates& templates,
                   Tasks& tasks, VolumeOwners& volumes, base::Clock& clock, HostObstacles& in_the_making)
        : settings_(settings),
          view_(view),
          templates_(templates),
          in_the_making_(in_the_making),
          maker_(settings, client, view, templates, tasks, volumes, clock, in_the_making),
          remover_(settings, client, view, tasks, clock) {}

    // Takes one step and reports its result in `health`. Call it only after a look found that the cluster
    // works. Throws FencedError.
    asio::awaitable<void> tend(Health& health);
    // Takes one step towards removing all templates; afterwards no template is made. Returns what is left and
    // why, or an empty text. Throws ProxmoxError, FencedError.
    asio::awaitable<std::string> remove_all();

private:
    asio::awaitable<base::Duration> make(Health& health);
    asio::awaitable<base::Duration> tidy_up(bool is_making);

    const Settings& settings_;
    ClusterView& view_;
    Templates& templates_;
    HostObstacles& in_the_making_;
    bool is_leaving_ = false;
    TemplateMaker maker_;
    TemplateRemover remover_;
};

}  // namespace providers::proxmox
