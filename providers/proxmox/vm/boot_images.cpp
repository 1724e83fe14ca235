#include "providers/proxmox/vm/boot_images.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "providers/proxmox/config/creation.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kStoragesAge = std::chrono::seconds{30};

std::string storage_of(const std::string& volume) {
    return volume.substr(0, volume.find(':'));
}

std::string volume_in(const std::string& storage, const MachineIdentity& identity) {
    return storage + ":iso/" + boot_image_name(identity);
}

// Returns the storages by name.
std::vector<std::string> iso_storages(const ClusterState& state, const std::string& host) {
    std::vector<std::string> names;
    for (const auto& storage : state.storages) {
        if (storage.node == host && storage.is_available && storage.takes_iso) names.push_back(storage.name);
    }
    std::ranges::sort(names);
    return names;
}

}  // namespace

std::string image_storage(const Settings& settings, const ClusterState& state, const std::string& host) {
    const auto names = iso_storages(state, host);
    const auto wished = settings.image_storage();
    if (wished.empty()) return names.empty() ? std::string() : names.front();
    return std::ranges::find(names, wished) == names.end() ? std::string() : wished;
}

asio::awaitable<std::string> BootImages::storage_on(std::string host) {
    const auto state = co_await view_.state(kStoragesAge);
    auto storage = image_storage(settings_, *state, host);
    if (!storage.empty()) co_return storage;
    const auto visible = iso_storages(*state, host);
    const auto wished = settings_.image_storage();
    throw NoIsoStorage("host " + host + " has no active storage " + (wished.empty() ? "" : wished + " ") +
                       "for ISO images (visible are: " + (visible.empty() ? "none" : base::joined(visible)) +
                       "); set cloudInit.isoStorage to one with content type iso, on which the token has "
                       "Datastore.Audit and Datastore.AllocateTemplate");
}

asio::awaitable<std::string> BootImages::upload(MachineIdentity identity, std::string host,
                                                std::string image) {
    const auto storage = co_await storage_on(host);
    auto call = upload_iso(host, storage, boot_image_name(identity), std::move(image));
    const auto upid = co_await uploader_.upload(std::move(call));
    co_return text_of(upid);
}

asio::awaitable<std::string> BootImages::volume_on(MachineIdentity identity, std::string host) {
    const auto storage = co_await storage_on(host);
    co_return volume_in(storage, identity);
}

asio::awaitable<void> BootImages::attach(MachineIdentity identity, std::string host, std::int64_t vmid,
                                         VmConfig config) {
    const auto volume = co_await volume_on(identity, host);
    const auto change = unless_changed(config, {{free_cdrom_drive(config), volume + ",media=cdrom"}});
    co_await client_.change(configure_vm(host, vmid, change));
}

asio::awaitable<std::string> BootImages::delete_image(std::string host, std::string volume) {
    const auto upid = co_await client_.change(delete_volume(host, storage_of(volume), volume));
    co_return text_of(upid);
}

asio::awaitable<bool> BootImages::discard(MachineIdentity identity, MachineRecord record) {
    const auto uuid = identity.system_uuid;
    if (pauses_.lasts(uuid)) co_return false;
    try {
        co_return co_await discard_now(std::move(identity), std::move(record));
    } catch (const ProxmoxError& error) {
        if (is_tried_later(error.kind)) pauses_.begin(uuid);
        throw;
    }
}

asio::awaitable<bool> BootImages::discard_now(MachineIdentity identity, MachineRecord record) {
    const auto under_way = deletions_.find(identity.system_uuid);
    if (under_way != deletions_.end()) {
        const auto upid = under_way->second;
        const auto status = co_await tasks_.end_overdue(upid);
        if (status.outcome == TaskOutcome::running) co_return false;
        deletions_.erase(identity.system_uuid);
        // A task whose UPID was lost may hold the storage's lock.
        if (classify_exit(status.exit_status) == ErrorKind::lock_timeout) {
            auto others = co_await tasks_.at_work(record.host, 0);
            co_await tasks_.end_all_overdue(std::move(others));
        }
        const bool was_not_there = status.exit_status.find("No such file or directory") != std::string::npos;
        const bool is_gone = status.outcome == TaskOutcome::succeeded || was_not_there;
        if (is_gone)
            pauses_.end(identity.system_uuid);
        else
            pauses_.begin(identity.system_uuid);
        co_return is_gone;
    }
    const auto look = co_await machines_.find(identity, record);
    if (look.presence == Presence::absent) co_return true;
    if (look.presence != Presence::present) {
        throw ProviderError(
            "removing the boot image from VM " + record.machine_id + " on " + look.host + ": " +
            (look.presence == Presence::hidden ? "the token lacks VM.Audit on it" : host_down_reason(look)));
    }
    // We may not touch it.
    if (look.ownership != Ownership::ours) co_return true;
    const auto drive = drive_with_file(look.config, boot_image_name(identity));
    std::string volume;
    if (drive) {
        const auto change = unless_changed(look.config, {{drive->drive, "none,media=cdrom"}});
        co_await client_.change(configure_vm(look.host, look.vmid, change));
        volume = drive->volume;
    } else {
        const auto storage = co_await storage_on(look.host);
        volume = volume_in(storage, identity);
    }
    deletions_[identity.system_uuid] = co_await delete_image(look.host, volume);
    co_return false;
}

bool BootImages::may_be_left(const Look& machine) const {
    // Its drives come from its template, so no drive has an uploaded image.
    if (machine.ownership == Ownership::unfinished) return true;
    // The empty drive is ours after the image was ejected. The file may still exist.
    if (has_empty_cdrom(machine.config)) return true;
    return settings_.spec.cloudInit && !cloud_init_drive(machine.config) &&
           !has_boot_url(machine.config.option("smbios1"));
}

asio::awaitable<std::string> BootImages::delete_for_destruction(MachineIdentity identity, Look machine) {
    const auto file = boot_image_name(identity);
    const auto drive = drive_with_file(machine.config, file);
    if (!drive && !may_be_left(machine)) co_return std::string();
    std::string volume;
    if (drive) volume = drive->volume;
    try {
        if (volume.empty()) volume = volume_in(co_await storage_on(machine.host), identity);
    } catch (const NoIsoStorage&) {
        co_return std::string();  // without a storage no image was uploaded
    }
    const auto content = co_await client_.read(get_iso_images(machine.host, storage_of(volume)));
    const auto entries = objects_of(content);
    const bool is_there = std::ranges::any_of(
        entries, [&](const json::object* entry) { return text_of(*entry, "volid") == volume; });
    if (!is_there) co_return std::string();
    co_return co_await delete_image(machine.host, volume);
}

}  // namespace providers::proxmox
