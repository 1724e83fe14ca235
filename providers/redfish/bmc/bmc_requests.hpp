// What to ask a BMC for, as values: reset types, bodies of boot overrides and of virtual media, each with the
// second attempts that vendors make necessary. An unknown BMC gets the standard way first. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "providers/redfish/bmc/system.hpp"

namespace providers::redfish {

// Deviations that spec.quirks may state because the BMC does not show them by itself.
namespace quirks {
inline constexpr std::string_view kFullBoot = "fullBoot";              // send the mode even if not reported
inline constexpr std::string_view kMinimalBoot = "minimalBoot";        // send target and enabled alone first
inline constexpr std::string_view kSettingsObject = "settingsObject";  // boot settings go there first
inline constexpr std::string_view kUsbCd = "usbCd";                    // virtual media boots as UsbCd
inline constexpr std::string_view kCd = "cd";                          // as Cd, whoever made it
inline constexpr std::string_view kPatchMedia = "patchMedia";          // insert media by PATCH first
inline constexpr std::string_view kBasicAuth = "basicAuth";            // no sessions
}  // namespace quirks
// Every name above.
const std::vector<std::string>& known_quirks();

using Quirks = std::vector<std::string>;
bool has_quirk(const Quirks& quirks, std::string_view name);

// Absolute targets only: PushPowerButton toggles, and a restart is neither on nor off.
enum class PowerGoal { on, off_gracefully, off_by_force };
// nullopt: this BMC cannot. Without allowable values every standard one is tried.
std::optional<std::string> reset_type(PowerGoal goal, const std::vector<std::string>& allowable);

struct BootWish {
    std::string target;  // Pxe, UefiHttp, Cd
    std::string mode;    // UEFI, Legacy
    std::string http_uri;
};
// The target as this BMC calls it: Supermicro boots virtual CDs as UsbCd.
std::string boot_target(const BootWish& wish, const System& system, const Quirks& quirks);
// An iDRAC whose firmware is older boots its physical drive from Cd, and virtual media only by means of its
// own; unless the quirk `cd` says that this one does not. `firmware` and `model` are its Manager's; empty:
// not told.
struct Idrac {
    std::string firmware;
    std::string model;
};
bool ignores_virtual_cd(const Idrac& idrac, const Quirks& quirks);
// Bodies for the same wish, best first.
std::vector<json::object> boot_bodies(const BootWish& wish, const BootOverride& current,
                                      const Quirks& quirks);
// Bodies that cancel an override: iLO takes Disabled only together with a real target.
std::vector<json::object> boot_clearances(const BootOverride& current);
// Nothing needs to be asked.
bool is_fulfilled(const BootWish& wish, const BootOverride& current);
// The next boot is not from what is installed.
bool keeps_from_disk(const BootOverride& current);
// It serves, though it may last longer than one boot: some know nothing else.
bool is_served(const BootWish& wish, const BootOverride& current);

struct MediaSlot {
    std::string link;
    std::string id;
    bool takes_cd = false;
    bool takes_usb_stick = false;
    std::string image;  // as the BMC shows it, which may be a part of its URL; empty: it does not
    bool is_inserted = false;
    std::string insert_link;  // empty: only by PATCH
    std::string eject_link;
};
MediaSlot parse_slot(const Resource& resource);
// What images of boot data are called.
inline constexpr std::string_view kBootDataImage = "seed.iso";
// Whether what is inserted may be the image: by its URL, the path of it or its file name, or where the BMC
// shows nothing of it. `any` in the URL stands for any text.
bool shows_image(const MediaSlot& slot, std::string_view url, std::string_view any = "");
// What an image is for: booting needs a CD; data are found on a USB stick as well.
enum class MediaUse { boot, data };
// Those that may take the image, the likeliest first: free ones before taken ones, CDs before USB sticks, and
// Lenovo's slots for remote images before those for uploads (RDOC).
std::vector<MediaSlot> ranked_slots(const std::vector<MediaSlot>& slots, MediaUse use);
// Bodies of InsertMedia, the smallest first.
std::vector<json::object> insert_bodies(const std::string& image_url);

// How far a task is, from its monitor or its Task resource (DSP0266, "Asynchronous operations").
enum class TaskProgress { running, succeeded, failed };
TaskProgress task_progress(int status, const json::object& body);

}  // namespace providers::redfish
