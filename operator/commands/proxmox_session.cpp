#include "operator/commands/proxmox_session.hpp"

#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/connector.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "operator/command_line/references.hpp"

namespace kubenodesmith {
namespace {

constexpr std::size_t kLongestLine = 4096;
constexpr const char* kCompare = "openssl x509 -in /etc/pve/local/pve-ssl.pem -noout -fingerprint -sha256";

bool read_one(int descriptor, char& c) {
    for (;;) {
        const auto count = ::read(descriptor, &c, 1);
        if (count == 1) return true;
        if (count < 0 && errno == EINTR) continue;
        return false;
    }
}

// Reads no byte behind the line, as that is for the next question.
std::string line_from(int descriptor) {
    std::string line;
    for (char c = 0; line.size() < kLongestLine && read_one(descriptor, c) && c != '\n';) line += c;
    if (line.ends_with('\r')) line.pop_back();
    return line;
}

// SilentTerminal stops echo until it is destroyed. Ctrl-C arrives as a character, so that no signal leaves
// the terminal silent.
class SilentTerminal {
public:
    SilentTerminal() {
        ::tcgetattr(STDIN_FILENO, &before_);
        auto silent = before_;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG);
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    SilentTerminal(const SilentTerminal&) = delete;
    SilentTerminal& operator=(const SilentTerminal&) = delete;
    ~SilentTerminal() { ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_); }

private:
    termios before_{};
};

void remove_last_character(std::string& text) {
    const auto is_continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
    while (!text.empty() && is_continuation(text.back())) text.pop_back();
    if (!text.empty()) text.pop_back();
}

std::string secret_from_terminal(const std::string& question) {
    constexpr char kInterrupt = 3, kEnd = 4, kBackspace = 8, kClear = 21, kDelete = 127;
    std::string text;
    bool is_interrupted = false;
    {
        // An answer that was typed before the terminal is silent would be shown and lost.
        const SilentTerminal silent;
        say(question);
        for (char c = 0; text.size() < kLongestLine && read_one(STDIN_FILENO, c) && c != '\n' && c != kEnd;) {
            is_interrupted = c == kInterrupt;
            if (is_interrupted) break;
            if (c == kBackspace || c == kDelete)
                remove_last_character(text);
            else if (c == kClear)
                text.clear();
            else
                text += c;
        }
    }
    say("\n");
    if (is_interrupted) throw UsageError("interrupted; nothing was changed");
    return text;
}

// Returns the answer of the pipe if there is one, otherwise of the terminal.
std::string secret(const LoginRequest& request, const std::string& question) {
    if (request.password_descriptor >= 0) return line_from(request.password_descriptor);
    if (is_interactive()) return secret_from_terminal(question + ": ");
    throw UsageError("there is no terminal to ask for the password: give --password-stdin or --password-fd");
}

}  // namespace

bool is_interactive() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

bool confirm(const std::string& question) {
    say(question + " [y/N] ");
    const auto answer = base::lower_case(line_from(STDIN_FILENO));
    return answer == "y" || answer == "yes";
}

void say(const std::string& text) {
    std::fputs(base::for_terminal(text).c_str(), stderr);
}

std::string proxmox_origin(const std::string& endpoint) {
    auto text = endpoint.find("://") == std::string::npos ? "https://" + endpoint : endpoint;
    const auto begin = text.find("://") + 3;
    const auto end = std::min(text.find('/', begin), text.size());
    const auto authority = text.substr(begin, end - begin);
    const auto colon = authority.rfind(':');
    const bool has_port = colon != std::string::npos && authority.find(']', colon) == std::string::npos;
    if (!has_port) text.insert(end, ":8006");
    try {
        const auto url = base::parse_url(text);
        if (url.scheme != "https" || !url.user.empty())
            throw UsageError("\"" + authority + "\" must be an https address without credentials");
        return "https://" + url.authority();
    } catch (const std::invalid_argument& error) {
        throw UsageError("--endpoint: " + std::string(error.what()));
    }
}

ProxmoxSession::ProxmoxSession(const LoginRequest& request)
    : environment_{.executor = loop_.executor(),
                   .clock = loop_.clock(),
                   .random = *random_,
                   .metrics = metrics_,
                   .connect =
                       [this](base::HttpClientOptions options) {
                           return base::make_http_client(loop_.executor(), loop_.clock(), std::move(options));
                       },
                   .may_mutate = [] { return true; }} {
    login_.endpoint = proxmox_origin(request.endpoint);
    login_.username = request.administrator;
    if (login_.username.find('@') == std::string::npos)
        throw UsageError("--admin " + login_.username + " names no realm: give one such as " +
                         login_.username + "@pam or " + login_.username + "@pve");
    trust(request);
    login_.password = secret(request, "Password of " + login_.username + " at " + login_.endpoint);
    login_.ask_second_factor = [&request](const std::string& kinds) { return secret(request, kinds); };
    administrator_ = run(providers::log_in_to_proxmox(login_, environment_));
    // The ticket has replaced them.
    login_.password.clear();
    login_.ask_second_factor = {};
}

void ProxmoxSession::trust(const LoginRequest& request) {
    if (!request.ca_file.empty()) login_.tls.ca_bundle_pem = base::read_file(request.ca_file);
    if (!request.fingerprint.empty()) login_.tls.fingerprint_sha256 = request.fingerprint;
    const auto failure = failure_of(login_.tls);
    if (failure.empty()) return;
    if (!request.ca_file.empty() || !request.fingerprint.empty()) throw std::runtime_error(failure);
    accept_shown_certificate(failure);
}

// Only a person, or the fingerprint that a person compared, makes an unknown certificate trusted.
void ProxmoxSession::accept_shown_certificate(const std::string& failure) {
    base::HttpClientOptions http;
    http.url = login_.endpoint;
    std::string shown;
    try {
        shown = run(base::presented_fingerprint(loop_.executor(), loop_.clock(), std::move(http)));
    } catch (const std::runtime_error&) {
        throw std::runtime_error(failure);
    }
    if (!is_interactive())
        throw UsageError(failure + "; on the host, \"" + kCompare +
                         "\" shows its fingerprint: if it is this one, give --fingerprint " + shown);
    say(failure + "\nCompare its fingerprint with what this command shows on the host:\n  " + kCompare +
        "\n  " + shown + "\n");
    if (!confirm("Is it the same?"))
        throw UsageError("the certificate was not accepted; nothing was changed");
    login_.tls.fingerprint_sha256 = shown;
}

std::string ProxmoxSession::failure_of(const base::TlsClientOptions& tls) {
    base::HttpClientOptions http;
    http.url = login_.endpoint;
    http.tls = tls;
    const auto transport = environment_.connect(std::move(http));
    base::HttpRequest request;
    request.target = "/api2/json/access/ticket";
    try {
        run(transport->send(std::move(request)));
    } catch (const base::TransportError& error) {
        return error.what();
    }
    return {};
}

boost::json::object ProxmoxSession::tls(const std::string& authority_pem) {
    if (!login_.tls.fingerprint_sha256) {
        if (login_.tls.ca_bundle_pem.empty()) return {};
        return {{"caBundle", login_.tls.ca_bundle_pem}};
    }
    base::TlsClientOptions by_authority;
    by_authority.ca_bundle_pem = authority_pem;
    if (!authority_pem.empty() && failure_of(by_authority).empty()) return {{"caBundle", authority_pem}};
    return {{"fingerprintSHA256", *login_.tls.fingerprint_sha256}};
}

}  // namespace kubenodesmith
