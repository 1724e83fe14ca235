#include "test/simulation/bmcs.hpp"

#include <boost/json/parse.hpp>

namespace simulation {

namespace asio = boost::asio;

namespace {

constexpr const char* kHostsNamespace = "nodes";
constexpr std::chrono::seconds kHostBootTime{20};
constexpr std::chrono::seconds kConnectTimeout{10};
constexpr std::chrono::milliseconds kBmcResetsAfter{50};
// Time for which our operator may act on a power state that others have changed since.
constexpr std::chrono::seconds kLongestRace{35};
constexpr std::int64_t kDiskMiB = 240 * 1024;
// Time after a host has come on within which it may change its power by itself.
constexpr std::chrono::seconds kFallsWithin{10};

std::string url_of(const std::string& name) {
    return "https://" + name;
}

std::string reset_type(const base::HttpRequest& request) {
    const bool is_reset = request.method == "POST" && request.target.ends_with("/ComputerSystem.Reset");
    if (!is_reset) return "";
    boost::system::error_code error;
    const auto body = boost::json::parse(request.body, error);
    const auto* object = error ? nullptr : body.if_object();
    const auto* type = object ? object->if_contains("ResetType") : nullptr;
    return type && type->is_string() ? std::string(type->get_string()) : "?";
}

}  // namespace

// Board hands requests to the BMC of a host.
class Bmcs::Board final : public base::HttpTransport {
public:
    Board(Bmcs& bmcs, Host& host, Cluster cluster) : bmcs_(bmcs), host_(host), cluster_(cluster) {}

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        co_return bmcs_.serve(host_, request, cluster_);
    }
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest) override {
        throw base::TransportError("BMCs have no streams", false);
        co_return nullptr;
    }

private:
    Bmcs& bmcs_;
    Host& host_;
    Cluster cluster_;
};

// Cable carries requests to the board, and loses some requests and answers.
class Bmcs::Cable final : public base::HttpTransport {
public:
    Cable(Bmcs& bmcs, Host& host, Cluster cluster)
        : bmcs_(bmcs),
          host_(host),
          is_ours_(cluster == Cluster::ours),
          board_(std::make_unique<Board>(bmcs, host, cluster)) {
        if (is_ours_) board_ = redfish_simulator::with_odd_answers(std::move(board_), host.odd, bmcs.clock_);
    }

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        const auto what = request.method + " " + url_of(host_.name) + request.target;
        if (!host_.is_plugged) {
            co_await bmcs_.clock_.sleep_for(kConnectTimeout);
            throw base::TransportError(what + ": timed out", false);
        }
        if (bmcs_.faults_.strikes(Fault::provider_refused))
            throw base::TransportError(what + ": connection refused", false);
        co_await bmcs_.clock_.sleep_for(host_.bmc->profile().latency);
        const bool asks_to_shut_down = is_ours_ && reset_type(request) == "GracefulShutdown";
        if (asks_to_shut_down && !host_.shutdown_asked) host_.shutdown_asked = bmcs_.clock_.now();
        auto response = co_await board_->send(request);
        if (bmcs_.faults_.strikes(Fault::provider_answer_lost)) {
            co_await bmcs_.clock_.sleep_for(kBmcResetsAfter);
            throw base::TransportError(what + ": connection reset", true);
        }
        co_return response;
    }
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        co_return co_await board_->open(std::move(request));
    }

private:
    Bmcs& bmcs_;
    Host& host_;
    bool is_ours_;
    std::unique_ptr<base::HttpTransport> board_;
};

// ClientEnd is the process's end of a connection. An answer that arrives here has reached the process, while
// the cable also carries late requests of dead processes.
class Bmcs::ClientEnd final : public base::HttpTransport {
public:
    ClientEnd(Bmcs& bmcs, Host& host, std::string process, std::unique_ptr<base::HttpTransport> wire)
        : bmcs_(bmcs), host_(host), process_(std::move(process)), wire_(std::move(wire)) {}

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        auto response = co_await wire_->send(request);
        bmcs_.note_session(host_, process_, request, response);
        co_return response;
    }
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        co_return co_await wire_->open(std::move(request));
    }

private:
    Bmcs& bmcs_;
    Host& host_;
    std::string process_;
    std::unique_ptr<base::HttpTransport> wire_;
};

Bmcs::Bmcs(fake::ApiServer& server, ClusterSnapshot& view, Kubelets& kubelets, FaultPlan& faults,
           Trace& trace)
    : server_(server),
      clock_(server.clock()),
      view_(view),
      kubelets_(kubelets),
      faults_(faults),
      trace_(trace) {
    view.subscribe<NodeSmithHost>(
        [this](const NodeSmithHost* before, const NodeSmithHost* after) { follow(before, after); });
}

void Bmcs::add(const BareMetal& given) {
    const auto& name = given.object.metadata.name;
    auto& host = hosts_[name];
    host = std::make_unique<Host>();
    host->name = name;
    host->uuid = given.object.spec.systemUUID.empty() ? given.profile.uuid : given.object.spec.systemUUID;
    host->node = name;
    host->cpu_cores = given.profile.processors;
    host->memory_mib = static_cast<std::int64_t>(given.profile.memory_gib * 1024);
    host->is_foreign = given.is_foreign;
    host->bmc = std::make_unique<redfish_simulator::Bmc>(given.profile, clock_);
    host->bmc->keep_exchanges(false);
    for (const bool of_chassis : {false, true}) host->bmc->set_asset_tag(given.asset_tag, of_chassis);
    if (given.is_foreign) host->bmc->set_power(Power::on);
    host->bmc->on_change = [this, it = host.get()](Power power) { power_changed(*it, power); };
    server_.put(given.object);
}

bool Bmcs::serves(const std::string& url) const {
    return url.starts_with("https://") && has(url.substr(8));
}

std::unique_ptr<base::HttpTransport> Bmcs::connect(const std::string& url, Cluster cluster) {
    return std::make_unique<Cable>(*this, *hosts_.at(url.substr(8)), cluster);
}

std::unique_ptr<base::HttpTransport> Bmcs::note_sessions(const std::string& process, const std::string& url,
                                                         std::unique_ptr<base::HttpTransport> wire) {
    return std::make_unique<ClientEnd>(*this, *hosts_.at(url.substr(8)), process, std::move(wire));
}

void Bmcs::note_session(Host& host, const std::string& process, const base::HttpRequest& request,
                        const base::HttpResponse& response) {
    const bool is_login = request.method == "POST" && request.target.ends_with("/Sessions");
    const auto location = response.headers.find("Location");
    if (!is_login || response.status != 201 || !location) return;
    host.sessions[std::string(*location)] = process;
    for (const auto& listener : session_listeners_) listener(host.name);
}

std::map<std::string, int> Bmcs::open_sessions(const std::string& name) const {
    const auto& host = *hosts_.at(name);
    std::map<std::string, int> counts;
    for (const auto& [target, process] : host.sessions)
        if (host.bmc->has_session(target)) ++counts[process];
    return counts;
}

bool Bmcs::was_just_cut_by_others(const std::string& name) const {
    const auto& host = *hosts_.at(name);
    const bool is_off_since_just_now = host.off_since && clock_.now() <= *host.off_since + kLongestRace;
    return host.last_reset_by == Cluster::theirs &&
           (host.bmc->power() == Power::powering_off || is_off_since_just_now);
}

std::vector<std::string> Bmcs::names() const {
    std::vector<std::string> all;
    all.reserve(hosts_.size());
    for (const auto& [name, host] : hosts_) all.push_back(name);
    return all;
}

base::HttpResponse Bmcs::serve(Host& host, const base::HttpRequest& request, Cluster cluster) {
    const auto type = reset_type(request);
    const bool is_ours = cluster == Cluster::ours;
    if (!type.empty()) {
        trace_.line("bmc", host.name, " is asked for ", type, is_ours ? "" : " by the other cluster");
        for (const auto& listener : any_reset_listeners_) listener(cluster, host.name, type);
        if (is_ours)
            for (const auto& listener : reset_listeners_) listener(host.name, type);
        const bool was_off_when_read = host.lent_since && clock_.now() <= *host.lent_since + kLongestRace;
        if (is_ours && type.ends_with("On") && was_off_when_read) host.lent_since.reset();
    }
    const bool erases = request.method == "POST" && request.target.ends_with("/Drive.SecureErase");
    if (erases)
        for (const auto& listener : erase_listeners_) listener(cluster, host.name);
    const bool was_off = host.bmc->power() == Power::off;
    auto response = host.bmc->handle(request);
    if (type.ends_with("On")) note_wake(host, cluster, was_off);
    if (!type.empty()) host.last_reset_by = cluster;
    if (!type.empty()) watch(host);
    return response;
}

// Records which cluster turned the host on: the first one that asked.
void Bmcs::note_wake(Host& host, Cluster cluster, bool was_off) {
    if (was_off && host.bmc->power() != Power::off) {
        host.woken_by = cluster;
        host.is_contested = false;
        host.is_foreign = cluster == Cluster::theirs;
        if (host.is_foreign) host.lent_since = clock_.now();
    } else if (!was_off && host.woken_by && *host.woken_by != cluster) {
        trace_.line("bmc", host.name, " was turned on by the other one already");
        host.is_contested = true;
    }
}

// Advances the simulated BMC, which changes its state only when it is asked.
void Bmcs::watch(Host& host) {
    const auto until = clock_.now() + kFallsWithin;
    const auto power = host.bmc->power();
    const bool changes = power == Power::powering_on || power == Power::powering_off;
    if (!changes && host.watch) return;
    host.watch = clock_.call_at(changes ? clock_.now() + std::chrono::seconds{1} : until, [this, &host] {
        host.watch.reset();
        const auto now = host.bmc->power();
        if (now == Power::powering_on || now == Power::powering_off) watch(host);
    });
}

void Bmcs::power_changed(Host& host, Power power) {
    trace_.line("bmc", host.name, power == Power::on ? " is on" : " is off");
    for (const auto& listener : power_listeners_) listener(host.name, power);
    if (power == Power::on) {
        watch(host);
        return boot(host);
    }
    host.off_since = clock_.now();
    host.shutdown_asked.reset();
    host.cannot_shut_down = false;
    host.boot.reset();
    host.is_foreign = false;
    host.lent_since.reset();
    host.woken_by.reset();
    host.is_contested = false;
    kubelets_.machine_stopped(host.uuid);
    if (on_stop) on_stop(host.uuid);
}

Registration Bmcs::registration_of(const Host& host) const {
    Registration registration;
    registration.node = host.node;
    registration.system_uuid = host.uuid;
    registration.cpu_cores = host.cpu_cores;
    registration.memory_mib = host.memory_mib - 1024;
    registration.disk_mib = kDiskMiB;
    return registration;
}

void Bmcs::boot(Host& host) {
    const bool is_theirs = host.woken_by == Cluster::theirs && on_their_boot;
    if ((host.is_foreign && !is_theirs) || faults_.strikes(Fault::never_joins)) return;
    auto takes = base::Duration{kHostBootTime};
    if (faults_.strikes(Fault::joins_late))
        takes += faults_.duration(std::chrono::minutes{1}, std::chrono::minutes{25});
    host.boot = clock_.call_at(clock_.now() + takes, [this, &host, is_theirs] {
        if (is_theirs) return on_their_boot(registration_of(host));
        if (kubelets_.resume(host.uuid)) return;
        if (!kubelets_.join(registration_of(host)))
            trace_.line("bmc", host.name, " cannot join: its Node is Ready");
    });
}

// A host that is released while it is on was left to its user.
void Bmcs::follow(const NodeSmithHost* before, const NodeSmithHost* after) {
    if (!before || !after || !before->status.claimRef || after->status.claimRef) return;
    const auto* claim = view_.claim_by_uid(before->status.claimRef->uid);
    if (!claim || claim->spec.deletionPolicy != api::v1alpha1::DeletionPolicy::Retain) return;
    auto& host = *hosts_.at(after->metadata.name);
    host.is_foreign = host.bmc->power() == Power::on;
}

Bmcs::Host& Bmcs::any(base::Random& random) {
    return *std::next(hosts_.begin(), static_cast<std::ptrdiff_t>(random.below(hosts_.size())))->second;
}

bool Bmcs::lend(const std::string& name) {
    auto& host = *hosts_.at(name);
    const bool remembers = host.bmc->profile().remembers_power > base::Duration::zero();
    if (remembers || host.bmc->power() != Power::off) return false;
    trace_.line("neighbours", "turn host ", name, " on");
    host.is_foreign = true;
    host.lent_since = clock_.now();
    host.bmc->set_power(Power::on);
    return true;
}

void Bmcs::turn_off(const std::string& name) {
    auto& host = *hosts_.at(name);
    if (host.bmc->power() == Power::off) return;
    trace_.line("neighbours", "turn host ", name, " off");
    meddled_.insert(host.uuid);
    host.bmc->set_power(Power::off);
}

void Bmcs::press_power_button(base::Random& random) {
    auto& host = any(random);
    const bool was_on = host.bmc->power() != Power::off;
    const auto* object = view_.find<NodeSmithHost>({kHostsNamespace, host.name});
    trace_.line("admin", "turns host ", host.name, was_on ? " off" : " on");
    meddled_.insert(host.uuid);
    host.is_foreign = !was_on && object && !object->status.claimRef;
    host.bmc->set_power(was_on ? Power::off : Power::on);
}

std::function<void()> Bmcs::pull_cable(base::Random& random) {
    auto& host = any(random);
    trace_.line("admin", "pulls the cable of the BMC of ", host.name);
    host.is_plugged = false;
    return [&host] { host.is_plugged = true; };
}

std::function<void()> Bmcs::swap_cable(base::Random& random) {
    auto& host = any(random);
    trace_.line("admin", "connects the address of host ", host.name, " with another BMC");
    host.swapped_since = clock_.now();
    meddled_.insert(host.uuid);
    host.bmc->profile().uuid = "deadbeef-0000-4000-8000-" + host.uuid.substr(24);
    return [&host] {
        host.swapped_since.reset();
        host.bmc->profile().uuid = host.uuid;
    };
}

void Bmcs::make_peace() {
    for (auto& [name, host] : hosts_) {
        auto& profile = host->bmc->profile();
        profile.sticks_powering_on = profile.falls_back = false;
        profile.lost_credentials = 0;
    }
}

}  // namespace simulation
