// Tests two operators that both believe that they lead. The BMCs have every habit and fault, and sometimes
// answer oddly. Calls are cut off anywhere. In every case no host has two claims, no claim has two hosts, and
// foreign hosts are left alone. A host with a Ready Node is asked to shut down before its power is cut. In
// the end every host is off, free and as it was found. REDFISH_SEEDS=20000 runs more seeds,
// REDFISH_FIRST_SEED=n begins elsewhere.
#include <cstdlib>
#include <set>

#include "base/task_group.hpp"
#include "providers/capabilities.hpp"
#include "providers/errors.hpp"
#include "test/support/catch.hpp"
#include "test/support/seeded_random.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using redfish_simulator::Power;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr const char* kImageOfOurs = "https://images.example/x.iso";
constexpr base::Duration kJoins = seconds{20};

constexpr int kHosts = 3;
constexpr int kClaims = 3;

asio::awaitable<bool> nobody_joined() {
    co_return false;
}

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Chaos {
public:
    explicit Chaos(std::uint64_t seed) : random_(fake::make_seeded_random(seed)), world_(some_spec()) {
        for (int i = 0; i < kHosts; ++i) {
            world_.add(name_of(i), some_profile(i));
            watch(name_of(i));
            answer_oddly(name_of(i));
        }
        // One more host belongs to somebody else.
        auto& foreign = world_.add("foreign", {.uuid = "4c4c4544-0042-3510-8054-b4c04f4d3fff"});
        foreign.set_power(Power::on);
        auto& object = world_.host("foreign");
        object.power_state = "On";
        object.readiness = providers::HostReadiness{false, "is on"};
        for (auto& operator_ : operators_)
            operator_ = providers::redfish::make_redfish_provider(world_.config, world_.environment);
        for (int i = 0; i < kClaims; ++i) claims_.push_back(world_.claim("c" + std::to_string(i)));
        wanted_.assign(kClaims, true);
    }

    void trouble() {
        for (int step = 0; step < 60; ++step) {
            if (chance(10)) flip_cable();
            if (chance(8)) wanted_[below(kClaims)] = false;
            if (chance(10)) restart(below(2));
            act(below(2), below(kClaims), chance(25));
            check();
            if (chance(5)) turn_on_by_hand();
            world_.pass(seconds{static_cast<int>(below(20))});
        }
    }

    // Ends all faults, and lets every claim end.
    bool settle() {
        for (int i = 0; i < kHosts; ++i) {
            world_.network.plug_in("https://" + name_of(i));
            auto& profile = world_.bmc(name_of(i)).profile();
            profile.sticks_powering_on = profile.falls_back = false;
            profile.lost_credentials = 0;
        }
        // The operator keeps a host that was turned on while its drives were being erased, until somebody
        // turns it off.
        for (const auto& name : std::set(others_)) world_.bmc(name).set_power(Power::off);
        wanted_.assign(kClaims, false);
        is_odd_ = false;
        for (int step = 0; step < 4000; ++step) {
            act(0, static_cast<std::size_t>(step % kClaims), false);
            check();
            if (is_over()) return is_as_found();
            world_.pass(seconds{2});
        }
        return false;
    }

    std::string state() {
        std::string text;
        for (const auto& [name, host] : world_.inventory.objects)
            text += name + ": " + (host.use.owner ? host.use.owner->claim_name : "free") + ", power " +
                    std::to_string(static_cast<int>(world_.bmc(name).power())) + "; ";
        for (const auto& claim : claims_) text += claim.identity.claim_name + ": " + claim.outcome + "; ";
        return text;
    }

private:
    static std::string name_of(int index) { return std::string(1, static_cast<char>('a' + index)); }
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_->below(bound)); }
    bool chance(std::size_t percent) { return below(100) < percent; }

    api::v1alpha1::RedfishSpec some_spec() {
        api::v1alpha1::RedfishSpec spec;
        spec.boot.imageURL = kImageOfOurs;
        using api::v1alpha1::BootMethod;
        const BootMethod methods[] = {BootMethod::Disk, BootMethod::PXE, BootMethod::VirtualMedia};
        spec.boot.method = methods[below(3)];
        if (chance(30)) spec.powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
        return spec;
    }

    Profile some_profile(int index) {
        Profile profile;
        profile.uuid = "4c4c4544-0042-3510-8054-b4c04f4d313" + std::to_string(index);
        profile.has_sessions = chance(70);
        profile.session_limit = 1 + below(4);
        profile.session_timeout = chance(50) ? base::Duration(minutes{30}) : base::Duration(seconds{20});
        profile.latency = std::chrono::milliseconds{20 + 400 * static_cast<int>(below(5))};
        profile.error_is_object = chance(30);
        profile.resets_in_action_info = chance(30);
        profile.no_graceful_shutdown = chance(20);
        profile.power_on = seconds{static_cast<int>(1 + below(30))};
        profile.power_off = seconds{static_cast<int>(1 + below(15))};
        profile.shutdown = seconds{static_cast<int>(1 + below(100))};
        profile.ignores_shutdown = chance(20);
        profile.sticks_powering_on = chance(10);
        profile.falls_back = chance(10);
        profile.conflict_after_off = chance(30) ? seconds{40} : seconds{0};
        profile.complains_if_already = chance(40);
        profile.remembers_power = chance(40) ? seconds{static_cast<int>(below(60))} : seconds{0};
        profile.drops_second_reset = chance(30);
        profile.boot_on_settings = chance(20);
        profile.wants_full_boot = chance(20);
        profile.only_continuous = chance(20);
        profile.weak_header = chance(20);
        profile.demands_tag = chance(20);
        profile.hides_task_location = chance(30);
        profile.vanishing_tasks = static_cast<int>(below(2));
        return profile;
    }

    // Checks that no power is cut under a Ready Node before the shutdown has had its time, unless no shutdown
    // is possible.
    void watch(const std::string& name) {
        world_.odd(name).add({.is_for = [this, name](const base::HttpRequest& request) {
            const auto now = world_.clock.now();
            if (request.body.find("GracefulShutdown") != std::string::npos) asked_.try_emplace(name, now);
            const bool is_cut = request.body.find("ForceOff") != std::string::npos;
            const bool runs = world_.inventory.ready_nodes.contains(name);
            const bool is_excused = world_.bmc(name).profile().no_graceful_shutdown || cannot_.contains(name);
            if (!is_cut || !runs || is_excused) return false;
            const auto asked = asked_.find(name);
            if (asked == asked_.end() || now - asked->second < minutes{3})
                violation_ = name + " is cut off while its Node is Ready";
            return false;
        }});
    }

    // Makes the BMC answer oddly, except to logins, whose first refusal already counts.
    void answer_oddly(const std::string& name) {
        using redfish_simulator::merging;
        using redfish_simulator::refusal;
        base::HttpResponse empty;
        empty.status = 200;
        const auto add = [&](std::string method, OddAnswer answer) {
            answer.is_for = [this, name, method](const base::HttpRequest& request) {
                const bool is_login = request.target.find("Sessions") != std::string::npos;
                return is_odd_ && !is_login && request.method == method && below(1000) < 15;
            };
            world_.odd(name).add(std::move(answer));
        };
        add("GET", {.is_for = {}, .instead = refusal(503)});
        add("GET", {.is_for = {}, .instead = refusal(500, "InternalError")});
        add("GET", {.is_for = {}, .instead = refusal(403, "InsufficientPrivilege")});
        if (world_.bmc(name).profile().has_sessions) add("GET", {.is_for = {}, .instead = refusal(401)});
        add("GET", {.is_for = {}, .instead = refusal(404, "ResourceMissingAtURI")});
        add("GET", {.is_for = {}, .instead = empty});
        add("GET", {.is_for = {}, .alter = merging(R"({"UUID":null})")});
        add("GET", {.is_for = {}, .alter = merging(R"({"PowerState":null})")});
        add("GET", {.is_for = {}, .alter = merging(R"({"Actions":null})")});
        // BMCs that restart say Off for a moment. With it the operator cannot know what others turned on.
        world_.odd(name).add({.is_for =
                                  [this, name](const base::HttpRequest& request) {
                                      const bool is_for_system = request.target.ends_with("/Systems/Blade1");
                                      return is_odd_ && request.method == "GET" && is_for_system &&
                                             !others_.contains(name) && below(1000) < 15;
                                  },
                              .alter = merging(R"({"PowerState":"Off"})")});
        add("GET", {.is_for = {}, .delay = seconds{75}});
        for (const auto* method : {"POST", "PATCH"}) {
            add(method, {.is_for = {}, .instead = refusal(503)});
            add(method, {.is_for = {}, .instead = refusal(400, "InvalidOperationForSystemState")});
            add(method, {.is_for = {}, .is_lost = true});
        }
        world_.odd(name).add({.is_for =
                                  [this, name](const base::HttpRequest& request) {
                                      const bool is_it =
                                          is_odd_ && below(100) < 10 &&
                                          request.body.find("GracefulShutdown") != std::string::npos;
                                      if (is_it) cannot_.insert(name);
                                      return is_it;
                                  },
                              .instead = refusal(405)});
    }

    void follow_nodes() {
        for (int i = 0; i < kHosts; ++i) {
            const auto name = name_of(i);
            const auto now = world_.clock.now();
            if (world_.bmc(name).power() != Power::on) {
                on_since_.erase(name);
                asked_.erase(name);
                cannot_.erase(name);
                world_.inventory.ready_nodes.erase(name);
            } else if (now - on_since_.try_emplace(name, now).first->second >= kJoins &&
                       !others_.contains(name)) {
                world_.inventory.ready_nodes.insert(name);
            }
        }
    }

    // Reports whether hosts are as they were found, once the operator has looked at the free hosts again.
    bool is_as_found() {
        const bool is_disk = world_.config.spec.redfish->boot.method == api::v1alpha1::BootMethod::Disk;
        for (int i = 0; i < kHosts; ++i) {
            const auto name = name_of(i);
            auto& bmc = world_.bmc(name);
            if (is_disk || bmc.power() != Power::off) continue;
            // A BMC that kept something is asked again after a pause.
            for (int look = 0; look < 2 || (world_.host(name).use.is_prepared && look < 50); ++look) {
                world_.run(operators_[0]->capabilities().host_examiner->examine_host(name));
                world_.pass(minutes{15});
            }
            const bool is_set = bmc.boot_enabled() != "Disabled" && bmc.boot_target() != "None";
            if (is_set || (bmc.media("Cd").inserted && bmc.media("Cd").image == kImageOfOurs)) {
                claims_.front().outcome = name + " is left prepared";
                return false;
            }
        }
        return true;
    }

    void flip_cable() {
        const auto url = "https://" + name_of(static_cast<int>(below(kHosts)));
        chance(50) ? world_.network.unplug(url) : world_.network.plug_in(url);
    }
    // Plays a person who does not know that a claim is about to take the host. A BMC that remembers its power
    // state would deceive both.
    void turn_on_by_hand() {
        const auto name = name_of(static_cast<int>(below(kHosts)));
        auto& bmc = world_.bmc(name);
        // A host that was asked for went off by itself again, so it is ours.
        const bool is_asked = world_.host(name).use.woken.has_value();
        if (is_asked || bmc.power() != Power::off || bmc.profile().remembers_power > seconds{0}) return;
        bmc.set_power(Power::on);
        others_.insert(name);
        were_others_.insert(name);
    }
    void restart(std::size_t which) {
        operators_[which].reset();
        operators_[which] = providers::redfish::make_redfish_provider(world_.config, world_.environment);
    }

    asio::awaitable<void> call(std::size_t which, std::size_t index) {
        auto& claim = claims_[index];
        const auto record = claim.record;
        auto identity = claim.identity;
        auto* provider = operators_[which].get();
        std::string outcome;
        if (wanted_[index] && !failed_.contains(index)) {
            providers::MachineSpec spec;
            spec.identity = identity;
            spec.cpu_cores = 1;
            spec.memory_mib = 1024;
            spec.record = record;
            const auto result = co_await provider->ensure(std::move(spec));
            const auto* machine = std::get_if<providers::Machine>(&result);
            if (std::holds_alternative<providers::AttemptFailed>(result)) failed_.insert(index);
            if (!machine) co_return;
            if (machine->state != providers::MachineState::placed)
                identity.system_uuid = machine->identity.system_uuid;
            // The claim's status is only written if it is unchanged since it was read.
            if (claim.record != record) co_return;
            claim.record = machine->record;
            claim.identity = identity;
        } else if (!gone_.contains(index)) {
            const auto result = co_await provider->remove(identity, record, nobody_joined);
            if (const auto* blocked = std::get_if<providers::RemovalBlocked>(&result))
                claim.outcome = blocked->reason + ": " + blocked->message;
            if (const auto* busy = std::get_if<providers::RemovalInProgress>(&result))
                claim.outcome = busy->message;
            if (!std::holds_alternative<providers::Gone>(result)) co_return;
            if (claim.record != record) co_return;
            gone_.insert(index);
        }
    }

    asio::awaitable<bool> cut(std::size_t which, std::size_t index, base::TimePoint deadline) {
        co_await base::run_before(world_.clock, deadline, call(which, index));
        co_return true;
    }

    void act(std::size_t which, std::size_t index, bool is_cut_off) {
        const auto time = is_cut_off ? base::Duration(std::chrono::milliseconds{100 * below(40)})
                                     : base::Duration(minutes{10});
        try {
            world_.run(cut(which, index, world_.clock.now() + time));
        } catch (const providers::ProviderError&) {
            world_.pass(seconds{1});
        }
    }

    void check() {
        if (!violation_.empty()) throw std::runtime_error(violation_);
        follow_nodes();
        std::set<std::string> owners;
        for (const auto& [name, host] : world_.inventory.objects) {
            const auto owner = host.use.owner ? host.use.owner->claim_uid : std::string();
            if (!owner.empty() && !owners.insert(owner).second)
                throw std::runtime_error(owner + " has two hosts");
            auto& before = owners_[name];
            if (!before.empty() && !owner.empty() && before != owner)
                throw std::runtime_error(name + " was taken from " + before);
            if (!before.empty() && owner.empty()) check_drives(name);
            before = owner;
            const bool is_asked =
                host.use.stage == HostStage::powering_on || host.use.stage == HostStage::joining;
            if (host.use.owner && (host.use.woken || host.use.stage == HostStage::reserved))
                unclear_[name] = false;
            if (host.use.owner && is_asked && !host.use.woken) unclear_[name] = true;
            const auto& exchanges = world_.bmc(name).exchanges();
            for (auto& at = seen_[name]; at < exchanges.size(); ++at) {
                const bool is_reset = exchanges[at].target.find("Reset") != std::string::npos;
                if (!is_reset || exchanges[at].method != "POST") continue;
                if (name == "foreign") throw std::runtime_error("a foreign host was reset");
                const bool is_on = exchanges[at].body.find("\"On\"") != std::string::npos;
                if (others_.contains(name) && !is_on)
                    throw std::runtime_error(name + " was switched off, which somebody else had turned on");
            }
            if (world_.bmc(name).power() == Power::off) others_.erase(name);
        }
        if (world_.bmc("foreign").power() != Power::on) throw std::runtime_error("a foreign host is off");
    }

    // Checks that no host becomes free with the data of a claim.
    void check_drives(const std::string& name) {
        using api::v1alpha1::WipeMode;
        auto& bmc = world_.bmc(name);
        const bool is_wiped = world_.config.spec.redfish->powerOff.wipe == WipeMode::SecureErase;
        const bool is_excused = were_others_.contains(name) || unclear_[name];
        if (is_wiped && !is_excused && bmc.boots() > 0 && bmc.erased_drives() < bmc.profile().drives)
            throw std::runtime_error(name + " is free with drives that were not erased");
    }

    bool is_over() {
        for (int i = 0; i < kHosts; ++i) {
            if (world_.host(name_of(i)).use.owner) return false;
            // A process that dies between a request and the record of its answer leaves a host on that nobody
            // can attribute.
            const bool may_be_on = others_.contains(name_of(i)) || unclear_[name_of(i)];
            if (world_.bmc(name_of(i)).power() != Power::off && !may_be_on) return false;
        }
        return true;
    }

    std::unique_ptr<base::Random> random_;
    World world_;
    std::unique_ptr<providers::Provider> operators_[2];
    std::vector<World::Claim> claims_;
    std::vector<bool> wanted_;
    std::set<std::size_t> failed_;
    std::set<std::size_t> gone_;
    std::map<std::string, std::string> owners_;
    std::map<std::string, std::size_t> seen_;
    std::set<std::string> others_;         // hosts that somebody else turned on
    std::set<std::string> were_others_;    // the same, ever
    std::map<std::string, bool> unclear_;  // hosts that nothing attributes to anybody
    bool is_odd_ = true;
    std::map<std::string, base::TimePoint> on_since_;
    std::map<std::string, base::TimePoint> asked_;  // first request to shut down
    std::set<std::string> cannot_;                  // hosts whose BMC said that it cannot shut them down
    std::string violation_;
};

}  // namespace

TEST_CASE("whatever happens, hosts have one claim each and end off and free") {
    const auto first = number_from("REDFISH_FIRST_SEED", 1);
    const auto count = number_from("REDFISH_SEEDS", 300);
    for (auto seed = first; seed < first + count; ++seed) {
        INFO("seed " << seed);
        Chaos chaos(seed);
        REQUIRE_NOTHROW(chaos.trouble());
        const bool is_settled = chaos.settle();
        INFO(chaos.state());
        REQUIRE(is_settled);
    }
}
