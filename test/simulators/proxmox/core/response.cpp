#include "test/simulators/proxmox/core/response.hpp"

#include <boost/json/serialize.hpp>

#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

base::HttpResponse make_response(int status, const std::string& reason, std::string body) {
    base::HttpResponse response;
    response.status = status;
    response.reason = reason.substr(0, reason.find('\n'));
    response.body = std::move(body);
    response.headers.set("Cache-Control", "max-age=0");
    response.headers.set("Pragma", "no-cache");
    response.headers.set("Server", "pve-api-daemon/3.0");
    response.headers.set("Connection", status >= 400 ? "close" : "Keep-Alive");
    return response;
}

base::HttpResponse json_response(int status, const std::string& reason, const json::object& body) {
    auto response = make_response(status, reason, json::serialize(body));
    response.headers.set("Content-Type", "application/json;charset=UTF-8");
    return response;
}

bool has_message_in_body(const std::string& version) {
    auto parts = split(version, '.');
    auto number = [&](std::size_t i) { return i < parts.size() ? to_integer(parts[i]).value_or(0) : 0; };
    return number(0) > 8 || (number(0) == 8 && number(1) >= 3);
}

}  // namespace

base::HttpResponse success_response(const std::string& format, json::object result) {
    if (format == "extjs") result["success"] = 1;
    return json_response(200, "OK", result);
}

base::HttpResponse error_response(const std::string& version, const std::string& format,
                                  const ApiError& error) {
    std::string message = error.what();
    json::object body{{"data", nullptr}};
    if (format == "extjs" || has_message_in_body(version))
        body["message"] = message + (error.status() == 501 ? "" : "\n");
    if (!error.errors().empty()) body["errors"] = error.errors();
    if (format != "extjs") return json_response(error.status(), message, body);
    body["success"] = 0;
    if (error.status() == 400)
        body["status"] = "400";
    else
        body["status"] = error.status();
    return json_response(200, "OK", body);
}

base::HttpResponse raw_response(int status, const std::string& reason, const std::string& body) {
    return make_response(status, reason, body);
}

json::object masked(const json::object& parameters) {
    json::object result = parameters;
    for (const char* name :
         {"password", "cipassword", "otp", "tfa-challenge", "input-data", "content-data", "sshkeys"}) {
        if (auto* value = result.if_contains(name)) *value = "********";
    }
    // This masks the content of agent/file-write. The "content" of an upload is only its kind.
    if (result.contains("file") && result.contains("content")) result["content"] = "********";
    return result;
}

}  // namespace proxmox_simulator
