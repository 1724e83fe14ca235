#include "providers/redfish/bmc/bmc_requests.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "providers/redfish/bmc/document.hpp"

namespace providers::redfish {

namespace {

bool contains(const std::vector<std::string>& list, std::string_view value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

json::object boot_body(const BootWish& wish, bool with_mode) {
    json::object boot;
    boot["BootSourceOverrideTarget"] = wish.target;
    boot["BootSourceOverrideEnabled"] = "Once";
    if (with_mode) boot["BootSourceOverrideMode"] = wish.mode;
    if (wish.target == "UefiHttp" && !wish.http_uri.empty()) boot["HttpBootUri"] = wish.http_uri;
    json::object body;
    body["Boot"] = std::move(boot);
    return body;
}

json::object clearance(const std::string& target, const std::string& mode = {}) {
    json::object boot;
    boot["BootSourceOverrideEnabled"] = "Disabled";
    if (!target.empty()) boot["BootSourceOverrideTarget"] = target;
    if (!mode.empty()) boot["BootSourceOverrideMode"] = mode;
    json::object body;
    body["Boot"] = std::move(boot);
    return body;
}

std::string transfer_protocol(const std::string& url) {
    const auto scheme = url.substr(0, url.find(':'));
    if (equal_ignoring_case(scheme, "https")) return "HTTPS";
    if (equal_ignoring_case(scheme, "nfs")) return "NFS";
    if (equal_ignoring_case(scheme, "cifs") || equal_ignoring_case(scheme, "smb")) return "CIFS";
    return "HTTP";
}

// Returns the number at the start of "6.00.30.00" and "15G Monolithic"; 0: none.
int leading_number(const std::string& text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

bool is_supermicro_exception(const std::string& model) {
    return contains_ignoring_case(model, "ARS-111GL-NHR");
}

}  // namespace

const std::vector<std::string>& known_quirks() {
    static const std::vector<std::string> kAll{
        std::string(kQuirkFullBoot), std::string(kQuirkMinimalBoot), std::string(kQuirkSettingsObject),
        std::string(kQuirkUsbCd),    std::string(kQuirkCd),          std::string(kQuirkPatchMedia),
        std::string(kQuirkBasicAuth)};
    return kAll;
}

bool has_quirk(const Quirks& quirks, std::string_view name) {
    return contains(quirks, name);
}

std::optional<std::string> reset_type(PowerGoal goal, const std::vector<std::string>& allowable) {
    static const std::vector<std::string> kStandard{"On", "ForceOff", "GracefulShutdown"};
    const auto& possible = allowable.empty() ? kStandard : allowable;
    std::vector<std::string> wanted;
    switch (goal) {
        case PowerGoal::on:
            wanted = {"On", "ForceOn"};
            break;
        case PowerGoal::off_gracefully:
            wanted = {"GracefulShutdown"};
            break;
        case PowerGoal::off_by_force:
            wanted = {"ForceOff"};
            break;
    }
    for (const auto& type : wanted) {
        if (contains(possible, type)) return type;
    }
    return std::nullopt;
}

std::string boot_target(const BootWish& wish, const System& system, const Quirks& quirks) {
    if (wish.target != "Cd" || has_quirk(quirks, kQuirkCd)) return wish.target;
    if (has_quirk(quirks, kQuirkUsbCd)) return "UsbCd";
    const bool is_supermicro = contains_ignoring_case(system.manufacturer, "supermicro");
    const bool is_allowed = contains(system.boot.allowed, "UsbCd");
    return is_supermicro && is_allowed && !is_supermicro_exception(system.model) ? "UsbCd" : "Cd";
}

bool ignores_virtual_cd(const Idrac& idrac, const Quirks& quirks) {
    if (has_quirk(quirks, kQuirkCd) || has_quirk(quirks, kQuirkUsbCd)) return false;
    // iDRAC10 counts from 1 again. Its Manager's model names the 17th generation of servers or a later one.
    constexpr int kFirstGoodMajor = 6;
    constexpr int kFirstGoodGeneration = 17;
    return leading_number(idrac.model) < kFirstGoodGeneration &&
           leading_number(idrac.firmware) < kFirstGoodMajor;
}

std::vector<json::object> boot_bodies(const BootWish& wish, const BootOverride& current,
                                      const Quirks& quirks) {
    // Supermicro and AMI need the mode each time. Boards that report no mode refuse it.
    const bool knows_mode = !current.mode.empty() || has_quirk(quirks, kQuirkFullBoot);
    auto minimal = boot_body(wish, false);
    if (!knows_mode) return {std::move(minimal)};
    auto full = boot_body(wish, true);
    if (has_quirk(quirks, kQuirkMinimalBoot)) return {std::move(minimal), std::move(full)};
    return {std::move(full), std::move(minimal)};
}

std::vector<json::object> boot_clearances(const BootOverride& current) {
    std::vector<json::object> bodies{clearance("")};
    if (!current.target.empty()) bodies.push_back(clearance(current.target));
    if (!current.target.empty() && !current.mode.empty())
        bodies.push_back(clearance(current.target, current.mode));
    bodies.push_back(clearance("None"));
    if (!current.mode.empty()) bodies.push_back(clearance("None", current.mode));
    return bodies;
}

bool is_fulfilled(const BootWish& wish, const BootOverride& current) {
    return is_served(wish, current) && current.enabled == "Once";
}

bool is_served(const BootWish& wish, const BootOverride& current) {
    const bool is_mode = current.mode.empty() || current.mode == wish.mode;
    const bool is_uri = wish.target != "UefiHttp" || wish.http_uri.empty() || current.http_uri.empty() ||
                        current.http_uri == wish.http_uri;
    return current.is_set() && current.target == wish.target && is_mode && is_uri;
}

bool keeps_from_disk(const BootOverride& current) {
    static const std::vector<std::string> kMayBeDisk{"Hdd", "SDCard", "UefiTarget", "UefiBootNext"};
    return current.is_set() && !contains(kMayBeDisk, current.target);
}

MediaSlot parse_slot(const RedfishResource& resource) {
    const auto& body = resource.body;
    MediaSlot slot;
    slot.link = resource.target;
    slot.id = text_at(body, "Id");
    slot.is_for_uploads = slot.id.starts_with("RDOC");
    const auto types = texts_at(body, "MediaTypes");
    slot.takes_cd = contains(types, "CD") || contains(types, "DVD") || types.empty();
    slot.takes_usb_stick = contains(types, "USBStick");
    slot.image = text_at(body, "Image");
    if (slot.image.empty()) slot.image = text_at(body, "ImageName");
    // Supermicro keeps the name of an ejected image, with nothing connected. If Inserted is missing,
    // ConnectedVia decides.
    const auto connected = text_at(body, "ConnectedVia");
    const bool is_told = body.contains("Inserted") && !body.at("Inserted").is_null();
    slot.is_inserted = is_told ? is_true_at(body, "Inserted") && connected != "NotConnected"
                               : !connected.empty() && connected != "NotConnected";
    const auto& actions = object_at(body, "Actions");
    slot.insert_link = text_at(object_at(actions, "#VirtualMedia.InsertMedia"), "target");
    slot.eject_link = text_at(object_at(actions, "#VirtualMedia.EjectMedia"), "target");
    return slot;
}

namespace {

// Returns "/live.iso" for "http://user@images.example/live.iso". A text without a host is a path.
std::string_view path_of_url(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) return url;
    const auto path = url.find('/', scheme + 3);
    return path == std::string_view::npos ? std::string_view() : url.substr(path);
}

bool matches(std::string_view shown, std::string_view wanted, std::string_view any) {
    const auto at = any.empty() ? std::string_view::npos : wanted.find(any);
    if (at == std::string_view::npos) return shown == wanted;
    const auto before = wanted.substr(0, at);
    const auto after = wanted.substr(wanted.rfind(any) + any.size());
    return shown.size() >= before.size() + after.size() && shown.starts_with(before) &&
           shown.ends_with(after);
}

}  // namespace

bool shows_image(const MediaSlot& slot, std::string_view url, std::string_view any) {
    if (!slot.is_inserted) return false;
    if (slot.image.empty()) return true;
    const auto shown = path_of_url(slot.image);
    const auto wanted = path_of_url(url);
    if (matches(shown, wanted, any)) return true;
    const auto name = wanted.substr(wanted.rfind('/') + 1);
    const bool is_name_alone =
        shown.find('/') == std::string_view::npos || url.find('/') == std::string_view::npos;
    return is_name_alone && matches(shown.substr(shown.rfind('/') + 1), name, any);
}

std::vector<MediaSlot> ranked_slots(const std::vector<MediaSlot>& slots, MediaUse use) {
    std::multimap<std::tuple<bool, bool, bool>, MediaSlot> by_badness;  // equal slots keep their order
    for (const auto& slot : slots) {
        const bool may_serve = slot.takes_cd || (use == MediaUse::data && slot.takes_usb_stick);
        const std::tuple badness(slot.is_inserted, !slot.takes_cd, slot.is_for_uploads);
        if (may_serve) by_badness.emplace(badness, slot);
    }
    std::vector<MediaSlot> ranked;
    for (const auto& [badness, slot] : by_badness) ranked.push_back(slot);
    return ranked;
}

std::vector<json::object> insert_bodies(const std::string& image_url) {
    json::object body;
    body["Image"] = image_url;
    std::vector<json::object> bodies{body};
    body["TransferProtocolType"] = transfer_protocol(image_url);
    bodies.push_back(body);
    body["TransferMethod"] = "Stream";
    bodies.push_back(body);
    body["UserName"] = "none";
    body["Password"] = "none";
    bodies.push_back(std::move(body));
    return bodies;
}

TaskProgress task_progress(int status, const json::object& body) {
    if (status == 202) return TaskProgress::running;
    const auto state = text_at(body, "TaskState");
    if (state.empty()) return TaskProgress::succeeded;  // the final answer of the call itself
    if (state == "Completed") {
        const auto outcome = text_at(body, "TaskStatus");
        return outcome.empty() || outcome == "OK" ? TaskProgress::succeeded : TaskProgress::failed;
    }
    const bool is_final = state == "Exception" || state == "Killed" || state == "Cancelled";
    return is_final ? TaskProgress::failed : TaskProgress::running;
}

}  // namespace providers::redfish
