// `ui`: serves the status page on this computer, with the rights of the kubeconfig's user.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/http_server.hpp"
#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {

struct UiSite {
    std::string path;  // begins and ends with a slash; nobody can guess it
    std::uint16_t port = 0;
    std::function<std::string()> document;  // an exception becomes an answer that the page shows
};

// Answers requests for the path only, and only under the site's own name. Other users of this computer, and
// websites whose names lead to this computer (DNS rebinding), get nothing. The site must outlive the handler.
base::HttpHandler make_ui_handler(const UiSite& site);

void add_ui_command(CLI::App& app, ClientOptions& options, Command& chosen, const std::string& program);

}  // namespace kubenodesmith
