// Kubelets ask for their first certificate with their bootstrap token, and somebody has to approve it.
// Thieves who read the token also ask, for certificates that are not the machine's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/random.hpp"
#include "test/simulation/trace.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/unit/bootstrap/signing_requests.hpp"

namespace simulation {

// Prefix of the name of each request of a thief.
inline constexpr std::string_view kForged = "forged-";

class Certificates {
public:
    Certificates(fake::ApiServer& server, Trace& trace, std::unique_ptr<base::Random> random);

    // Lets the machine's kubelet ask for the Node's certificate with that token. `granted` is called once, a
    // moment after the approval, unless the machine was forgotten before.
    void ask(const std::string& system_uuid, const std::string& node, const std::string& token_id,
             std::function<void()> granted);
    void forget(const std::string& system_uuid);

private:
    struct Waiting {
        std::string node;
        std::string token_id;
        std::size_t key = 0;
        std::function<void()> granted;
        std::unique_ptr<base::Alarm> notice;
    };

    void follow(const fake::Change& change);
    void forge(const Waiting& victim);
    void forge_with_second_key(const Waiting& victim);
    void send(test::RequestParts parts, const Waiting& victim, std::chrono::milliseconds longest_wait);

    fake::ApiServer& server_;
    Trace& trace_;
    std::unique_ptr<base::Random> random_;
    std::map<std::string, Waiting> waiting_;  // by system UUID
    std::map<std::string, std::unique_ptr<base::Alarm>> thefts_;
    int forgeries_ = 0;
};

}  // namespace simulation
