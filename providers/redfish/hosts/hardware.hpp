// One host's system behind its BMC: reads it, and asks for one thing at a time. Success is what is observed
// afterwards, never the status of an answer.
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

// For a change that was answered with 202.
inline constexpr base::Duration kPromisePatience = std::chrono::seconds{60};

enum class ResetAnswer {
    taken,
    refused,     // it is so already, or it cannot be now, or the BMC does not say why not
    impossible,  // this BMC cannot do it
    lost,        // it may have been taken
};
struct ResetOutcome {
    ResetAnswer answer = ResetAnswer::taken;
    std::string words;  // of the BMC, for a refusal
    std::string task;   // target of the task that does it; empty: there is none
};
struct TaskOutcome {
    TaskProgress progress = TaskProgress::running;
    std::string words;  // of the BMC, for a failure
};

// What changes seldom and is read once a day; where parts could not be read, sooner, with growing pauses.
struct Details {
    std::set<Part> unread;
    std::vector<std::string> macs;
    std::int64_t threads = 0;  // of all processors, if the system's summary is not certain
    std::vector<DiskGroup> disks;
    std::vector<PortGroup> ports;
    std::vector<AcceleratorGroup> accelerators;
    std::string architecture;  // empty: the processors do not tell
    std::string bmc_version;
    std::string network_adapters;  // links, of the chassis; empty: there is none
    std::string power_meter;       // what measures the power of the chassis
    std::vector<std::string> flaws;
};

// Where a BMC keeps an asset tag of the host.
struct TagPlace {
    std::string link;
    std::string etag;
    std::string tag;
};
struct TagWrite {
    enum class Outcome {
        taken,    // or the answer was lost: read it back
        changed,  // somebody else wrote first
        refused,  // not this way, for `refusal`
    };
    Outcome outcome = Outcome::taken;
    bool is_promise = false;  // it will be done later
    std::string refusal;
};

class Hardware {
public:
    // system_id: target, Id or UUID of the system; empty: the BMC has only one. `uuid` is the system's where
    // its BMC tells none. `bmc` must outlive this.
    Hardware(Bmc& bmc, std::string system_id, std::string uuid, Quirks quirks);

    // All throw RedfishError and FencedError, and are made during a visit to the BMC.
    asio::awaitable<System> system();
    asio::awaitable<Details> details(System system);
    asio::awaitable<std::optional<std::int64_t>> power_watts(std::string meter);
    // What reset() can ask for; empty: the BMC does not say. ActionInfo is read once.
    asio::awaitable<std::vector<std::string>> reset_types(System system);
    // Whatever comes of it: read the power afterwards. Throws only where nothing of it arrived, or where
    // nothing helps but a person.
    asio::awaitable<ResetOutcome> reset(System system, PowerGoal goal);
    // How the task of a reset is; nullopt: it has vanished, or does not answer.
    asio::awaitable<std::optional<TaskOutcome>> reset_task(std::string link);

    // Sets the override and reads it back. Throws if the BMC does not take it in any way.
    asio::awaitable<void> set_boot(System system, BootWish wish);
    // False: the override is still there, which is worth a message and no more.
    asio::awaitable<bool> clear_boot(System system);
    // The same only of an override that set_boot() may have set.
    asio::awaitable<bool> cancel_boot(System system, BootWish wish);
    // Why set_boot() and insert_boot_image() would fail, from what is told before; empty: nothing is.
    asio::awaitable<std::string> boot_obstacle(System system, BootWish wish);

    struct Inserted {
        std::string slot;       // its link; empty: none takes the image
        std::string displaced;  // the image of others that was ejected for it; empty: none was
    };
    // Inserts the image that the host shall boot and reads it back, or finds it inserted. What others
    // inserted is ejected only if no slot is free.
    asio::awaitable<Inserted> insert_boot_image(System system, std::string url);
    // The same for boot data, in another slot than the image. `where` (ServedBootData::url) is told by no
    // error message.
    asio::awaitable<Inserted> insert_boot_data(System system, std::string where, std::string not_in);
    using SlotTest = std::function<bool(const MediaSlot&)>;
    // Ejects the images of the slots that pass.
    asio::awaitable<void> eject_media(System system, SlotTest test);

    // Of the system, and of its chassis where that is its alone; those that there are.
    asio::awaitable<std::vector<TagPlace>> tag_places(System system);
    // Only if the tag still is what `place` shows.
    asio::awaitable<TagWrite> write_tag(TagPlace place, std::string tag);

    // Links of all drives. Empty: the BMC tells of none.
    asio::awaitable<std::vector<std::string>> drives(System system);
    // Starts erasing one drive. The task's target; empty: it is done. Unsupported: the drive cannot.
    asio::awaitable<std::string> erase_drive(std::string drive);
    // nullopt: the task has vanished, which proves nothing.
    asio::awaitable<std::optional<TaskProgress>> task(std::string link);

private:
    asio::awaitable<std::string> find_system();
    enum class Asking { patiently, once };
    asio::awaitable<std::vector<std::string>> members(std::string collection,
                                                      Asking asking = Asking::patiently);
    // The same of one that may be missing: then it is a flaw.
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
    asio::awaitable<std::optional<Resource>> find_once(std::string link);
    asio::awaitable<std::optional<Idrac>> idrac(System system);
    asio::awaitable<std::vector<std::string>> managers(System system);
    // By spec.bmc.systemID, as far as the link alone tells.
    bool is_named(const std::string& link) const;
    // Empty: none is it.
    asio::awaitable<std::string> find_by_content(std::vector<std::string> links);
    using BootTest = std::function<bool(const BootOverride&)>;
    // False: not this way; then `refusal` says what the BMC said.
    asio::awaitable<bool> try_boot(std::string where, BootWish wish, BootOverride current,
                                   std::string& refusal);
    // Whether the resource shows it, now or as soon as the BMC keeps its promise.
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
    std::string system_link_;                       // once known
    std::map<Part, base::TimePoint> silent_until_;  // parts that kept a look waiting
};

}  // namespace providers::redfish
