// Fuzzes the parsers of BMCs' answers: every document that we read, errors, links.
#include "providers/redfish/bmc/bmc_error.hpp"
#include "providers/redfish/bmc/bmc_requests.hpp"
#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/bmc/etag.hpp"
#include "providers/redfish/bmc/link.hpp"
#include "test/fuzz/targets.hpp"

namespace fuzz {

namespace redfish = providers::redfish;

namespace {

void read_error(const base::HttpResponse& response) {
    const auto complaint = redfish::complaint_of(response);
    check(!complaint.message.empty(), "a complaint says something");
    if (complaint.retry_after)
        check(*complaint.retry_after >= base::Duration::zero(), "nobody waits for the past");
}

void read_system(const redfish::RedfishResource& resource) {
    const auto system = redfish::parse_system(resource);
    check(system.cpu_cores >= 0 && system.memory_mib >= 0, "figures are not negative");
    redfish::BootWish wish{"Cd", "UEFI", ""};
    wish.target = redfish::boot_target(wish, system, {});
    check(!redfish::boot_bodies(wish, system.boot, {}).empty(), "there is always a way to ask");
    check(!redfish::boot_clearances(system.boot).empty(), "there is always a way to cancel");
    for (const auto goal : {redfish::PowerGoal::on, redfish::PowerGoal::off_by_force}) {
        const auto type = redfish::reset_type(goal, system.resets);
        check(!type || *type != "PushPowerButton", "nothing that toggles is ever sent");
    }
    redfish::threads_of(resource.body);
    std::vector<std::string> flaws;
    const auto mac = redfish::mac_of(resource.body, flaws);
    check(mac.empty() || mac.size() == 17, "an address is one that the API server takes");
    const auto disk = redfish::disk_of(resource.body);
    check(!disk || (disk->size_gb >= 0 && disk->count == 1), "a disk has a size");
    check(redfish::speed_of(resource.body) >= 0, "a port has a speed");
    redfish::reset_types_of(resource.body);
    redfish::ranked_slots({redfish::parse_slot(resource)}, redfish::MediaUse::data);
    redfish::task_progress(200, resource.body);
    redfish::links_at(resource.body, "Members");
}

}  // namespace

// Reads the first line as an HTTP status and a header Retry-After, ETag or Location. The rest is the body.
void redfish_response(std::string_view input) {
    const auto line = input.find('\n');
    if (line == std::string_view::npos || line < 4) return;
    base::HttpResponse response;
    response.status = input.starts_with("200") ? 200 : 400 + static_cast<unsigned char>(input[2]) % 104;
    const std::string header(input.substr(4, line - 4));
    for (const auto* name : {"Retry-After", "ETag", "Location"}) response.headers.set(name, header);
    response.body = input.substr(line + 1);
    if (response.status >= 400) return read_error(response);
    redfish::RedfishResource resource{"/redfish/v1/Systems/1", redfish::parse_object(response.body), {}};
    resource.etag = redfish::etag_of(response, resource.body);
    check(redfish::etag_ladder(resource.etag).size() <= 3, "the ladder ends");
    read_system(resource);
    const auto origin = base::parse_url("https://10.0.0.1");
    const auto target = redfish::target_of(header, origin, redfish::Origin::same);
    check(!target || target->starts_with('/'), "a link leads nowhere else");
}

}  // namespace fuzz
