// The differences of a simulated BMC from the standard, and its speed. Some vendor has each of these habits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace redfish_simulator {

using base::Duration;
using std::chrono::seconds;

enum class SlotKind {
    by_action,   // actions InsertMedia and EjectMedia
    by_patch,    // Lenovo XCC: no actions
    websocket,   // OpenBMC: InsertMedia gets 405
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

    // ---- authentication
    std::string username = "admin";
    std::string password = "s3cr3t-of-the-bmc";
    bool has_sessions = true;
    bool links_sessions = true;  // Links.Sessions is in the service root; otherwise only SessionService is
    std::size_t session_limit = 4;
    Duration session_timeout = std::chrono::minutes{30};
    bool knows_context = true;       // accepts Session.Context; otherwise refuses it
    int lost_credentials = 0;        // number of right requests with Basic that are refused (iLO)
    bool full_is_rac0218 = false;    // iDRAC's words for "no session left"
    std::size_t lock_out_after = 3;  // number of wrong passwords that lock the account
    bool needs_licence = false;      // virtual media need a licence (Supermicro)

    // ---- transport
    Duration latency = std::chrono::milliseconds{20};
    bool refuses_identity = false;      // 406 for Accept-Encoding: identity (HPE)
    bool wants_trailing_slash = false;  // 404 without a trailing slash
    bool redirects_slash = false;       // 308 to the path with a slash (old iLO 5)
    bool absolute_links = false;        // Location of sessions and tasks contains the BMC's internal name
    std::size_t page_size = 0;          // 0: collections are not paged

    // ---- documents
    int systems = 1;
    std::string uuid = "4c4c4544-0042-3510-8054-b4c04f4d3132";
    int processors = 16;
    double memory_gib = 64;
    std::string serial_number = "S4c4c4544";
    std::vector<std::string> macs{"52:54:00:AA:BB:01", ""};
    bool lacks_interfaces = false;  // the system links to them, but they are 404
    bool tells_cores_only = false;  // ProcessorSummary.CoreCount is half of the threads that Processors
                                    // report
    bool links_manager = true;      // the system has Links.ManagedBy
    std::vector<std::string> oem;   // keys of the service root's Oem
    std::string firmware = "1.0";   // version of the Manager
    std::string manager_model = "BMC";
    bool tells_processors = true;  // ProcessorSummary.LogicalProcessorCount exists; otherwise only
                                   // Processors/*
    bool empty_mac = false;        // the second interface has "" instead of null
    bool error_is_object = false;  // @Message.ExtendedInfo as an object (iDRAC)
    bool resets_in_action_info = false;
    bool media_on_manager = false;
    bool no_graceful_shutdown = false;
    int watts = 0;                // 0: the power is not measured
    bool has_power_only = false;  // the Chassis has the older Power instead of EnvironmentMetrics

    // ---- ETags
    bool has_etags = true;
    bool weak_header = false;   // the header's tag is weak, and only the strong form is accepted
    bool refuses_tags = false;  // 412 for any If-Match
    bool demands_tag = false;   // 428 without If-Match; If-Match: * suffices
    bool hides_tags = false;    // shows no tag (see demands_tag)

    // ---- asset tag
    bool system_has_tag = true;
    bool chassis_has_tag = false;
    bool chassis_is_shared = false;     // another system shares the chassis
    bool drops_tag = false;             // answers 204, but stores nothing
    bool refuses_system_tag = false;    // only the chassis' tag can be written
    bool clears_tag_by_null = false;    // null clears the tag, an empty text does not (Huawei)
    bool ignores_tags_version = false;  // ignores If-Match
    std::size_t tag_length = 63;        // longer tags are cut

    // ---- power
    Duration power_on = seconds{4};
    Duration power_off = seconds{3};
    Duration shutdown = seconds{20};  // duration of GracefulShutdown
    bool ignores_shutdown = false;    // no system reacts to the request
    bool sticks_powering_on = false;
    bool falls_back = false;            // goes on, then off by itself
    Duration conflict_after_off{};      // On gets 409 for this long (iDRAC10)
    bool complains_if_already = false;  // 409 if it already has that state
    Duration remembers_power{};         // greatest age of PowerState
    bool drops_second_reset = false;  // sushy-tools: answers 204 to a reset during a transition and drops it
    Duration not_ready_until{};       // 503 SYS518 from the start until then
    bool not_ready_is_400 = false;    // 400 SWC0700 instead of 503
    Duration post{};                  // after power on it refuses boot changes for this long (iLO)

    // ---- boot override
    bool boot_on_settings = false;       // only SettingsObject shows and accepts it (iDRAC10)
    bool wants_full_boot = false;        // needs target, enabled and mode (AMI)
    bool forgets_partial_boot = false;   // values that are not sent revert to their default (Supermicro)
    bool reports_mode = true;            // otherwise BootSourceOverrideMode is unknown and refused
    bool disabled_wants_target = false;  // Disabled needs a target (iLO)
    bool only_continuous = false;        // accepts only Continuous (sushy-tools)
    bool boots_usb_cd = false;           // boots the virtual CD as UsbCd (Supermicro)
    Duration boot_job{};                 // a change gets 202 and takes effect so much later (Lenovo)
    std::vector<std::string> boot_targets{"None", "Pxe", "Hdd", "UefiHttp", "Cd"};

    // ---- virtual media
    std::vector<Slot> slots{{"Cd", SlotKind::by_action}};
    bool wants_protocol = false;    // ActionParameterMissing without TransferProtocolType
    bool wants_method = false;      // ActionParameterMissing without TransferMethod (bmcweb)
    bool refuses_extras = false;    // 400 for any parameter but Image (Supermicro)
    Duration inserted_lingers{};    // Inserted stays true for this long after an eject
    bool keeps_image_name = false;  // keeps the name after an eject (Supermicro)
    bool eject_fails = false;       // the image stays
    bool eject_wants_body = false;  // 415 without a body {}
    bool has_media = true;          // otherwise the linked documents are 404

    // ---- drives and tasks
    int drives = 2;
    std::vector<std::int64_t> port_gbps;  // speeds of the chassis' network adapter; empty: no adapter
    bool can_erase = true;
    Duration erase = seconds{40};
    bool erase_fails = false;
    bool hides_task_location = false;  // only the body of the answer names the task (Supermicro)
    int vanishing_tasks = 0;           // number of tasks that disappear before a client asks for them
};

}  // namespace redfish_simulator
