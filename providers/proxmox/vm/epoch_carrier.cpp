#include "providers/proxmox/vm/epoch_carrier.hpp"

#include <algorithm>

#include "base/backoff.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/vm/half_made.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kGuestsAge = std::chrono::seconds{10};
constexpr std::string_view kSuspended = "suspended";
// A task that hangs may hold the lock of a VM for days.
constexpr base::Backoff kRefusalPauses{std::chrono::minutes{10}, std::chrono::hours{24}};

}  // namespace

bool EpochCarrier::is_ours(const MachineIdentity& identity) const {
    return identity.cluster_id == settings_.cluster_id && identity.provider_uid == settings_.provider_uid;
}

asio::awaitable<EpochLook> EpochCarrier::read_epoch(ExpectedUuid expected) {
    EpochLook look;
    const auto since = client_.last_answer();
    const auto state = co_await view_.majority_state(kGuestsAge);
    const auto tag = parse_tags(settings_.managed_tag());
    const auto may_be_ours = [&tag](const Guest& guest) {
        return !guest.is_container && !guest.is_template && std::ranges::includes(guest.tags, tag);
    };
    look.is_empty = std::ranges::none_of(state->odd_guests, may_be_ours);
    std::optional<EpochSlot> spare;  // can only be read
    for (const auto& guest : state->guests) {
        if (!may_be_ours(guest)) continue;
        const auto* host = state->find_host(guest.node);
        // A person may suspend a machine for weeks.
        const bool is_suspended = guest.lock == kSuspended;
        const bool is_readable = host && !host->is_down() && (guest.lock.empty() || is_suspended);
        if (!is_readable) {
            look.is_empty = false;  // it may be ours
            // A VM that is being made or destroyed carries no record. Other locks end.
            const bool is_whole = !is_creation_lock(guest.lock) && guest.lock != "destroyed";
            if (host && !host->is_down() && is_whole && look.unread.empty())
                look.unread = "VM " + std::to_string(guest.vmid) + " on " + guest.node + " is locked (" +
                              guest.lock + "); " + stale_lock_hint(guest.vmid);
            continue;
        }
        const auto marked = co_await machines_.mark_of(guest);
        if (!marked && !machines_.is_known(guest))
            throw ProviderError("VM " + std::to_string(guest.vmid) + " on " + guest.node +
                                " cannot be read, so it is not known whose epoch it carries");
        if (!marked || !is_ours(marked->identity)) continue;
        look.is_empty = false;
        auto slot = co_await read_slot(guest.node, guest.vmid, expected);
        if (slot && slot->takes_none) {
            if (!spare) spare = std::move(slot);
            continue;
        }
        look.slot = std::move(slot);
        if (look.slot) break;
    }
    if (!look.slot) look.slot = std::move(spare);
    co_await client_.confirm_cluster();
    co_await client_.confirm_quorum(since);
    co_return look;
}

asio::awaitable<std::optional<EpochSlot>> EpochCarrier::read_slot(std::string host, std::int64_t vmid,
                                                                  ExpectedUuid expected) {
    const auto data = co_await client_.read(get_vm_config(host, vmid));
    const auto config = parse_vm_config(data);
    const auto description = config.option("description");
    auto identity = parse_mark(description);
    const bool is_locked = !config.lock().empty() && !config.is_suspended();
    if (!identity || !is_ours(*identity) || is_locked) co_return std::nullopt;
    identity->system_uuid = expected(identity->claim_uid, identity->attempt);
    if (ownership_of(config, vmid, *identity, settings_.managed_tag()) != Ownership::ours)
        co_return std::nullopt;
    EpochSlot slot;
    slot.machine.host = std::move(host);
    slot.machine.machine_id = std::to_string(vmid);
    slot.claim_uid = identity->claim_uid;
    slot.text = description;
    slot.version = config.option("digest");
    slot.record = parse_epoch(description);
    const auto refusal = refusals_.find(slot.machine.machine_id);
    const bool is_refused = refusal != refusals_.end() && clock_.now() < refusal->second.until;
    // Proxmox changes no VM that is locked, or whose hanging task holds the lock of its file.
    slot.takes_none = config.is_suspended() || is_refused;
    co_return slot;
}

asio::awaitable<void> EpochCarrier::write_epoch(EpochSlot slot, EpochRecord record) {
    base::FormFields change{{"description", with_epoch(slot.text, record)}};
    if (!slot.version.empty()) change.emplace_back("digest", slot.version);
    const auto id = slot.machine.machine_id;
    try {
        co_await client_.change(configure_vm(slot.machine.host, vmid_of(id), std::move(change)));
        refusals_.erase(id);
    } catch (const ProxmoxError& error) {
        if (error.kind == ErrorKind::lock_timeout) {
            auto& refusal = refusals_[id];
            refusal.until = clock_.now() + kRefusalPauses.after(++refusal.count);
        }
        throw;
    }
}

}  // namespace providers::proxmox
