#include "test/simulation/storage_fillers.hpp"

#include <string>
#include <vector>

#include "test/simulators/proxmox/core/volumes.hpp"

namespace simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kPauseOfFillers = 1800;  // s
constexpr std::uint64_t kLongestFull = 1200;     // s

class StorageFillers final : public Outsider {
public:
    explicit StorageFillers(World& world) : world_(world), random_(world.random_for("storage fillers")) {}

    void begin() override {
        const bool fills = !world_.faults.is_calm() && random_->below(3) == 0;
        if (!fills) return;
        const auto& hosts = proxmox().hosts;
        if (hosts.size() > 1) fill_for_good(hosts.back().name);
        arm();
    }

    void make_peace() override {
        next_.reset();
        release_.reset();
        release();
    }

private:
    proxmox::World& proxmox() const { return world_.proxmox.cluster().world; }

    // Fills the storage with data of others. Boot images still fit beside it, but no disk of a machine does.
    static void fill(proxmox::Storage& storage, const std::string& host) {
        const auto used = proxmox::used_space(storage, host) - storage.foreign_used[host];
        storage.foreign_used[host] = storage.total - std::min(used + proxmox::kGiB, storage.total);
    }

    void fill_for_good(const std::string& host) {
        for (auto& [id, storage] : proxmox().storages) {
            if (storage.shared || !proxmox::exists_on(storage, host)) continue;
            fill(storage, host);
        }
        full_for_good_ = host;
        world_.trace.line("storage fillers", "the storages of ", host, " are full for good");
        world_.happenings.count("storage filler: filled a host for good");
    }

    void arm() {
        const auto pause =
            std::chrono::seconds{60 + static_cast<std::int64_t>(random_->below(kPauseOfFillers))};
        next_ = world_.clock.call_at(world_.now() + pause, [this] {
            fill_one();
            arm();
        });
    }

    void fill_one() {
        if (!filled_.empty()) return;
        std::vector<std::string> ids;
        for (const auto& [id, storage] : proxmox().storages)
            if (storage.content.contains("images")) ids.push_back(id);
        filled_ = ids[random_->below(ids.size())];
        auto& storage = proxmox().storages.at(filled_);
        const auto& hosts = proxmox().hosts;
        const auto& host = hosts[random_->below(hosts.size())].name;
        if (host == full_for_good_ || !proxmox::exists_on(storage, host)) {
            filled_.clear();
            return;
        }
        where_ = storage.shared ? std::string() : host;
        fill(storage, where_);
        world_.trace.line("storage fillers", "storage ", filled_, " is full on ", host);
        world_.happenings.count("storage filler: filled a storage for a while");
        const auto time = std::chrono::seconds{30 + static_cast<std::int64_t>(random_->below(kLongestFull))};
        release_ = world_.clock.call_at(world_.now() + time, [this] { release(); });
    }

    void release() {
        if (filled_.empty()) return;
        proxmox().storages.at(filled_).foreign_used.erase(where_);
        world_.trace.line("storage fillers", "storage ", filled_, " has room again");
        filled_.clear();
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_, release_;
    std::string full_for_good_, filled_, where_;
};

}  // namespace

std::unique_ptr<Outsider> storage_fillers(World& world) {
    return std::make_unique<StorageFillers>(world);
}

}  // namespace simulation
