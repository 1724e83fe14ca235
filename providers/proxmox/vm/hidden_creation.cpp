#include "providers/proxmox/vm/hidden_creation.hpp"

#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/vm/half_made.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

bool leaves_vm_behind(const TaskStatus& status) {
    if (status.outcome == TaskOutcome::unknown) return true;
    return status.outcome == TaskOutcome::failed && classify_exit(status.exit_status) == ErrorKind::no_quorum;
}

asio::awaitable<bool> died_out_of_sight(Client& client, Tasks& tasks, MachineRecord record) {
    const auto vmid = vmid_of(record.machine_id);
    if (began_creation(record.task, client.user(), vmid)) {
        const auto status = co_await tasks.status(record.task);
        co_return leaves_vm_behind(status);
    }
    const auto last = co_await client.read(get_last_tasks(record.host, vmid));
    for (const auto* entry : objects_of(last)) {
        const auto task = parse_upid(text_of(*entry, "upid"));
        if (!task || !began_creation(task->text, client.user(), vmid)) continue;
        const auto status = co_await tasks.status(task->text);
        co_return leaves_vm_behind(status);
    }
    co_return false;
}

std::string hidden_half_made_text(const MachineRecord& record) {
    const auto& id = record.machine_id;
    return "VM " + id + " on " + record.host +
           " was being made by a task of ours that died, or lost the quorum, before it put it into the "
           "resource pool, so the token may not see it; if it is locked (create or clone) and nobody else's, "
           "as root on that host: qm unlock " +
           id + " && qm destroy " + id;
}

}  // namespace providers::proxmox
