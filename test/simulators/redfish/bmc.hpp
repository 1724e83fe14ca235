// One simulated BMC with the system behind it. The core does no I/O: requests and answers are values, and
// time comes from a clock. It is an independent judge, and refuses what Redfish (DSP0266) or the played
// vendor would refuse.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/http.hpp"
#include "test/simulators/redfish/profile.hpp"

namespace redfish_simulator {

namespace json = boost::json;

enum class Power { off, powering_on, on, powering_off };

struct Media {
    std::string image;
    bool inserted = false;
    std::optional<base::TimePoint> ejected_at;
};

// Exchange records a request and its status for tests, such as "POST /redfish/v1/...".
struct Exchange {
    std::string method;
    std::string target;
    std::string body;
    int status = 0;
};

class Bmc {
public:
    Bmc(Profile profile, base::Clock& clock);

    base::HttpResponse handle(const base::HttpRequest& request);

    Profile& profile() { return profile_; }
    // ---- the world
    Power power();
    void set_power(Power power);                                               // a person at the front panel
    void set_boot(std::string target, std::string enabled, std::string mode);  // a previous user
    // Returns the source of the last boot: Hdd, Pxe, UefiHttp, Cd, UsbCd; "" if the system never booted.
    const std::string& booted_from() const { return booted_from_; }
    int boots() const { return boots_; }
    std::string boot_target() const { return boot_target_; }
    std::string boot_enabled() const { return boot_enabled_; }
    // Sets the override as another client would.
    void set_override(const std::string& target, const std::string& enabled) {
        boot_target_ = target;
        boot_enabled_ = enabled;
    }
    // Returns the tag of the system or of the chassis.
    const std::string& asset_tag(bool of_chassis = false) const {
        return of_chassis ? chassis_tag_ : system_tag_;
    }
    void set_asset_tag(std::string tag, bool of_chassis = false) {
        (of_chassis ? chassis_tag_ : system_tag_) = std::move(tag);
        ++boot_version_;
    }
    // Called before a write of an asset tag takes effect.
    std::function<void(const std::string&)> on_tag_write;
    Media& media(const std::string& slot) { return media_[slot]; }
    std::size_t sessions() const { return sessions_.size(); }
    // Reports whether the session was opened and has neither ended nor timed out.
    bool has_session(const std::string& target) const {
        const auto found = sessions_.find(target);
        return found != sessions_.end() && now() - found->second.used <= profile_.session_timeout;
    }
    // Opens a session that no client uses any longer.
    void leak_session(const std::string& context);
    void expire_sessions() { sessions_.clear(); }
    bool is_locked_out() const { return wrong_passwords_ >= profile_.lock_out_after; }
    std::size_t wrong_passwords() const { return wrong_passwords_; }
    // Returns the number of drives that were erased since the last boot.
    int erased_drives() const { return static_cast<int>(erased_.size()); }
    const std::vector<Exchange>& exchanges() const { return exchanges_; }
    void keep_exchanges(bool keep) { keeps_exchanges_ = keep; }
    std::size_t count(const std::string& method, const std::string& part) const;
    // Called whenever the system has come on or gone off.
    std::function<void(Power)> on_change;

private:
    using Response = base::HttpResponse;
    struct Session {
        std::string token;
        std::string context;
        base::TimePoint used;
    };
    struct Task {
        base::TimePoint ends;
        std::string drive;
        bool vanished = false;
    };

    Response dispatch(const base::HttpRequest& request, std::string target);
    std::optional<Response> refuse_stranger(const base::HttpRequest& request, const std::string& target);
    Response get(const std::string& target);
    Response post(const std::string& target, const json::object& body, bool has_body);
    Response patch(const base::HttpRequest& request, const std::string& target, const json::object& body);
    Response create_session(const json::object& body);
    Response delete_session(const std::string& target);

    // These functions are in power.cpp.
    void settle();
    Response reset(const json::object& body);
    void begin(Power transition, Duration takes);
    void finish_boot();
    std::string power_text();
    std::vector<std::string> reset_types() const;

    // These functions are in documents.cpp.
    std::optional<json::object> document(const std::string& target);
    // `paged` is the path with its query.
    std::optional<json::object> service_document(const std::string& path, const std::string& paged);
    std::optional<json::object> system_part(const std::string& path, const std::string& paged);
    json::object service_root() const;
    json::object system_document(int index);
    json::object boot_document(bool on_settings) const;
    std::optional<json::object> chassis_document(const std::string& path) const;
    std::optional<json::object> interface_document(const std::string& path, const std::string& paged) const;
    std::optional<json::object> adapter_document(const std::string& path) const;
    json::object collection(const std::string& target, const std::vector<std::string>& members) const;
    std::string etag_of(const std::string& target) const;

    // These functions are in tags.cpp.
    Response patch_tag(const std::string& target, const json::object& body);
    bool has_tag(const std::string& target) const;

    // These functions are in media.cpp.
    struct BootChange {
        base::TimePoint at;
        std::string target;
        std::string enabled;
        std::string mode;
        std::string http_uri;
    };
    Response patch_boot(const json::object& body, bool on_settings);
    void apply(const BootChange& change);
    std::optional<json::object> media_document(const std::string& target);
    Response insert(const std::string& slot, const json::object& body);
    Response eject(const std::string& slot, bool has_body);
    Response patch_media(const std::string& slot, const json::object& body);
    const Slot* slot_of(const std::string& target) const;
    std::string media_base() const;

    // These functions are in tasks.cpp.
    std::optional<json::object> storage_document(const std::string& target);
    Response erase(const std::string& drive);
    Response task(const std::string& target);

    Response answer(int status, json::object body) const;
    Response error(int status, const std::string& id, const std::string& message) const;
    static Response empty(int status);
    std::string location(const std::string& path) const;
    base::TimePoint now() const { return clock_.now(); }

    Profile profile_;
    base::Clock& clock_;
    base::TimePoint started_;
    std::map<std::string, Session> sessions_;  // by target
    int serial_ = 0;
    std::size_t wrong_passwords_ = 0;
    Power power_ = Power::off;
    std::optional<base::TimePoint> settles_;
    std::optional<base::TimePoint> falls_;
    base::TimePoint off_since_{};
    base::TimePoint on_since_{};
    std::string remembered_power_;
    base::TimePoint remembered_at_{};
    std::string boot_target_ = "None";
    std::string boot_enabled_ = "Disabled";
    std::string boot_mode_ = "UEFI";
    std::string http_uri_;
    std::optional<BootChange> boot_job_;
    std::string booted_from_;
    int boots_ = 0;
    int boot_version_ = 1;
    std::string system_tag_;
    std::string chassis_tag_;
    std::map<std::string, Media> media_;
    std::map<std::string, Task> tasks_;
    std::set<std::string> erased_;
    bool keeps_exchanges_ = true;
    std::vector<Exchange> exchanges_;
};

}  // namespace redfish_simulator
