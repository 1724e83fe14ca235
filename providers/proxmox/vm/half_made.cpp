#include "providers/proxmox/vm/half_made.hpp"

namespace providers::proxmox {

bool began_creation(const std::string& upid, const std::string& user, std::int64_t vmid) {
    const auto task = parse_upid(upid);
    if (!task || task->user != user) return false;
    return task->type == "qmclone" || (task->type == "qmcreate" && task->id == std::to_string(vmid));
}

bool is_creation_lock(const std::string& lock) {
    return lock == "create" || lock == "clone";
}

std::string unlock_and_destroy(const std::string& host, std::int64_t vmid) {
    const auto id = std::to_string(vmid);
    return "as root on " + host + ", first see whose it is: qm config " + id + " and grep :" + id +
           ": /var/log/pve/tasks/index; if it belongs to no one else: qm unlock " + id + " && qm destroy " +
           id;
}

std::string stale_lock_hint(std::int64_t vmid) {
    return "if no task is at work on it, as root on that host: qm unlock " + std::to_string(vmid);
}

std::string half_made_text(const Look& look, bool is_ours) {
    const auto id = std::to_string(look.vmid);
    const auto what = "VM " + id + " on " + look.host + " is locked (" + look.config.lock() + ") ";
    const auto remedy = unlock_and_destroy(look.host, look.vmid);
    const bool is_remains = !is_creation_lock(look.config.lock());
    if (is_ours && is_remains)
        return what + "by a task of the operator that died while it destroyed the VM; " + remedy;
    if (is_ours)
        return what + "by a task of the operator that died before it recorded whose VM it is; " + remedy;
    return what + "and no task is at work on it, and nothing shows whose it is; " + remedy;
}

}  // namespace providers::proxmox
