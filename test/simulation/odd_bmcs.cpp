#include "test/simulation/odd_bmcs.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"
#include "providers/redfish/bmc/asset_tag.hpp"

namespace simulation {
namespace {

using namespace std::chrono_literals;
using base::HttpRequest;
using base::HttpResponse;
using redfish_simulator::merging;
using redfish_simulator::OddAnswer;
using redfish_simulator::refusal;
using redfish_simulator::requests;

using Test = std::function<bool(const HttpRequest&)>;
using Change = std::function<void(const HttpRequest&, HttpResponse&)>;

constexpr const char* kSystem = "/Systems/Blade1";
constexpr const char* kOddTask = "/redfish/v1/TaskService/Tasks/odd";

// Selects requests for an optional part of the system and everything below it. Nothing depends on such a
// part.
Test reads_part(const std::string& part) {
    return [part](const HttpRequest& request) {
        return request.method == "GET" && request.target.find("/" + part) != std::string::npos;
    };
}

Test presses(const std::string& type) {
    return requests("POST", "/ComputerSystem.Reset", "\"" + type + "\"");
}

bool has_basic(const HttpRequest& request) {
    return request.headers.find("Authorization").has_value();
}

void forget_body(const HttpRequest&, HttpResponse& response) {
    if (response.status == 200) response.body.clear();
}

HttpResponse with_error(int status, const std::string& id) {
    auto response = refusal(400, id, "the BMC refuses it");
    response.status = status;
    return response;
}

HttpResponse with_header(int status, const char* name, const char* value, std::string body = {}) {
    HttpResponse response;
    response.status = status;
    response.headers.set(name, value);
    response.body = std::move(body);
    return response;
}

HttpResponse web_page() {
    return with_header(200, "Content-Type", "text/html",
                       "<html><body>Please wait while the service starts</body></html>");
}

class OddBmcs final : public Outsider {
public:
    explicit OddBmcs(World& world) : world_(world), random_(world.random_for("odd BMCs")) {}
    // Clears the odd answers, so that the operator can still end its sessions.
    ~OddBmcs() override {
        for (const auto& name : world_.bmcs.names()) world_.bmcs.odd_answers(name).clear();
    }

    void begin() override {
        const bool has_some = !world_.faults.is_calm() && random_->below(2) == 0;
        if (!has_some) return;
        world_.bmcs.subscribe(
            [this](const std::string& host, Power) { power_changed_[host] = world_.now(); });
        for (const auto& name : world_.bmcs.names()) begin(name);
    }

    void make_peace() override {
        at_peace_ = true;
        for (const auto& name : world_.bmcs.names()) have_credentials_tried(name);
    }

private:
    using Kind = void (OddBmcs::*)(const std::string&);

    void begin(const std::string& host) {
        static constexpr std::array<Kind, 30> kKinds{
            &OddBmcs::empty_system,       &OddBmcs::null_uuid,
            &OddBmcs::null_power,         &OddBmcs::null_after_change,
            &OddBmcs::off_for_a_moment,   &OddBmcs::refused_clearance,
            &OddBmcs::refused_image,      &OddBmcs::refused_login,
            &OddBmcs::ended_sessions,     &OddBmcs::busy,
            &OddBmcs::failing_reads,      &OddBmcs::web_pages,
            &OddBmcs::updating,           &OddBmcs::no_session_left,
            &OddBmcs::lost_resets,        &OddBmcs::lost_tag_writes,
            &OddBmcs::refused_on,         &OddBmcs::error_object,
            &OddBmcs::failed_task,        &OddBmcs::refused_override,
            &OddBmcs::compressed_answer,  &OddBmcs::silent_part,
            &OddBmcs::silent_part,        &OddBmcs::silent_sibling,
            &OddBmcs::refused_shutdown,   &OddBmcs::refused_shutdown,
            &OddBmcs::refused_basic,      &OddBmcs::image_shown_otherwise,
            &OddBmcs::refused_tag_writes, &OddBmcs::refused_epochs};
        const auto kinds = random_->below(5);
        for (std::uint64_t i = 0; i < kinds; ++i) (this->*kKinds[random_->below(kKinds.size())])(host);
        if (random_->below(10) == 0) sessions_switched_off(host);
    }

    // Plays a person who reads why nothing more is sent to the BMC, and who knows that the Secret is right.
    void have_credentials_tried(const std::string& host) {
        const auto* object = world_.view.find<NodeSmithHost>({kNodesNamespace, host});
        if (!object || !object->status.refusedCredentials) return;
        world_.server.edit<NodeSmithHost>({kNodesNamespace, host}, [](NodeSmithHost& edited) {
            edited.metadata.annotations[std::string(api::annotations::kRetryCredentials)] = "peace";
        });
        world_.happenings.count("a person has credentials tried again");
    }

    void note(const std::string& host, const std::string& what) const {
        world_.trace.line("odd bmcs", host, ": ", what);
        world_.happenings.count("odd BMC: " + what);
    }

    // Selects a share of the requests that pass the test, until there is peace.
    Test now_and_then(const std::string& host, const std::string& what, double share, Test test) {
        return [this, host, what, share, test = std::move(test)](const HttpRequest& request) {
            if (at_peace_ || !test(request) || random_->unit() >= share) return false;
            note(host, what);
            return true;
        };
    }
    Test always(const std::string& host, const std::string& what, Test test) const {
        return [this, host, what, test = std::move(test)](const HttpRequest& request) {
            if (!test(request)) return false;
            note(host, what);
            return true;
        };
    }
    // Selects requests for some minutes of each half an hour.
    Test at_times(const std::string& host, const std::string& what, Test test) {
        const auto offset = std::chrono::minutes{static_cast<std::int64_t>(random_->below(30))};
        const auto lasts = std::chrono::minutes{static_cast<std::int64_t>(1 + random_->below(6))};
        return now_and_then(
            host, what, 1, [this, offset, lasts, test = std::move(test)](const HttpRequest& request) {
                return (world_.now().time_since_epoch() + offset) % 30min < lasts && test(request);
            });
    }

    void alter(const std::string& host, Test test, Change change) {
        OddAnswer answer;
        answer.is_for = std::move(test);
        answer.alter = std::move(change);
        world_.bmcs.odd_answers(host).add(std::move(answer));
    }
    void answer(const std::string& host, Test test, HttpResponse response) {
        OddAnswer odd;
        odd.is_for = std::move(test);
        odd.instead = std::move(response);
        world_.bmcs.odd_answers(host).add(std::move(odd));
    }

    // ---- now and then
    void empty_system(const std::string& host) {
        alter(host, now_and_then(host, "empty system", 0.1, requests("GET", kSystem)), forget_body);
    }
    void null_uuid(const std::string& host) {
        alter(host, now_and_then(host, "null UUID", 0.15, requests("GET", kSystem)),
              merging(R"({"UUID": null})"));
    }
    void null_power(const std::string& host) {
        alter(host, now_and_then(host, "null power state", 0.15, requests("GET", kSystem)),
              merging(R"({"PowerState": null})"));
    }
    void null_after_change(const std::string& host) {
        const auto test = [this, host, reads = requests("GET", kSystem)](const HttpRequest& request) {
            const auto changed = power_changed_.find(host);
            return reads(request) && changed != power_changed_.end() && world_.now() < changed->second + 150s;
        };
        alter(host, now_and_then(host, "null power state after a change", 1, test),
              merging(R"({"PowerState": null})"));
    }
    // Says Off for some seconds of each ten minutes, as BMCs that restart do. The host is on for its claim,
    // as the operator cannot know otherwise what others turn on.
    void off_for_a_moment(const std::string& host) {
        const auto offset = std::chrono::seconds{static_cast<std::int64_t>(random_->below(600))};
        const auto lasts = std::chrono::seconds{static_cast<std::int64_t>(1 + random_->below(40))};
        const auto test = [this, host, offset, lasts,
                           reads = requests("GET", kSystem)](const HttpRequest& request) {
            const auto* object = world_.view.find<NodeSmithHost>({kNodesNamespace, host});
            const bool is_ours = object && object->status.claimRef && object->status.wokenTime &&
                                 !is_being_removed(object->status.claimRef->name);
            const bool is_on = world_.bmcs.bmc(host).power() == redfish_simulator::Power::on;
            return is_ours && is_on && reads(request) &&
                   (world_.now().time_since_epoch() + offset) % 10min < lasts;
        };
        alter(host, now_and_then(host, "Off for a moment", 1, test), merging(R"({"PowerState": "Off"})"));
    }
    void refused_clearance(const std::string& host) {
        static constexpr std::array<int, 3> kStatus{409, 423, 503};
        answer(host, at_times(host, "clearing the override refused", requests("PATCH", "", "\"Disabled\"")),
               with_error(kStatus[random_->below(kStatus.size())], "ResourceInUse"));
    }
    void refused_image(const std::string& host) {
        answer(host, now_and_then(host, "image refused", 0.3, requests("POST", "/VirtualMedia.InsertMedia")),
               with_error(500, "InternalError"));
    }
    // Refuses credentials that were accepted before, but never twice in a row.
    void refused_login(const std::string& host) {
        const auto test = [this, host, logs_in = requests("POST", "/Sessions")](const HttpRequest& request) {
            if (!logs_in(request)) return false;
            const auto* object = world_.view.find<NodeSmithHost>({kNodesNamespace, host});
            const bool is_known = object && !object->status.acceptedCredentials.empty();
            auto& was_refused = login_refused_[host];
            const bool refuses = !at_peace_ && is_known && !was_refused && random_->unit() < 0.3;
            was_refused = refuses;
            return refuses;
        };
        answer(host, now_and_then(host, "login refused once", 1, test), refusal(401));
    }
    // Restarts the BMC, which forgets all sessions.
    void ended_sessions(const std::string& host) {
        const auto test = [this, host](const HttpRequest& request) {
            if (at_peace_ || request.method != "GET" || random_->unit() >= 0.05) return false;
            world_.bmcs.bmc(host).expire_sessions();
            note(host, "sessions ended");
            return false;
        };
        alter(host, test, {});
    }
    void busy(const std::string& host) {
        auto response = with_error(503, "ServiceTemporarilyUnavailable");
        response.headers.set("Retry-After", std::to_string(1 + random_->below(20)));
        answer(host, now_and_then(host, "503", 0.1, requests("", "")), std::move(response));
    }
    void failing_reads(const std::string& host) {
        answer(host, now_and_then(host, "500 to a read", 0.1, requests("GET", "")),
               with_error(500, "InternalError"));
    }
    void web_pages(const std::string& host) {
        answer(host, now_and_then(host, "a web page", 0.05, requests("GET", "")), web_page());
    }
    void compressed_answer(const std::string& host) {
        alter(host, now_and_then(host, "gzip", 0.3, requests("GET", "")), redfish_simulator::gzip);
        answer(host, now_and_then(host, "compression that is not read", 0.05, requests("GET", "")),
               with_header(200, "Content-Encoding", "br", "\x0b\x02\x80{}\x03"));
    }
    void updating(const std::string& host) {
        alter(host, at_times(host, "Updating", requests("GET", kSystem)),
              merging(R"({"Status": {"State": "Updating", "Health": "OK"}})"));
    }
    void no_session_left(const std::string& host) {
        answer(host, at_times(host, "no session left", requests("POST", "/Sessions")),
               with_error(503, "SessionLimitExceeded"));
    }
    void lost_resets(const std::string& host) {
        OddAnswer odd;
        odd.is_for = now_and_then(host, "reset lost", 0.3, requests("POST", "/ComputerSystem.Reset"));
        odd.is_lost = true;
        world_.bmcs.odd_answers(host).add(std::move(odd));
    }
    // Loses writes of the AssetTag, but never two in a row. Without hostLock the operator writes none. A BMC
    // that also refused some would fail three in a row, after which a mark is left and an Event says so.
    void lost_tag_writes(const std::string& host) {
        if (tag_write_refused_.contains(host) || !tag_write_lost_.try_emplace(host).second) return;
        const auto test = [this, host,
                           writes = requests("PATCH", "", "\"AssetTag\"")](const HttpRequest& request) {
            if (!writes(request)) return false;
            auto& was_lost = tag_write_lost_[host];
            was_lost = !at_peace_ && !was_lost && random_->unit() < 0.3;
            return was_lost;
        };
        OddAnswer odd;
        odd.is_for = now_and_then(host, "write of the AssetTag lost", 1, test);
        odd.is_lost = true;
        world_.bmcs.odd_answers(host).add(std::move(odd));
    }
    // Refuses writes of the AssetTag, but never two in a row.
    void refused_tag_writes(const std::string& host) {
        if (tag_write_lost_.contains(host) || !tag_write_refused_.try_emplace(host).second) return;
        const auto test = [this, host,
                           writes = requests("PATCH", "", "\"AssetTag\"")](const HttpRequest& request) {
            if (!writes(request)) return false;
            auto& was_refused = tag_write_refused_[host];
            was_refused = !at_peace_ && !was_refused && random_->unit() < 0.5;
            return was_refused;
        };
        answer(host, now_and_then(host, "write of the AssetTag refused", 1, test), tag_refusal());
    }
    void refused_on(const std::string& host) {
        static constexpr std::array<int, 4> kStatus{400, 409, 500, 503};
        answer(host, now_and_then(host, "On refused", 0.4, presses("On")),
               with_error(kStatus[random_->below(kStatus.size())], "InternalError"));
    }
    void error_object(const std::string& host) {
        answer(host, now_and_then(host, "error object to On", 0.4, presses("On")),
               with_error(200, "InternalError"));
    }
    void failed_task(const std::string& host) {
        answer(host, now_and_then(host, "task of On fails", 0.4, presses("On")),
               with_header(202, "Location", kOddTask));
        HttpResponse outcome;
        outcome.status = 200;
        outcome.body = R"({"TaskState": "Exception", "TaskStatus": "Critical",
                           "Messages": [{"Message": "The power supplies do not give enough power."}]})";
        answer(host, requests("GET", "/Tasks/odd"), std::move(outcome));
    }
    void refused_override(const std::string& host) {
        answer(host, now_and_then(host, "boot override refused", 0.4, requests("PATCH", "", "\"Boot\"")),
               with_error(400, "PropertyValueConflict"));
    }

    // ---- permanent
    // Takes marks, but none with the epoch of an operator.
    void refused_epochs(const std::string& host) {
        const auto test = [writes = requests("PATCH", "", "\"AssetTag\"")](const HttpRequest& request) {
            static const std::string begin = R"("AssetTag":")";
            const auto at = request.body.find(begin);
            if (!writes(request) || at == std::string::npos) return false;
            const auto start = at + begin.size();
            const auto tag = request.body.substr(start, request.body.find('"', start) - start);
            return providers::redfish::epoch_in(tag).has_value();
        };
        answer(host, always(host, "epochs refused", test), tag_refusal());
    }
    HttpResponse tag_refusal() {
        static constexpr std::array<int, 3> kStatus{403, 409, 500};
        return with_error(kStatus[random_->below(kStatus.size())], "GeneralError");
    }
    // Whoever asks a host to turn off believes its BMC after some seconds.
    bool is_being_removed(const std::string& name) const {
        const auto* claim = world_.view.find<NodeSmithClaim>({kNodesNamespace, name});
        return !claim || claim->metadata.deletionTimestamp ||
               api::find_condition(claim->status.conditions, api::conditions::kMachineDeleted);
    }
    bool erases_drives() const {
        return std::ranges::any_of(world_.scenario.providers, [](const auto& provider) {
            return provider.spec.redfish &&
                   provider.spec.redfish->powerOff.wipe != api::v1alpha1::WipeMode::None;
        });
    }
    void silent_part(const std::string& host) {
        static constexpr std::array<const char*, 5> kParts{"EthernetInterfaces", "Processors", "Chassis",
                                                           "Managers", "Storage"};
        static constexpr std::array<int, 6> kStatus{401, 403, 404, 500, 503, 0};
        // A host whose drives are to be erased stays reserved while its BMC does not show them.
        const std::string part = kParts[random_->below(kParts.size() - (erases_drives() ? 1 : 0))];
        auto status = kStatus[random_->below(kStatus.size())];
        // A chassis that may answer later might show the mark of another cluster.
        if (part == "Chassis" && (status == 0 || status == 503)) status = 403;
        OddAnswer odd;
        odd.is_for =
            always(host, part + (status ? " answers " + std::to_string(status) : " hangs"), reads_part(part));
        if (status) {
            odd.instead = refusal(status);
        } else {
            odd.delay = 10min;
        }
        world_.bmcs.odd_answers(host).add(std::move(odd));
    }
    // Adds another system of the same service that comes first and does not answer.
    void silent_sibling(const std::string& host) {
        world_.bmcs.bmc(host).profile().systems = 2;
        std::vector<std::string> ids{"Blade1", "/redfish/v1/Systems/Blade1"};
        // People can choose a system by its UUID only where its BMC shows one.
        if (base::same_uuid(world_.bmcs.bmc(host).profile().uuid, world_.bmcs.uuid(host)))
            ids.push_back(world_.bmcs.uuid(host));
        world_.server.edit<NodeSmithHost>(
            {kNodesNamespace, host},
            [id = ids[random_->below(ids.size())]](NodeSmithHost& edited) { edited.spec.bmc.systemID = id; });
        alter(host, always(host, "another system comes first", requests("GET", "/Systems")),
              merging(R"({"Members": [{"@odata.id": "/redfish/v1/Systems/Blade2"},
                                      {"@odata.id": "/redfish/v1/Systems/Blade1"}]})"));
        answer(host, always(host, "another system is silent", requests("GET", "/Systems/Blade2")),
               with_error(503, "ResourceInStandby"));
    }
    void refused_shutdown(const std::string& host) {
        struct Refusal {
            int status;
            const char* id;
            bool is_for_good;
        };
        static constexpr std::array<Refusal, 5> kRefusals{{{400, "ActionParameterNotSupported", true},
                                                           {400, "InvalidOperationForSystemState", false},
                                                           {405, "OperationNotAllowed", true},
                                                           {500, "InternalError", false},
                                                           {503, "ServiceTemporarilyUnavailable", false}}};
        const auto& how = kRefusals[random_->below(kRefusals.size())];
        const auto test = [this, host, how, asks = presses("GracefulShutdown")](const HttpRequest& request) {
            if (!asks(request)) return false;
            if (how.is_for_good) world_.bmcs.note_cannot_shut_down(host);
            return true;
        };
        answer(host, always(host, "GracefulShutdown refused with " + std::to_string(how.status), test),
               with_error(how.status, how.id));
    }
    // A BMC that accepts only sessions has at least four, as real ones have 4 to 16. Each process of each
    // cluster on a shared rack may keep one, and with fewer the last of them could never log in.
    void refused_basic(const std::string& host) {
        auto& profile = world_.bmcs.bmc(host).profile();
        if (!profile.has_sessions) return;
        profile.session_limit = std::max<std::size_t>(profile.session_limit, 4);
        answer(host, always(host, "Basic refused", has_basic), refusal(401));
    }
    // Switches sessions off at one BMC of an account. Two refusals block the account for a day.
    void sessions_switched_off(const std::string& host) {
        const bool has_other = world_.bmcs.odd_answers(host).is_empty() && !is_one_without_sessions_;
        if (!has_other || !world_.bmcs.bmc(host).profile().has_sessions) return;
        is_one_without_sessions_ = true;
        answer(host, always(host, "sessions are switched off", requests("POST", "/Sessions")), refusal(401));
        alter(host, requests("GET", "/SessionService"), merging(R"({"ServiceEnabled": false})"));
    }
    void image_shown_otherwise(const std::string& host) {
        const std::array<std::string, 3> forms{R"({"Image": null, "ImageName": null})",
                                               "{\"Image\": \"" + host + ".iso\"}", R"({"Inserted": null})"};
        const auto changes = merging(forms[random_->below(forms.size())]);
        alter(host, always(host, "image shown otherwise", requests("GET", "/VirtualMedia/Cd")),
              [changes](const HttpRequest& request, HttpResponse& response) {
                  if (response.body.find("\"ConnectedVia\":\"URI\"") != std::string::npos)
                      changes(request, response);
              });
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    bool at_peace_ = false;
    bool is_one_without_sessions_ = false;
    std::map<std::string, base::TimePoint> power_changed_;  // by host
    std::map<std::string, bool> login_refused_;
    std::map<std::string, bool> tag_write_lost_;
    std::map<std::string, bool> tag_write_refused_;
};

}  // namespace

std::unique_ptr<Outsider> make_odd_bmcs(World& world) {
    return std::make_unique<OddBmcs>(world);
}

}  // namespace simulation
