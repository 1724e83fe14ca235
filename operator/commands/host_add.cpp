#include "operator/commands/host_add.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/object.hpp>
#include <charconv>
#include <memory>

#include "api/json.hpp"
#include "api/v1alpha1/host.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "bootstrap/yaml_writer.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/references.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;
using api::v1alpha1::NodeSmithHost;

constexpr std::int64_t kMostHosts = 1000;

struct HostRequest {
    std::string names;
    std::string addresses;
    std::string provider;
    std::string namespace_ = "kubenodesmith";
    std::string secret;
    std::string node_names;
    std::vector<std::string> labels;
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
    std::int32_t priority = 0;
    bool maintenance = false;
    bool skip_verify = false;
};

[[noreturn]] void refuse(const std::string& pattern) {
    throw UsageError("\"" + pattern +
                     "\" is not a range; give one such as rack1-[01-32], https://10.0.0.[17-48] or "
                     "10.0.0.17-10.0.0.48, of at most " +
                     std::to_string(kMostHosts));
}

std::int64_t number_of(const std::string& text, const std::string& pattern) {
    std::int64_t number = 0;
    const auto* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (text.empty() || error != std::errc{} || end != last || number < 0) refuse(pattern);
    return number;
}

// Writes the number with leading zeros if the range's first number has some.
std::string numbered(std::int64_t number, const std::string& first) {
    auto text = std::to_string(number);
    if (first.starts_with('0') && text.size() < first.size()) text.insert(0, first.size() - text.size(), '0');
    return text;
}

std::vector<std::string> numbers_between(const std::string& first, const std::string& last,
                                         const std::string& pattern) {
    const auto from = number_of(first, pattern);
    const auto to = number_of(last, pattern);
    if (to < from || to - from >= kMostHosts) refuse(pattern);
    std::vector<std::string> all;
    for (auto number = from; number <= to; ++number) all.push_back(numbered(number, first));
    return all;
}

// Expands, for example, "10.0.0.17-10.0.0.19". The two addresses may differ only in their last number.
std::vector<std::string> addresses_between(const std::string& first, const std::string& last,
                                           const std::string& pattern) {
    const auto network = first.substr(0, first.rfind('.') + 1);
    if (network.empty() || !last.starts_with(network)) refuse(pattern);
    auto all = numbers_between(first.substr(network.size()), last.substr(network.size()), pattern);
    for (auto& address : all) address.insert(0, network);
    return all;
}

bool is_ipv4(const std::string& text) {
    return std::ranges::count(text, '.') == 3 && text.find_first_not_of("0123456789.") == std::string::npos;
}

void check_address(const std::string& address) {
    try {
        if (base::parse_url(address).user.empty()) return;
    } catch (const std::invalid_argument& error) {
        throw UsageError("\"" + address + "\" is no address of a BMC: " + error.what());
    }
    throw UsageError("an address of a BMC must hold no credentials: name their Secret with --secret");
}

api::StringMap labels_of(const std::vector<std::string>& labels) {
    api::StringMap map;
    for (const auto& label : labels) {
        const auto equals = label.find('=');
        if (equals == std::string::npos || equals == 0)
            throw UsageError("\"" + label + "\" is not a label; give KEY=VALUE");
        map[label.substr(0, equals)] = label.substr(equals + 1);
    }
    return map;
}

// Returns one value per host. A pattern without a range gives all hosts the same value.
std::vector<std::string> values_for(const std::string& pattern, std::size_t count, const std::string& what) {
    auto values = expand_range(pattern);
    if (values.size() == 1) values.resize(count, values.front());
    if (values.size() != count)
        throw UsageError(what + " has " + std::to_string(values.size()) + " values for " +
                         base::counted(static_cast<std::int64_t>(count), "host"));
    return values;
}

// Encodes the host as a person would write it, without a status and without default values.
json::object document_of(const NodeSmithHost& host) {
    auto encoded = api::encode(host).as_object();
    auto& spec = encoded["spec"].as_object();
    if (host.spec.priority == 0) spec.erase("priority");
    if (!host.spec.maintenance) spec.erase("maintenance");
    return {{"apiVersion", encoded["apiVersion"]},
            {"kind", encoded["kind"]},
            {"metadata", encoded["metadata"]},
            {"spec", spec}};
}

Answer host_answer(const HostRequest& request) {
    const auto names = expand_range(request.names);
    auto addresses = expand_range(request.addresses);
    if (names.size() != addresses.size())
        throw UsageError(
            "there are " + base::counted(std::ssize(names), "name") + " for " +
            (addresses.size() == 1 ? "1 address" : std::to_string(addresses.size()) + " addresses"));
    const auto secrets = values_for(request.secret, names.size(), "--secret");
    const auto node_names = request.node_names.empty() ? names : expand_range(request.node_names);
    if (node_names.size() != names.size())
        throw UsageError("--node-name has " + std::to_string(node_names.size()) + " values for " +
                         base::counted(std::ssize(names), "host"));
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto& address = addresses[i];
        if (address.find("://") == std::string::npos) address.insert(0, "https://");
        check_address(address);
        NodeSmithHost host;
        host.metadata.name = names[i];
        host.metadata.namespace_ = request.namespace_;
        host.spec.providerRef = request.provider;
        host.spec.bmc.address = address;
        if (!secrets[i].empty()) host.spec.bmc.credentialsSecretRef.emplace().name = secrets[i];
        if (request.skip_verify) host.spec.bmc.tls.emplace().insecureSkipVerify = true;
        host.spec.nodeName = node_names[i];
        if (request.cpu_cores > 0 || request.memory_mib > 0)
            host.spec.capacity = {request.cpu_cores, request.memory_mib, {}};
        host.spec.labels = labels_of(request.labels);
        host.spec.priority = request.priority;
        host.spec.maintenance = request.maintenance;
        text += (text.empty() ? "" : "---\n") + bootstrap::to_yaml(document_of(host));
    }
    return {text};
}

void add_host_options(CLI::App& command, HostRequest& request) {
    command.add_option("names", request.names, "Names of the hosts, such as rack1-[01-32]")
        ->required()
        ->option_text(" ");
    command
        .add_option("addresses", request.addresses,
                    "Addresses of their BMCs, such as https://10.0.0.[17-48] or 10.0.0.17-10.0.0.48")
        ->required()
        ->option_text(" ");
    command.add_option("--provider", request.provider, "Their NodeSmithProvider")
        ->required()
        ->option_text("NAME");
    command.add_option("-n,--namespace", request.namespace_, "Their namespace")
        ->option_text("NAME=" + request.namespace_);
    command
        .add_option("--secret", request.secret,
                    "Secret with the BMC's credentials, may be a range; default: the provider's")
        ->option_text("NAME");
    command.add_option("--node-name", request.node_names, "Names of their Nodes; default: the hosts' names")
        ->option_text("NAMES");
    command.add_option("--label", request.labels, "Label of their Nodes; may be repeated")
        ->option_text("KEY=VALUE")
        ->allow_extra_args(false);
    command.add_option("--cpu-cores", request.cpu_cores, "Cores of each; default: as the BMC reports")
        ->option_text("NUMBER");
    command.add_option("--memory-mib", request.memory_mib, "Memory of each; default: as the BMC reports")
        ->option_text("NUMBER");
    command.add_option("--priority", request.priority, "Hosts of higher priority are powered on first")
        ->option_text("NUMBER");
    command.add_flag("--maintenance", request.maintenance,
                     "Do not use the hosts until their spec.maintenance is set to false");
    command.add_flag("--insecure-skip-verify", request.skip_verify, "Do not verify the BMCs' certificates");
}

}  // namespace

std::vector<std::string> expand_range(const std::string& pattern) {
    const auto open = pattern.find('[');
    const auto close = pattern.find(']');
    const auto dash = pattern.find('-');
    if (open == std::string::npos && close == std::string::npos) {
        const auto first = pattern.substr(0, std::min(dash, pattern.size()));
        const bool is_range =
            dash != std::string::npos && is_ipv4(first) && is_ipv4(pattern.substr(dash + 1));
        if (is_range) return addresses_between(first, pattern.substr(dash + 1), pattern);
        return {pattern};
    }
    const bool is_one = open != std::string::npos && close != std::string::npos && open < close &&
                        pattern.find('[', open + 1) == std::string::npos &&
                        pattern.find(']', close + 1) == std::string::npos;
    if (!is_one) refuse(pattern);
    const auto inside = pattern.substr(open + 1, close - open - 1);
    const auto middle = inside.find('-');
    if (middle == std::string::npos) refuse(pattern);
    auto all = numbers_between(inside.substr(0, middle), inside.substr(middle + 1), pattern);
    for (auto& each : all) each = pattern.substr(0, open) + each + pattern.substr(close + 1);
    return all;
}

void add_host_command(CLI::App& app, ClientOptions&, Command& chosen) {
    auto request = std::make_shared<HostRequest>();
    auto* host = app.add_subcommand("host", "Bare-metal hosts");
    host->require_subcommand(1);
    auto* add =
        host->add_subcommand("add", "Print NodeSmithHosts for a range of BMCs; apply them with kubectl");
    add_host_options(*add, *request);
    add->footer(
        "\nExample: kubenodesmith host add 'rack1-[01-32]' 'https://10.0.0.[17-48]' --provider racks | "
        "kubectl apply -f -");
    add->callback([&chosen, request] {
        chosen = [request](const ClientOptions&) {
            return answer("host add", [&] { return host_answer(*request); });
        };
    });
}

}  // namespace kubenodesmith
