#include "test/simulation/adversary.hpp"

#include <algorithm>
#include <cmath>

#include "test/simulation/control_plane_copy.hpp"
#include "test/simulation/sites.hpp"
#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"

namespace simulation {
namespace {

using namespace std::chrono_literals;

constexpr Fault kTimed[] = {Fault::killed,
                            Fault::paused,
                            Fault::second_operator,
                            Fault::api_unreachable,
                            Fault::history_compacted,
                            Fault::clock_jump,
                            Fault::host_died,
                            Fault::storage_full,
                            Fault::not_ready,
                            Fault::machine_removed,
                            Fault::machine_stopped,
                            Fault::mark_edited,
                            Fault::foreign_machine,
                            Fault::user_deleted,
                            Fault::user_edited,
                            Fault::tags_forbidden,
                            Fault::quorum_lost,
                            Fault::right_withdrawn,
                            Fault::certificate_renewed,
                            Fault::power_cut,
                            Fault::etcd_restored};

constexpr std::chrono::seconds kSmallJump = 2min;
constexpr std::chrono::seconds kLargeJump = 6h;

base::Duration exponential(base::Random& random, double per_hour) {
    auto hours = -std::log(1 - random.unit()) / per_hour;
    return std::chrono::duration_cast<base::Duration>(std::chrono::duration<double, std::ratio<3600>>(hours));
}

}  // namespace

Adversary::Adversary(World& world, Operators& operators)
    : world_(world), operators_(operators), random_(world.random_for("adversary")) {}

void Adversary::begin() {
    arm();
    arm_changes();
}

void Adversary::arm() {
    double total = 0;
    for (auto fault : kTimed) total += world_.faults.per_hour(fault);
    if (total <= 0) return;
    auto at = world_.now() + exponential(*random_, total);
    next_ = world_.clock.call_at(at, [this, total] {
        auto choice = random_->unit() * total;
        for (auto fault : kTimed) {
            choice -= world_.faults.per_hour(fault);
            if (choice >= 0) continue;
            strike(fault);
            break;
        }
        arm();
    });
}

void Adversary::arm_changes() {
    if (world_.scenario.changes_per_hour <= 0 || world_.scenario.deployments.empty()) return;
    auto at = world_.now() + exponential(*random_, world_.scenario.changes_per_hour);
    next_change_ = world_.clock.call_at(at, [this] {
        if (world_.is_demolished) return;
        const auto& deployments = world_.scenario.deployments;
        const auto& deployment = deployments[random_->below(deployments.size())];
        const auto most = static_cast<std::uint64_t>(deployment.most_replicas);
        auto replicas = random_->below(3) == 0 ? 0 : random_->below(most + 1);
        world_.workloads.scale(deployment.name, static_cast<std::int64_t>(replicas));
        arm_changes();
    });
}

void Adversary::strike(Fault fault) {
    world_.faults.note(fault);
    deeds_.last = world_.now();
    switch (fault) {
        case Fault::killed:
            return kill();
        case Fault::paused:
            return pause();
        case Fault::second_operator:
            return second_operator();
        case Fault::api_unreachable:
            return cut_off();
        case Fault::history_compacted:
            world_.server.store().compact(world_.server.store().version());
            return world_.network.drop_watches();
        case Fault::clock_jump:
            return jump_clock();
        case Fault::host_died:
            return host_dies();
        case Fault::storage_full:
            world_.administrators.fill_storage(true);
            return later(world_.faults.duration(1min, 20min),
                         [this] { world_.administrators.fill_storage(false); });
        case Fault::tags_forbidden:
            return forbid_tags();
        case Fault::quorum_lost:
            world_.proxmox.cluster().is_partitioned = true;
            return later(world_.faults.duration(20s, 15min),
                         [this] { world_.proxmox.cluster().is_partitioned = false; });
        case Fault::right_withdrawn:
            return withdraw_right();
        case Fault::etcd_restored:
            return restore_etcd();
        case Fault::certificate_renewed:
            return renew_certificate();
        case Fault::power_cut:
            return cut_power();
        case Fault::not_ready:
            return node_ails();
        case Fault::user_deleted:
            return user_deletes();
        case Fault::user_edited:
            return user_edits();
        default:
            return meddle_with_machine(fault);
    }
}

void Adversary::later(base::Duration wait, std::function<void()> action) {
    pending_.push_back(world_.clock.call_at(world_.now() + wait, action));
    repairs_.push_back(std::move(action));
}

Process* Adversary::any_process() {
    auto alive = operators_.alive();
    return alive.empty() ? nullptr : alive[random_->below(alive.size())];
}

// ---- processes

void Adversary::kill() {
    auto* process = any_process();
    if (!process) return;
    if (random_->below(3) == 0) {
        operators_.terminate(*process);
    } else {
        operators_.kill(*process);
    }
}

void Adversary::pause() {
    auto* process = any_process();
    if (!process) return;
    process->pause_until(world_.now() + world_.faults.duration(1s, 90s));
    world_.trace.line(process->name(), "is paused until ", time_text(process->paused_until()));
}

void Adversary::second_operator() {
    if (!world_.scenario.leader_election) return;
    operators_.keep(2);
    later(world_.faults.duration(1min, 30min), [this] { operators_.keep(1); });
}

void Adversary::cut_off() {
    if (auto* process = any_process()) {
        auto until = world_.now() + world_.faults.duration(2s, 3min);
        world_.trace.line(process->name(), "loses the API server until ", time_text(until));
        world_.network.cut_off(*process, until);
    }
}

void Adversary::jump_clock() {
    // A time server corrects clocks by seconds. A host that was suspended or has no time server is wrong by
    // hours.
    const auto most = random_->below(2) == 0 ? kSmallJump : kLargeJump;
    const auto seconds =
        static_cast<std::int64_t>(random_->below(2 * static_cast<std::uint64_t>(most.count()))) -
        most.count();
    if (random_->below(2) == 0) {
        // Every clock jumps, but times that were already written stay as they are.
        const auto of_all = seconds % kSmallJump.count();
        world_.trace.line("clocks", "jump by ", of_all, " s");
        world_.clock.shift_wall(std::chrono::seconds{of_all});
        if (operators_.alive().empty()) deeds_.unseen_jumps[world_.now()] += std::chrono::seconds{of_all};
    } else if (auto* process = any_process()) {
        world_.trace.line(process->name(), "has its calendar shifted by ", seconds, " s");
        process->shift_calendar(std::chrono::seconds{seconds});
        repairs_.push_back([process, seconds] { process->shift_calendar(std::chrono::seconds{-seconds}); });
    }
}

// ---- machines

void Adversary::withdraw_right() {
    auto& roles = world_.proxmox.cluster().world.custom_roles;
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [role, privileges] : roles)
        for (const auto& privilege : privileges) all.emplace_back(role, privilege);
    if (all.empty()) return;
    const auto [role, privilege] = all[random_->below(all.size())];
    world_.trace.line("admin", "withdraws ", privilege, " from role ", role);
    roles[role].erase(privilege);
    later(world_.faults.duration(1min, 30min),
          [this, role, privilege] { world_.proxmox.cluster().world.custom_roles[role].insert(privilege); });
}

void Adversary::renew_certificate() {
    const auto& hosts = world_.scenario.proxmox.hosts;
    const auto name = hosts[random_->below(hosts.size())].name;
    world_.trace.line("admin", "renews the certificate of ", name);
    world_.host_apis.renew_certificate(name);
    later(world_.faults.duration(1s, 20min), [this, name] { world_.host_apis.restart_daemon(name); });
}

void Adversary::forbid_tags() {
    auto& options = world_.proxmox.cluster().world.options;
    if (random_->below(2) == 0) {
        options["user-tag-access"] = "user-allow=none";
    } else {
        options["registered-tags"] = "k8s;kubenodesmith-managed";
    }
    later(world_.faults.duration(1min, 30min), [this] {
        world_.proxmox.cluster().world.options.erase("user-tag-access");
        world_.proxmox.cluster().world.options.erase("registered-tags");
    });
}

bool Adversary::hits_bare_metal() {
    return !world_.scenario.bare_metal.empty() && random_->below(2) == 0;
}

void Adversary::host_dies() {
    if (hits_bare_metal())
        return later(world_.faults.duration(1min, 30min), world_.bmcs.pull_cable(*random_));
    auto& hosts = world_.scenario.proxmox.hosts;
    auto name = hosts[random_->below(hosts.size())].name;
    auto& cluster = world_.proxmox.cluster();
    if (!cluster.host(name).powered_on) return;
    world_.trace.line("host", name, " dies");
    cluster.power_off_host(name);
    later(world_.faults.duration(1min, 30min), [this, name] {
        world_.trace.line("host", name, " is back");
        world_.proxmox.cluster().power_on_host(name);
    });
}

// One host, several or all lose power together. They come back within minutes of each other. Guests that do
// not start with their host stay off.
void Adversary::cut_power() {
    auto& cluster = world_.proxmox.cluster();
    std::vector<std::string> names;
    for (const auto& host : cluster.world.hosts)
        if (host.powered_on) names.push_back(host.name);
    const auto all = names.size();
    const auto extent = random_->below(3);
    while (extent < 2 && names.size() > 1 && (extent == 0 || random_->below(2) == 0))
        names.erase(names.begin() + static_cast<std::ptrdiff_t>(random_->below(names.size())));
    if (names.empty()) return;
    world_.happenings.count(names.size() == all ? "power cut: all hosts"
                            : names.size() == 1 ? "power cut: one host"
                                                : "power cut: several hosts");
    const auto dark = world_.faults.duration(1min, 30min);
    for (const auto& name : names) {
        world_.trace.line("host", name, " loses power");
        cluster.power_off_host(name);
        later(dark + std::chrono::seconds{random_->below(180)}, [this, name] {
            world_.trace.line("host", name, " has power again");
            world_.proxmox.cluster().power_on_host(name);
        });
    }
}

void Adversary::node_ails() {
    auto names = world_.kubelets.running();
    if (names.empty()) return;
    const auto& name = names[random_->below(names.size())];
    world_.kubelets.set_well(name, false);
    later(world_.faults.duration(10s, 30min), [this, name] { world_.kubelets.set_well(name, true); });
}

void Adversary::meddle_with_machine(Fault fault) {
    if (fault == Fault::machine_stopped && hits_bare_metal()) return world_.bmcs.press_power_button(*random_);
    if (fault == Fault::mark_edited && hits_bare_metal())
        return later(world_.faults.duration(1min, 30min), world_.bmcs.swap_cable(*random_));
    auto& administrators = world_.administrators;
    auto ids = administrators.marked();
    if (fault == Fault::foreign_machine && (ids.empty() || random_->below(2) == 0)) {
        if (administrators.plant_copy_of_template()) return;
        auto first = world_.scenario.providers.front().spec.proxmox->vmIDRange->lower;
        return administrators.plant_stranger(static_cast<int>(first));
    }
    if (ids.empty()) return;
    auto vmid = ids[random_->below(ids.size())];
    if (fault == Fault::machine_removed) administrators.destroy(vmid);
    if (fault == Fault::machine_stopped) administrators.stop(vmid);
    if (fault == Fault::mark_edited) administrators.spoil_mark(vmid);
    if (fault == Fault::foreign_machine) administrators.plant_copy(vmid);
}

// Plays the administrator who clears away the locks of a dead worker. The administrator acts only on what the
// operator reports.
void Adversary::heed_reports() {
    // A task may hang for an hour although no claim records it, because its claim was removed by force. An
    // administrator sees such a task in the task viewer.
    auto& cluster = world_.proxmox.cluster();
    for (const auto& task : cluster.tasks.all()) {
        const bool is_old = cluster.wall_seconds() - task->start_time > 3600;
        const bool is_recorded = std::ranges::any_of(
            world_.view.all<NodeSmithClaim>(),
            [&](const auto& entry) { return entry.second->status.taskRef == task->upid; });
        if (task->is_running() && is_old && !is_recorded) task->kill();
    }
    const auto is_worked_on = [this](int vmid) {
        return std::ranges::any_of(world_.proxmox.cluster().tasks.all(), [vmid](const auto& task) {
            return task->is_running() && (task->id == std::to_string(vmid) || task->type == "qmclone");
        });
    };
    // If the operator may not see a clone, it knows the clone only from its record. It then cannot report a
    // clone whose claim a user removed, nor one whose task it never learned of (docs/proxmox.md).
    const auto is_known = [this](int vmid, const proxmox::Machine& machine) {
        return proxmox::config_text(machine.config, "lock") == "clone" &&
               !proxmox::has_any(world_.proxmox.cluster().world, "automation@pve",
                                 "/vms/" + std::to_string(vmid), {"VM.Audit"});
    };
    ask_for_another_try();
    std::vector<int> told_of;
    for (const auto& [vmid, machine] : world_.proxmox.cluster().world.machines) {
        const bool is_told = world_.is_told_of(vmid) || is_known(vmid, machine);
        if (machine.config.contains("lock") && is_told && !is_worked_on(vmid)) told_of.push_back(vmid);
    }
    for (const auto vmid : told_of) world_.administrators.clear_away(vmid);
    world_.administrators.rename_copies([this](int vmid) { return world_.is_told_of(vmid); });
    label_nodes_as_told();
    state_gone_as_told();
    end_other_operators_as_told();
    restore_credentials();
    next_ = world_.clock.call_at(world_.now() + 1min, [this] { heed_reports(); });
}

// A person reads that another operator owns the same machines. It is one whose epoch a restore of etcd lost,
// or one of a copy that was ended.
void Adversary::end_other_operators_as_told() {
    for (const auto& [key, provider] : std::map(world_.view.all<NodeSmithProvider>())) {
        const auto other = epoch_of_other_operator(*provider);
        if (other.empty()) continue;
        world_.happenings.count("person: ended another operator");
        world_.server.edit<NodeSmithProvider>(key, [&other](NodeSmithProvider& edited) {
            edited.metadata.annotations[std::string(api::annotations::kOtherOperatorEnded)] = other;
        });
    }
}

// A person reads that another replacement would not help, and has fixed the cause.
void Adversary::ask_for_another_try() {
    for (const auto& [key, pool] : std::map(world_.view.all<NodeSmithPool>())) {
        if (!api::is_true(pool->status.conditions, api::conditions::kReplacementDoesNotHelp)) continue;
        world_.happenings.count("person: asked for another replacement");
        world_.server.edit<NodeSmithPool>(key, [this](NodeSmithPool& edited) {
            edited.metadata.annotations[std::string(api::annotations::kRetryReplacement)] =
                api::Time(world_.clock.wall_now()).str();
        });
    }
}

void Adversary::make_peace() {
    at_peace_ = true;
    next_.reset();
    next_change_.reset();
    pending_.clear();
    world_.faults.stop();
    world_.bmcs.make_peace();
    // Each repair is harmless if it was done already.
    for (auto& repair : repairs_) repair();
    repairs_.clear();
    // A world never rests if its nodes expire or may only be removed at certain times.
    for (const auto& [key, pool] : std::map(world_.view.all<NodeSmithPool>())) {
        auto quiet = pool->spec.disruption;
        quiet.expireAfter.duration.reset();
        std::erase_if(quiet.budgets, [](const auto& budget) { return !budget.schedule.empty(); });
        if (quiet == pool->spec.disruption) continue;
        deeds_.last = world_.now();  // the operator abandons disruptions that it began for that reason
        world_.server.edit<NodeSmithPool>(
            key, [&quiet](NodeSmithPool& edited) { edited.spec.disruption = quiet; });
    }
    if (!world_.scenario.keeps_in_peace) {
        for (const auto& [key, pool] : std::map(world_.view.all<NodeSmithPool>())) {
            if (pool->spec.scaleUp.keepFailed == 0) continue;
            world_.server.edit<NodeSmithPool>(
                key, [](NodeSmithPool& edited) { edited.spec.scaleUp.keepFailed = 0; });
        }
    }
    // The storages answer again, and so do the queues of downloads, for which the operator waits two hours.
    // The operator itself must stop other tasks that hang.
    for (const auto& task : world_.proxmox.cluster().tasks.all()) {
        if (task->is_running() && (task->hangs_in_kernel() || task->type == "download")) task->kill();
    }
    auto& pools = world_.proxmox.cluster().world.pools;
    pools[kMissingResourcePool].id = kMissingResourcePool;
    heed_reports();
    if (operators_.alive().empty()) operators_.keep(1);
}

}  // namespace simulation
