// One host's system behind its BMC. It reads the system and makes single requests. A later observation proves
// success; the status of an answer does not.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "providers/redfish/bmc/bmc.hpp"
#include "providers/redfish/bmc/bmc_requests.hpp"
#include "providers/redfish/hosts/hardware_boot.hpp"
#include "providers/redfish/hosts/hardware_details.hpp"

namespace providers::redfish {

enum class ResetAnswer {
    taken,
    refused,     // it is already so, it is impossible now, or the BMC does not say why
    impossible,  // this BMC cannot do it
    lost,        // it may have been accepted
};
struct ResetOutcome {
    ResetAnswer answer = ResetAnswer::taken;
    std::string words;  // the BMC's words for a refusal
    std::string task;   // target of the task that does it; empty: none
};
struct TaskReport {
    TaskProgress progress = TaskProgress::running;
    std::string words;  // the BMC's words for a failure, or the state of a task that is running
};
struct Erasure {
    bool is_done = false;
    std::string task;         // target of the task that does it; empty: none
    std::string words;        // why it is not done and no task does it
    int unread = 0;           // unreadable answers about the task in a row
    base::TimePoint since{};  // time of the request
};

// TagPlace is a place where a BMC stores an asset tag of the host.
struct TagPlace {
    std::string link;
    std::string etag;
    std::string tag;
};
struct TagWrite {
    enum class Outcome {
        taken,
        lost,     // the answer was lost: it may have been written or refused
        changed,  // somebody else wrote first
        refused,  // not this way, see `refusal`
    };
    Outcome outcome = Outcome::taken;
    bool is_promise = false;  // it will be done later
    std::string refusal;      // or how the answer was lost
};

class Hardware {
public:
    // system_id is target, Id or UUID of the system; empty: the BMC has only one, or the host was known
    // before by known_uuid. pinned_uuid is used if the BMC reports none. `bmc` must outlive this.
    Hardware(Bmc& bmc, std::string system_id, std::string pinned_uuid, std::string known_uuid, Quirks quirks);

    // Notes the UUID of the host, once it is known.
    void know(const std::string& uuid) {
        if (!uuid.empty()) known_uuid_ = uuid;
    }

    // All calls throw RedfishError and FencedError, and must be made during a visit to the BMC.
    asio::awaitable<System> system();
    asio::awaitable<Details> details(System system) { return details_.read(std::move(system)); }
    asio::awaitable<std::optional<std::int64_t>> power_watts(std::string meter);
    // Returns the types that the BMC offers now, and then those that it offered before: some offer only what
    // fits the present power state. Empty: it does not say now, and what it said before is not all.
    asio::awaitable<std::vector<std::string>> reset_types(System system);
    // Throws if the system's document shows no reset action. Half a document says nothing about what the BMC
    // can do.
    void require_reset_action(const System& system) const;
    // Requests a reset. Read the power afterwards, whatever the result. Throws only if no part of the request
    // arrived, or if only a person can help, or as require_reset_action().
    asio::awaitable<ResetOutcome> reset(System system, PowerGoal goal);
    // Returns the state of a reset's task; nullopt: it has vanished, or there is no answer.
    asio::awaitable<std::optional<TaskReport>> reset_task(std::string link);

    // Returns why set_boot() and insert_boot_image() would fail, as far as known before; empty: no known
    // obstacle.
    asio::awaitable<std::string> boot_obstacle(System system, BootWish wish);
    // Prepares what the host boots.
    HardwareBoot& boot() { return boot_; }

    // Returns the tag of the system, and that of its chassis if no other system shares it. Omits missing
    // ones.
    asio::awaitable<std::vector<TagPlace>> tag_places(System system);
    // Writes the tag, a text or null, only if it is still as in `place`.
    asio::awaitable<TagWrite> write_tag(TagPlace place, json::value tag);

    // Returns the links of all drives, each once. Empty: the BMC reports none. Throws if it does not show a
    // controller that it lists.
    asio::awaitable<std::vector<std::string>> drives(System system);
    // Starts erasing one drive. An error of kind unsupported means that the drive cannot do it.
    asio::awaitable<Erasure> erase_drive(std::string drive);
    // Returns nullopt if the task has vanished, which proves nothing.
    asio::awaitable<std::optional<TaskReport>> task(std::string link);

private:
    asio::awaitable<TaskReport> read_task(std::string link);
    void note_offered(const std::vector<std::string>& types);
    // Returns the types that the BMC offers now; empty: it does not say.
    asio::awaitable<std::vector<std::string>> current_reset_types(System system);
    asio::awaitable<std::string> find_system();
    // Reports whether spec.bmc.systemID names the link, as far as the link alone shows it.
    bool is_named(const std::string& link) const;
    // Finds a system by Id or UUID. Returns an empty text if none matches.
    asio::awaitable<std::string> find_by_content(std::vector<std::string> links, std::string wanted);

    Bmc& bmc_;
    std::string system_id_;
    std::string pinned_uuid_;
    std::string known_uuid_;
    DetailsReader details_;
    HardwareBoot boot_;
    std::vector<std::string> offered_resets_;  // since this process knows the system
    std::string system_link_;                  // empty until known
};

}  // namespace providers::redfish
