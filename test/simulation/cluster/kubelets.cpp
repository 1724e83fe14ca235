#include "test/simulation/cluster/kubelets.hpp"

#include <algorithm>

namespace simulation {
namespace {

using api::ConditionStatus;

// The values are node-monitor-grace-period, the default toleration of not-ready and unreachable, and the
// period of the pod collector.
constexpr std::chrono::seconds kMonitorGrace{40};
constexpr std::chrono::seconds kPatience{300};
constexpr std::chrono::seconds kLostPodsAfter{20};
constexpr std::chrono::seconds kPodStart{2};
constexpr std::chrono::seconds kCloudProviderTakes{20};
// A network root is as large as its server's disk.
constexpr std::int64_t kNetworkRootMiB = 2 * 1024 * 1024;
constexpr std::chrono::milliseconds kLongestLag = std::chrono::seconds{60};

// Draws how late taints follow conditions. In every second seed they follow immediately.
std::uint64_t draw_longest_lag(base::Random& random) {
    return random.below(2) == 0 ? 0 : random.below(kLongestLag.count());
}

void set_taint(std::vector<api::Taint>& taints, std::string_view key, bool wanted, api::Time now) {
    std::erase_if(taints, [&](const api::Taint& taint) { return !wanted && taint.key == key; });
    if (!wanted) return;
    for (auto effect : {api::taints::kNoSchedule, api::taints::kNoExecute}) {
        if (!api::find_taint(taints, key, effect))
            taints.push_back({std::string(key), "", std::string(effect), now});
    }
}

}  // namespace

api::ResourceList KubeletHabits::capacity(const Registration& machine) const {
    const auto disk = machine.disk_mib > 0 ? machine.disk_mib : kNetworkRootMiB;
    return {{"cpu", api::Quantity::of(machine.cpu_cores)},
            {"memory", api::Quantity::of_mebibytes(machine.memory_mib)},
            {"ephemeral-storage", api::Quantity::of_mebibytes(disk)},
            {"pods", api::Quantity::of(machine.max_pods > 0 ? machine.max_pods : pods)}};
}

api::ResourceList KubeletHabits::allocatable(const Registration& machine) const {
    auto result = capacity(machine);
    const auto disk = result["ephemeral-storage"].mebibytes();
    result["cpu"] =
        api::Quantity::of_milli(std::max<std::int64_t>(0, machine.cpu_cores * 1000 - cpu_millicores));
    result["memory"] =
        api::Quantity::of_mebibytes(std::max<std::int64_t>(0, machine.memory_mib - memory_mib));
    result["ephemeral-storage"] = api::Quantity::of_mebibytes(disk - disk * disk_percent / 100);
    return result;
}

KubeletHabits KubeletHabits::on(const Registration& machine) const {
    constexpr std::int64_t kPart = 4;
    auto habits = *this;
    habits.cpu_millicores = std::min(cpu_millicores, machine.cpu_cores * 1000 / kPart);
    habits.memory_mib = std::min(memory_mib, machine.memory_mib / kPart);
    return habits;
}

Kubelets::Kubelets(fake::ApiServer& server, ClusterSnapshot& view, Trace& trace,
                   std::unique_ptr<base::Random> random, KubeletHabits habits)
    : server_(server),
      clock_(server.clock()),
      view_(view),
      trace_(trace),
      random_(std::move(random)),
      habits_(habits),
      longest_lag_ms_(draw_longest_lag(*random_)),
      judge_(clock_, std::chrono::milliseconds{500}, [this] { judge(); }),
      collect_(clock_, kLostPodsAfter, [this] { collect_lost_pods(); }) {
    view.subscribe<api::Pod>(
        [this](const api::Pod* before, const api::Pod* after) { follow(before, after); });
    view.subscribe<api::Node>([this](const api::Node* before, const api::Node* after) {
        if (!after) collect_.poke();
        if (!before || !after || before->spec.taints != after->spec.taints) judge_.poke();
    });
}

const Kubelets::Kubelet* Kubelets::of_node(const std::string& node) const {
    const auto* object = view_.find<api::Node>({"", node});
    if (!object) return nullptr;
    auto found = kubelets_.find(object->status.nodeInfo.systemUUID);
    return found == kubelets_.end() ? nullptr : &found->second;
}

bool Kubelets::runs(const std::string& node) const {
    const auto* kubelet = of_node(node);
    return kubelet && kubelet->up;
}

std::vector<std::string> Kubelets::running() const {
    std::vector<std::string> names;
    for (const auto& [uuid, kubelet] : kubelets_) {
        if (kubelet.up && of_node(kubelet.registration.node) == &kubelet)
            names.push_back(kubelet.registration.node);
    }
    std::ranges::sort(names);
    return names;
}

api::Node Kubelets::fresh_node(const Registration& registration) const {
    api::Node node;
    node.metadata.name = registration.node;
    node.metadata.labels = registration.labels;
    node.metadata.labels[std::string(api::labels::kHostname)] = registration.node;
    node.metadata.labels[std::string(api::labels::kArch)] = "amd64";
    node.metadata.labels[std::string(api::labels::kOs)] = "linux";
    node.spec.taints = registration.taints;
    if (registration.awaits_cloud_provider)
        node.spec.taints.push_back({std::string(api::taints::kUninitialized), "true",
                                    std::string(api::taints::kNoSchedule), std::nullopt});
    node.spec.providerID = registration.provider_id;
    auto now = api::Time(clock_.wall_now());
    set_taint(node.spec.taints, api::taints::kNotReady, true, now);
    api::set_condition(
        node.status.conditions,
        {std::string(api::conditions::kReady), ConditionStatus::False, "KubeletNotReady", "starting", {}},
        now);
    node.status.capacity = habits_.capacity(registration);
    node.status.allocatable = habits_.on(registration).allocatable(registration);
    node.status.nodeInfo.systemUUID = registration.system_uuid;
    for (const auto& address : registration.addresses)
        node.status.addresses.push_back({"InternalIP", address});
    node.status.nodeInfo.architecture = "amd64";
    return node;
}

bool Kubelets::join(const Registration& registration) {
    const auto* existing = view_.find<api::Node>({"", registration.node});
    if (existing && is_ready(*existing)) return false;
    auto node = fresh_node(registration);
    if (existing) {
        trace_.line("kubelet", "takes over Node ", registration.node);
        server_.edit<api::Node>({"", registration.node},
                                [&node](api::Node& taken) { taken.status = node.status; });
    } else {
        trace_.line("kubelet", "registers Node ", registration.node, " uuid=", registration.system_uuid);
        server_.put(node);
    }
    Kubelet kubelet;
    kubelet.registration = registration;
    kubelet.registered_at = kubelet.unfit_since = clock_.now();
    kubelets_[registration.system_uuid] = kubelet;
    judge_.poke_after(registration.ready_after);
    return true;
}

bool Kubelets::resume(const std::string& system_uuid) {
    auto found = kubelets_.find(system_uuid);
    if (found == kubelets_.end() || found->second.wiped) return false;
    found->second.up = true;
    // A kubelet registers when it starts, even if somebody deleted its Node in the meantime.
    if (!view_.find<api::Node>({"", found->second.registration.node})) {
        server_.put(fresh_node(found->second.registration));
    }
    judge_.poke_after(std::chrono::seconds{5});
    return true;
}

void Kubelets::machine_stopped(const std::string& system_uuid) {
    auto found = kubelets_.find(system_uuid);
    if (found == kubelets_.end() || !found->second.up) return;
    found->second.up = false;
    found->second.silent_since = clock_.now();
    judge_.poke_after(kMonitorGrace);
}

void Kubelets::wipe(const std::string& system_uuid) {
    auto found = kubelets_.find(system_uuid);
    if (found != kubelets_.end()) found->second.wiped = true;
}

void Kubelets::set_well(const std::string& node, bool well) {
    for (auto& [uuid, kubelet] : kubelets_) {
        if (kubelet.registration.node == node) kubelet.well = well;
    }
    judge_.poke();
}

void Kubelets::judge() {
    for (auto& [uuid, kubelet] : kubelets_) judge(kubelet);
}

void Kubelets::initialize(const Kubelet& kubelet, const api::Node& node) {
    if (!api::find_taint(node.spec.taints, api::taints::kUninitialized, api::taints::kNoSchedule)) return;
    const auto due = kubelet.registered_at + kCloudProviderTakes;
    if (clock_.now() < due) {
        judge_.poke_after(due - clock_.now());
        return;
    }
    trace_.line("cloud controller", "initializes Node ", node.metadata.name);
    server_.edit<api::Node>({"", node.metadata.name}, [](api::Node& known) {
        std::erase_if(known.spec.taints,
                      [](const api::Taint& taint) { return taint.key == api::taints::kUninitialized; });
        if (known.spec.providerID.empty()) known.spec.providerID = "proxmox://cloud/" + known.metadata.name;
        known.metadata.labels[std::string(api::labels::kRegion)] = "cloud";
    });
}

void Kubelets::judge(Kubelet& kubelet) {
    const auto& name = kubelet.registration.node;
    const auto* node = view_.find<api::Node>({"", name});
    if (!node || node->status.nodeInfo.systemUUID != kubelet.registration.system_uuid) return;
    initialize(kubelet, *node);
    node = view_.find<api::Node>({"", name});
    auto now = clock_.now();
    if (kubelet.up && !kubelet.started && now < kubelet.unfit_since + kubelet.registration.ready_after) {
        judge_.poke_after(kubelet.unfit_since + kubelet.registration.ready_after - now);
        return;
    }
    auto ready = kubelet.up ? (kubelet.well ? ConditionStatus::True : ConditionStatus::False)
                            : ConditionStatus::Unknown;
    if (!kubelet.up && now < kubelet.silent_since + kMonitorGrace) {
        judge_.poke_after(kubelet.silent_since + kMonitorGrace - now);
        return;
    }
    if (ready == ConditionStatus::True) kubelet.started = true;
    if (is_ready(*node) && ready != ConditionStatus::True) kubelet.unfit_since = now;
    write_readiness(kubelet, *node, ready);
    if (ready != ConditionStatus::True) give_up_pods(kubelet, name);
}

base::Duration Kubelets::draw_lag() {
    return std::chrono::milliseconds{random_->below(longest_lag_ms_ + 1)};
}

void Kubelets::write_readiness(Kubelet& kubelet, const api::Node& node, ConditionStatus ready) {
    auto after = node;
    auto now = api::Time(clock_.wall_now());
    const char* reason = ready == ConditionStatus::True    ? "KubeletReady"
                         : ready == ConditionStatus::False ? "KubeletNotReady"
                                                           : "NodeStatusUnknown";
    api::set_condition(after.status.conditions, {std::string(api::conditions::kReady), ready, reason, "", {}},
                       now);
    if (ready == ConditionStatus::True && !is_ready(node)) kubelet.schedulable_at = clock_.now() + draw_lag();
    if (ready == ConditionStatus::True && clock_.now() < kubelet.schedulable_at) {
        judge_.poke_after(kubelet.schedulable_at - clock_.now());
    } else {
        set_taint(after.spec.taints, api::taints::kNotReady, ready == ConditionStatus::False, now);
        set_taint(after.spec.taints, api::taints::kUnreachable, ready == ConditionStatus::Unknown, now);
    }
    if (after == node) return;
    const bool taints_changed = after.spec.taints != node.spec.taints;
    trace_.line("kubelet", "Node ", node.metadata.name, " Ready=", api::to_string(ready),
                taints_changed ? ", its taints follow" : "");
    server_.edit<api::Node>({"", node.metadata.name}, [&after](api::Node& object) { object = after; });
}

// Models taint-based eviction. The pods of a Node that is out of service are deleted immediately.
void Kubelets::give_up_pods(const Kubelet& kubelet, const std::string& node) {
    auto due = kubelet.unfit_since + kPatience;
    const auto* object = view_.find<api::Node>({"", node});
    bool out_of_service = std::ranges::any_of(
        object->spec.taints, [](const api::Taint& taint) { return taint.key == api::taints::kOutOfService; });
    if (clock_.now() < due && !out_of_service) {
        judge_.poke_after(due - clock_.now());
        return;
    }
    for (const auto* pod : view_.pods_on(node)) {
        if (belongs_to_node(*pod)) continue;
        auto key = api::key_of(*pod);
        if (out_of_service) {
            server_.remove<api::Pod>(key, 0);
        } else if (is_alive(*pod)) {
            server_.remove<api::Pod>(key);
        }
    }
}

// Deletes the pods of Nodes that no longer exist, as kube-controller-manager's pod garbage collector does.
void Kubelets::collect_lost_pods() {
    std::vector<api::ObjectKey> lost;
    for (const auto& [key, pod] : view_.all<api::Pod>()) {
        if (!pod->spec.nodeName.empty() && !view_.find<api::Node>({"", pod->spec.nodeName}))
            lost.push_back(key);
    }
    for (const auto& key : lost) server_.remove<api::Pod>(key, 0);
}

void Kubelets::follow(const api::Pod* before, const api::Pod* after) {
    if (!after) {
        starting_.erase(before->metadata.uid);
        ending_.erase(before->metadata.uid);
        return;
    }
    const auto& uid = after->metadata.uid;
    auto key = api::key_of(*after);
    if (after->spec.nodeName.empty()) return;
    if (!before || before->spec.nodeName.empty()) {
        starting_[uid] = clock_.call_at(clock_.now() + kPodStart, [this, uid, key] { start_pod(uid, key); });
        if (!view_.find<api::Node>({"", after->spec.nodeName})) collect_.poke();
    }
    if (after->metadata.deletionTimestamp && !ending_.contains(uid)) {
        auto wish = after->metadata.annotations->find(kEndsAfter);
        std::int64_t seconds = wish == after->metadata.annotations.end() ? 1 : std::stoll(wish->second);
        seconds = std::min(seconds, after->metadata.deletionGracePeriodSeconds.value_or(30));
        ending_[uid] = clock_.call_at(clock_.now() + std::chrono::seconds{seconds},
                                      [this, uid, key] { end_pod(uid, key); });
    }
}

// Starts the pod. A kubelet that is down starts it later, or the pod is collected with its Node.
void Kubelets::start_pod(const std::string& uid, const api::ObjectKey& key) {
    const auto* pod = view_.find<api::Pod>(key);
    if (!pod || pod->metadata.uid != uid || !is_alive(*pod)) return;
    const auto* kubelet = of_node(pod->spec.nodeName);
    if (!kubelet || !kubelet->up || !kubelet->well) {
        starting_[uid] = clock_.call_at(clock_.now() + std::chrono::seconds{10},
                                        [this, uid, key] { start_pod(uid, key); });
        return;
    }
    server_.edit<api::Pod>(key, [this](api::Pod& started) {
        auto now = api::Time(clock_.wall_now());
        started.status.phase = api::PodPhase::Running;
        started.status.startTime = now;
        api::set_condition(*started.status.conditions,
                           {std::string(api::conditions::kReady), ConditionStatus::True, "", "", {}}, now);
    });
}

void Kubelets::end_pod(const std::string& uid, const api::ObjectKey& key) {
    const auto* pod = view_.find<api::Pod>(key);
    if (!pod || pod->metadata.uid != uid) return;
    const auto* kubelet = of_node(pod->spec.nodeName);
    if (kubelet && !kubelet->up) {
        ending_[uid] =
            clock_.call_at(clock_.now() + std::chrono::seconds{10}, [this, uid, key] { end_pod(uid, key); });
        return;
    }
    server_.remove<api::Pod>(key, 0);
}

}  // namespace simulation
