// The documents of a simulated BMC.
#include <algorithm>
#include <charconv>

#include "test/simulators/redfish/bmc.hpp"
#include "test/simulators/redfish/resource_types.hpp"

namespace redfish_simulator {

namespace {

constexpr const char* kRoot = "/redfish/v1";
const std::string kSystems = std::string(kRoot) + "/Systems";
const std::string kManager = std::string(kRoot) + "/Managers/BMC";
const std::string kChassis = std::string(kRoot) + "/Chassis/Box";

json::object link(const std::string& target) {
    json::object result;
    result["@odata.id"] = target;
    return result;
}

json::array texts(const std::vector<std::string>& values) {
    json::array result;
    for (const auto& value : values) result.emplace_back(value);
    return result;
}

std::size_t skip_of(const std::string& target) {
    const auto at = target.find("$skip=");
    std::size_t skip = 0;
    if (at != std::string::npos) std::from_chars(target.data() + at + 6, target.data() + target.size(), skip);
    return skip;
}

std::string system_path(int index) {
    return kSystems + "/Blade" + std::to_string(index);
}

}  // namespace

json::object Bmc::service_root() const {
    json::object root;
    root["@odata.id"] = std::string(kRoot) + "/";
    root["RedfishVersion"] = "1.18.0";
    root["Vendor"] = profile_.vendor;
    if (!profile_.oem.empty()) {
        json::object oem;
        for (const auto& key : profile_.oem) oem[key] = json::object();
        root["Oem"] = std::move(oem);
    }
    root["Systems"] = link(kSystems);
    root["Managers"] = link(std::string(kRoot) + "/Managers");
    root["Chassis"] = link(std::string(kRoot) + "/Chassis");
    if (profile_.has_sessions) {
        root["SessionService"] = link(std::string(kRoot) + "/SessionService");
        if (profile_.links_sessions) {
            json::object links;
            links["Sessions"] = link(std::string(kRoot) + "/SessionService/Sessions");
            root["Links"] = std::move(links);
        }
    }
    return root;
}

json::object Bmc::collection(const std::string& target, const std::vector<std::string>& members) const {
    const auto path = target.substr(0, target.find('?'));
    const auto skip = skip_of(target);
    const auto size = profile_.page_size == 0 ? members.size() : profile_.page_size;
    json::object result;
    json::array shown;
    for (auto i = skip; i < std::min(members.size(), skip + size); ++i) shown.push_back(link(members[i]));
    result["@odata.id"] = path;
    result["Members@odata.count"] = members.size();
    result["Members"] = std::move(shown);
    if (skip + size < members.size())
        result["Members@odata.nextLink"] = path + "?$skip=" + std::to_string(skip + size);
    return result;
}

json::object Bmc::boot_document(bool on_settings) const {
    json::object boot;
    const bool shown = profile_.boot_on_settings == on_settings;
    if (!shown) return boot;
    boot["BootSourceOverrideTarget"] = boot_target_;
    boot["BootSourceOverrideEnabled"] = boot_enabled_;
    if (profile_.reports_mode) boot["BootSourceOverrideMode"] = boot_mode_;
    auto targets = profile_.boot_targets;
    if (profile_.boots_usb_cd) targets.emplace_back("UsbCd");
    boot["BootSourceOverrideTarget@Redfish.AllowableValues"] = texts(targets);
    return boot;
}

json::object Bmc::system_document(int index) {
    const auto path = system_path(index);
    json::object system;
    system["@odata.id"] = path;
    system["Id"] = "Blade" + std::to_string(index);
    system["Manufacturer"] = profile_.manufacturer;
    system["Model"] = profile_.model;
    // The second and later systems are neighbours that are always off.
    system["UUID"] =
        index == 1 ? profile_.uuid : "00000000-0000-0000-0000-00000000000" + std::to_string(index);
    system["SerialNumber"] = profile_.serial_number;
    system["PowerState"] = index == 1 ? power_text() : "Off";
    system["Status"] = json::object{{"State", "Enabled"}, {"Health", "OK"}};
    if (profile_.tells_cores_only) {
        system["ProcessorSummary"] = json::object{{"Count", 2}, {"CoreCount", profile_.processors / 2}};
        system["Processors"] = link(path + "/Processors");
    } else if (profile_.tells_processors) {
        system["ProcessorSummary"] =
            json::object{{"Count", 2}, {"LogicalProcessorCount", profile_.processors}};
    } else {
        system["ProcessorSummary"] = json::object{{"Count", 2}, {"LogicalProcessorCount", nullptr}};
    }
    system["MemorySummary"] = json::object{{"TotalSystemMemoryGiB", profile_.memory_gib}};
    system["Boot"] = boot_document(false);
    if (profile_.boot_on_settings)
        system["@Redfish.Settings"] = json::object{{"SettingsObject", link(path + "/Settings")}};
    json::object reset;
    reset["target"] = path + "/Actions/ComputerSystem.Reset";
    if (profile_.resets_in_action_info) {
        reset["@Redfish.ActionInfo"] = path + "/ResetActionInfo";
    } else {
        reset["ResetType@Redfish.AllowableValues"] = texts(reset_types());
    }
    system["Actions"] = json::object{{"#ComputerSystem.Reset", std::move(reset)}};
    if (index == 1) {
        system["EthernetInterfaces"] = link(path + "/EthernetInterfaces");
        system["Processors"] = link(path + "/Processors");
        system["Storage"] = link(path + "/Storage");
        if (!profile_.media_on_manager) system["VirtualMedia"] = link(media_base());
    }
    if (has_tag(path)) system["AssetTag"] = system_tag_;
    json::object links{{"Chassis", json::array{link(kChassis)}}};
    if (profile_.links_manager) links["ManagedBy"] = json::array{link(kManager)};
    system["Links"] = std::move(links);
    return system;
}

std::optional<json::object> Bmc::chassis_document(const std::string& path) const {
    const std::string meter = profile_.has_power_only ? "Power" : "EnvironmentMetrics";
    if (path == kChassis) {
        json::array systems{link(system_path(1))};
        if (profile_.chassis_is_shared) systems.push_back(link(system_path(2)));
        json::object chassis{{"ChassisType", "RackMount"},
                             {"Links", json::object{{"ComputerSystems", std::move(systems)}}}};
        if (has_tag(path)) chassis["AssetTag"] = chassis_tag_;
        if (!profile_.port_gbps.empty()) chassis["NetworkAdapters"] = link(path + "/NetworkAdapters");
        if (profile_.watts > 0) chassis[meter] = link(path + "/" + meter);
        return chassis;
    }
    if (profile_.watts == 0 || path != kChassis + "/" + meter) return std::nullopt;
    if (!profile_.has_power_only)
        return json::object{{"PowerWatts", json::object{{"Reading", profile_.watts}}}};
    json::object control{
        {"@odata.id", path + "#/PowerControl/0"}, {"MemberId", "0"}, {"PowerConsumedWatts", profile_.watts}};
    return json::object{{"PowerControl", json::array{std::move(control)}}};
}

std::optional<json::object> Bmc::interface_document(const std::string& path, const std::string& paged) const {
    const auto all = system_path(1) + "/EthernetInterfaces";
    if (profile_.lacks_interfaces) return std::nullopt;
    std::vector<std::string> members;
    for (std::size_t i = 0; i < profile_.macs.size(); ++i) {
        members.push_back(all + "/" + std::to_string(i + 1));
        if (path != members.back()) continue;
        json::value mac(json::string(profile_.macs[i]));
        if (profile_.macs[i].empty() && !profile_.empty_mac) mac = nullptr;
        return json::object{
            {"@odata.id", path}, {"Id", std::to_string(i + 1)}, {"MACAddress", std::move(mac)}};
    }
    if (path == all) return collection(paged, members);
    return std::nullopt;
}

// Returns the documents of an adapter whose ports report their maximum speed, whatever their links do.
std::optional<json::object> Bmc::adapter_document(const std::string& path) const {
    const auto adapters = kChassis + "/NetworkAdapters";
    const auto ports = adapters + "/1/Ports";
    if (profile_.port_gbps.empty()) return std::nullopt;
    if (path == adapters) return collection(path, {adapters + "/1"});
    if (path == adapters + "/1") return json::object{{"@odata.id", path}, {"Ports", link(ports)}};
    std::vector<std::string> members;
    for (std::size_t i = 0; i < profile_.port_gbps.size(); ++i) {
        members.push_back(ports + "/" + std::to_string(i + 1));
        if (path == members.back())
            return json::object{{"@odata.id", path}, {"MaxSpeedGbps", profile_.port_gbps[i]}};
    }
    if (path == ports) return collection(path, members);
    return std::nullopt;
}

std::optional<json::object> Bmc::document(const std::string& target) {
    const auto query = target.find('?');
    auto path = target.substr(0, query);
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    const auto paged = query == std::string::npos ? path : path + target.substr(query);
    auto found = service_document(path, paged);
    if (!found) found = system_part(path, paged);
    if (!found) found = media_document(path);
    if (!found) found = chassis_document(path);
    if (!found) found = adapter_document(path);
    if (!found) found = storage_document(path);
    if (found) introduce(*found, path);
    return found;
}

std::optional<json::object> Bmc::service_document(const std::string& path, const std::string& paged) {
    const auto root = std::string(kRoot);
    if (path == root) return service_root();
    if (path == kSystems) {
        std::vector<std::string> systems;
        for (int i = 1; i <= profile_.systems; ++i) systems.push_back(system_path(i));
        return collection(paged, systems);
    }
    if (path == root + "/Managers") return collection(paged, {kManager});
    if (path == root + "/Chassis") return collection(paged, {kChassis});
    if (path == kManager) {
        json::object manager{{"ManagerType", "BMC"},
                             {"FirmwareVersion", profile_.firmware},
                             {"Model", profile_.manager_model}};
        if (profile_.media_on_manager) manager["VirtualMedia"] = link(media_base());
        return manager;
    }
    if (!profile_.has_sessions) return std::nullopt;
    if (path == root + "/SessionService")
        return json::object{{"ServiceEnabled", true}, {"Sessions", link(path + "/Sessions")}};
    if (path == root + "/SessionService/Sessions") {
        std::vector<std::string> members;
        members.reserve(sessions_.size());
        for (const auto& [session, data] : sessions_) members.push_back(session);
        return collection(paged, members);
    }
    if (const auto session = sessions_.find(path); session != sessions_.end())
        return json::object{{"Context", session->second.context}};
    return std::nullopt;
}

std::optional<json::object> Bmc::system_part(const std::string& path, const std::string& paged) {
    for (int i = 1; i <= profile_.systems; ++i) {
        if (path == system_path(i)) return system_document(i);
    }
    const auto base = system_path(1);
    if (path == base + "/Settings" && profile_.boot_on_settings)
        return json::object{{"Boot", boot_document(true)}};
    if (path == base + "/ResetActionInfo") {
        json::object parameter{{"Name", "ResetType"}, {"AllowableValues", texts(reset_types())}};
        return json::object{{"Parameters", json::array{std::move(parameter)}}};
    }
    if (path.starts_with(base + "/EthernetInterfaces")) return interface_document(path, paged);
    if (path == base + "/Processors") return collection(paged, {path + "/1", path + "/2"});
    if (path.starts_with(base + "/Processors/"))
        return json::object{{"ProcessorType", "CPU"}, {"TotalThreads", profile_.processors / 2}};
    return std::nullopt;
}

std::string Bmc::etag_of(const std::string& target) const {
    return "\"" + std::to_string(boot_version_) + "-" + std::to_string(target.size()) + "\"";
}

}  // namespace redfish_simulator
