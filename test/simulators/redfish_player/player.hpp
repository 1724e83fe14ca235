// Plays a recorded service tree as if its BMC were there: a core without I/O. What can be changed over
// Redfish (power, boot override, virtual media, sessions) is kept in the documents themselves. It takes
// nothing that the recording forbids, and has nothing that the recording lacks.
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
    bool hears_shutdown = true;  // a system runs that shuts itself down when it is asked to
};

// A request that was not a GET, and how it ended.
struct Exchange {
    std::string method;
    std::string target;
    std::string body;
    int status = 0;
    std::string refused;        // message ID; empty: it was not
    bool is_forbidden = false;  // by allowable values of the recording
};

// What a system found when it was turned on.
struct Boot {
    std::string target;  // "Hdd" without an override
    std::string mode;
    std::string http_uri;
    std::vector<std::string> images;  // in its virtual media
};

class Player {
public:
    // `clock` must outlive this.
    Player(Tree tree, PlayerOptions options, base::Clock& clock);

    base::HttpResponse handle(const base::HttpRequest& request);

    // Somebody at the front panel, of all systems: "On", "Off".
    void set_power(const std::string& state);
    // Somebody repairs them.
    void set_healthy();
    // Of the first system.
    std::string power();
    // Of any system.
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
    std::map<std::string, Change> changes_;      // of power, by system
    std::map<std::string, std::string> tokens_;  // by the key of their session
    int serial_ = 0;
    std::vector<Boot> boots_;
    std::vector<Exchange> exchanges_;
    std::optional<Refusal> refusal_;  // of the request that is being answered
};

}  // namespace redfish_player
