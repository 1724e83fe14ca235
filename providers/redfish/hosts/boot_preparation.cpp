#include "providers/redfish/hosts/boot_preparation.hpp"

#include "base/mac_address.hpp"
#include "base/text.hpp"
#include "providers/foreign/shown_text.hpp"

namespace providers::redfish {

using api::v1alpha1::BootMethod;

namespace {

BootWish boot_wish(const api::v1alpha1::Boot& boot) {
    BootWish wish;
    wish.mode = boot.mode == api::v1alpha1::BootMode::UEFI ? "UEFI" : "Legacy";
    switch (boot.method) {
        case BootMethod::Disk:
            break;
        case BootMethod::PXE:
            wish.target = "Pxe";
            break;
        case BootMethod::UefiHttp:
            wish.target = "UefiHttp";
            wish.http_uri = boot.httpBootURI;
            break;
        case BootMethod::VirtualMedia:
            wish.target = "Cd";
            break;
        case BootMethod::Unrecognized:
            // No backend is made for a provider with such a value.
            throw std::invalid_argument("spec.redfish.boot.method: unknown");
    }
    return wish;
}

RedfishError cannot(const std::string& tried, std::string message) {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::unsupported;
    complaint.message = std::move(message);
    return RedfishError(tried, std::move(complaint));
}

}  // namespace

std::string render_url(std::string text, const Host& host, const std::string& claim) {
    auto mac = host.boot_mac;
    if (mac.empty() && !host.macs.empty()) mac = host.macs.front();
    const std::pair<std::string, std::string> values[] = {
        {".Host", host.name}, {".Claim", claim}, {".MAC", mac}};
    for (const auto& [name, value] : values) {
        for (const auto& form : {"{{ " + name + " }}", "{{" + name + "}}"}) {
            for (auto at = text.find(form); at != std::string::npos; at = text.find(form, at + value.size()))
                text.replace(at, form.size(), value);
        }
    }
    return text;
}

asio::awaitable<void> BootPreparation::prepare(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                               System system) {
    // The pauses of an earlier boot, which its BMC kept, do not concern this one.
    station->kept_boots = 0;
    const auto& boot = settings_.spec.boot;
    if (boot.method == BootMethod::Disk) {
        // Otherwise an old override would make the host boot from, and perhaps install, something else.
        if (!keeps_from_disk(system.boot)) co_return;
        const auto target = foreign::shown(system.boot.target);
        const bool is_clear = co_await station->hardware.boot().clear_boot(std::move(system));
        if (is_clear) co_return;
        throw cannot("booting " + host.name + " from its disk",
                     "its BMC keeps a boot override to " + target + ": clear it on the BMC");
    }
    const auto why = why_no_url(host);
    if (!why.empty()) throw cannot("booting " + host.name, why);
    if (boot.method == BootMethod::VirtualMedia) {
        const auto url = render_url(boot.imageURL, host, spec.identity.claim_name);
        // The Event is sent at once, as the insertion may fail after it.
        const HardwareBoot::Displacement displace = [this, host](const std::string& image) {
            fleet_.inventory().announce(
                host, "MediaEjected",
                "had no free slot for its image: " + (image.empty() ? "an image" : foreign::shown(image)) +
                    ", which someone else had inserted, was ejected");
        };
        const auto slot = co_await station->hardware.boot().insert_boot_image(system, url, displace);
        if (auto* data = spec.served_boot_data()) {
            const auto where = co_await data->url(spec.record);
            co_await station->hardware.boot().insert_boot_data(system, where, slot, displace);
        }
    }
    co_await station->hardware.boot().set_boot(std::move(system), wish_for(spec, host));
}

asio::awaitable<bool> BootPreparation::is_kept(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                               System system) {
    const auto method = settings_.spec.boot.method;
    if (method == BootMethod::Disk) co_return !keeps_from_disk(system.boot);
    const bool is_set = co_await station->hardware.boot().has_boot(system, wish_for(spec, host));
    if (!is_set || method != BootMethod::VirtualMedia) co_return is_set;
    co_return co_await may_have_image(std::move(host), std::move(station), std::move(system));
}

asio::awaitable<void> BootPreparation::prepare_again(MachineSpec spec, Host host,
                                                     std::shared_ptr<Station> station, System system) {
    const bool has_image = settings_.spec.boot.method == BootMethod::VirtualMedia &&
                           co_await may_have_image(host, station, system);
    // An image that its slot does not name would be taken for somebody else's.
    if (has_image)
        co_await station->hardware.boot().set_boot(std::move(system), wish_for(spec, host));
    else
        co_await prepare(std::move(spec), std::move(host), std::move(station), std::move(system));
}

asio::awaitable<bool> BootPreparation::may_have_image(Host host, std::shared_ptr<Station> station,
                                                      System system) {
    const HardwareBoot::SlotTest test = [this, host](const MediaSlot& slot) {
        return is_boot_image(host, slot);
    };
    co_return co_await station->hardware.boot().may_have_media(std::move(system), test);
}

BootWish BootPreparation::wish_for(const MachineSpec& spec, const Host& host) const {
    auto wish = boot_wish(settings_.spec.boot);
    wish.http_uri = render_url(wish.http_uri, host, spec.identity.claim_name);
    return wish;
}

// Reports whether a slot's medium may be ours, by what the slot shows, which may be nothing.
bool BootPreparation::is_ours(const Host& host, const MediaSlot& slot) const {
    return shows_image(slot, kBootDataImage) || is_boot_image(host, slot);
}

// Reports the same of the boot image. Some callers do not know the claim's name, so it matches any.
bool BootPreparation::is_boot_image(const Host& host, const MediaSlot& slot) const {
    const auto marker = std::string(1, '\x01');
    const auto shows_image_of = [&](const Host& named) {
        return shows_image(slot, render_url(settings_.spec.boot.imageURL, named, marker), marker);
    };
    if (shows_image_of(host)) return true;
    // The known addresses may have changed since.
    const auto address = base::find_mac_address(slot.image);
    if (address.empty()) return false;
    auto upper = host, lower = host;
    upper.boot_mac = address;
    lower.boot_mac = base::lower_case(address);
    return shows_image_of(upper) || shows_image_of(lower);
}

asio::awaitable<bool> BootPreparation::eject(Host host, std::shared_ptr<Station> station, System system) {
    if (!has_images()) co_return true;
    const HardwareBoot::SlotTest test = [this, host](const MediaSlot& slot) { return is_ours(host, slot); };
    co_return co_await station->hardware.boot().eject_media(std::move(system), test);
}

bool BootPreparation::has_images() const {
    return settings_.spec.boot.method == BootMethod::VirtualMedia && settings_.spec.powerOff.ejectMedia;
}

asio::awaitable<void> BootPreparation::eject_shown(Host host, std::shared_ptr<Station> station,
                                                   System system) {
    if (!has_images()) co_return;
    const HardwareBoot::SlotTest test = [this, host](const MediaSlot& slot) {
        return !slot.image.empty() && is_boot_image(host, slot);
    };
    co_await station->hardware.boot().eject_media(std::move(system), test);
}

asio::awaitable<bool> BootPreparation::cancel(std::shared_ptr<Station> station, System system) {
    if (settings_.spec.boot.method == BootMethod::Disk) co_return true;
    auto wish = boot_wish(settings_.spec.boot);
    // The BMC shows it with the names filled in, and not all callers know them.
    if (wish.http_uri.find("{{") != std::string::npos) wish.http_uri.clear();
    co_return co_await station->hardware.boot().cancel_boot(std::move(system), std::move(wish));
}

asio::awaitable<bool> BootPreparation::undo(Host host, std::shared_ptr<Station> station, System system) {
    const bool is_cancelled = co_await cancel(station, system);
    const bool is_ejected = co_await eject(std::move(host), station, std::move(system));
    co_return (is_cancelled && is_ejected);
}

std::string BootPreparation::why_no_url(const Host& host) const {
    const auto& boot = settings_.spec.boot;
    const auto& url = boot.method == BootMethod::VirtualMedia ? boot.imageURL : boot.httpBootURI;
    const bool is_used = boot.method == BootMethod::VirtualMedia || boot.method == BootMethod::UefiHttp;
    auto other = host;
    other.boot_mac = "any";
    const bool has_address = !host.boot_mac.empty() || !host.macs.empty();
    const bool is_needed = render_url(url, host, "") != render_url(url, other, "");
    if (!is_used || has_address || !is_needed) return "";
    return "the BMC reports no MAC address, which the provider's URL needs: set spec.bootMACAddress of the "
           "host";
}

asio::awaitable<std::string> BootPreparation::obstacle(Host host, std::shared_ptr<Station> station,
                                                       System system) {
    if (settings_.spec.boot.method == BootMethod::Disk) co_return std::string();
    auto why = why_no_url(host);
    if (!why.empty()) co_return why;
    co_return co_await station->hardware.boot_obstacle(std::move(system), boot_wish(settings_.spec.boot));
}

}  // namespace providers::redfish
