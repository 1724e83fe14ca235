// The command line as values. Names that the Go project KubeNodeSmith had mean the same here.
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
    bool metrics_secure = true;         // HTTPS for those whom the API server allows it; false: HTTP for all
    std::string metrics_cert_path;      // a folder; empty: a certificate made at start
    std::string metrics_cert_name = "tls.crt";
    std::string metrics_cert_key = "tls.key";
    std::string bootstrap_address = "0";  // "0": off
    std::string bootstrap_url;            // where machines reach bootstrap_address
    base::log::Level log_level = base::log::Level::info;
    base::log::Format log_format = base::log::Format::text;
    int concurrent_claims = 16;
    bool kproximate_metrics = false;
    bool status_page = false;
};

// What the command line asks for: run the operator with options, run another command, or print a text and
// exit with a code.
struct Exit {
    int code = 0;
    std::string text;
};
struct CommandLine {
    Options options;
    Command command;  // another one than the operator, or empty
    std::optional<Exit> exit;
};
// The commands beside `run`, by the headings of the help under which they stand.
struct CommandGroup {
    std::string heading;  // empty: not shown
    std::vector<AddCommand> commands;
};
CommandLine parse_command_line(int argc, const char* const* argv, const std::vector<CommandGroup>& groups);

// ":8081" (all addresses, IPv4 and IPv6) or "127.0.0.1:8081". Throws std::invalid_argument naming `flag` and
// what would be right.
struct BindAddress {
    std::string address;  // empty: all
    std::uint16_t port = 0;
};
std::optional<BindAddress> parse_bind_address(const std::string& flag,
                                              const std::string& text);  // nullopt: "0"

std::string version();         // "kubenodesmith 1.2.3"
std::string version_number();  // "1.2.3"

}  // namespace kubenodesmith
