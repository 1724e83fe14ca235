// Plays a recorded service tree as if its BMC were there, without I/O. It stores changes over Redfish (power,
// boot override, virtual media, sessions) in the documents themselves. It accepts nothing that the recording
// forbids, and has nothing that the recording lacks.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/http.hpp"
#include "test/simulators/redfish_player/allowed.hpp"
#include "test/simulators/redfish_player/tree.hpp"

namespace redfish_player {

using std::chrono::seconds;

struct PlayerOptions {
    std::string username = "admin";
    std::string password;
    base::Duration power_on = seconds{8};
    base::Duration power_off = seconds{4};
    base::Duration shutdown = seconds{30};
    bool hears_shutdown = true;  // the system shuts itself down when it is asked to
};

// Exchange is a request other than GET, and its result.
struct Exchange {
    std::string method;
    std::string target;
    std::string body;
    int status = 0;
    std::string refused;        // message ID; empty: not refused
    bool is_forbidden = false;  // allowable values of the recording forbid it
};

// Boot is what a system found when it was turned on.
struct Boot {
    std::string target;  // "Hdd" without an override
    std::string mode;
    std::string http_uri;
    std::vector<std::string> images;  // images in its virtual media
};

class Player {
public:
    // `clock` must outlive the player.
    Player(Tree tree, PlayerOptions options, base::Clock& clock);

    base::HttpResponse handle(const base::HttpRequest& request);

    // Sets the power of all systems to "On" or "Off", as a person at the front panel does.
    void set_power(const std::string& state);
    // Makes all systems healthy, as after a repair.
    void set_healthy();
    // Returns the power of the first system.
    std::string power();
    // Reports whether any system has an override.
    bool is_override_set();
    const Tree& tree() const { return tree_; }
    const std::vector<Exchange>& exchanges() const { return exchanges_; }
    void forget_exchanges() { exchanges_.clear(); }
    const std::vector<Boot>& boots() const { return boots_; }
    std::size_t open_sessions() const { return tokens_.size(); }
    void expire_sessions() { tokens_.clear(); }

private:
    using Response = base::HttpResponse;
    struct Change {
        base::TimePoint at;
        std::string state;
    };

    Response dispatch(const base::HttpRequest& request, const std::string& key);
    bool is_known(const base::HttpRequest& request) const;
    Response get(const std::string& key);
    Response patch(const base::HttpRequest& request, const std::string& key, const json::object& body);
    Response post(const std::string& key, const json::object& body);
    Response remove(const std::string& key);
    Response log_in(const json::object& body);
    void list_sessions();
    Response act(const Tree::Action& action, const json::object& body);
    Response reset(const std::string& system, const std::string& type);
    Response insert(json::object& slot, const json::object& body);
    void settle();
    void boot(const std::string& system);
    Response refuse(Refusal refusal);
    void changed(const std::string& key);

    Tree tree_;
    PlayerOptions options_;
    base::Clock& clock_;
    std::map<std::string, Change> changes_;      // changes of power, by system
    std::map<std::string, std::string> tokens_;  // by the key of their session
    int serial_ = 0;
    std::vector<Boot> boots_;
    std::vector<Exchange> exchanges_;
    std::optional<Refusal> refusal_;  // refusal of the present request
};

}  // namespace redfish_player
