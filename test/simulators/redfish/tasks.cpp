// Drives of a simulated system, and the tasks that erase them.
#include "test/simulators/redfish/bmc.hpp"

namespace redfish_simulator {

namespace {

const std::string kStorage = "/redfish/v1/Systems/Blade1/Storage";
const std::string kTasks = "/redfish/v1/TaskService/Tasks/";

json::object link(const std::string& target) {
    json::object result;
    result["@odata.id"] = target;
    return result;
}

}  // namespace

std::optional<json::object> Bmc::storage_document(const std::string& target) {
    if (target == kStorage) return collection(target, {kStorage + "/1"});
    if (target == kStorage + "/1") {
        json::array drives;
        for (int i = 1; i <= profile_.drives; ++i)
            drives.push_back(link(kStorage + "/1/Drives/" + std::to_string(i)));
        return json::object{{"@odata.id", target}, {"Drives", std::move(drives)}};
    }
    const auto prefix = kStorage + "/1/Drives/";
    if (!target.starts_with(prefix)) return std::nullopt;
    json::object drive{{"@odata.id", target},
                       {"MediaType", "SSD"},
                       {"Protocol", "NVMe"},
                       {"CapacityBytes", 960'197'124'096}};
    if (profile_.can_erase) {
        drive["Actions"] = json::object{
            {"#Drive.SecureErase", json::object{{"target", target + "/Actions/Drive.SecureErase"}}}};
    }
    return drive;
}

Bmc::Response Bmc::erase(const std::string& drive) {
    if (!profile_.can_erase) return error(404, "ResourceMissingAtURI", "no such action");
    const auto target = kTasks + std::to_string(++serial_);
    Task task{now() + profile_.erase, drive, false};
    if (profile_.vanishing_tasks > 0) {
        --profile_.vanishing_tasks;
        task.vanished = true;
    }
    tasks_[target] = task;
    auto response = answer(202, json::object{{"@odata.id", target}, {"TaskState", "Running"}});
    if (!profile_.hides_task_location) response.headers.set("Location", location(target));
    return response;
}

Bmc::Response Bmc::task(const std::string& target) {
    const auto found = tasks_.find(target);
    if (found == tasks_.end() || found->second.vanished)
        return error(404, "ResourceMissingAtURI", "no such task");
    json::object body{{"@odata.id", target}};
    if (now() < found->second.ends) {
        body["TaskState"] = "Running";
        return answer(202, std::move(body));
    }
    body["TaskState"] = profile_.erase_fails ? "Exception" : "Completed";
    body["TaskStatus"] = profile_.erase_fails ? "Critical" : "OK";
    if (!profile_.erase_fails) erased_.insert(found->second.drive);
    return answer(200, std::move(body));
}

}  // namespace redfish_simulator
