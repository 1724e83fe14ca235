#include "providers/proxmox/cluster/cluster_view.hpp"

#include "base/log.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/wire/cluster_identity.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kOptionsAge = std::chrono::minutes{10};

}  // namespace

asio::awaitable<ClusterView::StatePointer> ClusterView::state(base::Duration max_age) {
    const auto begun = clock_.now();
    const auto pass = co_await fetches_.enter("state");
    // Another caller may have fetched the state while this call waited for its turn.
    const bool is_new = state_.fetched_at && *state_.fetched_at >= begun && max_age > base::Duration::zero();
    if (is_new || state_.is_fresh(clock_.now(), max_age)) co_return state_.value;
    const auto asked_at = clock_.now();
    const auto last_answer = client_.last_answer();
    const auto call = get_cluster_resources();
    const auto data = co_await client_.read(call);
    auto found = parse_cluster_state(data);
    found.last_answer_before = last_answer;
    // Every cluster lists its hosts, whatever a token may see. An answer without hosts proves nothing about
    // guests.
    if (found.hosts.empty()) throw ProxmoxError(ErrorKind::other, call.tried, "the answer names no host");
    co_await client_.confirm_cluster();
    if (!found.passed_over.empty() && (!state_.value || state_.value->passed_over != found.passed_over))
        base::log::warning("Skipped hosts or storages of a Proxmox cluster",
                           {{"provider", settings_.provider_name},
                            {"count", found.passed_over.size()},
                            {"error", found.passed_over.front()}});
    state_.value = std::make_shared<const ClusterState>(std::move(found));
    state_.fetched_at = asked_at;
    co_return state_.value;
}

asio::awaitable<ClusterView::StatePointer> ClusterView::majority_state(base::Duration max_age) {
    const auto last_answer = client_.last_answer();
    auto state = co_await this->state(max_age);
    if (state == of_majority_) co_return state;
    // A proof that comes later says nothing, as quorum may have been regained in between.
    if (state->last_answer_before < last_answer) state = co_await this->state(base::Duration::zero());
    co_await client_.confirm_quorum(state->last_answer_before);
    of_majority_ = state;
    co_return state;
}

asio::awaitable<std::string> ClusterView::name() {
    if (!settings_.cluster_name.empty()) co_return settings_.cluster_name;
    if (!name_.empty()) co_return name_;
    std::string found;
    try {
        const auto status = co_await client_.read(get_cluster_status());
        found = cluster_name(status);
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::permission) throw;
    }
    co_await client_.confirm_cluster();
    has_providers_name_ = found.empty();
    if (found.empty()) found = settings_.provider_name.substr(settings_.provider_name.find('/') + 1);
    if (name_.empty()) name_ = found;
    co_return name_;
}

asio::awaitable<IDRange> ClusterView::id_range() {
    if (settings_.ids) co_return *settings_.ids;
    if (id_range_.is_fresh(clock_.now(), kOptionsAge)) co_return id_range_.value;
    IDRange range;
    try {
        const auto options = co_await client_.read(get_cluster_options());
        // Proxmox returns this option as a property string; newer versions return an object.
        const auto* next_id = options.is_object() ? options.get_object().if_contains("next-id") : nullptr;
        if (next_id && next_id->is_object()) {
            const auto& bounds = next_id->get_object();
            range = parse_next_id_range(
                "lower=" +
                std::to_string(bounds.contains("lower") ? integer_of(bounds, "lower") : range.lower) +
                ",upper=" +
                std::to_string(bounds.contains("upper") ? integer_of(bounds, "upper") : range.upper + 1));
        } else if (next_id) {
            range = parse_next_id_range(text_of(*next_id));
        }
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::permission) throw;
    }
    id_range_.value = range;
    id_range_.fetched_at = clock_.now();
    co_return range;
}

asio::awaitable<Permissions> ClusterView::permissions(base::Duration max_age) {
    if (permissions_.is_fresh(clock_.now(), max_age)) co_return permissions_.value;
    const auto data = co_await client_.read(get_permissions());
    permissions_.value = Permissions::parse(data);
    permissions_.fetched_at = clock_.now();
    co_return permissions_.value;
}

asio::awaitable<TagRules> ClusterView::tag_rules() {
    const auto options = co_await client_.read(get_cluster_options());
    co_return TagRules::parse(options);
}

asio::awaitable<bool> ClusterView::sees_all_machines(base::Duration max_age) {
    const auto permissions = co_await this->permissions(max_age);
    co_return permissions.has("/vms", "VM.Audit") || permissions.has(vm_path(settings_), "VM.Audit");
}

}  // namespace providers::proxmox
