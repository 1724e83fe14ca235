// How a simulated BMC differs from the standard, and how fast it is. Each habit is one that a vendor has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace redfish_simulator {

using base::Duration;
using std::chrono::seconds;

enum class SlotKind {
    by_action,   // InsertMedia and EjectMedia
    by_patch,    // Lenovo XCC: no actions
    websocket,   // OpenBMC: InsertMedia answers 405
    upload_only  // Lenovo RDOC: refuses URLs
};
struct Slot {
    std::string id;
    SlotKind kind = SlotKind::by_action;
};

struct Profile {
    std::string vendor = "Contoso";
    std::string manufacturer = "Contoso";
    std::string model = "Standard 1U";

    // ---- who may come in
    std::string username = "admin";
    std::string password = "s3cr3t-of-the-bmc";
    bool has_sessions = true;
    bool links_sessions = true;  // Links.Sessions in the service root; else only SessionService
    std::size_t session_limit = 4;
    Duration session_timeout = std::chrono::minutes{30};
    bool knows_context = true;       // Session.Context; else it is refused
    int lost_credentials = 0;        // so many requests with Basic are refused although right (iLO)
    bool full_is_rac0218 = false;    // iDRAC's words for "no session left"
    std::size_t lock_out_after = 3;  // wrong passwords until the account is locked
    bool needs_licence = false;      // for virtual media (Supermicro)

    // ---- transport
    Duration latency = std::chrono::milliseconds{20};
    bool refuses_identity = false;      // 406 for Accept-Encoding: identity (HPE)
    bool wants_trailing_slash = false;  // 404 without
    bool redirects_slash = false;       // 308 to the path with a slash (old iLO 5)
    bool absolute_links = false;        // Location of sessions and tasks with the BMC's internal name
    std::size_t page_size = 0;          // 0: collections are not paged

    // ---- documents
    int systems = 1;
    std::string uuid = "4c4c4544-0042-3510-8054-b4c04f4d3132";
    int processors = 16;
    double memory_gib = 64;
    std::string serial_number = "S4c4c4544";
    std::vector<std::string> macs{"52:54:00:AA:BB:01", ""};
    bool lacks_interfaces = false;  // named by the system, but 404
    bool tells_cores_only = false;  // ProcessorSummary.CoreCount, half of the threads that Processors tell
    bool links_manager = true;      // Links.ManagedBy
    std::vector<std::string> oem;   // keys of the service root's Oem
    std::string firmware = "1.0";   // of the Manager
    std::string manager_model = "BMC";
    bool tells_processors = true;  // ProcessorSummary.LogicalProcessorCount; else only Processors/*
    bool empty_mac = false;        // of the second interface, instead of null
    bool error_is_object = false;  // @Message.ExtendedInfo as an object (iDRAC)
    bool resets_in_action_info = false;
    bool media_on_manager = false;
    bool no_graceful_shutdown = false;
    int watts = 0;                // 0: nothing measures the power
    bool has_power_only = false;  // in the Chassis' older Power instead of EnvironmentMetrics

    // ---- ETags
    bool has_etags = true;
    bool weak_header = false;   // header tag is weak, and only the strong form is accepted
    bool refuses_tags = false;  // 412 for any If-Match
    bool demands_tag = false;   // 428 without If-Match, which may be *
    bool hides_tags = false;    // serves none, see demands_tag

    // ---- asset tag
    bool system_has_tag = true;
    bool chassis_has_tag = false;
    bool chassis_is_shared = false;     // with another system
    bool drops_tag = false;             // 204, and nothing is kept
    bool refuses_system_tag = false;    // only the chassis' can be written
    bool clears_tag_by_null = false;    // and not by an empty text (Huawei)
    bool ignores_tags_version = false;  // whatever If-Match says
    std::size_t tag_length = 63;        // what is longer is cut

    // ---- power
    Duration power_on = seconds{4};
    Duration power_off = seconds{3};
    Duration shutdown = seconds{20};  // GracefulShutdown
    bool ignores_shutdown = false;    // no system that hears it
    bool sticks_powering_on = false;
    bool falls_back = false;            // On, then Off by itself
    Duration conflict_after_off{};      // 409 to On for so long (iDRAC10)
    bool complains_if_already = false;  // 409 if it is in that state
    Duration remembers_power{};         // PowerState is this old at most
    bool drops_second_reset = false;  // sushy-tools: a reset during a transition is answered 204 and dropped
    Duration not_ready_until{};       // 503 SYS518 from the start on
    bool not_ready_is_400 = false;    // 400 SWC0700 instead
    Duration post{};                  // after power on: boot changes are refused (iLO)

    // ---- boot override
    bool boot_on_settings = false;       // only SettingsObject has and takes it (iDRAC10)
    bool wants_full_boot = false;        // target, enabled and mode, or refused (AMI)
    bool forgets_partial_boot = false;   // what is not sent reverts to default (Supermicro)
    bool reports_mode = true;            // else: BootSourceOverrideMode is unknown and refused
    bool disabled_wants_target = false;  // iLO
    bool only_continuous = false;        // sushy-tools
    bool boots_usb_cd = false;           // Supermicro: the virtual CD is UsbCd
    Duration boot_job{};                 // a change is answered with 202 and made so much later (Lenovo)
    std::vector<std::string> boot_targets{"None", "Pxe", "Hdd", "UefiHttp", "Cd"};

    // ---- virtual media
    std::vector<Slot> slots{{"Cd", SlotKind::by_action}};
    bool wants_protocol = false;    // ActionParameterMissing without TransferProtocolType
    bool wants_method = false;      // ActionParameterMissing without TransferMethod (bmcweb)
    bool refuses_extras = false;    // 400 for anything but Image (Supermicro)
    Duration inserted_lingers{};    // Inserted stays true so long after an eject
    bool keeps_image_name = false;  // after an eject (Supermicro)
    bool eject_wants_body = false;  // 415 without {}
    bool has_media = true;          // else what is linked is 404

    // ---- drives and tasks
    int drives = 2;
    std::vector<std::int64_t> port_gbps;  // of a network adapter of the chassis; empty: there is none
    bool can_erase = true;
    Duration erase = seconds{40};
    bool erase_fails = false;
    int vanishing_tasks = 0;  // so many tasks are gone before anybody asks
};

}  // namespace redfish_simulator
