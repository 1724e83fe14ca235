// Boot overrides and virtual media, with the fallbacks that vendors need.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "providers/redfish/bmc/bmc.hpp"
#include "providers/redfish/bmc/bmc_requests.hpp"

namespace providers::redfish {

// Limit of the wait for a change that was answered with 202.
inline constexpr base::Duration kPromisePatience = std::chrono::seconds{60};

// HardwareBoot prepares what a host boots. A later observation proves success; the status of an answer does
// not.
class HardwareBoot {
public:
    // `bmc` must outlive this.
    HardwareBoot(Bmc& bmc, Quirks quirks) : bmc_(bmc), quirks_(std::move(quirks)) {}

    // All calls throw RedfishError and FencedError, and must be made during a visit to the BMC.

    // Sets the override and reads it back. Throws if the BMC accepts no form of it.
    asio::awaitable<void> set_boot(System system, BootWish wish);
    // Reports whether the override is there, also one that lasts longer than one boot.
    asio::awaitable<bool> has_boot(System system, BootWish wish);
    // Returns false if the override is still there.
    asio::awaitable<bool> clear_boot(System system);
    // Does the same, but only for an override that set_boot() may have set.
    asio::awaitable<bool> cancel_boot(System system, BootWish wish);
    // Returns why set_boot() and insert_boot_image() would fail, as far as known before; empty: no known
    // obstacle.
    asio::awaitable<std::string> obstacle(System system, BootWish wish);

    // Told of each foreign image as it is ejected for ours. Its name is empty if the BMC shows none.
    using Displacement = std::function<void(const std::string&)>;
    // Inserts the boot image and reads it back, or finds it inserted. Foreign images are ejected only if no
    // slot that takes images by URL is free. Returns the link of the slot.
    asio::awaitable<std::string> insert_boot_image(System system, std::string url, Displacement displace);
    // Does the same for boot data, in another slot than the image. No error message contains `where`
    // (ServedBootData::url).
    asio::awaitable<std::string> insert_boot_data(System system, std::string where, std::string not_in,
                                                  Displacement displace);
    using SlotTest = std::function<bool(const MediaSlot&)>;
    // Returns false if the BMC shows all its slots and no image in them passes the test.
    asio::awaitable<bool> may_have_media(System system, SlotTest test);
    // Ejects the images in slots that pass the test. Returns false if one may still be there, also because
    // the BMC does not show all its slots at the moment.
    asio::awaitable<bool> eject_media(System system, SlotTest test);

private:
    asio::awaitable<std::optional<Idrac>> idrac(System system);
    using BootTest = std::function<bool(const BootOverride&)>;
    // Returns false if the BMC refused this form; `refusal` then has its words.
    asio::awaitable<bool> try_boot(std::string where, BootWish wish, BootOverride current,
                                   std::string& refusal);
    // Reports whether the resource shows it, now or once the BMC has done what it accepted.
    asio::awaitable<bool> shows(std::string where, BootTest test, bool is_promised);
    struct Slots {
        std::vector<MediaSlot> found;
        bool are_all = false;  // false: the BMC shows no slots, or lists one that it does not show
    };
    asio::awaitable<Slots> slots(System system);
    struct Insertion {
        bool is_accepted = false;
        bool is_for_good = false;  // the slot takes no images by URL at all
        std::string refusal;       // the BMC's words
    };
    struct Inserted {
        std::string slot;     // its link; empty: no slot accepts the image
        std::string refusal;  // why not
    };
    asio::awaitable<Inserted> insert_into_any(std::vector<MediaSlot> slots, std::string image_url,
                                              Displacement displace);
    asio::awaitable<bool> clear_at(std::string where, BootOverride current);
    asio::awaitable<Insertion> insert_into(MediaSlot slot, std::string image_url);
    asio::awaitable<Insertion> ask_to_insert(MediaSlot slot, std::string image_url);
    // Returns false if the image is still there.
    asio::awaitable<bool> eject(MediaSlot slot);

    Bmc& bmc_;
    Quirks quirks_;
};

}  // namespace providers::redfish
