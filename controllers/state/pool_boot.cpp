#include <algorithm>

#include "bootstrap/settings.hpp"
#include "controllers/cache/condition_update.hpp"
#include "controllers/state/boot_rights.hpp"
#include "controllers/state/pool_status.hpp"

namespace controllers {

using api::v1alpha1::BootstrapMethod;

namespace {

// Reports whether the machine boots from the network, a CD or an imported
// disk, whose content is unknown here.
bool boots_something(const api::v1alpha1::VMOption& option) {
    const auto* text = option.value.if_string();
    if (!text) return false;
    return option.name == "boot" || text->find("import-from=") != text->npos ||
           text->find("media=cdrom") != text->npos;
}

std::string why_nothing_boots(const PoolObservation& facts) {
    const auto method = bootstrap_of(facts.object, facts.manager).method;
    if (method == BootstrapMethod::None || !facts.provider || !facts.provider->spec.proxmox) return {};
    const auto& proxmox = *facts.provider->spec.proxmox;
    if (proxmox.template_ || std::ranges::any_of(proxmox.vmOptions, boots_something)) return {};
    const bool by_cloud_init = method == BootstrapMethod::CloudInit;
    return std::string("its machines have to join by ") +
           (by_cloud_init ? "cloud-init (bootstrap.method CloudInit)"
                          : "their guest agent (bootstrap.method GuestAgent)") +
           ", but they are blank: NodeSmithProvider " + facts.provider->metadata.name +
           " has no spec.proxmox.template. Name a template that has " +
           (by_cloud_init ? "cloud-init" : "the agent") +
           ", or add {name: boot, value: order=net0} to spec.proxmox.vmOptions if your network boots such an "
           "image";
}

}  // namespace

void judge_boot(const PoolObservation& facts, api::v1alpha1::PoolStatus& status, api::Time now) {
    const auto* reason = "BootstrapInvalid";
    auto problem = bootstrap::contradiction(bootstrap_of(facts.object, facts.manager));
    if (problem.empty()) {
        reason = "NothingToBoot";
        problem = why_nothing_boots(facts);
    }
    set_while_told(status.conditions,
                   update(conditions::kConfigurationValid, ConditionStatus::False, reason, std::move(problem),
                          facts.object.metadata.generation),
                   now);
}

}  // namespace controllers
