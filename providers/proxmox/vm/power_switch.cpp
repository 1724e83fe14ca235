#include "providers/proxmox/vm/power_switch.hpp"

namespace providers::proxmox {

asio::awaitable<bool> PowerSwitch::turn(MachineIdentity identity, MachineRecord record, Power power,
                                        InUseCheck in_use) {
    const auto look = co_await machines_.find(identity, record);
    const auto vm = "switching the power of VM " + record.machine_id + " on " + look.host + ": ";
    if (look.presence == Presence::absent) throw ProviderError(vm + "there is no such VM");
    if (look.presence == Presence::host_down) throw ProviderError(vm + host_down_reason(look));
    if (look.presence == Presence::hidden) throw ProviderError(vm + "the token lacks VM.Audit on it");
    if (look.ownership != Ownership::ours) {
        throw ProviderError(vm +
                            explain_ownership(look.config, look.vmid, identity, settings_.managed_tag()));
    }
    if (!look.config.lock().empty()) co_return false;
    const bool is_running = co_await machines_.is_running(look.host, look.vmid);
    if (is_running == (power == Power::on)) {
        pauses_.end(identity.system_uuid);
        co_return true;
    }
    if (pauses_.lasts(identity.system_uuid)) co_return false;
    if (power == Power::off && !client_.why_not_destroy().why.empty()) co_return false;
    const bool is_busy = co_await is_at_work(look);
    if (is_busy) co_return false;
    const bool is_used = power == Power::off && in_use && co_await in_use();
    if (is_used) co_return false;
    auto call = power == Power::on ? start_vm(look.host, look.vmid) : stop_vm(look.host, look.vmid);
    // Overruling a shutdown needs PVE 8.2. A shutdown by somebody else may finish.
    call.parameters.clear();
    pauses_.begin(identity.system_uuid);
    co_await client_.change(std::move(call));
    co_return false;
}

asio::awaitable<bool> PowerSwitch::is_at_work(const Look& machine) {
    const auto tasks = co_await tasks_.at_work(machine.host, machine.vmid);
    co_await tasks_.end_all_overdue(tasks);
    co_return !tasks.empty();
}

}  // namespace providers::proxmox
