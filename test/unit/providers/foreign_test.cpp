// Tests answers of an endpoint that is no Proxmox, or that attacks us.
#include "providers/foreign/bounded_json.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/answer.hpp"
#include "test/support/catch.hpp"
#include "test/unit/providers/answer.hpp"

using namespace providers;
using Catch::Contains;
using proxmox::ProxmoxError;
using test::answer;

namespace {

std::string error_of(const base::HttpResponse& response) {
    try {
        proxmox::data_of(proxmox::get_cluster_resources(), response);
    } catch (const ProxmoxError& error) {
        return error.what();
    }
    return "";
}

std::string repeated(const std::string& text, std::size_t count) {
    std::string result;
    while (count-- > 0) result += text;
    return result;
}

// Returns a guest as /cluster/resources shows it.
std::string guest(int i) {
    const auto id = std::to_string(100 + i);
    return R"({"id":"qemu/)" + id + R"(","type":"qemu","vmid":)" + id + R"(,"node":"pve)" +
           std::to_string(i % 32) + R"(","name":"workers-)" + id +
           R"(-abcde","status":"running","pool":"kubernetes","tags":"kubenodesmith;lab;workers","template":0,)"
           R"("cpu":0.0123456789,"maxcpu":8,"mem":8123456789,"maxmem":17179869184,"disk":0,)"
           R"("maxdisk":34359738368,"diskread":123456789012,"diskwrite":987654321098,)"
           R"("netin":123456789012,"netout":98765432109,"uptime":8640000,"hastate":"started"})";
}

std::string list_of(int guests) {
    std::string body = R"({"data":[)";
    for (int i = 0; i < guests; ++i) body += (i == 0 ? "" : ",") + guest(i);
    return body + "]}";
}

}  // namespace

TEST_CASE("Of the text of others the first line is shown, without what nobody sees") {
    CHECK(foreign::shown("VM is locked (backup)") == "VM is locked (backup)");
    CHECK(foreign::shown("\n  first \nsecond") == "first");
    CHECK(foreign::shown("a\tb") == "a b");
    CHECK(foreign::shown("a\x1b[31mb\x07\x7f") == "a[31mb");
    CHECK(foreign::shown("für 日本 😀") == "für 日本 😀");
    CHECK(foreign::shown("\u202egnp.exe\u2066\u200b\u200d\ufeff") == "gnp.exe");
    CHECK(foreign::shown("\u0085\u2028x\U000E0041") == "x");
    CHECK(foreign::shown("").empty());
    CHECK(foreign::shown(" \r\n\t").empty());
    CHECK(foreign::shown(std::string_view("a\0b", 3)) == "ab");
}

TEST_CASE("What is not UTF-8 is not shown") {
    CHECK(foreign::shown("a\xff\xfe"
                         "b") == "ab");
    CHECK(foreign::shown("a\xc3") == "a");              // ends within a character
    CHECK(foreign::shown("\xc0\xafx") == "x");          // overlong
    CHECK(foreign::shown("\xed\xa0\x80x") == "x");      // a surrogate
    CHECK(foreign::shown("\xf4\x90\x80\x80x") == "x");  // beyond the last character
}

TEST_CASE("At most 256 characters of a text are shown: its beginning and its end") {
    CHECK(foreign::shown(std::string(256, 'x')) == std::string(256, 'x'));
    const auto cut = std::string(96, 'x') + "..." + std::string(160, 'x');
    CHECK(foreign::shown(std::string(257, 'x')) == cut);
    CHECK(foreign::shown(repeated("ä", 100'000)) == repeated("ä", 96) + "..." + repeated("ä", 160));
    const auto command = "command '/usr/bin/qemu-img convert " + std::string(400, 'x') + "' failed: ";
    const std::string cause = "storage 'nas' is not online";
    CHECK_THAT(foreign::shown(command + cause),
               Catch::StartsWith("command '/usr/bin/qemu-img") && Catch::EndsWith(cause));
}

TEST_CASE("Of what does not prove to be a Proxmox only the status is told") {
    const auto foreign_answer = GENERATE(
        answer(401, "FRITZ secret", "<html><title>FRITZ login</title></html>"),
        answer(500, "SSH-2.0-OpenSSH_9.2 secret", ""),
        answer(403, "Forbidden", R"({"message":"secret of another API","errors":{"field":"secret"}})"),
        answer(404, "secret", R"(["secret"])"), answer(200, "OK", R"({"message":"secret"})"));
    const auto text = error_of(foreign_answer);
    CHECK_THAT(text, Contains("a Proxmox API"));
    CHECK_THAT(text, !Contains("secret") && !Contains("FRITZ") && !Contains("SSH"));
    CHECK_THAT(proxmox::refusal_of(foreign_answer), !Contains("secret"));
}

TEST_CASE("A Proxmox proves itself by its server's name or by the data that all its answers have") {
    auto refused = answer(401, "invalid token value!", "");
    CHECK_THAT(proxmox::refusal_of(refused), Contains("status 401"));
    refused.headers.set("Server", "pve-api-daemon/3.0");
    CHECK(proxmox::refusal_of(refused) == "invalid token value!");
    CHECK_THAT(error_of(refused), Contains("invalid token value!"));
    const auto text = error_of(answer(500, "", "{\"data\":null,\"message\":\"no \\u202e\\u001bquorum\"}"));
    CHECK_THAT(text, Catch::EndsWith(": no quorum"));
}

TEST_CASE("A list of 10,000 machines is read") {
    const auto body = list_of(10'000);
    REQUIRE(body.size() < foreign::kLongestAnswer);
    const auto data = proxmox::data_of(proxmox::get_cluster_resources(), answer(200, "OK", body));
    CHECK(data.get_array().size() == 10'000);
    // This is the longest possible list of guests in 8 MiB.
    const auto longest = list_of(static_cast<int>(foreign::kLongestAnswer / guest(10'000).size()) - 1);
    CHECK(error_of(answer(200, "OK", longest)).empty());
}

TEST_CASE("An answer that would take much more memory than its text is refused") {
    const auto piece = GENERATE(std::string("{},"), std::string("[],"), std::string("1,"),
                                std::string("[[[[[[]]]]]],"), std::string(R"({"a":{"b":{}}},)"));
    auto body = R"({"data":[)" + repeated(piece, foreign::kLongestAnswer / piece.size() - 8);
    body += "0]}";
    CHECK_THROWS_AS(foreign::parse(body), foreign::TooLarge);
    const auto text = error_of(answer(200, "OK", body));
    CHECK_THAT(text, Contains("takes more than the 32 MiB of memory"));
    CHECK_THAT(error_of(answer(500, "", body)), Contains("32 MiB"));
}

TEST_CASE("An answer with more entries than a cluster has is refused") {
    const auto body = R"({"data":[)" + repeated("0,", 50'000) + "0]}";
    CHECK_THAT(error_of(answer(200, "OK", body)), Contains("50001 entries, more than the 50000"));
}

TEST_CASE("Deep nesting is no JSON that is read") {
    CHECK_FALSE(foreign::parse(std::string(1'000'000, '[')));
    CHECK_FALSE(foreign::parse(repeated(R"({"a":)", 100'000)));
    CHECK_THAT(error_of(answer(200, "OK", R"({"data":)" + std::string(1'000'000, '['))),
               Contains("not from a Proxmox API"));
}
