#include "providers/redfish/hosts/hardware_boot.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/redfish/bmc/collection.hpp"
#include "providers/redfish/bmc/document.hpp"

namespace providers::redfish {

namespace {

constexpr base::Duration kMediaPatience = std::chrono::seconds{60};
constexpr base::Duration kEjectPatience = std::chrono::seconds{10};
constexpr base::Duration kMediaPoll = std::chrono::seconds{2};

// Reports whether another body or place may help. Other errors do not concern the form of the request.
bool asks_for_another_way(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::invalid_request || kind == RedfishErrorKind::parameter_missing ||
           kind == RedfishErrorKind::unsupported || kind == RedfishErrorKind::not_found ||
           kind == RedfishErrorKind::other;
}

// Reports whether the place may accept the target. BMCs that list no targets may accept any.
bool offers(const BootOverride& place, const std::string& target) {
    return place.allowed.empty() || std::ranges::find(place.allowed, target) != place.allowed.end();
}

json::object media_patch(const std::string& image_url) {
    json::object body;
    if (image_url.empty()) {
        body["Image"] = nullptr;
        body["Inserted"] = false;
    } else {
        body["Image"] = image_url;
        body["Inserted"] = true;
        body["WriteProtected"] = true;
    }
    return body;
}

// Returns the secret part of an address, e.g. "key" of "http://10.0.0.9:8082/key/". It must be masked in any
// text.
std::string last_part(std::string url) {
    url.resize(url.find_last_not_of('/') + 1);
    return url.substr(url.rfind('/') + 1);
}

std::string why_no_virtual_cd(const Idrac& idrac) {
    return "iDRAC with firmware " + (idrac.firmware.empty() ? "of unknown version" : idrac.firmware) +
           " would boot its physical drive instead, as all do before 6.00: update an iDRAC9 to 6.00 or "
           "later, use "
           "boot method PXE, or put cd into spec.quirks if this one boots virtual media";
}

std::string reason_in(const std::string& refusal) {
    return refusal.empty() ? "" : ": " + refusal;
}

RedfishError not_taken(const std::string& tried, std::string message) {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::unsupported;
    complaint.message = std::move(message);
    return RedfishError(tried, std::move(complaint));
}

}  // namespace

asio::awaitable<bool> HardwareBoot::shows(std::string where, BootTest test, bool is_promised) {
    const auto deadline = bmc_.clock().now() + kPromisePatience;
    while (true) {
        const auto resource = co_await bmc_.get(where);
        if (test(parse_boot(resource.body))) co_return true;
        if (!is_promised || bmc_.clock().now() >= deadline) co_return false;
        co_await bmc_.clock().sleep_for(kMediaPoll);
    }
}

asio::awaitable<bool> HardwareBoot::try_boot(std::string where, BootWish wish, BootOverride current,
                                             std::string& refusal) {
    const std::string tried = "setting the boot override of " + bmc_.host();
    BootOverride shown;
    const BootTest is_as_wished = [&](const BootOverride& now) {
        shown = now;
        return is_served(wish, now);
    };
    for (auto& body : boot_bodies(wish, current, quirks_)) {
        bool is_promised = false;
        try {
            const auto answer = co_await bmc_.patch(tried, where, body);
            is_promised = answer.is_promise;
        } catch (const RedfishError& error) {
            if (!asks_for_another_way(error.kind())) throw;
            bmc_.note_quirk("BootOverride");
            refusal = error.complaint.message;
            continue;
        }
        const bool is_set = co_await shows(where, is_as_wished, is_promised);
        if (is_set) co_return true;
        const bool is_mode = shown.mode.empty() || shown.mode == wish.mode;
        if (!is_mode)
            refusal = "it keeps the boot mode " + foreign::shown(shown.mode) +
                      " (spec.redfish.boot.mode is " + wish.mode + ")";
        else
            refusal =
                "it accepted the change and did not keep it; it shows target " +
                (shown.target.empty() ? "none" : foreign::shown(shown.target)) + ", " +
                (shown.enabled.empty() ? "without BootSourceOverrideEnabled" : foreign::shown(shown.enabled));
    }
    co_return false;
}

asio::awaitable<void> HardwareBoot::set_boot(System system, BootWish wish) {
    wish.target = boot_target(wish, system, quirks_);
    if (is_fulfilled(wish, system.boot)) co_return;
    // iDRAC10, Supermicro and Gigabyte accept it on the settings resource, which then shows it.
    std::vector<std::pair<std::string, BootOverride>> places{{system.link, system.boot}};
    const auto settings = co_await bmc_.find(system.settings);
    if (settings && settings->body.contains("Boot")) {
        const auto pending = parse_boot(settings->body);
        if (is_fulfilled(wish, pending)) co_return;
        const bool first = has_quirk(quirks_, kQuirkSettingsObject) ||
                           (system.boot.allowed.empty() && !pending.allowed.empty());
        places.insert(first ? places.begin() : places.end(), {settings->target, pending});
    }
    std::string refusal;
    for (const auto& [where, current] : places) {
        if (!offers(current.allowed.empty() ? system.boot : current, wish.target)) continue;
        const bool is_set = co_await try_boot(where, wish, current, refusal);
        if (is_set) co_return;
    }
    const auto allowed = base::joined(system.boot.allowed);
    const auto offer = allowed.empty() ? "" : "; it offers " + foreign::shown(allowed);
    throw not_taken(
        "setting the boot override of " + bmc_.host(),
        "the BMC does not take boot target " + wish.target + (refusal.empty() ? offer : ": " + refusal));
}

asio::awaitable<bool> HardwareBoot::has_boot(System system, BootWish wish) {
    wish.target = boot_target(wish, system, quirks_);
    if (is_served(wish, system.boot)) co_return true;
    const auto settings = co_await bmc_.find(system.settings);
    co_return settings&& is_served(wish, parse_boot(settings->body));
}

asio::awaitable<bool> HardwareBoot::clear_at(std::string where, BootOverride current) {
    const std::string tried = "clearing the boot override of " + bmc_.host();
    const BootTest is_clear = [](const BootOverride& now) { return !now.is_set(); };
    for (auto& body : boot_clearances(current)) {
        bool is_promised = false;
        try {
            const auto answer = co_await bmc_.patch(tried, where, body);
            is_promised = answer.is_promise;
        } catch (const RedfishError& error) {
            if (!asks_for_another_way(error.kind())) throw;
            bmc_.note_quirk("ClearBootOverride");
            continue;
        }
        const bool is_done = co_await shows(where, is_clear, is_promised);
        if (is_done) co_return true;
    }
    co_return false;
}

asio::awaitable<bool> HardwareBoot::clear_boot(System system) {
    if (!system.boot.is_set()) co_return true;
    const bool is_done = co_await clear_at(system.link, system.boot);
    if (is_done) co_return true;
    const auto settings = co_await bmc_.find(system.settings);
    if (!settings || !settings->body.contains("Boot")) co_return false;
    const bool is_pending = co_await clear_at(settings->target, system.boot);
    const BootTest is_clear = [](const BootOverride& now) { return !now.is_set(); };
    if (!is_pending) co_return false;
    co_return co_await shows(system.link, is_clear, false);
}

// Cancels the override where it was set. On the settings resource it would wait for the next boot.
asio::awaitable<bool> HardwareBoot::cancel_boot(System system, BootWish wish) {
    wish.target = boot_target(wish, system, quirks_);
    bool is_done = true;
    if (is_served(wish, system.boot)) is_done = co_await clear_at(system.link, system.boot);
    const auto settings = co_await bmc_.find(system.settings);
    if (!settings) co_return is_done;
    const auto pending = parse_boot(settings->body);
    if (!is_served(wish, pending)) co_return is_done;
    const bool is_cancelled = co_await clear_at(settings->target, pending);
    co_return (is_done && is_cancelled);
}

asio::awaitable<std::string> HardwareBoot::obstacle(System system, BootWish wish) {
    const bool from_cd = wish.target == "Cd";
    if (from_cd) {
        const auto dell = co_await idrac(system);
        if (dell && ignores_virtual_cd(*dell, quirks_)) co_return why_no_virtual_cd(*dell);
        const auto all = co_await slots(system);
        if (ranked_slots(all.found, MediaUse::boot).empty()) co_return "the BMC has no slot for a CD image";
    }
    wish.target = boot_target(wish, system, quirks_);
    const auto settings = co_await bmc_.find(system.settings);
    const auto pending = settings ? parse_boot(settings->body) : BootOverride{};
    const auto& place = pending.allowed.empty() ? system.boot : pending;
    if (offers(system.boot, wish.target) || (!pending.allowed.empty() && offers(pending, wish.target)))
        co_return std::string();
    co_return "the BMC does not take boot target " + wish.target + "; it offers " +
        foreign::shown(base::joined(place.allowed));
}

asio::awaitable<HardwareBoot::Slots> HardwareBoot::slots(System system) {
    auto collection = system.virtual_media;
    if (collection.empty()) {
        const auto candidates = co_await managers(bmc_, system);
        for (const auto& link : candidates) {
            const auto manager = co_await bmc_.find(link);
            if (manager) collection = link_at(manager->body, "VirtualMedia");
            if (!collection.empty()) break;
        }
    }
    Slots result;
    const auto is_there = co_await bmc_.find(collection);
    if (!is_there) co_return result;
    const auto links = co_await members(bmc_, collection);
    for (const auto& link : links) {
        const auto resource = co_await bmc_.find(link);
        if (resource) result.found.push_back(parse_slot(*resource));
    }
    result.are_all = !links.empty() && result.found.size() == links.size();
    // The image may be boot data of an earlier process, and its address is a secret.
    for (const auto& slot : result.found) {
        if (slot.image.find("://") != std::string::npos) bmc_.hide(slot.image);
    }
    co_return result;
}

asio::awaitable<bool> HardwareBoot::eject(MediaSlot slot) {
    const std::string tried = "ejecting virtual media of " + bmc_.host();
    try {
        if (slot.eject_link.empty()) {
            co_await bmc_.patch(tried, slot.link, media_patch(""));
        } else {
            co_await bmc_.post(tried, slot.eject_link, json::object());
        }
    } catch (const RedfishError& error) {
        const bool is_read_back = asks_for_another_way(error.kind()) ||
                                  error.kind() == RedfishErrorKind::state_conflict ||
                                  error.kind() == RedfishErrorKind::outcome_unknown;
        if (!is_read_back) throw;
    }
    const auto deadline = bmc_.clock().now() + kEjectPatience;
    while (true) {
        const auto resource = co_await bmc_.get(slot.link);
        const bool is_inserted = parse_slot(resource).is_inserted;
        if (!is_inserted || bmc_.clock().now() >= deadline) co_return !is_inserted;
        co_await bmc_.clock().sleep_for(kMediaPoll);
    }
}

asio::awaitable<bool> HardwareBoot::may_have_media(System system, SlotTest test) {
    const auto all = co_await slots(std::move(system));
    co_return !all.are_all || std::ranges::any_of(all.found, test);
}

asio::awaitable<bool> HardwareBoot::eject_media(System system, SlotTest test) {
    const auto all = co_await slots(std::move(system));
    bool are_ejected = all.are_all;
    for (const auto& slot : all.found) {
        if (!slot.is_inserted || !test(slot)) continue;
        const bool is_ejected = co_await eject(slot);
        are_ejected = are_ejected && is_ejected;
    }
    co_return are_ejected;
}

// A refusal may concern the slot, which then never takes an image by URL, or only this image.
asio::awaitable<HardwareBoot::Insertion> HardwareBoot::ask_to_insert(MediaSlot slot, std::string image_url) {
    const std::string tried = "inserting virtual media into " + bmc_.host();
    Insertion accepted, refused;
    accepted.is_accepted = true;
    const auto note = [&](const Complaint& why) {
        refused.is_for_good = slot.is_for_uploads || why.kind == RedfishErrorKind::unsupported ||
                              why.says("ActionNotSupported") || why.says("PropertyNotWritable");
        refused.refusal = why.message;
    };
    const bool by_patch = slot.insert_link.empty() || has_quirk(quirks_, kQuirkPatchMedia);
    if (by_patch) {
        try {
            co_await bmc_.patch(tried, slot.link, media_patch(image_url));
            co_return accepted;
        } catch (const RedfishError& error) {
            if (!asks_for_another_way(error.kind())) throw;
            note(error.complaint);
        }
        if (slot.insert_link.empty()) co_return refused;
    }
    for (auto& body : insert_bodies(image_url)) {
        try {
            co_await bmc_.post(tried, slot.insert_link, body);
            co_return accepted;
        } catch (const RedfishError& error) {
            if (error.kind() == RedfishErrorKind::outcome_unknown) co_return accepted;  // read back
            if (!asks_for_another_way(error.kind())) throw;
            bmc_.note_quirk("InsertMedia");
            note(error.complaint);
            const bool wants_more = error.kind() == RedfishErrorKind::parameter_missing ||
                                    error.kind() == RedfishErrorKind::invalid_request;
            if (!wants_more) co_return refused;
        }
    }
    co_return refused;
}

asio::awaitable<HardwareBoot::Insertion> HardwareBoot::insert_into(MediaSlot slot, std::string image_url) {
    auto insertion = co_await ask_to_insert(slot, image_url);
    if (!insertion.is_accepted) co_return insertion;
    const auto deadline = bmc_.clock().now() + kMediaPatience;
    while (true) {
        const auto resource = co_await bmc_.get(slot.link);
        const auto now = parse_slot(resource);
        if (shows_image(now, image_url)) co_return insertion;
        const bool is_late = bmc_.clock().now() >= deadline;
        // Otherwise the slot would keep an image that was not there before.
        if (is_late && now.is_inserted) co_await eject(now);
        if (is_late) co_return Insertion{.refusal = "the BMC accepted it, and its slot does not show it"};
        co_await bmc_.clock().sleep_for(kMediaPoll);
    }
}

// A slot that refuses the image, as its BMC cannot fetch it, is no reason to eject what others inserted.
asio::awaitable<HardwareBoot::Inserted> HardwareBoot::insert_into_any(std::vector<MediaSlot> slots,
                                                                      std::string image_url,
                                                                      Displacement displace) {
    for (const auto& slot : slots) {
        const bool is_there = slot.is_inserted && !slot.image.empty() && shows_image(slot, image_url);
        if (is_there) co_return Inserted{slot.link, ""};
    }
    std::string refusal;
    bool is_image_refused = false;
    for (const auto& slot : slots) {
        if (slot.is_inserted && is_image_refused) break;
        if (slot.is_inserted) {
            const bool is_ejected = co_await eject(slot);
            if (!is_ejected && !slot.image.empty()) {
                refusal = "a slot keeps an image of others, which its BMC does not eject";
                continue;
            }
            if (is_ejected) displace(slot.image);
        }
        const auto insertion = co_await insert_into(slot, image_url);
        if (insertion.is_accepted) co_return Inserted{slot.link, ""};
        if (!insertion.is_for_good) is_image_refused = true;
        const bool is_telling = !insertion.is_for_good || refusal.empty();
        if (is_telling && !insertion.refusal.empty()) refusal = insertion.refusal;
    }
    co_return Inserted{"", std::move(refusal)};
}

asio::awaitable<std::optional<Idrac>> HardwareBoot::idrac(System system) {
    co_await bmc_.root();
    if (!system.is_dell && bmc_.vendor() != "Dell") co_return std::nullopt;
    Idrac found;
    const auto candidates = co_await managers(bmc_, system);
    for (const auto& link : candidates) {
        const auto manager = co_await bmc_.find(link);
        if (!manager) continue;
        found.firmware = foreign::shown(text_at(manager->body, "FirmwareVersion"));
        found.model = text_at(manager->body, "Model");
        if (!found.firmware.empty()) break;
    }
    co_return found;
}

asio::awaitable<std::string> HardwareBoot::insert_boot_image(System system, std::string url,
                                                             Displacement displace) {
    const std::string tried = "inserting virtual media into " + bmc_.host();
    const auto dell = co_await idrac(system);
    if (dell && ignores_virtual_cd(*dell, quirks_)) throw not_taken(tried, why_no_virtual_cd(*dell));
    const auto all = co_await slots(std::move(system));
    const auto candidates = ranked_slots(all.found, MediaUse::boot);
    if (candidates.empty()) throw not_taken(tried, "the BMC has no slot for a CD image");
    auto inserted = co_await insert_into_any(candidates, std::move(url), std::move(displace));
    if (inserted.slot.empty())
        throw not_taken(tried, "no slot for CD images accepts the image (of " +
                                   std::to_string(candidates.size()) + ")" + reason_in(inserted.refusal) +
                                   "; the BMC must reach spec.redfish.boot.imageURL");
    co_return inserted.slot;
}

asio::awaitable<std::string> HardwareBoot::insert_boot_data(System system, std::string where,
                                                            std::string not_in, Displacement displace) {
    const std::string tried = "inserting boot data as virtual media into " + bmc_.host();
    bmc_.hide(last_part(where));
    const auto all = co_await slots(std::move(system));
    auto candidates = ranked_slots(all.found, MediaUse::data);
    std::erase_if(candidates, [&](const MediaSlot& slot) { return slot.link == not_in; });
    if (candidates.empty())
        throw not_taken(tried,
                        "the BMC has no second slot besides that of the boot image: use bootstrap.method "
                        "None and an image that joins by itself");
    auto inserted =
        co_await insert_into_any(candidates, where + std::string(kBootDataImage), std::move(displace));
    if (inserted.slot.empty())
        throw not_taken(tried, "no slot besides that of the boot image accepts the boot data (of " +
                                   std::to_string(candidates.size()) + ")" + reason_in(inserted.refusal) +
                                   "; the BMC must reach the operator's --bootstrap-advertise-url");
    co_return inserted.slot;
}

}  // namespace providers::redfish
