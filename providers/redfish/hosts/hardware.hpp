// One host's system behind its BMC. It reads the system and makes single requests. A later observation proves
// success; the status of an answer does not.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "providers/redfish/bmc/bmc.hpp"
#include "providers/redfish/bmc/bmc_requests.hpp"

namespace providers::redfish {

// Limit of the wait for a change that was answered with 202.
inline constexpr base::Duration kPromisePatience = std::chrono::seconds{60};

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
    std::string words;  // the BMC's words for a failure
};

// Details change rarely and are read once a day. If parts were unreadable, they are read sooner, with growing
// pauses.
struct Details {
    std::set<Part> unread;
    std::vector<std::string> macs;
    std::int64_t threads = 0;  // of all processors, if the system's summary is not certain
    std::vector<DiskGroup> disks;
    std::vector<PortGroup> ports;
    std::vector<AcceleratorGroup> accelerators;
    std::string architecture;  // empty: the processors do not report it
    std::string bmc_version;
    std::string network_adapters;  // links of the chassis; empty: none
    std::string power_meter;       // meter for the power of the chassis
    std::vector<std::string> flaws;
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
    // system_id is target, Id or UUID of the system; empty: the BMC has only one. `uuid` is used if the BMC
    // reports none. `bmc` must outlive this.
    Hardware(Bmc& bmc, std::string system_id, std::string uuid, Quirks quirks);

    // All calls throw RedfishError and FencedError, and must be made during a visit to the BMC.
    asio::awaitable<System> system();
    asio::awaitable<Details> details(System system);
    asio::awaitable<std::optional<std::int64_t>> power_watts(std::string meter);
    // Returns the types that reset() may request; empty: the BMC does not say. ActionInfo is read once.
    asio::awaitable<std::vector<std::string>> reset_types(System system);
    // Requests a reset. Read the power afterwards, whatever the result. Throws only if no part of the request
    // arrived, or if only a person can help.
    asio::awaitable<ResetOutcome> reset(System system, PowerGoal goal);
    // Returns the state of a reset's task; nullopt: it has vanished, or there is no answer.
    asio::awaitable<std::optional<TaskReport>> reset_task(std::string link);

    // Sets the override and reads it back. Throws if the BMC accepts no form of it.
    asio::awaitable<void> set_boot(System system, BootWish wish);
    // Returns false if the override is still there, which is worth only a message.
    asio::awaitable<bool> clear_boot(System system);
    // Does the same, but only for an override that set_boot() may have set.
    asio::awaitable<bool> cancel_boot(System system, BootWish wish);
    // Returns why set_boot() and insert_boot_image() would fail, as far as known before; empty: no known
    // obstacle.
    asio::awaitable<std::string> boot_obstacle(System system, BootWish wish);

    struct Inserted {
        std::string slot;       // its link; empty: no slot accepts the image
        std::string displaced;  // foreign image that was ejected for it; empty: none
    };
    // Inserts the boot image and reads it back, or finds it inserted. Foreign images are ejected only if no
    // slot is free.
    asio::awaitable<Inserted> insert_boot_image(System system, std::string url);
    // Does the same for boot data, in another slot than the image. No error message contains `where`
    // (ServedBootData::url).
    asio::awaitable<Inserted> insert_boot_data(System system, std::string where, std::string not_in);
    using SlotTest = std::function<bool(const MediaSlot&)>;
    // Ejects the images in slots that pass the test.
    asio::awaitable<void> eject_media(System system, SlotTest test);

    // Returns the tag of the system, and that of its chassis if no other system shares it. Omits missing
    // ones.
    asio::awaitable<std::vector<TagPlace>> tag_places(System system);
    // Writes the tag, a text or null, only if it is still as in `place`.
    asio::awaitable<TagWrite> write_tag(TagPlace place, json::value tag);

    // Returns the links of all drives. Empty: the BMC reports none.
    asio::awaitable<std::vector<std::string>> drives(System system);
    // Starts erasing one drive. Returns the task's target; empty: it is done. An error of kind unsupported
    // means that the drive cannot do it.
    asio::awaitable<std::string> erase_drive(std::string drive);
    // Returns nullopt if the task has vanished, which proves nothing.
    asio::awaitable<std::optional<TaskProgress>> task(std::string link);

private:
    asio::awaitable<std::string> find_system();
    enum class Asking { patiently, once };
    asio::awaitable<std::vector<std::string>> members(std::string collection,
                                                      Asking asking = Asking::patiently);
    // Does the same for a collection that may be missing; then it adds a flaw.
    asio::awaitable<std::vector<std::string>> members_of(std::string name, std::string collection,
                                                         std::vector<std::string>& flaws);
    using Reader = asio::awaitable<void> (Hardware::*)(System, Details&);
    asio::awaitable<void> read_part(Part part, Reader reader, System system, Details& details);
    asio::awaitable<void> read_interfaces(System system, Details& details);
    asio::awaitable<void> read_processors(System system, Details& details);
    asio::awaitable<void> read_disks(System system, Details& details);
    asio::awaitable<void> read_chassis(System system, Details& details);
    asio::awaitable<void> read_adapters(System system, Details& details);
    asio::awaitable<void> read_manager(System system, Details& details);
    asio::awaitable<std::optional<RedfishResource>> find_once(std::string link);
    asio::awaitable<std::optional<Idrac>> idrac(System system);
    asio::awaitable<std::vector<std::string>> managers(System system);
    // Reports whether spec.bmc.systemID names the link, as far as the link alone shows it.
    bool is_named(const std::string& link) const;
    // Returns an empty text if no system matches.
    asio::awaitable<std::string> find_by_content(std::vector<std::string> links);
    using BootTest = std::function<bool(const BootOverride&)>;
    // Returns false if the BMC refused this form; `refusal` then has its words.
    asio::awaitable<bool> try_boot(std::string where, BootWish wish, BootOverride current,
                                   std::string& refusal);
    // Reports whether the resource shows it, now or once the BMC has done what it accepted.
    asio::awaitable<bool> shows(std::string where, BootTest test, bool is_promised);
    asio::awaitable<std::vector<MediaSlot>> slots(System system);
    asio::awaitable<Inserted> insert_into_any(std::vector<MediaSlot> slots, std::string image_url);
    asio::awaitable<bool> clear_at(std::string where, BootOverride current);
    asio::awaitable<bool> insert_into(MediaSlot slot, std::string image_url);
    asio::awaitable<bool> ask_to_insert(MediaSlot slot, std::string image_url);
    asio::awaitable<void> eject(MediaSlot slot);

    Bmc& bmc_;
    std::string system_id_;
    std::string uuid_;
    Quirks quirks_;
    std::vector<std::string> resets_in_action_info_;
    std::string system_link_;                       // empty until known
    std::map<Part, base::TimePoint> silent_until_;  // parts whose last read timed out
};

}  // namespace providers::redfish
