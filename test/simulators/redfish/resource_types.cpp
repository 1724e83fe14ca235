#include "test/simulators/redfish/resource_types.hpp"

#include <map>
#include <string_view>

namespace redfish_simulator {

namespace {

using Types = std::map<std::string_view, std::string_view>;

// Types of the members of collections, by the collection's name. Other resources are listed by their own
// name.
const Types kMembers = {{"Systems", "ComputerSystem.v1_20_0"},
                        {"Managers", "Manager.v1_19_0"},
                        {"Chassis", "Chassis.v1_23_0"},
                        {"EthernetInterfaces", "EthernetInterface.v1_9_0"},
                        {"Processors", "Processor.v1_18_0"},
                        {"Storage", "Storage.v1_15_0"},
                        {"Drives", "Drive.v1_17_0"},
                        {"VirtualMedia", "VirtualMedia.v1_6_0"},
                        {"Sessions", "Session.v1_5_0"},
                        {"Tasks", "Task.v1_7_0"},
                        {"NetworkAdapters", "NetworkAdapter.v1_10_0"},
                        {"Ports", "Port.v1_11_0"}};
const Types kSingles = {{"v1", "ServiceRoot.v1_16_0"},
                        {"Settings", "ComputerSystem.v1_20_0"},
                        {"ResetActionInfo", "ActionInfo.v1_3_0"},
                        {"EnvironmentMetrics", "EnvironmentMetrics.v1_3_0"},
                        {"Power", "Power.v1_7_0"},
                        {"SessionService", "SessionService.v1_1_9"}};

std::string_view last_of(std::string_view path) {
    return path.substr(path.find_last_of('/') + 1);
}

// Returns the kind: "ComputerSystem" for "ComputerSystem.v1_20_0".
std::string kind_of(std::string_view type) {
    return std::string(type.substr(0, type.find('.')));
}

void add(boost::json::object& document, std::string_view name, const std::string& value) {
    if (!document.contains(name)) document[name] = value;
}

}  // namespace

void introduce(boost::json::object& document, const std::string& path) {
    const auto own = last_of(path);
    add(document, "@odata.id", path);
    if (document.contains("Members")) {
        const auto kind = kind_of(kMembers.at(own)) + "Collection";
        add(document, "@odata.type", "#" + kind + "." + kind);
        add(document, "Name", kind);
        return;
    }
    const auto single = kSingles.find(own);
    const auto type = single != kSingles.end()
                          ? single->second
                          : kMembers.at(last_of(path.substr(0, path.size() - own.size() - 1)));
    add(document, "@odata.type", "#" + std::string(type) + "." + kind_of(type));
    add(document, "Id", std::string(own));
    add(document, "Name", kind_of(type) + " " + std::string(own));
}

}  // namespace redfish_simulator
