// Power and virtual media of a played tree.
#include <algorithm>

#include "test/simulators/redfish_player/player.hpp"

namespace redfish_player {

namespace {

std::string text_of(const json::object& parent, std::string_view name) {
    const auto* value = parent.if_contains(name);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

base::HttpResponse done() {
    base::HttpResponse response;
    response.status = 204;
    response.headers.set("OData-Version", "4.0");
    return response;
}

json::object* boot_of(Tree& tree, const std::string& key) {
    auto* document = key.empty() ? nullptr : tree.find(key);
    auto* boot = document ? document->if_contains("Boot") : nullptr;
    return boot && boot->is_object() ? &boot->get_object() : nullptr;
}

bool is_set(const json::object* boot) {
    if (!boot) return false;
    const auto enabled = text_of(*boot, "BootSourceOverrideEnabled");
    return !enabled.empty() && enabled != "Disabled" && text_of(*boot, "BootSourceOverrideTarget") != "None";
}

}  // namespace

Player::Response Player::act(const Tree::Action& action, const json::object& body) {
    const auto* info = tree_.find(text_of(action.parameters, "@Redfish.ActionInfo"));
    if (auto refusal = refuse_parameters(action.parameters, info, body)) return refuse(std::move(*refusal));
    auto* owner = tree_.find(action.owner);
    if (action.name == "ComputerSystem.Reset") {
        const auto type = text_of(body, "ResetType");
        if (type.empty())
            return refuse({400, "ActionParameterMissing", "The parameter ResetType is missing.", false});
        return reset(action.owner, type);
    }
    if (action.name == "VirtualMedia.InsertMedia") {
        auto response = insert(*owner, body);
        changed(action.owner);
        return response;
    }
    if (action.name == "VirtualMedia.EjectMedia") {
        (*owner)["Image"] = nullptr;
        if (owner->contains("ImageName")) (*owner)["ImageName"] = nullptr;
        (*owner)["Inserted"] = false;
        (*owner)["ConnectedVia"] = "NotConnected";
        changed(action.owner);
        return done();
    }
    return refuse({501, "ActionNotSupported", "The player does not play " + action.name + ".", false});
}

Player::Response Player::insert(json::object& slot, const json::object& body) {
    const auto image = text_of(body, "Image");
    if (image.empty())
        return refuse({400, "ActionParameterMissing", "The parameter Image is missing.", false});
    const auto* inserted = slot.if_contains("Inserted");
    if (inserted && inserted->is_bool() && inserted->get_bool())
        return refuse({400, "ResourceInUse", "There is an image already.", false});
    slot["Image"] = image;
    if (slot.contains("ImageName")) slot["ImageName"] = image.substr(image.rfind('/') + 1);
    slot["Inserted"] = true;
    slot["ConnectedVia"] = "URI";
    return done();
}

Player::Response Player::reset(const std::string& system, const std::string& type) {
    if (type == "On" || type == "ForceOn") {
        changes_[system] = {clock_.now() + options_.power_on, "On"};
    } else if (type == "ForceOff") {
        changes_[system] = {clock_.now() + options_.power_off, "Off"};
    } else if (type == "GracefulShutdown") {
        if (options_.hears_shutdown) changes_[system] = {clock_.now() + options_.shutdown, "Off"};
    } else {
        return refuse({501, "ActionNotSupported", "The player does not play " + type + ".", false});
    }
    return done();
}

// Completes the due changes of every system.
void Player::settle() {
    for (auto change = changes_.begin(); change != changes_.end();) {
        if (clock_.now() < change->second.at) {
            ++change;
            continue;
        }
        auto& system = *tree_.find(change->first);
        const bool starts = change->second.state == "On" && text_of(system, "PowerState") != "On";
        system["PowerState"] = change->second.state;
        changed(change->first);
        if (starts) boot(change->first);
        change = changes_.erase(change);
    }
}

// This boot uses up "Once".
void Player::boot(const std::string& system) {
    Boot found{"Hdd", {}, {}, {}};
    const auto settings = tree_.settings_of(system);
    const bool is_pending = is_set(boot_of(tree_, settings));
    auto* source = boot_of(tree_, is_pending ? settings : system);
    if (is_set(source)) {
        found.target = text_of(*source, "BootSourceOverrideTarget");
        found.mode = text_of(*source, "BootSourceOverrideMode");
        found.http_uri = text_of(*source, "HttpBootUri");
        if (text_of(*source, "BootSourceOverrideEnabled") == "Once") {
            (*source)["BootSourceOverrideEnabled"] = "Disabled";
            (*source)["BootSourceOverrideTarget"] = "None";
            changed(is_pending ? settings : system);
        }
    }
    for (const auto& image : tree_.images()) found.images.push_back(image);
    boots_.push_back(std::move(found));
}

bool Player::is_override_set() {
    return std::ranges::any_of(tree_.systems(), [this](const std::string& system) {
        return is_set(boot_of(tree_, system)) || is_set(boot_of(tree_, tree_.settings_of(system)));
    });
}

void Player::set_power(const std::string& state) {
    changes_.clear();
    for (const auto& system : tree_.systems()) (*tree_.find(system))["PowerState"] = state;
}

void Player::set_healthy() {
    for (const auto& system : tree_.systems()) {
        auto* status = tree_.find(system)->if_contains("Status");
        if (!status || !status->is_object()) continue;
        for (const auto* name : {"Health", "HealthRollup"}) {
            if (auto* health = status->get_object().if_contains(name)) *health = "OK";
        }
    }
}

std::string Player::power() {
    settle();
    const auto systems = tree_.systems();
    return systems.empty() ? std::string() : text_of(*tree_.find(systems.front()), "PowerState");
}

}  // namespace redfish_player
