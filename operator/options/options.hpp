// The parsed command line. Flags of the Go project KubeNodeSmith keep their names and meanings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "kube/leader_election.hpp"
#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

struct Options : ClientOptions {
    bool leader_elect = true;
    std::string leader_election_namespace;  // empty: this pod's, else see lease_namespace.hpp
    std::string leader_election_id = "12c57729.kubenodesmith.parawell.cloud";
    std::string credentials_role = "kubenodesmith-credentials";
    base::Duration lease_duration = std::chrono::seconds{15};
    base::Duration renew_deadline = std::chrono::seconds{10};
    base::Duration retry_period = std::chrono::seconds{2};
    std::string health_address = ":8081";
    std::string metrics_address = "0";  // "0": off
    bool metrics_secure = true;         // HTTPS for users whom the API server allows; false: HTTP for all
    std::string metrics_cert_path;      // folder; empty: a self-signed certificate
    std::string metrics_cert_name = "tls.crt";
    std::string metrics_cert_key = "tls.key";
    std::string bootstrap_address = "0";  // "0": off
    std::string bootstrap_url;            // URL at which machines reach bootstrap_address
    base::log::Level log_level = base::log::Level::info;
    base::log::Format log_format = base::log::Format::text;
    int concurrent_claims = 16;
    bool kproximate_metrics = false;
    bool status_page = false;
};

// Exit ends the program with a text and a code.
struct Exit {
    int code = 0;
    std::string text;
};
// CommandLine is the requested action: `exit` if it is set, else `command` if it is set, else the operator.
struct CommandLine {
    Options options;
    Command command;  // empty: run the operator
    std::optional<Exit> exit;
};
// CommandGroup has the commands below one heading of the help. The command `run` is in no group.
struct CommandGroup {
    std::string heading;  // empty: hidden commands
    std::vector<AddCommand> commands;
};
CommandLine parse_command_line(int argc, const char* const* argv, const std::vector<CommandGroup>& groups);

struct BindAddress {
    std::string address;  // empty: all
    std::uint16_t port = 0;
};
// Parses ":8081" (all addresses, IPv4 and IPv6) or "127.0.0.1:8081". Returns nullopt for "0". Throws
// std::invalid_argument that names `flag` and what would be right.
std::optional<BindAddress> parse_bind_address(const std::string& flag, const std::string& text);

std::string version();         // "kubenodesmith 1.2.3"
std::string version_number();  // "1.2.3"

}  // namespace kubenodesmith
