#include "test/simulators/proxmox/core/faults.hpp"

#include "test/simulators/proxmox/core/formats.hpp"

namespace proxmox_simulator {

void ScriptedFaults::add(std::string method_pattern, std::string path_pattern, RequestFault fault, int count,
                         int skip) {
    requests_.push_back({std::move(method_pattern), std::move(path_pattern), std::move(fault), count, skip});
}

void ScriptedFaults::add_task(std::string type_pattern, std::string id_pattern, TaskFault fault, int count,
                              int skip) {
    tasks_.push_back({std::move(type_pattern), std::move(id_pattern), std::move(fault), count, skip});
}

void ScriptedFaults::add_option(std::string vmid_pattern, std::string option_pattern, RequestFault fault,
                                int count, int skip) {
    options_.push_back({std::move(vmid_pattern), std::move(option_pattern), std::move(fault), count, skip});
}

void ScriptedFaults::clear() {
    requests_.clear();
    options_.clear();
    tasks_.clear();
    remote_shell_delay_ = base::Duration::zero();
}

template <class Fault>
std::optional<Fault> ScriptedFaults::strike(std::list<Entry<Fault>>& entries, const std::string& first,
                                            const std::string& second) {
    for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
        if (!matches(entry->first_pattern, first) || !matches(entry->second_pattern, second)) continue;
        if (entry->skip > 0) {
            --entry->skip;
            continue;
        }
        auto fault = entry->fault;
        if (--entry->count <= 0) entries.erase(entry);
        return fault;
    }
    return std::nullopt;
}

std::optional<RequestFault> ScriptedFaults::on_request(const std::string& method, const std::string& path) {
    return strike(requests_, method, path);
}

std::optional<RequestFault> ScriptedFaults::on_option(int vmid, const std::string& option) {
    return strike(options_, std::to_string(vmid), option);
}

std::optional<TaskFault> ScriptedFaults::on_task(const std::string& type, const std::string& id) {
    return strike(tasks_, type, id);
}

}  // namespace proxmox_simulator
