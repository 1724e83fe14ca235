#include "providers/proxmox/proxmox_provider.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "providers/proxmox/ensurer.hpp"
#include "providers/proxmox/half_made_finder.hpp"
#include "providers/proxmox/images/template_keeper.hpp"
#include "providers/proxmox/machine_remover.hpp"
#include "providers/proxmox/placement/cluster_health.hpp"
#include "providers/proxmox/vm/epoch_carrier.hpp"
#include "providers/proxmox/vm/guest_look.hpp"
#include "providers/proxmox/vm/left_volumes.hpp"
#include "providers/proxmox/vm/power_switch.hpp"
#include "providers/proxmox/vm/releaser.hpp"
#include "providers/proxmox/vm/restarter.hpp"
#include "providers/proxmox/vm_adopter.hpp"
#include "providers/proxmox/wire/growing_pauses.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kListAge = std::chrono::seconds{10};

// ProxmoxProvider confirms every conclusion from missing objects after the last answer. The confirmation
// proves that all answers came from the cluster of its machines.
class ProxmoxProvider final : public Provider,
                              public Adopter,
                              public Dismantler,
                              public LeftoverFinder,
                              public GuestObserver,
                              public MachineStarter,
                              public MachineStopper,
                              public StrayFinder {
public:
    ProxmoxProvider(ProviderConfig config, ProviderEnvironment& environment)
        : settings_(make_settings(config)),
          client_(make_client_options(config), environment),
          view_(settings_, client_, environment),
          machines_(settings_, client_, view_),
          tasks_(client_, environment.clock),
          images_(settings_, client_, view_, machines_, tasks_, environment),
          templates_(settings_, client_, view_, environment.clock, templates_in_the_making_),
          volume_owners_(client_, environment.clock),
          template_keeper_(settings_, client_, view_, templates_, tasks_, volume_owners_, environment.clock,
                           templates_in_the_making_),
          made_volumes_(settings_, view_, templates_),
          placer_(settings_, client_, view_, templates_, volume_owners_, environment.clock),
          cloner_(settings_, client_, templates_, environment.clock),
          configurer_(settings_, client_, images_),
          agent_(settings_, client_, environment.clock),
          ensurer_(settings_, client_, view_, machines_, images_, cloner_, configurer_, agent_, placer_,
                   tasks_, environment.clock),
          remover_(settings_, client_, machines_, images_, tasks_, made_volumes_, environment.clock),
          releaser_(settings_, client_, machines_, environment.clock),
          restarter_(settings_, client_, view_, machines_, tasks_, environment.clock),
          power_switch_(settings_, client_, machines_, tasks_, environment.clock),
          adoption_(settings_, client_, view_),
          epoch_carrier_(settings_, client_, view_, machines_, environment.clock),
          half_made_(settings_, client_, view_, machines_, cloner_, tasks_),
          left_volumes_(client_, view_, environment.clock),
          doubts_(environment.clock),
          clock_(environment.clock) {}

    asio::awaitable<EnsureResult> ensure(MachineSpec spec) override {
        auto result = co_await ensurer_.ensure(std::move(spec));
        worked_at_ = clock_.now();
        if (!std::holds_alternative<Machine>(result)) co_await client_.confirm_cluster();
        co_return result;
    }
    asio::awaitable<RemoveResult> remove(MachineIdentity identity, MachineRecord record,
                                         InUseCheck in_use) override {
        const auto task = record.task;
        const auto uuid = identity.system_uuid;
        const auto since = client_.last_answer();
        auto result = co_await remover_.remove(std::move(identity), std::move(record), std::move(in_use));
        if (std::holds_alternative<Gone>(result)) {
            auto doubt = co_await doubt_of_gone(since);
            if (!doubt.empty()) co_return RemovalInProgress{std::move(doubt), task, doubts_.begin(uuid)};
        }
        co_return result;
    }
    asio::awaitable<StopResult> stop(MachineIdentity identity, MachineRecord record,
                                     InUseCheck in_use) override {
        const auto task = record.task;
        const auto uuid = identity.system_uuid;
        const auto since = client_.last_answer();
        auto result = co_await remover_.stop(std::move(identity), std::move(record), std::move(in_use));
        if (std::holds_alternative<Gone>(result)) {
            auto doubt = co_await doubt_of_gone(since);
            if (!doubt.empty()) co_return RemovalInProgress{std::move(doubt), task, doubts_.begin(uuid)};
        }
        co_return result;
    }
    asio::awaitable<bool> release(MachineIdentity identity, MachineRecord record) override {
        const auto since = client_.last_answer();
        const bool is_done = co_await releaser_.release(std::move(identity), std::move(record));
        if (is_done) co_await confirm_gone(since);
        co_return is_done;
    }
    asio::awaitable<bool> switch_power(MachineIdentity identity, MachineRecord record, Power power,
                                       InUseCheck in_use) override {
        co_return co_await power_switch_.turn(std::move(identity), std::move(record), power,
                                              std::move(in_use));
    }
    asio::awaitable<RestartResult> start_again(MachineIdentity identity, MachineRecord record) override {
        co_return co_await restarter_.start_again(std::move(identity), std::move(record));
    }
    asio::awaitable<std::optional<Machine>> get(MachineIdentity identity, MachineRecord record) override;
    asio::awaitable<std::vector<Machine>> list() override;
    asio::awaitable<std::vector<Stray>> strays() override;
    asio::awaitable<AdoptResult> adopt(MachineIdentity identity) override {
        const auto since = client_.last_answer();
        auto result = co_await adoption_.adopt(std::move(identity));
        if (std::holds_alternative<NotAdopted>(result)) co_await confirm_gone(since);
        co_return result;
    }
    asio::awaitable<Leftovers> leftovers() override {
        auto all = co_await half_made_.find();
        const auto volumes = co_await left_volumes_.find();
        all.found.insert(all.found.end(), volumes.found.begin(), volumes.found.end());
        all.unseen.insert(all.unseen.end(), volumes.unseen.begin(), volumes.unseen.end());
        co_await client_.confirm_cluster();
        co_return all;
    }
    asio::awaitable<std::vector<Leftover>> under_way() override {
        const auto since = client_.last_answer();
        auto all = co_await half_made_.find_under_way();
        co_await confirm_gone(since);
        worked_at_ = clock_.now();
        co_return all;
    }
    asio::awaitable<std::vector<Machine>> unfinished(std::string name) override;
    asio::awaitable<GuestSight> look_at_guest(MachineRecord record) override {
        co_return co_await proxmox::look_at_guest(client_, std::move(record));
    }
    Capabilities capabilities() override {
        return {.adopter = this,
                .dismantler = this,
                .epoch_keeper = &epoch_carrier_,
                .guest_observer = this,
                .leftover_finder = this,
                .machine_starter = this,
                .machine_stopper = this,
                .stray_finder = this};
    }
    asio::awaitable<std::vector<HostOffering>> offerings() override {
        auto offerings = co_await placer_.offerings();
        co_await client_.confirm_cluster();
        co_return offerings;
    }
    asio::awaitable<Health> check() override {
        auto health = co_await check_health(settings_, client_, view_, templates_);
        co_await template_keeper_.tend(health);
        if (health.reason.empty()) health.storage_low = co_await storages_low();
        co_return health;
    }
    asio::awaitable<std::string> dismantle() override {
        const auto since = client_.last_answer();
        co_await view_.majority_state(kListAge);
        auto left = co_await template_keeper_.remove_all();
        co_await confirm_gone(since);
        co_return left;
    }
    asio::awaitable<bool> discard_boot_image(MachineIdentity identity, MachineRecord record) override {
        const auto since = client_.last_answer();
        const bool is_done = co_await images_.discard(std::move(identity), std::move(record));
        if (is_done) co_await confirm_gone(since);
        co_return is_done;
    }

private:
    // Returns the warning. If it cannot be computed now, the rest of the cluster's health is still shown.
    asio::awaitable<std::string> storages_low() {
        try {
            co_return co_await placer_.storages_low();
        } catch (const ProxmoxError& error) {
            base::log::debug("Cannot tell how full storages are",
                             {{"provider", settings_.provider_name}, {"error", error.what()}});
        }
        co_return std::string();
    }
    // Throws unless the answers after the one with that number came from our cluster and from its majority.
    // Otherwise an object that they lack may still exist.
    asio::awaitable<void> confirm_gone(std::uint64_t since) {
        co_await client_.confirm_cluster();
        co_await client_.confirm_quorum(since);
    }
    // Returns why an object that these answers lack may still exist; empty: it is gone.
    asio::awaitable<std::string> doubt_of_gone(std::uint64_t since) {
        co_await client_.confirm_cluster();
        try {
            co_await client_.confirm_quorum(since);
        } catch (const ProxmoxError& error) {
            if (error.kind != ErrorKind::no_quorum) throw;
            co_return error.what();
        }
        co_return std::string();
    }
    // Returns the state for a list. A claim that lost its status gets a second machine if its first is
    // missing there, so the state must be newer than the last step on a machine.
    asio::awaitable<ClusterView::StatePointer> state_since_work() {
        const auto since_work = worked_at_ ? clock_.now() - *worked_at_ : kListAge;
        co_return co_await view_.majority_state(std::min(kListAge, since_work));
    }
    bool has_our_tag(const Guest& guest) const {
        return std::ranges::includes(guest.tags, parse_tags(settings_.managed_tag()));
    }
    // Reports whether an unmarked guest may be unfinished: such a machine has our mark but not our tag. If
    // neither its ID nor its resource pool is ours alone, only its claim refers to it.
    bool may_be_unfinished(const Guest& guest) const {
        const auto& ids = settings_.ids;
        const auto& pool = settings_.spec.resourcePool;
        const bool has_our_id = ids && guest.vmid >= ids->lower && guest.vmid <= ids->upper;
        return settings_.are_finished_later() && (has_our_id || (!pool.empty() && guest.pool == pool));
    }
    // Returns the guest if its mark is ours, or without an identity if its mark cannot be read.
    asio::awaitable<std::optional<Machine>> as_ours(Guest guest);
    asio::awaitable<Machine> machine_of(MachineIdentity identity, std::string host, std::int64_t vmid,
                                        std::int64_t cpu_cores, std::int64_t memory_mib);

    Settings settings_;
    ProxmoxClient client_;
    ClusterView view_;
    VmFinder machines_;
    Tasks tasks_;
    BootImages images_;
    HostObstacles templates_in_the_making_;
    Templates templates_;
    VolumeOwners volume_owners_;
    TemplateKeeper template_keeper_;
    MadeVolumesFinder made_volumes_;
    HostChooser placer_;
    Cloner cloner_;
    Configurer configurer_;
    GuestAgent agent_;
    Ensurer ensurer_;
    MachineRemover remover_;
    Releaser releaser_;
    Restarter restarter_;
    PowerSwitch power_switch_;
    VmAdopter adoption_;
    EpochCarrier epoch_carrier_;
    HalfMadeFinder half_made_;
    LeftVolumeFinder left_volumes_;
    GrowingPauses doubts_;  // pauses while it is unclear whether machines are gone
    base::Clock& clock_;
    std::optional<base::TimePoint> worked_at_;  // end of the last ensure() or under_way()
};

asio::awaitable<Machine> ProxmoxProvider::machine_of(MachineIdentity identity, std::string host,
                                                     std::int64_t vmid, std::int64_t cpu_cores,
                                                     std::int64_t memory_mib) {
    const auto cluster = co_await view_.name();
    Machine machine;
    machine.name = identity.claim_name;
    machine.identity = std::move(identity);
    machine.record.host = host;
    machine.record.machine_id = std::to_string(vmid);
    machine.provider_id = settings_.provider_id(cluster, machine.record.machine_id);
    if (settings_.has_zones()) machine.zone = host;
    machine.cpu_cores = cpu_cores;
    machine.memory_mib = std::max<std::int64_t>(memory_mib - settings_.spec.vmMemOverheadMiB, 0);
    co_return machine;
}

asio::awaitable<std::optional<Machine>> ProxmoxProvider::get(MachineIdentity identity, MachineRecord record) {
    if (record.machine_id.empty()) co_return std::nullopt;
    const auto since = client_.last_answer();
    auto look = co_await machines_.find(identity, record);
    const bool is_other = look.presence == Presence::present && look.ownership == Ownership::foreign;
    if (is_other) look = co_await machines_.find_elsewhere(identity);
    if (look.presence == Presence::absent) {
        co_await confirm_gone(since);
        co_return std::nullopt;
    }
    const auto vm = "VM " + std::to_string(look.vmid) + " on " + look.host;
    if (look.presence == Presence::host_down) throw ProviderError(vm + ": " + host_down_reason(look));
    if (look.presence == Presence::hidden) throw ProviderError(vm + ": the token lacks VM.Audit on it");
    if (look.ownership == Ownership::contradictory) {
        throw ProviderError(vm + " is only partly marked as this machine: " +
                            explain_ownership(look.config, look.vmid, identity, settings_.managed_tag()));
    }
    auto machine =
        co_await machine_of(identity, look.host, look.vmid, look.config.cores(), look.config.memory_mib());
    machine.record.task = record.task;
    if (look.ownership == Ownership::half_made || !look.config.lock().empty()) {
        machine.state = MachineState::creating;
        machine.message = "VM is locked (" + look.config.lock() + ")";
        co_return machine;
    }
    const bool is_running = co_await machines_.is_running(look.host, look.vmid);
    machine.state = is_running ? MachineState::running : MachineState::stopped;
    co_return machine;
}

asio::awaitable<std::optional<Machine>> ProxmoxProvider::as_ours(Guest guest) {
    auto marked = co_await machines_.mark_of(guest);
    const bool is_unread = !marked && !machines_.is_known(guest);
    if (is_unread) marked.emplace(VmFinder::Marked{});
    const bool is_ours = marked && marked->identity.cluster_id == settings_.cluster_id &&
                         marked->identity.provider_uid == settings_.provider_uid;
    if (!is_ours && !is_unread) co_return std::nullopt;
    auto machine =
        co_await machine_of(marked->identity, guest.node, guest.vmid, marked->cpu_cores, marked->memory_mib);
    machine.state = guest.is_running ? MachineState::running : MachineState::stopped;
    machine.is_unfinished = marked->is_unfinished;
    co_return machine;
}

// Returns our machines, from the cluster's majority.
asio::awaitable<std::vector<Machine>> ProxmoxProvider::list() {
    const auto since = client_.last_answer();
    const auto state = co_await state_since_work();
    machines_.forget_missing(*state);
    std::vector<Machine> result;
    for (const auto& guest : state->guests) {
        if (guest.is_container || guest.is_template) continue;
        if (!has_our_tag(guest) && !may_be_unfinished(guest)) continue;
        auto machine = co_await as_ours(guest);
        if (machine) result.push_back(*std::move(machine));
    }
    // Their marks cannot be read.
    for (const auto& guest : state->odd_guests) {
        if (!has_our_tag(guest) && !may_be_unfinished(guest)) continue;
        Machine unread;
        unread.record.machine_id = std::to_string(guest.vmid);
        result.push_back(std::move(unread));
    }
    co_await confirm_gone(since);
    co_return result;
}

asio::awaitable<std::vector<Machine>> ProxmoxProvider::unfinished(std::string name) {
    std::vector<Machine> result;
    if (!settings_.are_finished_later()) co_return result;
    const auto since = client_.last_answer();
    const auto state = co_await state_since_work();
    for (const auto& guest : state->guests) {
        // A new VM shows no name for seconds. The VMs of a host that is down show none either.
        const auto* host = state->find_host(guest.node);
        const bool is_new = guest.name.empty() && host && host->is_online;
        const bool is_listed = has_our_tag(guest) || may_be_unfinished(guest);
        if (guest.is_container || guest.is_template || is_listed) continue;
        if (guest.name != name && !is_new) continue;
        auto machine = co_await as_ours(guest);
        const bool may_be_it = machine && (machine->is_unfinished || machine->identity.claim_uid.empty());
        if (may_be_it) result.push_back(*std::move(machine));
    }
    co_await confirm_gone(since);
    co_return result;
}

// Returns strays. It reads only guests with our tag or the default one, as foreign clusters may be large.
asio::awaitable<std::vector<Stray>> ProxmoxProvider::strays() {
    const auto state = co_await view_.state(kListAge);
    const auto tag = parse_tags(settings_.managed_tag());
    const auto usual = parse_tags(api::v1alpha1::ProxmoxSpec().managedNodeTag);
    std::vector<Stray> result;
    for (const auto& guest : state->guests) {
        if (guest.is_container || guest.is_template) continue;
        if (!std::ranges::includes(guest.tags, tag) && !std::ranges::includes(guest.tags, usual)) continue;
        const auto marked = co_await machines_.mark_of(guest);
        if (!marked || marked->identity.cluster_id != settings_.cluster_id ||
            marked->identity.provider_uid == settings_.provider_uid)
            continue;
        Stray stray;
        stray.identity = marked->identity;
        stray.record.host = guest.node;
        stray.record.machine_id = std::to_string(guest.vmid);
        stray.removal = "on " + guest.node + ", first see whose it is: qm config " + stray.record.machine_id +
                        "; if it is not needed: qm stop " + stray.record.machine_id + " && qm destroy " +
                        stray.record.machine_id + " --purge --destroy-unreferenced-disks 0";
        result.push_back(std::move(stray));
    }
    co_return result;
}

}  // namespace

std::unique_ptr<Provider> make_proxmox_provider(ProviderConfig config, ProviderEnvironment& environment) {
    return std::make_unique<ProxmoxProvider>(std::move(config), environment);
}

}  // namespace providers::proxmox
