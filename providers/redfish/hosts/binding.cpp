#include "providers/redfish/hosts/binding.hpp"

#include "base/backoff.hpp"

namespace providers::redfish {

namespace {

constexpr base::Backoff kFailureBackoff{std::chrono::minutes{1}, std::chrono::hours{1}};
constexpr int kNoteTries = 3;

void count_failure(HostUse& use, base::WallTime now) {
    ++use.failures;
    use.next_retry = now + kFailureBackoff.after(use.failures);
}

}  // namespace

bool is_bound_to(const Host& host, const MachineIdentity& identity) {
    return host.use.owner && host.use.owner->claim_uid == identity.claim_uid;
}

asio::awaitable<std::optional<Host>> Binding::read(std::string name) {
    co_return co_await inventory_.read(settings_.namespace_, std::move(name));
}

asio::awaitable<bool> Binding::still_has(MachineIdentity identity, std::string name) {
    const auto host = co_await read(std::move(name));
    const bool has = host.has_value() && is_bound_to(*host, identity);
    co_return has;
}

asio::awaitable<std::optional<Host>> Binding::take(Host host, MachineIdentity identity) {
    auto use = host.use;
    use.owner = HostOwner{identity.claim_name, identity.claim_uid};
    use.stage = HostStage::reserved;
    use.woken.reset();
    use.last_failure.clear();
    auto message = "reserved for claim " + identity.claim_name;
    co_return co_await inventory_.write(std::move(host), std::move(use), std::move(message));
}

asio::awaitable<std::optional<Host>> Binding::enter(Host host, HostStage stage, std::string message) {
    auto use = host.use;
    use.stage = stage;
    co_return co_await inventory_.write(std::move(host), std::move(use), std::move(message));
}

asio::awaitable<std::optional<Host>> Binding::enter_joining(Host host, bool is_woken) {
    auto use = host.use;
    use.stage = HostStage::joining;
    if (is_woken && !use.woken) use.woken = clock_.wall_now();
    std::string message = is_woken ? "is on; waiting for it to join"
                                   : "is on; it counts as turned on for its claim if it joins";
    co_return co_await inventory_.write(std::move(host), std::move(use), std::move(message));
}

asio::awaitable<void> Binding::note_woken(MachineIdentity identity, std::string name) {
    for (int tries = 0; tries < kNoteTries; ++tries) {
        auto host = co_await read(name);
        if (!host || !is_bound_to(*host, identity)) co_return;
        auto use = host->use;
        use.woken = clock_.wall_now();
        const auto written = co_await inventory_.write(std::move(*host), std::move(use), "");
        if (written) co_return;
    }
}

asio::awaitable<void> Binding::note_failure(MachineIdentity identity, std::string name, std::string why) {
    for (int tries = 0; tries < kNoteTries; ++tries) {
        auto host = co_await read(name);
        const bool is_noted = !host || !is_bound_to(*host, identity) || !host->use.last_failure.empty();
        if (is_noted) co_return;
        auto use = host->use;
        use.last_failure = why;
        if (use.stage == HostStage::reserved) count_failure(use, clock_.wall_now());
        const auto written = co_await inventory_.write(std::move(*host), std::move(use), "");
        if (written) co_return;
    }
}

asio::awaitable<std::optional<Host>> Binding::retire(Host host, bool is_off, bool is_woken) {
    const auto stage = host.use.stage;
    auto use = host.use;
    if (is_woken && !use.woken) use.woken = clock_.wall_now();
    if (is_off) use.woken.reset();
    const bool is_known = is_off || use.woken || host.is_given;
    if (stage != HostStage::wiping && is_known) use.stage = HostStage::powering_off;
    if (use == host.use) co_return host;
    if (stage == HostStage::powering_on || stage == HostStage::joining) {
        count_failure(use, clock_.wall_now());
        if (use.last_failure.empty()) use.last_failure = "it did not become a Node";
    }
    std::string message = is_off ? "is off" : "is being turned off";
    co_return co_await inventory_.write(std::move(host), std::move(use), std::move(message));
}

asio::awaitable<std::optional<Host>> Binding::note_prepared(Host host) {
    auto use = host.use;
    use.is_prepared = true;
    co_return co_await inventory_.write(std::move(host), std::move(use), "");
}

asio::awaitable<void> Binding::note_undone(Host host) {
    auto use = host.use;
    use.is_prepared = false;
    co_await inventory_.write(std::move(host), std::move(use), "");
}

asio::awaitable<std::optional<Host>> Binding::note_erasures(Host host, std::int32_t count) {
    auto use = host.use;
    use.erasures = count;
    if (count > host.use.erasures) use.last_erasure = clock_.wall_now();
    co_return co_await inventory_.write(std::move(host), std::move(use), "");
}

asio::awaitable<bool> Binding::give_back(Host host, bool is_undone) {
    auto use = host.use;
    if (is_undone) use.is_prepared = false;
    use.erasures = 0;
    use.last_erasure.reset();
    use.owner.reset();
    use.stage = HostStage::other;
    use.woken.reset();
    const std::string message = "was returned; it is examined before it is used again";
    const auto written = co_await inventory_.write(std::move(host), std::move(use), message);
    co_return written.has_value();
}

}  // namespace providers::redfish
