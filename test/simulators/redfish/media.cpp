// Boot overrides and virtual media of a simulated BMC.
#include <algorithm>

#include "test/simulators/redfish/bmc.hpp"

namespace redfish_simulator {

namespace {

std::string text(const json::object& body, std::string_view name) {
    const auto* value = body.if_contains(name);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

Bmc::Response Bmc::patch_boot(const json::object& body, bool on_settings) {
    if (profile_.boot_on_settings != on_settings)
        return error(400, "PropertyNotWritable", "Boot cannot be written here");
    if (power_ == Power::on && now() - on_since_ < profile_.post)
        return error(400, "UnableToModifyDuringSystemPOST", "the system is in POST");
    const auto target = text(body, "BootSourceOverrideTarget");
    const auto enabled = text(body, "BootSourceOverrideEnabled");
    const auto mode = text(body, "BootSourceOverrideMode");
    if (!mode.empty() && !profile_.reports_mode)
        return error(400, "PropertyUnknown", "BootSourceOverrideMode is not known");
    const bool is_partial = target.empty() || enabled.empty() || mode.empty();
    const bool clears = enabled == "Disabled";
    if (is_partial && profile_.wants_full_boot)
        return error(400, "PropertyMissing", "target, enabled and mode are needed together");
    if (clears && profile_.disabled_wants_target && (target.empty() || target == "None"))
        return error(400, "PropertyValueConflict", "Disabled needs a target");
    if (clears && target.empty() && profile_.only_continuous)
        return error(400, "GeneralError", "missing the BootSourceOverrideTarget");
    const auto& targets = profile_.boot_targets;
    const bool is_listed = std::find(targets.begin(), targets.end(), target) != targets.end() ||
                           (target == "UsbCd" && profile_.boots_usb_cd);
    if (!target.empty() && !is_listed) return error(400, "PropertyValueNotInList", "no such boot target");
    BootChange change{now() + profile_.boot_job, target, enabled, mode, text(body, "HttpBootUri")};
    if (profile_.forgets_partial_boot && is_partial && !clears) change = {change.at, "", "Disabled", "", ""};
    if (profile_.boot_job > Duration::zero()) {
        boot_job_ = std::move(change);
        return answer(202, json::object());
    }
    apply(change);
    return empty(204);
}

void Bmc::apply(const BootChange& change) {
    ++boot_version_;
    if (!change.target.empty()) boot_target_ = change.target;
    if (!change.enabled.empty()) boot_enabled_ = profile_.only_continuous ? "Continuous" : change.enabled;
    if (!change.mode.empty()) boot_mode_ = change.mode;
    http_uri_ = change.http_uri;
}

void Bmc::set_boot(std::string target, std::string enabled, std::string mode) {
    boot_target_ = std::move(target);
    boot_enabled_ = std::move(enabled);
    boot_mode_ = std::move(mode);
}

std::string Bmc::media_base() const {
    return profile_.media_on_manager ? "/redfish/v1/Managers/BMC/VirtualMedia"
                                     : "/redfish/v1/Systems/Blade1/VirtualMedia";
}

const Slot* Bmc::slot_of(const std::string& target) const {
    for (const auto& slot : profile_.slots) {
        if (target == media_base() + "/" + slot.id) return &slot;
    }
    return nullptr;
}

std::optional<json::object> Bmc::media_document(const std::string& target) {
    if (target == media_base() && profile_.has_media) {
        std::vector<std::string> members;
        members.reserve(profile_.slots.size());
        for (const auto& slot : profile_.slots) members.push_back(media_base() + "/" + slot.id);
        return collection(target, members);
    }
    const auto* slot = slot_of(target);
    if (!slot) return std::nullopt;
    const auto& media = media_[slot->id];
    const bool lingers = media.ejected_at && now() - *media.ejected_at < profile_.inserted_lingers;
    json::object result;
    result["@odata.id"] = target;
    result["Id"] = slot->id;
    result["MediaTypes"] =
        slot->id.starts_with("Usb") ? json::array{"Floppy", "USBStick"} : json::array{"CD", "DVD"};
    const bool keeps_name = profile_.keeps_image_name && media.ejected_at;
    if (media.inserted || lingers || keeps_name) {
        result["Image"] = media.image;
    } else {
        result["Image"] = nullptr;
    }
    result["Inserted"] = media.inserted || lingers || keeps_name;
    result["ConnectedVia"] = media.inserted || lingers ? "URI" : "NotConnected";
    if (slot->kind != SlotKind::by_patch) {
        json::object actions;
        actions["#VirtualMedia.InsertMedia"] =
            json::object{{"target", target + "/Actions/VirtualMedia.InsertMedia"}};
        actions["#VirtualMedia.EjectMedia"] =
            json::object{{"target", target + "/Actions/VirtualMedia.EjectMedia"}};
        result["Actions"] = std::move(actions);
    }
    return result;
}

Bmc::Response Bmc::insert(const std::string& id, const json::object& body) {
    const auto slot = std::find_if(profile_.slots.begin(), profile_.slots.end(),
                                   [&](const Slot& each) { return each.id == id; });
    if (profile_.needs_licence) return error(403, "OemLicenseNotPassed", "a licence is needed");
    if (slot->kind == SlotKind::websocket) return error(405, "ActionNotSupported", "only from the web page");
    if (slot->kind == SlotKind::upload_only)
        return error(500, "InternalError", "no such image was uploaded: " + text(body, "Image"));
    if (slot->kind == SlotKind::by_patch) return error(404, "ResourceMissingAtURI", "no such action");
    auto& media = media_[id];
    if (media.inserted) return error(400, "ResourceInUse", "there is an image already");
    const auto image = text(body, "Image");
    if (image.empty()) return error(400, "ActionParameterMissing", "Image is missing");
    if (profile_.refuses_extras && body.size() > 1)
        return error(400, "ActionParameterUnknown", "only Image is known");
    if (profile_.wants_protocol && text(body, "TransferProtocolType").empty())
        return error(400, "ActionParameterMissing", "TransferProtocolType is missing");
    if (profile_.wants_method && text(body, "TransferMethod") != "Stream")
        return error(400, "ActionParameterMissing", "TransferMethod is missing");
    media = {image, true, std::nullopt};
    return empty(204);
}

Bmc::Response Bmc::eject(const std::string& id, bool has_body) {
    if (profile_.eject_wants_body && !has_body) return error(415, "GeneralError", "a JSON body is needed");
    auto& media = media_[id];
    if (profile_.eject_fails) return error(500, "InternalError", "the image is in use");
    const auto* slot = slot_of(media_base() + "/" + id);
    if (slot && slot->kind == SlotKind::upload_only)
        return error(403, "InsufficientPrivilege", "cannot eject " + media.image);
    media.inserted = false;
    media.ejected_at = now();
    return empty(204);
}

Bmc::Response Bmc::patch_media(const std::string& id, const json::object& body) {
    const auto* slot = slot_of(media_base() + "/" + id);
    if (slot->kind == SlotKind::upload_only)
        return error(400, "PropertyNotWritable", "no image was uploaded");
    if (slot->kind != SlotKind::by_patch) return error(405, "OperationNotAllowed", "use the actions");
    const auto image = text(body, "Image");
    auto& media = media_[id];
    if (image.empty()) {
        media.inserted = false;
        media.ejected_at = now();
    } else {
        media = {image, true, std::nullopt};
    }
    ++boot_version_;
    return empty(204);
}

}  // namespace redfish_simulator
