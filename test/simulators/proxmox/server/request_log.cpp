#include "test/simulators/proxmox/server/request_log.hpp"

#include <boost/json/serialize.hpp>
#include <stdexcept>

namespace proxmox_simulator {

RequestLog::RequestLog(const std::string& path) : path_(path) {
    open();
}

void RequestLog::open() {
    if (path_.empty()) return;
    file_.open(path_, std::ios::trunc);
    if (!file_) throw std::runtime_error("opening the request log " + path_ + " failed");
}

void RequestLog::reset() {
    file_.close();
    open();
}

void RequestLog::write(const RequestRecord& record) {
    if (path_.empty()) return;
    auto seconds = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
    auto since_epoch = std::chrono::duration_cast<std::chrono::microseconds>(record.time.time_since_epoch());
    json::object line{
        {"time", seconds(since_epoch)},    {"method", record.method}, {"path", record.path},
        {"parameters", record.parameters}, {"user", record.user},     {"host", record.entry_host},
        {"status", record.status},         {"reason", record.reason}, {"duration", seconds(record.duration)}};
    file_ << json::serialize(line) << '\n' << std::flush;
}

}  // namespace proxmox_simulator
