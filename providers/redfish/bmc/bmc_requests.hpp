// Requests to a BMC as values: reset types, and bodies of boot overrides and of virtual media. Each has the
// fallbacks that vendors need. An unknown BMC gets the standard form first. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "providers/redfish/bmc/system.hpp"

namespace providers::redfish {

// Deviations for spec.quirks, which the BMC does not show by itself.
inline constexpr std::string_view kQuirkFullBoot = "fullBoot";        // send the mode even if not reported
inline constexpr std::string_view kQuirkMinimalBoot = "minimalBoot";  // send only target and enabled first
inline constexpr std::string_view kQuirkSettingsObject = "settingsObject";  // send boot settings there first
inline constexpr std::string_view kQuirkUsbCd = "usbCd";                    // virtual media boots as UsbCd
inline constexpr std::string_view kQuirkCd = "cd";                          // virtual media boots as Cd
inline constexpr std::string_view kQuirkPatchMedia = "patchMedia";          // insert media by PATCH first
inline constexpr std::string_view kQuirkBasicAuth = "basicAuth";            // use no sessions
// Returns all names above.
const std::vector<std::string>& known_quirks();

using Quirks = std::vector<std::string>;
bool has_quirk(const Quirks& quirks, std::string_view name);

// PowerGoal has only absolute goals: PushPowerButton toggles, and a restart is neither on nor off.
enum class PowerGoal { on, off_gracefully, off_by_force };
// Returns nullopt if this BMC cannot. Without allowable values all standard types are tried.
std::optional<std::string> reset_type(PowerGoal goal, const std::vector<std::string>& allowable);

struct BootWish {
    std::string target;  // Pxe, UefiHttp or Cd
    std::string mode;    // UEFI or Legacy
    std::string http_uri;
};
// Returns this BMC's name of the target: Supermicro boots virtual CDs as UsbCd.
std::string boot_target(const BootWish& wish, const System& system, const Quirks& quirks);
// Idrac identifies an old iDRAC. It boots its physical drive from Cd, and virtual media only with its own
// means. The quirk `cd` states that this iDRAC does not. `firmware` and `model` are from its Manager; empty:
// unknown.
struct Idrac {
    std::string firmware;
    std::string model;
};
bool ignores_virtual_cd(const Idrac& idrac, const Quirks& quirks);
// Returns bodies for the same wish, best first.
std::vector<json::object> boot_bodies(const BootWish& wish, const BootOverride& current,
                                      const Quirks& quirks);
// Returns bodies that cancel an override. iLO accepts Disabled only with a real target, AMI and ASRock only
// with target and mode.
std::vector<json::object> boot_clearances(const BootOverride& current);
// Reports whether no request is needed.
bool is_fulfilled(const BootWish& wish, const BootOverride& current);
// Reports whether the next boot is not from the installed system.
bool keeps_from_disk(const BootOverride& current);
// Reports whether the override is sufficient. It may last longer than one boot, as some BMCs know nothing
// else.
bool is_served(const BootWish& wish, const BootOverride& current);

struct MediaSlot {
    std::string link;
    std::string id;
    bool takes_cd = false;
    bool takes_usb_stick = false;
    std::string image;  // as the BMC shows it, perhaps only part of its URL; empty: not shown
    bool is_inserted = false;
    bool is_for_uploads = false;  // Lenovo RDOC: takes only images that were uploaded to the BMC
    std::string insert_link;      // empty: only by PATCH
    std::string eject_link;
};
MediaSlot parse_slot(const RedfishResource& resource);
// File name of images with boot data.
inline constexpr std::string_view kBootDataImage = "seed.iso";
// Reports whether the inserted medium may be the image: by its URL, the URL's path or its file name, or
// because the BMC shows nothing. `any` in the URL matches any text.
bool shows_image(const MediaSlot& slot, std::string_view url, std::string_view any = "");
// MediaUse is the purpose of an image. Booting needs a CD; data are also found on a USB stick.
enum class MediaUse { boot, data };
// Returns slots that may take the image, best first: free before used, CDs before USB sticks, and Lenovo's
// slots for remote images before those for uploads (RDOC).
std::vector<MediaSlot> ranked_slots(const std::vector<MediaSlot>& slots, MediaUse use);
// Returns bodies of InsertMedia, smallest first.
std::vector<json::object> insert_bodies(const std::string& image_url);

// TaskProgress is the state of a task, from its monitor or its Task resource (DSP0266, "Asynchronous
// operations").
enum class TaskProgress { running, succeeded, failed };
TaskProgress task_progress(int status, const json::object& body);

}  // namespace providers::redfish
