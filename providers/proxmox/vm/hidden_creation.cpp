#include "providers/proxmox/vm/hidden_creation.hpp"

#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/vm/half_made.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

// Text of qmcreate, followed by the cause (PVE::API2::Qemu, create_vm).
constexpr std::string_view kNotRemoved = "failed to remove config file";

// Reports whether the failed task left its VM. A worker cleans up unless it died or could no longer write;
// its log shows the latter.
asio::awaitable<bool> left_its_vm(ProxmoxClient& client, Tasks& tasks, Upid task) {
    const auto status = co_await tasks.status(task.text);
    if (status.outcome == TaskOutcome::unknown) co_return true;
    if (status.outcome != TaskOutcome::failed) co_return false;
    if (classify_exit(status.exit_status) == ErrorKind::no_quorum) co_return true;
    const auto log = co_await client.read(get_task_log(task.node, task.text));
    for (const auto* line : objects_of(log))
        if (text_of(*line, "t").find(kNotRemoved) != std::string::npos) co_return true;
    co_return false;
}

}  // namespace

asio::awaitable<bool> died_out_of_sight(ProxmoxClient& client, Tasks& tasks, MachineRecord record) {
    const auto vmid = vmid_of(record.machine_id);
    const auto recorded = parse_upid(record.task);
    if (recorded && began_creation(record.task, client.user(), vmid))
        co_return co_await left_its_vm(client, tasks, *recorded);
    const auto last = co_await client.read(get_last_tasks(record.host, vmid));
    for (const auto* entry : objects_of(last)) {
        const auto task = parse_upid(text_of(*entry, "upid"));
        if (!task || !began_creation(task->text, client.user(), vmid)) continue;
        co_return co_await left_its_vm(client, tasks, *task);
    }
    co_return false;
}

std::string hidden_half_made_text(const MachineRecord& record) {
    const auto& id = record.machine_id;
    return "VM " + id + " on " + record.host +
           " was being created by a task of the operator that died, or lost the quorum, before it put the VM "
           "into the resource pool, so the token may not see it; if it is locked (create or clone), " +
           unlock_and_destroy(record.host, vmid_of(id));
}

}  // namespace providers::proxmox
