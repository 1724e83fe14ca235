#include "test/simulators/proxmox/core/file_locks.hpp"

#include <utility>

#include "test/simulators/proxmox/core/error.hpp"

namespace proxmox_simulator {

// Place is a place in the queue for one lock. Its destructor gives it up on every way out.
class FileLocks::Place {
public:
    Place(FileLocks& locks, const std::string& key) : locks_(locks), key_(key), number_(++locks.next_place_) {
        locks_.states_[key_].waiting.push_back(number_);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
        std::erase(locks_.states_[key_].waiting, number_);
        locks_.forget_if_unused(key_);
        locks_.wake();
    }
    std::uint64_t number() const { return number_; }

private:
    FileLocks& locks_;
    std::string key_;
    std::uint64_t number_;
};

FileLocks::Held::Held(FileLocks& locks, std::string file, LockMode mode)
    : locks_(&locks), file_(std::move(file)), mode_(mode) {
    auto& state = locks_->states_[file_];
    if (mode_ == LockMode::exclusive) {
        state.writer = true;
    } else {
        ++state.readers;
    }
}

FileLocks::Held::Held(Held&& other) noexcept
    : locks_(std::exchange(other.locks_, nullptr)), file_(std::move(other.file_)), mode_(other.mode_) {}

FileLocks::Held::~Held() {
    if (!locks_) return;
    auto& state = locks_->states_[file_];
    if (mode_ == LockMode::exclusive) {
        state.writer = false;
    } else {
        --state.readers;
    }
    locks_->forget_if_unused(file_);
    locks_->wake();
}

void FileLocks::forget_if_unused(const std::string& key) {
    const auto& state = states_[key];
    if (!state.writer && state.readers == 0 && state.waiting.empty()) states_.erase(key);
}

bool FileLocks::is_free(const LockName& name, LockMode mode) const {
    auto state = states_.find(name.key);
    if (state == states_.end()) return true;
    return mode == LockMode::shared && !state->second.writer && state->second.waiting.empty();
}

bool FileLocks::may_take(const LockName& name, LockMode mode, std::uint64_t place) const {
    const auto& state = states_.at(name.key);
    bool compatible = !state.writer && (mode == LockMode::shared || state.readers == 0);
    return compatible && state.waiting.front() == place;
}

asio::awaitable<FileLocks::Held> FileLocks::acquire(LockName name, LockMode mode, base::Duration timeout,
                                                    std::function<void()> interrupted) {
    const auto deadline = clock_.now() + timeout;
    Place place(*this, name.key);
    while (!may_take(name, mode, place.number())) {
        if (clock_.now() >= deadline) throw failure(name.complaint);
        co_await changed_.wait_until(clock_, deadline);
        if (interrupted) interrupted();
    }
    co_return Held(*this, std::move(name.key), mode);
}

LockName machine_lock(int vmid) {
    auto file = "/var/lock/qemu-server/lock-" + std::to_string(vmid) + ".conf";
    return {file, "can't lock file '" + file + "' - got timeout"};
}

LockName local_storage_lock(const std::string& storage, const std::string& host) {
    auto file = "/var/lock/pve-manager/pve-storage-" + storage;
    return {host + ":" + file, "can't lock file '" + file + "' - got timeout"};
}

LockName shared_storage_lock(const std::string& storage) {
    return {"cfs:" + storage, "cfs-lock 'storage-" + storage + "' error: got lock request timeout"};
}

}  // namespace proxmox_simulator
